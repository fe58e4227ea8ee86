/* SPDX-License-Identifier: MIT */
/* Launches of executable graphs: a ticket for every node, in the order of the edges. */
#include "graph/graph.h"

/* --- Conditional nodes --- */

/* One turn of a conditional node's body, in no stream: *end, retained, is done when it is. */
static CUresult launch_body(struct sim_exec *body, struct sim_context *context,
                            struct sim_ticket **end);

static void begin_branch(const struct sim_branch *branch)
{
    if (branch->condition->assigned)
        __atomic_store_n(&branch->condition->value, branch->condition->initial, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < branch->count; i++)
        for (size_t j = 0; j < branch->bodies[i]->count; j++)
            if (branch->bodies[i]->nodes[j].branch)
                begin_branch(branch->bodies[i]->nodes[j].branch);
}

/* The body that the value chooses, or NULL. */
static struct sim_exec *chosen(const struct sim_branch *branch)
{
    uint32_t value = __atomic_load_n(&branch->condition->value, __ATOMIC_ACQUIRE);
    if (branch->type == CU_GRAPH_COND_TYPE_IF)
        value = !value;
    else if (branch->type == CU_GRAPH_COND_TYPE_WHILE)
        value = value ? 0 : branch->count;
    return value < branch->count ? branch->bodies[value] : NULL;
}

/* One turn of a body, to its end. */
static CUresult run_body(struct sim_exec *body, struct sim_context *context)
{
    struct sim_ticket *end = NULL;
    sim_ticket_yield();
    sim_lock_enter();
    CUresult result = launch_body(body, context, &end);
    if (result == CUDA_SUCCESS) {
        sim_ticket_wait(end);
        result = context->sticky;
        sim_ticket_release(end);
    }
    sim_lock_leave();
    return result;
}

/* Without the lock, in a thread of the queue. A loop has the time of a kernel. */
static CUresult run_branch(void *user)
{
    const struct sim_branch *branch = user;
    struct sim_exec *body;
    CUresult result = CUDA_SUCCESS;
    uint64_t start = sim_clock_ns(), most = sim_config.time_limit_ns, launches = ptx_launches();
    while (result == CUDA_SUCCESS && (body = chosen(branch)) &&
           !__atomic_load_n(&branch->context->closing, __ATOMIC_RELAXED)) {
        result = run_body(body, branch->context);
        if (branch->type != CU_GRAPH_COND_TYPE_WHILE)
            break;
        SIM_FAIL(LAUNCH_TIMEOUT, ptx_stops(launches) || (most && sim_clock_ns() - start > most));
    }
    return result;
}

/* --- Nodes --- */

static CUresult run_unit(void *user)
{
    struct sim_work_unit *unit = user;
    return unit->item.run(unit->item.user);
}

