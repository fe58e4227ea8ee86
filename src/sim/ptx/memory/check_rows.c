/* SPDX-License-Identifier: MIT */
/* The usual accesses at once: rows of neighbouring lanes, and what all lanes read. Two short cuts
 * say that nobody can be in the way; if neither does, check_race.c looks at each lane.
 *
 * Shared memory: what was before a barrier of all threads is over. Of a line that since then only
 * the same threads used, or that was only read, no more is kept than that. The accesses are logged,
 * and check_race.c gets to know them if another one needs it.
 *
 * Global memory: a line whose parts each only one thread used, all in one way, is one entry. */
#include "ptx/memory/check_state.h"

#include <stdlib.h>

#include "ptx/ops/affine.h"
#include "ptx/ops/ops.h"

#define MOST_LOGGED 16384
#define MOST_LISTED 8192
#define MOST_SEGMENTS (2 * CHECK_WARPS)

/* Bytes without gaps. */
struct segments {
    uint32_t count;
    uint32_t step; /* half warps from one to the next */
    uint64_t size;
    uintptr_t first[MOST_SEGMENTS];
    bool own; /* each lane has bytes of its own */
};

/* False: lanes are neither neighbours nor at one place. */
static bool segments_of(const struct check_rows *rows, struct segments *segments)
{
    const int64_t size = rows->size;
    const bool one = rows->lane == 0, warp = rows->half == 16 * rows->lane;
    uint32_t count = rows->count;

    segments->own = !one;
    if (!one && rows->lane != size)
        return false;
    if (!one && warp && (count == 1 || rows->warp == 32 * size)) {
        segments->count = 1;
        segments->step = 2 * count;
        segments->size = (uint64_t)size * PTX_LANES * count;
        segments->first[0] = rows->base;
        return true;
    }
    if (count > 1 && rows->warp == 0) { /* all the same */
        count = 1;
        segments->own = false;
    }
    segments->step = warp || rows->half == 0 ? 2 : 1;
    segments->own = segments->own && (warp || rows->half != 0);
    segments->size = (uint64_t)(one ? size : size * (warp ? PTX_LANES : PTX_LANES / 2));
    segments->count = count * 2 / segments->step;
    for (uint32_t i = 0; i < segments->count; i++) {
        const uint32_t half = i * segments->step;

        segments->first[i] =
            rows->base + (uintptr_t)(half / 2 * rows->warp) + (uintptr_t)(half % 2 * rows->half);
    }
    return true;
}

/* The thread of the first byte of a segment. */
static uint32_t thread_of(const struct check_rows *rows, const struct segments *segments,
                          uint32_t segment)
{
    return rows->first * PTX_LANES + segment * segments->step * (PTX_LANES / 2);
}

/* --- Shared memory --- */

/* Which thread has which byte: the place of the first thread of all, and each one's size. */
static uint32_t key_of(const struct ptx_block *block, const struct check_rows *rows,
                       const struct segments *segments, uint32_t segment)
{
    const uintptr_t at = segments->first[segment] - (uintptr_t)block->shared;

    if (!segments->own)
        return 0;
    return (uint32_t)((at + 65536 - thread_of(rows, segments, segment) * rows->size) & 0xFFFFF) |
           (uint32_t)rows->size << 20;
}

/* Can the access be in no one's way? Then the line knows of it. */
static bool near_passes(struct check_near *line, uint32_t since, uint32_t serial, uint32_t key,
                        bool write)
{
    const uint32_t wrote = write ? CHECK_NEAR_WRITTEN : 0;

    if (line->touched < since) {
        if (write && !key)
            return false;
        line->key = key | wrote;
    } else if (line->key & CHECK_NEAR_EXACT) {
        return false;
    } else if (key && (line->key & CHECK_NEAR_KEY) == key) {
        line->key |= wrote;
    } else {
        if (write || line->key & CHECK_NEAR_WRITTEN)
            return false;
        line->key = 0;
    }
    line->touched = serial;
    return true;
}

/* The bits of a line for bytes from `at` to `end`. */
static uint64_t bits_of(uint64_t at, uint64_t end)
{
    const uint64_t skipped = at % CHECK_LINE, left = end - at;
    const uint64_t here = left < CHECK_LINE - skipped ? left : CHECK_LINE - skipped;

    return UINT64_MAX >> (CHECK_LINE - here) << skipped;
}

