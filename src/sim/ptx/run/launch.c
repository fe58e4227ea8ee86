/* SPDX-License-Identifier: MIT */
/* ptx_launch: what all blocks of a launch share is computed once. */

#include <stdio.h>
#include <stdlib.h>

#include "ptx/run/run.h"

#define DEFAULT_STACK 1024 /* bytes per thread where the machine says nothing */
#define MOST_BATCH 64

static bool refuse(struct ptx_fault *fault, enum ptx_fault_kind kind, const char *what)
{
    fault->kind = kind;
    snprintf(fault->report, sizeof fault->report, "%s", what);
    return false;
}

/* %tid of every lane of every warp: the same in all blocks. */
static bool launch_tids(struct launch *launch)
{
    const uint32_t *block = launch->request->block;

    launch->tids = calloc((size_t)launch->warp_count * 3 * PTX_LANES, sizeof *launch->tids);
    if (!launch->tids)
        return false;
    for (uint32_t i = 0; i < launch->threads; i++) {
        uint32_t *at = launch->tids + i / PTX_LANES * 3 * PTX_LANES + i % PTX_LANES;

        at[0] = i % block[0];
        at[PTX_LANES] = i / block[0] % block[1];
        at[2 * PTX_LANES] = i / block[0] / block[1];
    }
    return true;
}

/* A component of %tid in the warp alone. */
static struct affine launch_form(const struct launch *launch, uint32_t warp, uint32_t component)
{
    const uint32_t *tids = launch->tids + ((size_t)warp * 3 + component) * PTX_LANES;
    const uint32_t left = launch->threads - warp * PTX_LANES;

    return (struct affine){tids[0], left > 1 ? (uint64_t)tids[1] - tids[0] : 0,
                           left > 16 ? (uint64_t)tids[16] - tids[0] : 0, 0};
}

/* Does it grow from warp to warp by what it grows by from the first to the second? */
static bool launch_is_even(const struct launch *launch, uint32_t component)
{
    const struct affine *team = launch->tid_forms + component, *warp = team + 3;

    for (uint64_t i = 0; i < launch->warp_count; i++, warp += 3)
        if (warp->base != team->base + i * team->warp || warp->lane != team->lane ||
            warp->half != team->half)
            return false;
    return true;
}

/* Which steps do warps begin with, and as a team? Those for teams, where half a warp is in one row
 * of the block, so that %tid is affine. */
static bool launch_teams(struct launch *launch)
{
    const uint32_t *block = launch->request->block, count = launch->warp_count;

    launch->start = launch->entry->steps;
    if (!launch->entry->team || (block[0] % 16 && block[1] * block[2] > 1))
        return true;
    launch->tid_forms =
        aligned_alloc(_Alignof(struct affine), (count + (size_t)1) * 3 * sizeof *launch->tid_forms);
    if (!launch->tid_forms)
        return false;
    launch->start = launch->entry->team->steps;
    launch->teams = launch->threads % PTX_LANES == 0 && count > 1;
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t warp = 0; warp < count; warp++)
            launch->tid_forms[(warp + 1) * 3 + i] = launch_form(launch, warp, i);
        launch->tid_forms[i] = launch_form(launch, 0, i);
        if (count > 1)
            launch->tid_forms[i].warp = launch->tid_forms[6 + i].base - launch->tid_forms[i].base;
        if (launch->entry->team->tids >> i & 1)
            launch->teams = launch->teams && launch_is_even(launch, i);
    }
    return true;
}

static bool launch_cluster(struct launch *launch)
{
    const struct ptx_launch *request = launch->request;
    const uint32_t *fixed = launch->entry->info.cluster;

    launch->cluster_size = 1;
    launch->cluster_count = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t size = request->cluster[i] ? request->cluster[i] : fixed[i];

        launch->cluster[i] = size ? size : 1;
        launch->clustered |= size != 0;
        if (request->grid[i] % launch->cluster[i])
            return false;
        launch->cluster_size *= launch->cluster[i];
        launch->cluster_count *= request->grid[i] / launch->cluster[i];
    }
    return launch->cluster_size <= 64;
}

static void launch_stack(struct launch *launch)
{
    const struct ptx_code *entry = launch->entry;
    uint32_t limit = launch->request->machine->stack_limit;
    uint64_t size = entry->stack_size;

    launch->stack_limit = entry->stack_counted;
    if (entry->unbounded || launch->image->module->dynamic_stack) {
        limit = limit ? limit : DEFAULT_STACK;
        launch->stack_limit += limit;
        size += (uint64_t)limit * entry->stack_ratio;
    }
    /* An entry that neither calls nor has variables needs nothing. */
    size = size > CALL_OVERHEAD ? size : 0;
    size = (size + 15) & ~UINT64_C(15);
    launch->stack_size = size > PTX_WINDOW_SIZE ? (uint32_t)PTX_WINDOW_SIZE : (uint32_t)size;
}

