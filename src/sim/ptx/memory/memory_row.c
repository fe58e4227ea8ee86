/* SPDX-License-Identifier: MIT */
/* Loads and stores of the usual sizes, where all lanes run and all of their memory is in the range
 * that the step found before: what kernels mostly do. Everything else, faults among it, is for
 * memory_load.c and memory_store.c, which check in the same way and say what is wrong. */
#include "ptx/memory/memory.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* A row of 32 values of 4 bytes, past the caches. A store that tells other threads of it waits
 * (memory_store.c). */
#if defined(__AVX512DQ__)
#define HAS_STREAMS 1
#define STREAM_BYTES 64
#define STREAM(to, from) _mm512_stream_si512((__m512i *)(to), _mm512_loadu_si512(from))
#elif defined(__AVX2__)
#define HAS_STREAMS 1
#define STREAM_BYTES 32
#define STREAM(to, from)                                                                           \
    _mm256_stream_si256((__m256i *)(to), _mm256_loadu_si256((const __m256i *)(from)))
#else
#define HAS_STREAMS 0
#endif
OPS_INLINE void stream_row(char *to, const void *from)
{
#if HAS_STREAMS
    for (unsigned at = 0; at < PTX_LANES * 4; at += STREAM_BYTES)
        STREAM((void *)(to + at), (const void *)((const char *)from + at));
#else
    (void)to, (void)from;
#endif
}

/* Are both halves of the warp rows of this stride? */
OPS_INLINE bool are_rows(const lane_u64 *addresses, uint64_t stride)
{
    const uint64_t low = addresses[0], high = addresses[16];
    uint64_t difference = 0;

    OPS_UNORDERED
    for (unsigned i = 0; i < 16; i++) {
        difference |= (addresses[i] - low) ^ (i * stride);
        difference |= (addresses[i + 16] - high) ^ (i * stride);
    }
    return difference == 0;
}

/* Rows of the span, aligned: where both begin. */
OPS_INLINE bool find_rows(const struct ptx_range *span, const lane_u64 *addresses, uint64_t offset,
                          uint64_t size, uint64_t stride, char *rows[2])
{
    const uint64_t first = addresses[0] + offset, second = addresses[16] + offset;
    const uint64_t length = 15 * stride + size;

    if (((first | second) & (size - 1)) != 0 || !memory_holds(span, first, length) ||
        !memory_holds(span, second, length) || !are_rows(addresses, stride))
        return false;
    rows[0] = span->host + (first - span->base);
    rows[1] = span->host + (second - span->base);
    return true;
}

/* Is every lane's memory in the span, and aligned? */
OPS_INLINE bool span_holds_all(const struct ptx_range *span, const lane_u64 *addresses,
                               uint64_t offset, uint64_t size)
{
    const uint64_t limit = span->size - size, shift = offset - span->base;
    uint64_t outside = 0, low = 0;

    if (span->size < size)
        return false;
    OPS_LANES
    {
        const uint64_t at = addresses[lane] + shift;
        outside |= at | (limit - at);
        low |= addresses[lane] + offset;
    }
    return !(outside >> 63) && !(low & (size - 1));
}

/* All lanes, of which each half of the warp has a row of values, or one value for all of them. */
#define LOAD_ROWS(to, cell, cast, shape, first, second)                                            \
    cell values[PTX_LANES];                                                                        \
    memcpy(values, first, sizeof values / 2);                                                      \
    memcpy(values + 16, second, sizeof values / 2);                                                \
    OPS_LANES                                                                                      \
    {                                                                                              \
        to[lane] = (shape)cast values[lane];                                                       \
    }
#define LOAD_TWO(to, cell, cast, shape, first, second)                                             \
    cell one, two;                                                                                 \
    memcpy(&one, first, sizeof one);                                                               \
    memcpy(&two, second, sizeof two);                                                              \
    OPS_LANES                                                                                      \
    {                                                                                              \
        to[lane] = (shape)cast(lane < 16 ? one : two);                                             \
    }
