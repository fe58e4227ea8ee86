/* SPDX-License-Identifier: MIT */
/* Shared memory since the last barrier of all threads: what was before it is over. A line knows who
 * has which of its bytes, or that they were only read; the accesses themselves are logged, and
 * check_race.c gets to know them if another one needs it. */
#include "ptx/memory/check_state.h"

#include <stdlib.h>

#include "ptx/ops/ops.h"

#define MOST_LOGGED 16384
#define MOST_LISTED 8192

static void replay_one(struct ptx_warp *warp, const struct check_rows *rows, uint32_t mask,
                       const struct access *access)
{
    const struct check_doing now = {.step = rows->step,
                                    .access = access,
                                    .mask = mask,
                                    .size = rows->size,
                                    .serial = rows->serial,
                                    .write = rows->write,
                                    .atomic = rows->count == 0,
                                    .replay = true,
                                    .shared = true};

    check_race(warp, &now);
}

static void replay_lanes(struct ptx_block *block, const struct check_rows *rows)
{
    const struct check_lanes *lanes = &block->check->lists[rows->lanes];
    struct access access = {.pattern = ACCESS_GATHER};

    access.offsets = access.pointers;
    FOR_LANES (lane, lanes->mask)
        access.pointers[lane] = (uintptr_t)block->shared + lanes->at[lane];
    replay_one(&block->warps[rows->first].warp, rows, lanes->mask, &access);
}

static void replay_arrival(struct check_block *check, const struct check_rows *rows)
{
    uint32_t *const known = check->known[rows->first], own = known[rows->first];

    known[rows->first] = rows->serial;
    check_join(check->barriers[rows->lanes & ~CHECK_ARRIVES], known);
    check->told |= UINT32_C(1) << (rows->lanes & ~CHECK_ARRIVES);
    known[rows->first] = own;
}

static void replay(struct ptx_block *block)
{
    struct check_block *check = block->check;
    const uint32_t logged = check->logged;
    const bool quiet = check->quiet;

    check_rows_settle(block);
    check->quiet = quiet;
    check->logged = 0;
    for (uint32_t i = 0; i < logged; i++) {
        const struct check_rows *rows = &check->log[i];

        if (rows->count == 0 && rows->lanes & CHECK_ARRIVES)
            replay_arrival(check, rows);
        else if (rows->count == 0)
            replay_lanes(block, rows);
        for (uint32_t w = 0; w < rows->count; w++) {
            struct access access = {.pattern = ACCESS_HALVES, .stride = (uint64_t)rows->lane};

            access.base = (char *)rows->base + (int64_t)w * rows->warp;
            access.second = access.base + rows->half;
            replay_one(&block->warps[rows->first + w].warp, rows, rows->mask, &access);
        }
    }
    check->listed = 0;
}

void check_near_order(struct ptx_block *block)
{
    if (block->check->listed)
        replay(block);
}

/* A larger list, or NULL. */
static void *grown(void *list, uint32_t *size, size_t each)
{
    const uint32_t more = *size ? 2 * *size : 256;
    void *larger = realloc(list, more * each);

    if (larger)
        *size = more;
    return larger;
}

bool check_near_log(struct ptx_block *block, const struct check_rows *rows)
{
    struct check_block *check = block->check;

    if (check->logged == MOST_LOGGED)
        replay(block);
    if (check->logged == check->log_size) {
        struct check_rows *log = grown(check->log, &check->log_size, sizeof *log);

        if (!log)
            return false;
        check->log = log;
    }
    check->log[check->logged++] = *rows;
    return true;
}

/* Room for the lanes of an atomic access; NULL: no memory. */
static struct check_lanes *room(struct ptx_block *block)
{
    struct check_block *check = block->check;

    if (check->listed == MOST_LISTED || check->logged == MOST_LOGGED)
        replay(block);
    if (check->listed == check->list_size) {
        struct check_lanes *lists = grown(check->lists, &check->list_size, sizeof *lists);

        if (!lists)
            return NULL;
        check->lists = lists;
    }
    return &check->lists[check->listed];
}

static void list_lanes(struct check_lanes *lanes, const struct ptx_block *block,
                       const struct check_doing *now)
{
    const struct access *access = now->access;
    const uintptr_t shared = (uintptr_t)block->shared;

    lanes->mask = now->mask;
    if (now->mask == PTX_FULL && access->pattern == ACCESS_GATHER) {
        const uint32_t base = (uint32_t)((uintptr_t)access->base - shared);

        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            lanes->at[lane] = base + (uint32_t)access->offsets[lane];
        return;
    }
    FOR_LANES (lane, now->mask)
        lanes->at[lane] = (uint32_t)(access_lane(access, lane) - shared);
}

static bool log_lanes(struct ptx_warp *warp, const struct check_doing *now)
{
    struct ptx_block *block = warp->block;
    struct check_rows rows = {.step = now->step,
                              .first = warp->index,
                              .lanes = block->check->listed,
                              .serial = now->serial,
                              .mask = now->mask,
                              .size = (uint8_t)now->size,
                              .write = now->write};

    if (!check_near_log(block, &rows))
        return false;
    block->check->listed++;
    return true;
}

bool check_near_arrive(struct ptx_block *block, unsigned warp, unsigned barrier)
{
    const uint32_t serial = block->launch->check->serial;
    const struct check_rows rows = {
        .first = warp, .serial = serial, .lanes = CHECK_ARRIVES | barrier};

    if (!block->check->listed || !check_near_log(block, &rows))
        return false;
    block->check->known[warp][warp] = serial;
    return true;
}

unsigned check_near_atomic(struct ptx_warp *warp, const struct check_doing *now, unsigned which)
{
    struct ptx_block *block = warp->block;
    struct check *check = block->launch->check;
    struct check_lanes *lanes = room(block);
    const uint32_t since = block->check->since;
    const uint64_t bytes = (UINT64_C(1) << now->size) - 1;
    bool passes = which & PTX_CHECK_RACE;
    unsigned left = which;
    uint64_t missing = 0;

    if (!lanes)
        return which;
    check_rows_settle(block);
    list_lanes(lanes, block, now);
    FOR_LANES (lane, now->mask) {
        const uint32_t at = lanes->at[lane];
        struct check_near *line = &block->check->lines[at / CHECK_LINE];
        const uint64_t bits = bytes << at % CHECK_LINE;

        missing |= bits & ~line->written;
        passes =
            passes && check_near_passes(line, since, now->serial, CHECK_NEAR_ATOMIC, bits, true);
    }
    if (!missing)
        left &= ~(unsigned)PTX_CHECK_INIT;
    if (passes && log_lanes(warp, now)) {
        left &= ~(unsigned)PTX_CHECK_RACE;
        block->check->known[warp->index][warp->index] = now->serial;
        if (check->last_atomic)
            check->last_atomic[block->number] = now->serial;
    }
    return left;
}

void check_near_exact(struct ptx_block *block, uintptr_t at)
{
    struct check_block *check = block->check;
    struct check_near *line = &check->lines[(at - (uintptr_t)block->shared) / CHECK_LINE];

    check_rows_settle(block);
    if (line->touched >= check->since && !(line->key & CHECK_NEAR_EXACT))
        replay(block);
    line->touched = block->launch->check->serial;
    line->key = CHECK_NEAR_EXACT;
}
