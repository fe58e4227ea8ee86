/* SPDX-License-Identifier: MIT */
/* Accesses of teams that are checked. */
#include "ptx/memory/check_state.h"

#include "ptx/ops/affine.h"
#include "ptx/ops/ops.h"

/* Where all of the team's memory is; false: the access is none for teams. */
static bool find(const struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
                 const struct affine *at, uint64_t size, bool write, struct ptx_range *span)
{
    const struct ptx_block *block = team->warps->warp.block;
    const uint64_t offset = step->how.memory.offset;
    int64_t least, greatest;
    uint64_t first;

    if (team->masks)
        affine_extremes_some(team, at, &least, &greatest);
    else
        affine_extremes(team, at, &least, &greatest);
    first = (team->masks ? (uint64_t)least : at->base) + offset;
    if (space == MEMORY_SHARED || (space == MEMORY_GENERIC && first >= PTX_SHARED_WINDOW)) {
        *span = (struct ptx_range){.base = space == MEMORY_SHARED ? 0 : PTX_SHARED_WINDOW,
                                   .size = block->shared_size,
                                   .host = block->shared};
    } else {
        struct ptx_range *range;

        if (!memory_find(team->warps->worker, step->how.memory.slot, first, size,
                         write ? PTX_RANGE_WRITE : PTX_RANGE_READ, &range) ||
            range->live)
            return false;
        *span = *range;
    }
    return (uint64_t)least + offset - span->base < span->size &&
           (uint64_t)greatest + offset - span->base < span->size &&
           span->size - ((uint64_t)greatest + offset - span->base) >= size;
}

/* Of a region: warps of which all lanes run are rows together. */
static void each_part(const struct ptx_team *team, struct check_rows *rows)
{
    const uintptr_t base = rows->base;

    for (uint32_t i = 0; i < team->count; i += rows->count) {
        rows->mask = team->masks[i];
        rows->base = base + (uintptr_t)((int64_t)i * rows->warp);
        rows->first = team->warps->warp.index + i;
        rows->count = 1;
        while (rows->mask == PTX_FULL && i + rows->count < team->count &&
               team->masks[i + rows->count] == PTX_FULL)
            rows->count++;
        if (rows->mask)
            check_each(team->warps->warp.block, rows);
    }
}

void check_team(struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
                const struct affine *at, uint32_t size, bool write)
{
    struct ptx_block *block = team->warps->warp.block;
    struct check *check = block->launch->check;
    struct ptx_range span;

    if (!check || team->active != PTX_FULL || step->how.memory.unused || !affine_is_small(at) ||
        !find(team, step, space, at, size, write, &span))
        return;
    struct check_rows rows = {.step = step,
                              .base = (uintptr_t)span.host +
                                      (at->base + step->how.memory.offset - span.base),
                              .lane = (int64_t)at->lane,
                              .half = (int64_t)at->half,
                              .warp = (int64_t)at->warp,
                              .first = team->warps->warp.index,
                              .count = team->count,
                              .serial = ++check->serial,
                              .mask = PTX_FULL,
                              .size = (uint8_t)size,
                              .write = write};
    if (team->masks)
        each_part(team, &rows);
    else
        check_each(block, &rows);
}
