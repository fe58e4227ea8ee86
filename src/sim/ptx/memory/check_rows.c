/* SPDX-License-Identifier: MIT */
/* The usual accesses at once: rows of neighbouring lanes, and what all lanes read. Two short cuts
 * say that nobody can be in the way; if neither does, check_race.c looks at each lane. That of
 * shared memory is in check_near.c. Global memory: a line whose parts each only one thread used,
 * all in one way, is one entry. */
#include "ptx/memory/check_state.h"

#include "ptx/ops/affine.h"
#include "ptx/ops/ops.h"

#define MOST_SEGMENTS (2 * CHECK_WARPS)

/* Bytes without gaps. */
struct segments {
    uint32_t count;
    uint32_t step; /* half warps from one to the next */
    uint32_t lane; /* of the first byte */
    uint64_t size;
    uintptr_t first[MOST_SEGMENTS];
    bool own; /* each lane has bytes of its own */
};

/* As segments_of, of some lanes of a warp. */
static bool segment_of(const struct check_rows *rows, struct segments *segments)
{
    const uint32_t first = (uint32_t)__builtin_ctz(rows->mask);
    const uint32_t last = 31 - (uint32_t)__builtin_clz(rows->mask), count = last - first + 1;
    const bool split = first < 16 && last >= 16; /* both halves have some */

    segments->count = 1;
    segments->step = 2;
    segments->lane = first;
    segments->own = rows->lane != 0 || count == 1;
    segments->first[0] =
        rows->base + (uintptr_t)(first % 16 * rows->lane) + (uintptr_t)(first / 16 * rows->half);
    segments->size = rows->size;
    if (rows->lane == 0)
        return !split || rows->half == 0;
    segments->size = (uint64_t)rows->size * count;
    return count == 1 || (rows->lane == rows->size && (!split || rows->half == 16 * rows->lane) &&
                          rows->mask >> first == UINT32_MAX >> (32 - count));
}

/* False: lanes are neither neighbours nor at one place. */
static bool segments_of(const struct check_rows *rows, struct segments *segments)
{
    const int64_t size = rows->size;
    const bool one = rows->lane == 0, warp = rows->half == 16 * rows->lane;
    uint32_t count = rows->count;

    if (rows->mask != PTX_FULL)
        return segment_of(rows, segments);
    segments->lane = 0;
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
    return rows->first * PTX_LANES + segment * segments->step * (PTX_LANES / 2) + segments->lane;
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

/* The access, in the lines of its segments; false: it may be in someone's way. */
static bool near_passes(struct ptx_block *block, const struct check_rows *rows,
                        const struct segments *segments)
{
    struct check_block *check = block->check;
    bool passes = true;

    for (uint32_t i = 0; passes && i < segments->count; i++) {
        const uintptr_t begin = segments->first[i] - (uintptr_t)block->shared;
        const uintptr_t end = begin + segments->size;
        const uint32_t key = key_of(block, rows, segments, i);

        for (uintptr_t at = begin; passes && at < end; at = (at | (CHECK_LINE - 1)) + 1)
            passes = check_near_passes(&check->lines[at / CHECK_LINE], check->since, rows->serial,
                                       key, bits_of(at, end), rows->write);
    }
    return passes;
}

void check_rows_settle(struct ptx_block *block)
{
    struct check_block *check = block->check;
    struct segments segments;

    for (uint32_t i = 0; check->quiet && i < check->logged; i++)
        if (segments_of(&check->log[i], &segments))
            near_passes(block, &check->log[i], &segments);
    check->quiet = false;
}

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
           check_near_log(block, rows);
}

/* Were all of the segments' bytes written? Now they are, if it is a write. */
static bool were_written(struct ptx_block *block, const struct check_rows *rows,
                         const struct segments *segments)
{
    struct check_block *check = block->check;
    const uint32_t lines = block->shared_size / CHECK_LINE;
    bool were = true;

    for (uint32_t i = 0; i < segments->count; i++)
        were = check_rows_written(block, segments->first[i], segments->size, rows->write) && were;
    while (!rows->write && check->full <= lines && !~check->lines[check->full].written)
        check->full++;
    return were;
}

static unsigned shared_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct segments *segments, unsigned which)
{
    struct check_block *check = block->check;
    unsigned left = which;

    if (were_written(block, rows, segments) || rows->write)
        left &= ~(unsigned)PTX_CHECK_INIT;
    if (!(which & PTX_CHECK_RACE))
        return left;
    if (!check->quiet || rows->write) {
        check_rows_settle(block);
        if (!near_passes(block, rows, segments))
            return left;
    }
    return check_near_log(block, rows) ? left & ~(unsigned)PTX_CHECK_RACE : left;
}

/* --- Global memory --- */

/* Lines from `at` to `end`, which all lie in it; false: one was used otherwise. */
static bool quick_race(struct check *check, const struct ptx_block *block,
                       const struct check_rows *rows, uint32_t thread, uintptr_t at, uintptr_t end)
{
    const unsigned shift = (unsigned)__builtin_ctz(rows->size);
    const uint64_t threads = CHECK_LINE >> shift;
    uint64_t what = CHECK_WHAT(rows->step, thread, shift, rows->write);

    while (at < end) {
        struct check_page *page = check_line_page(check, at);
        uintptr_t line = at % CHECK_PAGE / CHECK_LINE;

        if (!page)
            return false;
        for (; line < CHECK_LINES && at < end; line++, at += CHECK_LINE, what += threads << 6) {
            struct check_quick *quick = &page->quick[line];
            const struct check_quick now = {rows->serial, (uint32_t)block->number, what};

            /* All but the step is to be the same. */
            if (quick->serial < check->first ||
                (!((quick->what ^ what) & 0xFFFF) && quick->block == now.block))
                *quick = now;
            else if (rows->write || !check_line_read(check, page, at, &now))
                return false;
        }
    }
    return true;
}

static unsigned global_rows(struct ptx_block *block, const struct check_rows *rows,
                            const struct segments *segments, unsigned which)
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
        quick = quick_race(check, block, rows, thread_of(rows, segments, i), segments->first[i],
                           segments->first[i] + segments->size);
    return quick ? left & ~(unsigned)PTX_CHECK_RACE : left;
}

unsigned check_rows(struct ptx_block *block, const struct check_rows *rows, bool shared,
                    unsigned which)
{
    struct segments segments;

    if (shared && which & PTX_CHECK_RACE && is_quiet(block, rows))
        return 0;
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

void check_rows_team(struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
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
