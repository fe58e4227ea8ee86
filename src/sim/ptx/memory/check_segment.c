/* SPDX-License-Identifier: MIT */
/* The bytes of the usual accesses, as segments without gaps, and what lines of shared memory know
 * of them. */
#include "ptx/memory/check_state.h"

/* Of some lanes of a warp. */
static bool segment_of(const struct check_rows *rows, struct check_segments *segments)
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

bool check_segment_of(const struct check_rows *rows, struct check_segments *segments)
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

uint32_t check_segment_thread(const struct check_rows *rows, const struct check_segments *segments,
                              uint32_t segment)
{
    return rows->first * PTX_LANES + segment * segments->step * (PTX_LANES / 2) + segments->lane;
}

/* Which thread has which byte: the place of the first thread of all, and each one's size. */
static uint32_t key_of(const struct ptx_block *block, const struct check_rows *rows,
                       const struct check_segments *segments, uint32_t segment)
{
    const uintptr_t at = segments->first[segment] - (uintptr_t)block->shared;

    if (!segments->own)
        return 0;
    return (uint32_t)((at + 65536 - check_segment_thread(rows, segments, segment) * rows->size) &
                      0xFFFFF) |
           (uint32_t)rows->size << 20;
}

bool check_segment_written(struct ptx_block *block, uintptr_t first, uint64_t size, bool write)
{
    const uint64_t begin = first - (uintptr_t)block->shared, end = begin + size;
    uint64_t missing = 0;

    for (uint64_t at = begin; at < end; at = (at | (CHECK_LINE - 1)) + 1) {
        uint64_t *const written = &block->check->lines[at / CHECK_LINE].written;
        const uint64_t bits = check_bits_of(at, end);

        missing |= bits & ~*written;
        if (write)
            *written |= bits;
    }
    return !missing;
}

bool check_segment_pass(struct ptx_block *block, const struct check_rows *rows,
                        const struct check_segments *segments)
{
    struct check_block *check = block->check;
    bool passes = true;

    for (uint32_t i = 0; passes && i < segments->count; i++) {
        const uintptr_t begin = segments->first[i] - (uintptr_t)block->shared;
        const uintptr_t end = begin + segments->size;
        const uint32_t key = key_of(block, rows, segments, i);

        for (uintptr_t at = begin; passes && at < end; at = (at | (CHECK_LINE - 1)) + 1)
            passes = check_segment_line(&check->lines[at / CHECK_LINE], check->since, rows->serial,
                                        key, check_bits_of(at, end), rows->write);
    }
    return passes;
}

void check_segment_settle(struct ptx_block *block)
{
    struct check_block *check = block->check;
    struct check_segments segments;

    for (uint32_t i = 0; check->quiet && i < check->logged; i++)
        if (check_segment_of(&check->log[i], &segments))
            check_segment_pass(block, &check->log[i], &segments);
    check->quiet = false;
}
