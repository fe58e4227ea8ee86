/* SPDX-License-Identifier: MIT */
/* Launches of executable graphs: a ticket for every node, in the order of the edges. */
#include <stdlib.h>

#include "core/object.h"
#include "graph/exec.h"
#include "graph/graph_memory.h"
#include "graph/params.h"
#include "launch/launch_prepare.h"
#include "queue/capture.h"
#include "queue/event.h"
#include "queue/stream.h"
#include "queue/ticket.h"

static CUresult run_unit(void *user)
{
    struct sim_work_unit *unit = user;
    return unit->item.run(unit->item.user);
}

static void drop_unit(void *user)
{
    sim_exec_work_release(user);
}

static CUresult alive(const struct sim_item *item)
{
    switch ((int)item->params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (!sim_launch_prepare_is_alive(item))
            return CUDA_ERROR_INVALID_HANDLE;
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sim_object(SIM_EVENT, item->params.eventRecord.event) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_HANDLE;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sim_object(SIM_EVENT, item->params.eventWait.event) ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_HANDLE;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        break;
    default:
        return CUDA_SUCCESS;
    }
    return sim_params_context(&item->params) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Whether the graph can run now; memory that its last launch left is given back where asked for. */
static CUresult check(const struct sim_exec *exec)
{
    for (size_t i = 0; i < exec->count; i++) {
        const struct sim_item *item = &exec->nodes[i].work->item;
        CUresult result = alive(item);
        if (result != CUDA_SUCCESS)
            return result;
        if (!sim_graph_memory_live(item))
            continue;
        if (!(exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
            return CUDA_ERROR_INVALID_VALUE;
        sim_graph_memory_discard(item);
    }
    return CUDA_SUCCESS;
}

static struct sim_ticket *node_ticket(const struct sim_exec_node *node, struct sim_stream *stream)
{
    struct sim_work_unit *unit = node->work;
    struct sim_context *context = sim_params_context(&unit->item.params);
    if (!context)
        context = stream->object.context;
    if (!unit->item.run || node->disabled)
        return sim_ticket_make(context, NULL, NULL, NULL);
    struct sim_ticket *ticket = sim_ticket_make(context, run_unit, unit, drop_unit);
    if (ticket)
        (void)sim_exec_work_retain(unit);
    return ticket;
}

static CUresult order(const struct sim_exec_node *node, struct sim_ticket *ticket,
                      struct sim_ticket *const *tickets, struct sim_ticket *begin)
{
    CUresult result = node->before_count ? CUDA_SUCCESS : sim_ticket_after(ticket, begin);
    for (size_t i = 0; i < node->before_count && result == CUDA_SUCCESS; i++)
        result = sim_ticket_after(ticket, tickets[node->before[i]]);
    const struct sim_item *item = &node->work->item;
    if (item->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && result == CUDA_SUCCESS)
        result = sim_ticket_after(
            ticket, ((struct sim_event *)(void *)item->params.eventWait.event)->ticket);
    else if (item->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && result == CUDA_SUCCESS)
        sim_event_set((struct sim_event *)(void *)item->params.eventRecord.event, ticket);
    return result;
}

/* Make and order all tickets: [count] is before all nodes, [count + 1] after all. */
static CUresult make_tickets(const struct sim_exec *exec, struct sim_stream *stream,
                             struct sim_ticket **tickets)
{
    struct sim_ticket **begin = &tickets[exec->count], **end = begin + 1;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    *begin = sim_ticket_make(stream->object.context, NULL, NULL, NULL);
    *end = *begin ? sim_ticket_make(stream->object.context, NULL, NULL, NULL) : NULL;
    if (*end)
        result = sim_stream_order(*begin, stream);
    if (result == CUDA_SUCCESS)
        result = sim_ticket_after(*begin, exec->finished);
    if (result == CUDA_SUCCESS)
        result = sim_ticket_after(*end, *begin);
    for (size_t i = 0; i < exec->count && result == CUDA_SUCCESS; i++) {
        tickets[i] = node_ticket(&exec->nodes[i], stream);
        result = tickets[i] ? order(&exec->nodes[i], tickets[i], tickets, *begin)
                            : CUDA_ERROR_OUT_OF_MEMORY;
        if (result == CUDA_SUCCESS && exec->nodes[i].last)
            result = sim_ticket_after(*end, tickets[i]);
    }
    return result;
}

static CUresult launch(struct sim_exec *exec, struct sim_stream *stream)
{
    size_t count = exec->count + 2;
    struct sim_ticket **tickets = calloc(count, sizeof(struct sim_ticket *));
    if (!tickets)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = make_tickets(exec, stream, tickets);
    if (result == CUDA_SUCCESS) {
        sim_stream_append(stream, tickets[count - 1]);
        sim_ticket_release(exec->finished);
        exec->finished = sim_ticket_retain(tickets[count - 1]);
        for (size_t i = 0; i < exec->count; i++) /* in order: what is freed was allocated before */
            sim_graph_memory_launched(&exec->nodes[i].work->item);
    }
    /* Others may wait for tickets of a launch that failed: they run, as nothing. */
    for (size_t i = 0; i < count && result != CUDA_SUCCESS; i++)
        if (tickets[i])
            sim_ticket_cancel(tickets[i]);
    for (size_t i = 0; i < count; i++)
        if (tickets[i]) {
            sim_ticket_start(tickets[i]);
            sim_ticket_release(tickets[i]);
        }
    free(tickets);
    return result;
}

CUresult sim_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    struct sim_exec *exec = sim_exec(hGraph);
    struct sim_stream *stream;
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_refuse(stream);
    if (result == CUDA_SUCCESS)
        result = check(exec);
    return result == CUDA_SUCCESS ? launch(exec, stream) : result;
}

/* Nothing has to be brought to a simulated device. */
CUresult sim_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct sim_stream *stream;
    if (!sim_exec(hGraph))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    return result == CUDA_SUCCESS ? sim_capture_refuse(stream) : result;
}