static bool launch_prepare(struct launch *launch, struct ptx_fault *fault)
{
    const struct ptx_launch *request = launch->request;
    uint64_t threads = (uint64_t)request->block[0] * request->block[1] * request->block[2];

    if (!threads || threads > 1024 || !request->grid[0] || !request->grid[1] || !request->grid[2])
        return refuse(fault, PTX_FAULT_ILLEGAL_INSTRUCTION, "the launch has no valid size");
    launch->threads = (uint32_t)threads;
    launch->warp_count = (launch->threads + PTX_LANES - 1) / PTX_LANES;
    launch->shared_size =
        ((launch->entry->shared_static + 15) & ~UINT32_C(15)) + request->dynamic_shared;
    launch->reserved_at = (launch->shared_size + 127) & ~UINT32_C(127);
    uint32_t grain = request->machine->shared_grain ? request->machine->shared_grain : 1;
    launch->shared_end = launch->image->module->reserved_shared
                             ? launch->reserved_at + RESERVED_SHARED
                             : (launch->shared_size + grain - 1) / grain * grain;
    launch->param_size = launch->entry->info.param_size;
    launch_stack(launch);
    if (!launch_cluster(launch))
        return refuse(fault, PTX_FAULT_ILLEGAL_INSTRUCTION, "the grid is not made of clusters");
    if (!check_begin(launch) || !launch_tids(launch) || !launch_teams(launch))
        return refuse(fault, PTX_FAULT_NO_MEMORY, "the host has no memory for the launch");
    if (launch->check && !launch->image->module->reserved_shared) /* not what is rounded up */
        launch->shared_end =
            request->dynamic_shared ? launch->shared_size : launch->entry->shared_static;
    if (request->machine->time_limit_ns)
        launch->deadline = special_time() + request->machine->time_limit_ns;
    return true;
}

static bool launch_run(struct launch *launch, struct ptx_fault *fault)
{
    const struct ptx_launch *request = launch->request;
    unsigned workers = request->machine->workers;
    unsigned cores = pool_cores();

    if (!workers || workers > cores * 4)
        workers = cores;
    if (launch->check)
        workers = 1;
    if (workers > launch->cluster_count)
        workers = (unsigned)launch->cluster_count;
    /* Not so many that one worker is left with work at the end. */
    uint64_t batch = launch->cluster_count / workers / 64;
    launch->first_live = 1;
    launch->batch = (uint32_t)(batch < 1 ? 1 : batch > MOST_BATCH ? MOST_BATCH : batch);
    if (request->cooperative) {
        uint64_t share = (launch->cluster_count * launch->cluster_size + workers - 1) / workers;

        launch->first_live = share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
        launch->batch = 1;
    }
    launch->lasting = launch->teams && !launch->stack_size && !launch->check &&
                      !launch->entry->clear && !launch->clustered;
    launch->id = stop_number();
    if (workers > 1)
        pool_run(launch, workers);
    else
        block_worker(launch);
    return fault->kind == PTX_FAULT_NONE;
}

bool ptx_launch(const struct ptx_launch *request, struct ptx_fault *fault)
{
    const struct ptx_module *module = request->image->module;
    struct launch launch = {.request = request, .fault = fault};
    bool done;

    memset(fault, 0, sizeof *fault);
    if (request->function >= module->code_count || !module->codes[request->function].ir->entry)
        return refuse(fault, PTX_FAULT_INVALID_PC, "the function is no entry");
    launch.image = request->image;
    launch.entry = &module->codes[request->function];
    launch.world = request->world;
    pthread_mutex_init(&launch.lock, NULL);
    char *params = aligned_alloc(64, ((size_t)launch.entry->info.param_size + 127) & ~(size_t)63);
    if (!params) {
        done = refuse(fault, PTX_FAULT_NO_MEMORY, "the host has no memory for the launch");
    } else {
        if (launch.entry->info.param_size)
            memcpy(params, request->params, launch.entry->info.param_size);
        launch.params = params;
        done = launch_prepare(&launch, fault) && launch_run(&launch, fault);
    }
    free(params);
    free(launch.tids);
    free(launch.tid_forms);
    check_end(&launch);
    pthread_mutex_destroy(&launch.lock);
    return done;
}