#define STORE_ROWS(from, cell, first, second)                                                      \
    cell values[PTX_LANES];                                                                        \
    OPS_LANES                                                                                      \
    {                                                                                              \
        values[lane] = (cell)from[lane];                                                           \
    }                                                                                              \
    memcpy(first, values, sizeof values / 2);                                                      \
    memcpy(second, values + 16, sizeof values / 2);

/* --- Of teams, at affine addresses: nothing is done where a lane might not be inside --- */

/* Are the rows of all warps one row? */
OPS_INLINE bool is_one_row(const struct affine *at, uint64_t size)
{
    return at->lane == size && at->half == 16 * size && at->warp == 32 * size;
}

/* What is behind that row: the next block mostly goes on there. */
OPS_INLINE void prefetch_next(const struct ptx_team *team, const struct affine *at, const char *row,
                              uint64_t size)
{
    const uint64_t bytes = is_one_row(at, size) ? team->count * at->warp : 0;

    for (uint64_t i = bytes; i < 2 * bytes; i += 64)
        __builtin_prefetch(row + i);
}

/* Do values of 4 bytes go to whole lines of so large an allocation that no cache keeps it until
 * somebody reads them? Then they go past the caches: no line need be read before it is written. */
#define STREAM_LEAST (UINT64_C(32) << 20)
OPS_INLINE bool is_stream(const struct ptx_team *team, const struct affine *at,
                          const struct ptx_range *span, const char *row)
{
    return HAS_STREAMS && span->size >= STREAM_LEAST && !team->masks && is_one_row(at, 4) &&
           ((uintptr_t)row & 63) == 0;
}