bool check_rows_written(struct ptx_block *block, uintptr_t first, uint64_t size, bool write)
{
    const uint64_t begin = first - (uintptr_t)block->shared, end = begin + size;
    uint64_t missing = 0;

    for (uint64_t at = begin; at < end; at = (at | (CHECK_LINE - 1)) + 1) {
        uint64_t *const written = &block->check->lines[at / CHECK_LINE].written;
        const uint64_t bits = bits_of(at, end);

        missing |= bits & ~*written;
        if (write)
            *written |= bits;
    }
    return !missing;
}

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
    known[rows->first] = own;
}

static void replay(struct ptx_block *block)
{
    struct check_block *check = block->check;
    const uint32_t logged = check->logged;

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
            replay_one(&block->warps[rows->first + w].warp, rows, PTX_FULL, &access);
        }
    }
    check->listed = 0;
}

void check_rows_order(struct ptx_block *block)
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

static bool log_rows(struct ptx_block *block, const struct check_rows *rows)
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

static bool log_lanes(struct ptx_warp *warp, const struct check_doing *now)
{
    struct ptx_block *block = warp->block;
    struct check_block *check = block->check;
    struct check_rows rows = {.step = now->step,
                              .first = warp->index,
                              .serial = now->serial,
                              .size = (uint8_t)now->size,
                              .write = now->write};

    if (check->listed == MOST_LISTED)
        replay(block);
    if (check->listed == check->list_size) {
        struct check_lanes *lists = grown(check->lists, &check->list_size, sizeof *lists);

        if (!lists)
            return false;
        check->lists = lists;
    }
    rows.lanes = check->listed;
    if (!log_rows(block, &rows))
        return false;
    struct check_lanes *lanes = &check->lists[check->listed++];
    lanes->mask = now->mask;
    FOR_LANES (lane, now->mask)
        lanes->at[lane] = (uint32_t)(access_lane(now->access, lane) - (uintptr_t)block->shared);
    return true;
}

bool check_rows_arrive(struct ptx_block *block, unsigned warp, unsigned barrier)
{
    const uint32_t serial = block->launch->check->serial;
    const struct check_rows rows = {
        .first = warp, .serial = serial, .lanes = CHECK_ARRIVES | barrier};

    if (!block->check->listed || !log_rows(block, &rows))
        return false;
    block->check->known[warp][warp] = serial;
    return true;
}

