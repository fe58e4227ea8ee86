/* SPDX-License-Identifier: MIT */
/* Trails: what was given back in the order of streams, before a point of one. A device's pool
 * learns of it when the program waits for such a point: for the stream, for an event recorded
 * behind, or for a stream that waited for that event. A query, or a wait for other work, tells it
 * nothing. */
#ifndef CUSHIM_SIM_QUEUE_TRAIL_H
#define CUSHIM_SIM_QUEUE_TRAIL_H

#include <stddef.h>

struct sim_context;
struct sim_trail; /* NULL: nothing was given back */

/* What learns of it: `owner` and `size` as sim_trail_add got them. */
void sim_trail_hook(void (*learn)(void *owner, size_t size));
struct sim_trail *sim_trail_retain(struct sim_trail *trail);
void sim_trail_release(struct sim_trail *trail); /* the last one settles it */
/* `owner` gets `size` back behind the point *trail, which moves on. */
void sim_trail_add(struct sim_trail **trail, const struct sim_context *context, void *owner,
                   size_t size);
/* The point *trail follows `other` from now on. */
void sim_trail_join(struct sim_trail **trail, const struct sim_context *context,
                    struct sim_trail *other);
/* The program has waited for that point, or for all work of a context. */
void sim_trail_settle(struct sim_trail *trail);
void sim_trail_settle_context(const struct sim_context *context);

#endif
