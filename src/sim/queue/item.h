/* SPDX-License-Identifier: MIT */
/* Work on its way to a device. Every entry that enqueues something makes an item and hands it to
 * sim_stream_submit: a stream runs it in order, or, where the stream is being captured, it becomes
 * a node of a graph, from which the same item is run at every launch of that graph.
 *
 *     struct sim_item item;
 *     CUresult result = sim_stream(handle, &stream);
 *     if (result == CUDA_SUCCESS)
 *         result = sim_copy_prepare(stream->object.context, &copy, &item);
 *     return result == CUDA_SUCCESS ? sim_stream_submit(stream, &item) : result;
 */
#ifndef CUSHIM_SIM_QUEUE_ITEM_H
#define CUSHIM_SIM_QUEUE_ITEM_H

#include "queue/ticket.h"

struct sim_stream;

struct sim_item {
    /* What a graph shows of it: params.type and the member of the union that belongs to the type.
     * Pointers inside point into `user` and live as long as the item. An item with the type
     * SIM_ITEM_NO_NODE cannot be captured. */
    CUgraphNodeParams params;
    const CUlaunchAttribute *attributes; /* of a kernel; they live as long as the item */
    unsigned attribute_count;
    /* Without the driver's lock. A graph runs an item more than once, never twice at a time. NULL:
     * nothing to run. A failure that sim_ticket_error_is_sticky says yes to stays in the context.
     */
    sim_work *run;
    void *user;
    void (*drop)(void *user); /* with the driver's lock held, once; may be NULL */
};
#define SIM_ITEM_NO_NODE ((CUgraphNodeType)-1)

static inline void sim_item_drop(const struct sim_item *item)
{
    if (item->drop)
        item->drop(item->user);
}
#endif