unsigned check_rows_atomic(struct ptx_warp *warp, const struct check_doing *now, unsigned which)
{
    struct ptx_block *block = warp->block;
    struct check *check = block->launch->check;
    const uint32_t since = block->check->since;
    bool passes = which & PTX_CHECK_RACE;
    unsigned left = which;
    uint64_t missing = 0;

    FOR_LANES (lane, now->mask) {
        const uintptr_t at = access_lane(now->access, lane) - (uintptr_t)block->shared;
        struct check_near *line = &block->check->lines[at / CHECK_LINE];
        const uint64_t bits = ((UINT64_C(1) << now->size) - 1) << at % CHECK_LINE;

        missing |= bits & ~line->written;
        passes = passes && near_passes(line, since, now->serial, CHECK_NEAR_ATOMIC, true);
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

void check_rows_exact(struct ptx_block *block, uintptr_t at)
{
    struct check_block *check = block->check;
    struct check_near *line = &check->lines[(at - (uintptr_t)block->shared) / CHECK_LINE];

    if (line->touched >= check->since && !(line->key & CHECK_NEAR_EXACT))
        replay(block);
    line->touched = block->launch->check->serial;
    line->key = CHECK_NEAR_EXACT;
}

static unsigned shared_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct segments *segments, unsigned which)
{
    struct check_block *check = block->check;
    const uint32_t since = check->since;
    bool passes = which & PTX_CHECK_RACE;
    uint64_t missing = 0;
    unsigned left = which;

    for (uint32_t i = 0; i < segments->count; i++) {
        const uintptr_t begin = segments->first[i] - (uintptr_t)block->shared;
        const uintptr_t end = begin + segments->size;
        const uint32_t key = key_of(block, rows, segments, i);

        for (uintptr_t at = begin; at < end; at = (at | (CHECK_LINE - 1)) + 1) {
            struct check_near *line = &check->lines[at / CHECK_LINE];
            const uint64_t bits = bits_of(at, end);

            passes = passes && near_passes(line, since, rows->serial, key, rows->write);
            if (rows->write)
                line->written |= bits;
            else
                missing |= bits & ~line->written;
        }
    }
    if (!missing)
        left &= ~(unsigned)PTX_CHECK_INIT;
    if (passes && log_rows(block, rows))
        left &= ~(unsigned)PTX_CHECK_RACE;
    return left;
}

/* --- Global memory --- */

/* A line that others read, too. */
static bool quick_read(struct check *check, const struct ptx_block *block,
                       const struct check_rows *rows, uint64_t what, uintptr_t at)
{
    const struct check_seen seen = {.step = rows->step,
                                    .block = (uint32_t)block->number,
                                    .serial = rows->serial,
                                    .thread = (uint16_t)(what >> 6 & 1023),
                                    .bytes = (1U << CHECK_CELL) - 1,
                                    .shift = ((what >> 2 & 15) - 2) & 15};

    return !rows->write && check_race_read(check, at, &seen);
}

/* Lines from `at` to `end`, which all lie in it; false: one was used otherwise. */
static bool quick_race(struct check *check, const struct ptx_block *block,
                       const struct check_rows *rows, uint32_t thread, uintptr_t at, uintptr_t end)
{
    const unsigned shift = (unsigned)__builtin_ctz(rows->size);
    const uint64_t threads = CHECK_LINE >> shift;
    uint64_t what = CHECK_WHAT(rows->step, thread, shift, rows->write);

    while (at < end) {
        struct check_page *page = check_race_page(check, at);
        uintptr_t line = at % CHECK_PAGE / CHECK_LINE;

        if (!page)
            return false;
        for (; line < CHECK_LINES && at < end; line++, at += CHECK_LINE, what += threads << 6) {
            struct check_quick *quick = &page->quick[line];

            /* All but the step is to be the same. */
            if (quick->serial < check->first ||
                (!((quick->what ^ what) & 0xFFFF) && quick->block == (uint32_t)block->number))
                *quick = (struct check_quick){rows->serial, (uint32_t)block->number, what};
            else if (!quick_read(check, block, rows, what, at))
                return false;
        }
    }
    return true;
}

static unsigned global_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct segments *segments, unsigned which)
{
    struct check *check = block->launch->check;
    bool were = true, quick = segments->own && rows->size >= CHECK_CELL && rows->size <= 8;
    unsigned left = which;

    for (uint32_t i = 0; i < segments->count; i++) {
        const uintptr_t first = segments->first[i];

        if (which & PTX_CHECK_INIT && rows->write)
            check_init_write(check, first, segments->size);
        else if (which & PTX_CHECK_INIT)
            were = were && check_init_read(check, first, segments->size);
        quick = quick && (first | segments->size) % CHECK_LINE == 0;
    }
    if (were)
        left &= ~(unsigned)PTX_CHECK_INIT;
    if (!quick || !(which & PTX_CHECK_RACE))
        return left;
    for (uint32_t i = 0; quick && i < segments->count; i++)
        quick = quick_race(check, block, rows, thread_of(rows, segments, i), segments->first[i],
                           segments->first[i] + segments->size);
    return quick ? left & ~(unsigned)PTX_CHECK_RACE : left;
}

unsigned check_rows(struct ptx_block *block, const struct check_rows *rows, bool shared,
                    unsigned which)
{
    struct segments segments;

    if (!segments_of(rows, &segments))
        return which;
    return shared ? shared_rows(block, rows, &segments, which)
                  : global_rows(block, rows, &segments, which);
}

/* --- Of teams --- */

/* Where all of the team's memory is; false: the access is none for teams. */
static bool find(const struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
                 const struct affine *at, uint64_t size, bool write, struct ptx_range *span)
{
    const struct ptx_block *block = team->warps->warp.block;
    const uint64_t offset = step->how.memory.offset, first = at->base + offset;
    int64_t least, greatest;

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
    affine_extremes(team, at, &least, &greatest);
    return (uint64_t)least + offset - span->base < span->size &&
           (uint64_t)greatest + offset - span->base < span->size &&
           span->size - ((uint64_t)greatest + offset - span->base) >= size;
}

void check_rows_team(struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
                     const struct affine *at, uint32_t size, bool write)
{
    struct ptx_block *block = team->warps->warp.block;
    struct check *check = block->launch->check;
    struct ptx_range span;

    if (!check || team->active != PTX_FULL || step->how.memory.unused || !affine_is_small(at) ||
        !find(team, step, space, at, size, write, &span))
        return;
    const struct check_rows rows = {.step = step,
                                    .base = (uintptr_t)span.host +
                                            (at->base + step->how.memory.offset - span.base),
                                    .lane = (int64_t)at->lane,
                                    .half = (int64_t)at->half,
                                    .warp = (int64_t)at->warp,
                                    .first = team->warps->warp.index,
                                    .count = team->count,
                                    .serial = ++check->serial,
                                    .size = (uint8_t)size,
                                    .write = write};
    check_each(block, &rows);
}