static CUresult alive(const struct sim_item *item)
{
    switch ((int)item->params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        SIM_FAIL(INVALID_HANDLE, !sim_launch_prepare_is_alive(item));
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: /* the same member */
        return sim_object(SIM_EVENT, item->params.eventRecord.event) ? CUDA_SUCCESS
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
        const struct sim_branch *branch = exec->nodes[i].branch;
        SIM_TRY(alive(item));
        for (unsigned j = 0; branch && j < branch->count; j++)
            SIM_TRY(check(branch->bodies[j]));
        SIM_REFUSE(!sim_graph_memory_ready(
            item, exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    }
    return CUDA_SUCCESS;
}

static struct sim_ticket *node_ticket(const struct sim_exec_node *node,
                                      struct sim_context *fallback)
{
    if (node->branch)
        return sim_ticket_make(node->branch->context, run_branch,
                               sim_exec_branch_retain(node->branch), sim_exec_branch_release);
    struct sim_work_unit *unit = node->work;
    struct sim_context *context = sim_params_context(&unit->item.params);
    if (!context)
        context = fallback;
    if (!unit->item.run || node->disabled)
        return sim_ticket_make(context, NULL, NULL, NULL);
    unit->references++;
    return sim_ticket_make(context, run_unit, unit, sim_exec_work_release);
}

static CUresult order(const struct sim_exec_node *node, struct sim_ticket *ticket,
                      struct sim_ticket *const *tickets, struct sim_ticket *begin,
                      struct sim_ticket *end)
{
    if (node->before_count == 0)
        SIM_TRY(sim_ticket_after(ticket, begin));
    for (size_t i = 0; i < node->before_count; i++)
        SIM_TRY(sim_ticket_after(ticket, tickets[node->before[i]]));
    const struct sim_item *item = &node->work->item;
    if (item->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        const struct sim_event *event = (void *)item->params.eventWait.event;
        SIM_FIND(struct sim_ticket *, before,
                 sim_event_shared_ticket(event, event->object.context, &before));
        CUresult result = sim_ticket_after(ticket, before);
        sim_ticket_release(before);
        return result;
    }
    if (item->params.type != CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        return CUDA_SUCCESS;
    struct sim_event *event = (void *)item->params.eventRecord.event;
    sim_event_set(event, ticket);
    /* The launch is done when the other processes know. */
    return event->shared ? sim_ticket_after(end, event->ticket) : CUDA_SUCCESS;
}

/* Make and order all tickets but the first: [count] is before all nodes, [count + 1] after all. */
static CUresult make_tickets(const struct sim_exec *exec, struct sim_context *context,
                             struct sim_ticket **tickets)
{
    struct sim_ticket *begin = tickets[exec->count], **end = &tickets[exec->count + 1];
    *end = sim_ticket_make(context, NULL, NULL, NULL);
    SIM_TRY(*end ? sim_ticket_after(*end, begin) : CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t i = 0; i < exec->count; i++) {
        tickets[i] = node_ticket(&exec->nodes[i], context);
        SIM_TRY(tickets[i] ? order(&exec->nodes[i], tickets[i], tickets, begin, *end)
                           : CUDA_ERROR_OUT_OF_MEMORY);
        if (exec->nodes[i].last)
            SIM_TRY(sim_ticket_after(*end, tickets[i]));
    }
    return CUDA_SUCCESS;
}

/* Others may wait for tickets of a launch that failed: they run, as nothing. */
static void start_tickets(struct sim_ticket **tickets, size_t count, CUresult result)
{
    for (size_t i = 0; i < count && result != CUDA_SUCCESS; i++)
        if (tickets[i])
            sim_ticket_cancel(tickets[i]);
    for (size_t i = 0; i < count; i++)
        if (tickets[i])
            sim_ticket_begin(tickets[i]);
    free(tickets);
}

/* What a launch assigns first: the executable graph may change until it comes to that. */
struct beginning {
    size_t count;
    struct sim_branch *branches[];
};

/* Without the lock. */
static CUresult assign(void *user)
{
    const struct beginning *beginning = user;
    for (size_t i = 0; i < beginning->count; i++)
        begin_branch(beginning->branches[i]);
    return CUDA_SUCCESS;
}

static void drop_beginning(void *user)
{
    struct beginning *beginning = user;
    for (size_t i = 0; i < beginning->count; i++)
        sim_exec_branch_release(beginning->branches[i]);
    free(beginning);
}

/* What comes before all nodes: conditional nodes get their first values. */
static struct sim_ticket *begin_ticket(const struct sim_exec *exec, struct sim_context *context)
{
    size_t count = 0;
    for (size_t i = 0; i < exec->count; i++)
        count += !!exec->nodes[i].branch;
    if (count == 0)
        return sim_ticket_make(context, NULL, NULL, NULL);
    struct beginning *made = malloc(sizeof *made + count * sizeof(struct sim_branch *));
    if (!made)
        return NULL;
    made->count = 0;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->nodes[i].branch)
            made->branches[made->count++] = sim_exec_branch_retain(exec->nodes[i].branch);
    return sim_ticket_make(context, assign, made, drop_beginning);
}

static CUresult launch(struct sim_exec *exec, struct sim_stream *stream)
{
    size_t count = exec->count + 2;
    struct sim_context *context = stream->object.context;
    struct sim_ticket **tickets = calloc(count, sizeof(struct sim_ticket *));
    struct sim_ticket *begin = tickets ? begin_ticket(exec, context) : NULL;
    if (!begin) {
        free(tickets);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    tickets[exec->count] = begin;
    CUresult result = sim_stream_order(begin, stream);
    if (result == CUDA_SUCCESS)
        result = sim_ticket_after(begin, exec->finished);
    if (result == CUDA_SUCCESS)
        result = make_tickets(exec, context, tickets);
    if (result == CUDA_SUCCESS) {
        sim_stream_append(stream, tickets[count - 1]);
        sim_ticket_release(exec->finished);
        exec->finished = sim_ticket_retain(tickets[count - 1]);
        for (size_t i = 0; i < exec->count; i++) /* in order: what is freed was allocated before */
            sim_graph_memory_launched(&exec->nodes[i].work->item);
    }
    start_tickets(tickets, count, result);
    return result;
}

static CUresult launch_body(struct sim_exec *body, struct sim_context *context,
                            struct sim_ticket **end)
{
    size_t count = body->count + 2;
    SIM_MADE(struct sim_ticket **, tickets, calloc(count, sizeof(struct sim_ticket *)));
    tickets[body->count] = sim_ticket_make(context, NULL, NULL, NULL);
    CUresult result = tickets[body->count] ? check(body) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = make_tickets(body, context, tickets);
    if (result == CUDA_SUCCESS)
        *end = sim_ticket_retain(tickets[count - 1]);
    start_tickets(tickets, count, result);
    return result;
}

CUresult sim_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    struct sim_exec *exec = sim_exec(hGraph);
    SIM_REFUSE(!exec);
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse(stream));
    SIM_TRY(check(exec));
    return launch(exec, stream);
}

/* Nothing but memory has to be brought to a simulated device. */
CUresult sim_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    const struct sim_exec *exec = sim_exec(hGraph);
    SIM_REFUSE(!exec);
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse(stream));
    sim_graph_memory_upload(exec);
    return CUDA_SUCCESS;
}
