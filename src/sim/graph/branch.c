/* SPDX-License-Identifier: MIT */
#include "graph/graph.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/core.h"
#include "launch/launch.h"
#include "memory/memory.h"
#include "ptx/ptx.h"
#include "queue/queue.h"

/* What a body cannot have is found here: its memory and its host functions are no graph's. */
static bool may_have(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY ||
           type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/* Pages that the system may move: a copy in a body is done without the CPU. */
static bool is_pageable(CUmemorytype type, const void *place)
{
    return type == CU_MEMORYTYPE_HOST && !sim_range_find((uint64_t)(uintptr_t)place);
}

static bool is_pageable_copy(const CUgraphNodeParams *params)
{
    const CUDA_MEMCPY3D_v2 *copy = &params->memcpy.copyParams;
    return params->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
           (is_pageable(copy->srcMemoryType, copy->srcHost) ||
            is_pageable(copy->dstMemoryType, copy->dstHost));
}

static CUresult make_body(const struct sim_graph *graph, struct sim_exec **body,
                          struct sim_node **error)
{
    struct sim_exec *made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->references = 1;
    CUresult result = sim_exec_build(graph, made, error);
    for (size_t i = 0; i < made->count && result == CUDA_SUCCESS; i++)
        if (!may_have(made->nodes[i].work->item.params.type) ||
            is_pageable_copy(&made->nodes[i].work->item.params))
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *body = made;
    else
        sim_exec_release(made);
    return result;
}

CUresult sim_branch_make(const struct sim_node *node, struct sim_branch **branch,
                         struct sim_node **error)
{
    const CUDA_CONDITIONAL_NODE_PARAMS *params = &node->item.params.conditional;
    struct sim_context *context = sim_object(SIM_CONTEXT, params->ctx);
    struct sim_branch *made = context ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return context ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_CONTEXT;
    made->references = 1;
    made->type = params->type;
    made->condition = sim_condition_retain(node->condition);
    made->context = sim_context_retain(context);
    made->bodies = calloc(params->size, sizeof(struct sim_exec *));
    CUresult result = made->bodies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < params->size && result == CUDA_SUCCESS; i++) {
        result = make_body(sim_graph(params->phGraph_out[i]), &made->bodies[i], error);
        made->count += result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        *branch = made;
    else
        sim_branch_release(made);
    return result;
}

struct sim_branch *sim_branch_retain(struct sim_branch *branch)
{
    branch->references++;
    return branch;
}

void sim_branch_release(struct sim_branch *branch)
{
    if (!branch || --branch->references != 0)
        return;
    for (unsigned i = 0; i < branch->count; i++)
        sim_exec_release(branch->bodies[i]);
    sim_condition_release(branch->condition);
    sim_context_release(branch->context);
    free(branch->bodies);
    free(branch);
}

void sim_branch_begin(const struct sim_branch *branch)
{
    sim_condition_begin(branch->condition);
    for (unsigned i = 0; i < branch->count; i++)
        for (size_t j = 0; j < branch->bodies[i]->count; j++)
            if (branch->bodies[i]->nodes[j].branch)
                sim_branch_begin(branch->bodies[i]->nodes[j].branch);
}

/* The body that the value chooses, or NULL. */
static struct sim_exec *chosen(const struct sim_branch *branch)
{
    uint32_t value = sim_condition_value(branch->condition);
    if (branch->type == CU_GRAPH_COND_TYPE_IF)
        value = !value;
    else if (branch->type == CU_GRAPH_COND_TYPE_WHILE)
        value = value ? 0 : branch->count;
    return value < branch->count ? branch->bodies[value] : NULL;
}

/* One turn of a body, to its end. */
static CUresult run_body(struct sim_exec *body, struct sim_context *context)
{
    struct sim_ticket *end;
    sim_lock_enter();
    CUresult result = sim_graph_launch_body(body, context, &end);
    if (result == CUDA_SUCCESS) {
        sim_ticket_wait(end);
        result = context->sticky;
        sim_ticket_release(end);
    }
    sim_lock_leave();
    return result;
}

/* Without the lock, in a thread of the queue. A loop has the time of a kernel. */
static CUresult run(void *user)
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
        if (ptx_stops(launches) || (most && sim_clock_ns() - start > most))
            return CUDA_ERROR_LAUNCH_TIMEOUT;
    }
    return result;
}

static void drop(void *user)
{
    sim_branch_release(user);
}

struct sim_ticket *sim_branch_ticket(struct sim_branch *branch)
{
    struct sim_ticket *ticket = sim_ticket_make(branch->context, run, branch, drop);
    if (ticket)
        (void)sim_branch_retain(branch);
    return ticket;
}
