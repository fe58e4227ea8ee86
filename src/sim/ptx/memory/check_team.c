/* SPDX-License-Identifier: MIT */
/* Accesses of teams that are checked. */
#include "ptx/memory/check_state.h"

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

    if (!check || step->how.memory.unused ||
        !memory_of_team(team, step, space, at, size, write, &span))
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