#define TEAM_LOAD(name, cell, cast, shape, space)                                                  \
    DEVICE_ACCESS static bool team_##name(struct ptx_team *team, const struct ptx_step *step)      \
    {                                                                                              \
        const struct affine *at = team_in(team, step->operand[1]);                                 \
        const uint64_t size = sizeof(cell);                                                        \
        const int64_t stride = (int64_t)at->lane, warp = (int64_t)at->warp;                        \
        const char *row, *second;                                                                  \
        struct ptx_range span;                                                                     \
                                                                                                   \
        if (step->how.memory.unused != 0 ||                                                        \
            !memory_of_team(team, step, space, at, size, false, &span))                            \
            return false;                                                                          \
        row = span.host + (at->base + step->how.memory.offset - span.base);                        \
        second = row + (int64_t)at->half;                                                          \
        if ((space) == MEMORY_GLOBAL)                                                              \
            prefetch_next(team, at, row, size);                                                    \
        row += team->first * warp, second += team->first * warp;                                   \
        for (uint32_t i = team->first; i <= team->last; i++, row += warp, second += warp) {        \
            shape *to = ptx_out(&team->warps[i].warp, step->operand[0]);                           \
            const uint32_t mask = team->masks ? team->masks[i] : PTX_FULL;                         \
            if (mask != PTX_FULL) {                                                                \
                FOR_LANES (lane, mask) {                                                           \
                    cell value;                                                                    \
                    memcpy(&value, (lane < 16 ? row : second) + lane % 16 * stride, sizeof value); \
                    to[lane] = (shape)cast value;                                                  \
                }                                                                                  \
            } else if (at->lane == size) {                                                         \
                LOAD_ROWS(to, cell, cast, shape, row, second)                                      \
            } else if (stride == 0) {                                                              \
                LOAD_TWO(to, cell, cast, shape, row, second)                                       \
            } else {                                                                               \
                for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                \
                    cell value;                                                                    \
                    memcpy(&value, (lane < 16 ? row : second) + lane % 16 * stride, sizeof value); \
                    to[lane] = (shape)cast value;                                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }
#define TEAM_CHECKED(name, cell, space, at, write)                                                 \
    static bool checked_##name(struct ptx_team *team, const struct ptx_step *step)                 \
    {                                                                                              \
        check_team(team, step, space, team_in(team, step->operand[at]), sizeof(cell), write);      \
        return team_##name(team, step);                                                            \
    }
#define TEAM_STORE(name, cell, shape, space)                                                       \
    DEVICE_ACCESS static bool team_##name(struct ptx_team *team, const struct ptx_step *step)      \
    {                                                                                              \
        const struct affine *at = team_in(team, step->operand[0]);                                 \
        const uint64_t size = sizeof(cell);                                                        \
        const int64_t stride = (int64_t)at->lane, warp = (int64_t)at->warp;                        \
        char *row, *second;                                                                        \
        struct ptx_range span;                                                                     \
                                                                                                   \
        if (!memory_of_team(team, step, space, at, size, true, &span))                             \
            return false;                                                                          \
        row = span.host + (at->base + step->how.memory.offset - span.base);                        \
        second = row + (int64_t)at->half;                                                          \
        const bool streams = (space) == MEMORY_GLOBAL && sizeof(cell) == 4 &&                      \
                             sizeof(shape) == 4 && is_stream(team, at, &span, row);                \
        if ((space) == MEMORY_GLOBAL && !streams)                                                  \
            prefetch_next(team, at, row, size);                                                    \
        row += team->first * warp, second += team->first * warp;                                   \
        for (uint32_t i = team->first; i <= team->last; i++, row += warp, second += warp) {        \
            const shape *from = ptx_in(&team->warps[i].warp, step->operand[1]);                    \
            const uint32_t mask = team->masks ? team->masks[i] : PTX_FULL;                         \
            if (streams) {                                                                         \
                stream_row(row, from);                                                             \
            } else if (mask != PTX_FULL) {                                                         \
                FOR_LANES (lane, mask) {                                                           \
                    const cell value = (cell)from[lane];                                           \
                    memcpy((lane < 16 ? row : second) + lane % 16 * stride, &value, sizeof value); \
                }                                                                                  \
            } else if (at->lane == size) {                                                         \
                STORE_ROWS(from, cell, row, second)                                                \
            } else {                                                                               \
                for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                \
                    const cell value = (cell)from[lane];                                           \
                    memcpy((lane < 16 ? row : second) + lane % 16 * stride, &value, sizeof value); \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }
#define LOAD(name, kind, cell, cast, shape, space)                                                 \
    TEAM_LOAD(name, cell, cast, shape, space)                                                      \
    TEAM_CHECKED(name, cell, space, 1, false)                                                      \
    DEVICE_ACCESS static void name(struct ptx_warp *warp, const struct ptx_step *step,             \
                                   uint32_t mask)                                                  \
    {                                                                                              \
        const lane_u64 *addresses = ptx_in(warp, step->operand[1]);                                \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        const uint64_t stride = addresses[1] - addresses[0];                                       \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        struct ptx_range span;                                                                     \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL || step->how.memory.unused != 0 ||                                    \
            !memory_near(warp, step, space, addresses[0] + offset, false, &span)) {                \
            memory_load_any(warp, step, mask);                                                     \
        } else if (stride == size && find_rows(&span, addresses, offset, size, size, rows)) {      \
            LOAD_ROWS(to, cell, cast, shape, rows[0], rows[1])                                     \
        } else if (stride == 0 && find_rows(&span, addresses, offset, size, 0, rows)) {            \
            LOAD_TWO(to, cell, cast, shape, rows[0], rows[1])                                      \
        } else if (span_holds_all(&span, addresses, offset, size)) {                               \
            const uintptr_t from = (uintptr_t)span.host + (offset - span.base);                    \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                cell value;                                                                        \
                memcpy(&value, (const char *)(from + addresses[lane]), sizeof value);              \
                to[lane] = (shape)cast value;                                                      \
            }                                                                                      \
        } else {                                                                                   \
            memory_load_any(warp, step, mask);                                                     \
        }                                                                                          \
    }
#define STORE(name, kind, cell, shape, space)                                                      \
    TEAM_STORE(name, cell, shape, space)                                                           \
    TEAM_CHECKED(name, cell, space, 0, true)                                                       \
    DEVICE_ACCESS static void name(struct ptx_warp *warp, const struct ptx_step *step,             \
                                   uint32_t mask)                                                  \
    {                                                                                              \
        const lane_u64 *addresses = ptx_in(warp, step->operand[0]);                                \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        const uint64_t stride = addresses[1] - addresses[0];                                       \
        const shape *from = ptx_in(warp, step->operand[1]);                                        \
        struct ptx_range span;                                                                     \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL ||                                                                    \
            !memory_near(warp, step, space, addresses[0] + offset, true, &span)) {                 \
            memory_store_any(warp, step, mask);                                                    \
        } else if (stride == size && find_rows(&span, addresses, offset, size, size, rows)) {      \
            STORE_ROWS(from, cell, rows[0], rows[1])                                               \
        } else if (span_holds_all(&span, addresses, offset, size)) {                               \
            const uintptr_t to = (uintptr_t)span.host + (offset - span.base);                      \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                const cell value = (cell)from[lane];                                               \
                memcpy((char *)(to + addresses[lane]), &value, sizeof value);                      \
            }                                                                                      \
        } else {                                                                                   \
            memory_store_any(warp, step, mask);                                                    \
        }                                                                                          \
    }
