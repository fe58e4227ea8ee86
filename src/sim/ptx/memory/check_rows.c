/* SPDX-License-Identifier: MIT */
/* The usual accesses at once: rows of neighbouring lanes, and what all lanes read. Two short cuts
 * say that nobody can be in the way; if neither does, check_race.c looks at each lane.
 * Shared memory since the last barrier of all threads: what was before it is over. A line knows who
 * has which of its bytes, or that they were only read; the accesses themselves are logged, and
 * check_race.c gets to know them if another one needs it.
 * Global memory: a line whose parts each only one thread used, all in one way, is one entry. */
#include "ptx/memory/check_state.h"

#include <stdlib.h>

#define MOST_LOGGED 16384
#define MOST_LISTED 8192

/* --- The log --- */

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
        check_race_replay(block);
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
        check_race_replay(block);
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

    if (!log_rows(block, &rows))
        return false;
    block->check->listed++;
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
    struct check_lanes *lanes = room(block);
    const uint32_t since = block->check->since;
    const uint64_t bytes = (UINT64_C(1) << now->size) - 1;
    bool passes = which & PTX_CHECK_RACE;
    unsigned left = which;
    uint64_t missing = 0;

    if (!lanes)
        return which;
    check_segment_settle(block);
    list_lanes(lanes, block, now);
    FOR_LANES (lane, now->mask) {
        const uint32_t at = lanes->at[lane];
        struct check_near *line = &block->check->lines[at / CHECK_LINE];
        const uint64_t bits = bytes << at % CHECK_LINE;

        missing |= bits & ~line->written;
        passes =
            passes && check_segment_line(line, since, now->serial, CHECK_NEAR_ATOMIC, bits, true);
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

/* --- Shared memory --- */

/* A read while nobody writes, of what is written: that is all to be known of it. */
static bool is_quiet(struct ptx_block *block, const struct check_rows *rows)
{
    const struct check_block *check = block->check;
    const int64_t lanes = 15 * rows->lane, warps = (rows->count - 1) * rows->warp;
    const uintptr_t last = rows->base + (uintptr_t)(lanes > 0 ? lanes : 0) +
                           (uintptr_t)(rows->half > 0 ? rows->half : 0) +
                           (uintptr_t)(warps > 0 ? warps : 0);

    return check->quiet && !rows->write && rows->mask == PTX_FULL &&
           (rows->lane == 0 || rows->lane == rows->size) &&
           last + rows->size - (uintptr_t)block->shared <= (uint64_t)check->full * CHECK_LINE &&
           log_rows(block, rows);
}

/* Were all of the segments' bytes written? Now they are, if it is a write. */
static bool were_written(struct ptx_block *block, const struct check_rows *rows,
                         const struct check_segments *segments)
{
    struct check_block *check = block->check;
    const uint32_t lines = block->shared_size / CHECK_LINE;
    bool were = true;

    for (uint32_t i = 0; i < segments->count; i++)
        were =
            check_segment_written(block, segments->first[i], segments->size, rows->write) && were;
    while (!rows->write && check->full <= lines && !~check->lines[check->full].written)
        check->full++;
    return were;
}

static unsigned shared_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct check_segments *segments, unsigned which)
{
    struct check_block *check = block->check;
    unsigned left = which;

    if (were_written(block, rows, segments) || rows->write)
        left &= ~(unsigned)PTX_CHECK_INIT;
    if (!(which & PTX_CHECK_RACE))
        return left;
    if (!check->quiet || rows->write) {
        check_segment_settle(block);
        if (!check_segment_pass(block, rows, segments))
            return left;
    }
    return log_rows(block, rows) ? left & ~(unsigned)PTX_CHECK_RACE : left;
}

/* --- Global memory --- */

/* Lines from `at` to `end`, which all lie in it; false: one was used otherwise. */
static bool quick_race(struct check *check, const struct ptx_block *block,
                       const struct check_rows *rows, uint32_t thread, uintptr_t at, uintptr_t end)
{
    const unsigned shift = (unsigned)__builtin_ctz(rows->size);
    struct check_quick now = {rows->serial, (uint32_t)block->number,
                              CHECK_WHAT(rows->step, thread, shift, rows->write)};

    for (uint32_t bytes; at < end; at += bytes, now = check_quick_next(now, bytes)) {
        struct check_page *page = check_line_page(check, at);
        struct check_quick *quick = page ? &page->chunks[at % CHECK_PAGE / CHECK_CHUNK] : NULL;

        bytes = CHECK_CHUNK;
        if (page && (at % CHECK_CHUNK || end - at < CHECK_CHUNK ||
                     (quick->serial >= check->first && !check_quick_alike(quick, &now)))) {
            bytes = CHECK_LINE;
            quick = check_line_quick(check, page, at);
        }
        if (!quick)
            return false;
        if (quick->serial < check->first || check_quick_alike(quick, &now))
            *quick = now;
        else if (rows->write || !check_line_read(check, page, at, quick, &now))
            return false;
    }
    return true;
}

static unsigned global_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct check_segments *segments, unsigned which)
{
    struct check *check = block->launch->check;
    bool were = true, quick = segments->own && rows->size <= 8;
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
        quick = quick_race(check, block, rows, check_segment_thread(rows, segments, i),
                           segments->first[i], segments->first[i] + segments->size);
    return quick ? left & ~(unsigned)PTX_CHECK_RACE : left;
}

unsigned check_rows(struct ptx_block *block, const struct check_rows *rows, bool shared,
                    unsigned which)
{
    struct check_segments segments;

    if (shared && which & PTX_CHECK_RACE && is_quiet(block, rows))
        return 0;
    if (!check_segment_of(rows, &segments))
        return which;
    return shared ? shared_rows(block, rows, &segments, which)
                  : global_rows(block, rows, &segments, which);
}