/* The usual ones of LOAD_KINDS and STORE_KINDS. */
#define LOADS(kind, cell, cast, shape)                                                             \
    LOAD(load_global_##kind, kind, cell, cast, shape, MEMORY_GLOBAL)                               \
    LOAD(load_generic_##kind, kind, cell, cast, shape, MEMORY_GENERIC)                             \
    LOAD(load_shared_##kind, kind, cell, cast, shape, MEMORY_SHARED)
LOADS(8_32, uint8_t, (uint8_t), lane_u32)
LOADS(16_32, uint16_t, (uint16_t), lane_u32)
LOADS(32_32, uint32_t, (uint32_t), lane_u32)
LOADS(64_64, uint64_t, (uint64_t), lane_u64)
#define STORES(kind, cell, shape)                                                                  \
    STORE(store_global_##kind, kind, cell, shape, MEMORY_GLOBAL)                                   \
    STORE(store_generic_##kind, kind, cell, shape, MEMORY_GENERIC)                                 \
    STORE(store_shared_##kind, kind, cell, shape, MEMORY_SHARED)
STORES(8_32, uint8_t, lane_u32)
STORES(16_32, uint16_t, lane_u32)
STORES(32_32, uint32_t, lane_u32)
STORES(64_64, uint64_t, lane_u64)

/* By kind, and then by space. */
#define RUNS(name)                                                                                 \
    {                                                                                              \
        name, team_##name, checked_##name                                                          \
    }
#define SPACES(stem, kind)                                                                         \
    {                                                                                              \
        RUNS(stem##_global_##kind), RUNS(stem##_generic_##kind), RUNS(stem##_shared_##kind)        \
    }
#define KINDS(stem, KIND)                                                                          \
    {                                                                                              \
        [KIND##_8_32] = SPACES(stem, 8_32), [KIND##_16_32] = SPACES(stem, 16_32),                  \
        [KIND##_32_32] = SPACES(stem, 32_32), [KIND##_64_64] = SPACES(stem, 64_64)                 \
    }
_Static_assert(MEMORY_GLOBAL == 0 && MEMORY_GENERIC == 1 && MEMORY_SHARED == 2, "the columns");

struct row_runs OPS_NAME(memory_row_load)(enum memory_space space, enum load_kind kind)
{
    static const struct row_runs runs[LOAD_KIND_COUNT][3] = KINDS(load, LOAD);

    return space > MEMORY_SHARED ? (struct row_runs){NULL, NULL, NULL} : runs[kind][space];
}

struct row_runs OPS_NAME(memory_row_store)(enum memory_space space, enum store_kind kind)
{
    static const struct row_runs runs[STORE_KIND_COUNT][3] = KINDS(store, STORE);

    return space > MEMORY_SHARED ? (struct row_runs){NULL, NULL, NULL} : runs[kind][space];
}
