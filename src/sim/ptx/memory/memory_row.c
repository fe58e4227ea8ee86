/* SPDX-License-Identifier: MIT */
/* Loads and stores of the usual sizes, where all lanes run and all of their memory is in the range
 * that the step found before: what kernels mostly do. Everything else, faults among it, is for
 * memory_load.c and memory_store.c, which check in the same way and say what is wrong. */
#include "ptx/memory/memory_row.h"

#include <string.h>

#include "ptx/memory/memory_load.h"
#include "ptx/memory/memory_store.h"
#include "ptx/ops/affine.h"
#include "ptx/ops/block_state.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/warp_state.h"
#include "ptx/ops/worker_state.h"
#include "ptx/ptx.h"

struct span { /* of memory: device addresses, and where it is */
    uint64_t base, size;
    char *host;
};

/* False: it is not known, or has parts that are not there. */
OPS_INLINE bool span_near(const struct ptx_warp *warp, const struct ptx_step *step,
                          enum memory_space space, uint64_t address, bool write, struct span *span)
{
    const struct ptx_block *block = warp->block;
    const uint32_t flags = write ? PTX_RANGE_WRITE : PTX_RANGE_READ;
    const struct ptx_range *range;

    if (space == MEMORY_SHARED || (space == MEMORY_GENERIC && address >= PTX_SHARED_WINDOW)) {
        *span = (struct span){space == MEMORY_SHARED ? 0 : PTX_SHARED_WINDOW, block->shared_size,
                              block->shared};
        return true;
    }
    range = &warp->state->worker->cache[step->how.memory.slot & (RANGE_CACHE - 1)];
    *span = (struct span){range->base, range->size, range->host};
    return !range->live && (range->flags & flags) == flags;
}

OPS_INLINE bool span_holds(const struct span *span, uint64_t address, uint64_t size)
{
    const uint64_t at = address - span->base;

    return at < span->size && span->size - at >= size;
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
OPS_INLINE bool find_rows(const struct span *span, const lane_u64 *addresses, uint64_t offset,
                          uint64_t size, uint64_t stride, char *rows[2])
{
    const uint64_t first = addresses[0] + offset, second = addresses[16] + offset;
    const uint64_t length = 15 * stride + size;

    if (((first | second) & (size - 1)) != 0 || !span_holds(span, first, length) ||
        !span_holds(span, second, length) || !are_rows(addresses, stride))
        return false;
    rows[0] = span->host + (first - span->base);
    rows[1] = span->host + (second - span->base);
    return true;
}

/* Is every lane's memory in the span, and aligned? */
OPS_INLINE bool span_holds_all(const struct span *span, const lane_u64 *addresses, uint64_t offset,
                               uint64_t size)
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

/* --- The same where the addresses are an affine value of the steps for whole warps --- */

/* Two rows of 16 lanes: inside and aligned? */
OPS_INLINE bool affine_rows(const struct span *span, const struct affine *at, uint64_t offset,
                            uint64_t size, char *rows[2])
{
    const uint64_t first = at->base + offset, second = first + at->half;
    const uint64_t across = 15 * at->lane;

    if (((first | second | at->lane) & (size - 1)) != 0)
        return false;
    if (at->lane == size) {
        if (!span_holds(span, first, 16 * size) || !span_holds(span, second, 16 * size))
            return false;
    } else if (at->lane + (UINT64_C(1) << 31) > UINT32_MAX || !span_holds(span, first, size) ||
               !span_holds(span, first + across, size) || !span_holds(span, second, size) ||
               !span_holds(span, second + across, size)) {
        return false; /* of a row as short as this, no part is outside where both ends are not */
    }
    rows[0] = span->host + (first - span->base);
    rows[1] = span->host + (second - span->base);
    return true;
}

/* By the general step, with the addresses as a vector. */
static __attribute__((noinline)) void row_general(struct ptx_warp *warp,
                                                  const struct ptx_step *step, unsigned operand,
                                                  uint32_t mask)
{
    const struct ptx_step *general = affine_general(warp, step);

    affine_vector_64(ptx_out(warp, general->operand[operand]), ptx_in(warp, step->operand[operand]));
    general->run(warp, general, mask);
}

#define AFFINE_LOAD(name, cell, cast, shape, space)                                                \
    DEVICE_ACCESS static void affine_##name(struct ptx_warp *warp, const struct ptx_step *step,    \
                                            uint32_t mask)                                         \
    {                                                                                              \
        const struct affine *at = ptx_in(warp, step->operand[1]);                                  \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        struct span span;                                                                          \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL || step->how.memory.unused != 0 ||                                    \
            !span_near(warp, step, space, at->base + offset, false, &span) ||                      \
            !affine_rows(&span, at, offset, size, rows)) {                                         \
            row_general(warp, step, 1, mask);                                                      \
        } else if (at->lane == size) {                                                             \
            cell values[PTX_LANES];                                                                \
            memcpy(values, rows[0], sizeof values / 2);                                            \
            memcpy(values + 16, rows[1], sizeof values / 2);                                       \
            OPS_LANES                                                                              \
            {                                                                                      \
                to[lane] = (shape)cast values[lane];                                               \
            }                                                                                      \
        } else if (at->lane == 0) {                                                                \
            cell one, two;                                                                         \
            memcpy(&one, rows[0], sizeof one);                                                     \
            memcpy(&two, rows[1], sizeof two);                                                     \
            OPS_LANES                                                                              \
            {                                                                                      \
                to[lane] = (shape)cast(lane < 16 ? one : two);                                     \
            }                                                                                      \
        } else {                                                                                   \
            const uint64_t stride = at->lane;                                                      \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                cell value;                                                                        \
                memcpy(&value, rows[lane / 16] + lane % 16 * stride, sizeof value);                \
                to[lane] = (shape)cast value;                                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define AFFINE_STORE(name, cell, shape, space)                                                     \
    DEVICE_ACCESS static void affine_##name(struct ptx_warp *warp, const struct ptx_step *step,    \
                                            uint32_t mask)                                         \
    {                                                                                              \
        const struct affine *at = ptx_in(warp, step->operand[0]);                                  \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        const shape *from = ptx_in(warp, step->operand[1]);                                        \
        struct span span;                                                                          \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL ||                                                                    \
            !span_near(warp, step, space, at->base + offset, true, &span) ||                       \
            !affine_rows(&span, at, offset, size, rows)) {                                         \
            row_general(warp, step, 0, mask);                                                      \
        } else if (at->lane == size) {                                                             \
            cell values[PTX_LANES];                                                                \
            OPS_LANES                                                                              \
            {                                                                                      \
                values[lane] = (cell)from[lane];                                                   \
            }                                                                                      \
            memcpy(rows[0], values, sizeof values / 2);                                            \
            memcpy(rows[1], values + 16, sizeof values / 2);                                       \
        } else {                                                                                   \
            const uint64_t stride = at->lane;                                                      \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                const cell value = (cell)from[lane];                                               \
                memcpy(rows[lane / 16] + lane % 16 * stride, &value, sizeof value);                \
            }                                                                                      \
        }                                                                                          \
    }

/* A function of its own, so that the usual way keeps no registers for it. */
#define OTHER(name, run)                                                                           \
    static __attribute__((noinline)) void name(struct ptx_warp *warp, const struct ptx_step *step, \
                                               uint32_t mask)                                      \
    {                                                                                              \
        run(warp, step, mask);                                                                     \
    }

#define LOAD(name, kind, cell, cast, shape, space)                                                 \
    AFFINE_LOAD(name, cell, cast, shape, space)                                                    \
    OTHER(name##_other, memory_load(space, LOAD_##kind))                                           \
    DEVICE_ACCESS static void name(struct ptx_warp *warp, const struct ptx_step *step,             \
                                   uint32_t mask)                                                  \
    {                                                                                              \
        const lane_u64 *addresses = ptx_in(warp, step->operand[1]);                                \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        const uint64_t stride = addresses[1] - addresses[0];                                       \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        struct span span;                                                                          \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL || step->how.memory.unused != 0 ||                                    \
            !span_near(warp, step, space, addresses[0] + offset, false, &span)) {                  \
            name##_other(warp, step, mask);                                                        \
        } else if (stride == size && find_rows(&span, addresses, offset, size, size, rows)) {      \
            cell values[PTX_LANES];                                                                \
            memcpy(values, rows[0], sizeof values / 2);                                            \
            memcpy(values + 16, rows[1], sizeof values / 2);                                       \
            OPS_LANES                                                                              \
            {                                                                                      \
                to[lane] = (shape)cast values[lane];                                               \
            }                                                                                      \
        } else if (stride == 0 && find_rows(&span, addresses, offset, size, 0, rows)) {            \
            cell one, two;                                                                         \
            memcpy(&one, rows[0], sizeof one);                                                     \
            memcpy(&two, rows[1], sizeof two);                                                     \
            OPS_LANES                                                                              \
            {                                                                                      \
                to[lane] = (shape)cast(lane < 16 ? one : two);                                     \
            }                                                                                      \
        } else if (span_holds_all(&span, addresses, offset, size)) {                               \
            const uintptr_t from = (uintptr_t)span.host + (offset - span.base);                    \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                cell value;                                                                        \
                memcpy(&value, (const char *)(from + addresses[lane]), sizeof value);              \
                to[lane] = (shape)cast value;                                                      \
            }                                                                                      \
        } else {                                                                                   \
            name##_other(warp, step, mask);                                                        \
        }                                                                                          \
    }
#define STORE(name, kind, cell, shape, space)                                                      \
    AFFINE_STORE(name, cell, shape, space)                                                         \
    OTHER(name##_other, memory_store(space, STORE_##kind))                                         \
    DEVICE_ACCESS static void name(struct ptx_warp *warp, const struct ptx_step *step,             \
                                   uint32_t mask)                                                  \
    {                                                                                              \
        const lane_u64 *addresses = ptx_in(warp, step->operand[0]);                                \
        const uint64_t offset = step->how.memory.offset, size = sizeof(cell);                      \
        const uint64_t stride = addresses[1] - addresses[0];                                       \
        const shape *from = ptx_in(warp, step->operand[1]);                                        \
        struct span span;                                                                          \
        char *rows[2];                                                                             \
                                                                                                   \
        if (mask != PTX_FULL ||                                                                    \
            !span_near(warp, step, space, addresses[0] + offset, true, &span)) {                   \
            name##_other(warp, step, mask);                                                        \
        } else if (stride == size && find_rows(&span, addresses, offset, size, size, rows)) {      \
            cell values[PTX_LANES];                                                                \
            OPS_LANES                                                                              \
            {                                                                                      \
                values[lane] = (cell)from[lane];                                                   \
            }                                                                                      \
            memcpy(rows[0], values, sizeof values / 2);                                            \
            memcpy(rows[1], values + 16, sizeof values / 2);                                       \
        } else if (span_holds_all(&span, addresses, offset, size)) {                               \
            const uintptr_t to = (uintptr_t)span.host + (offset - span.base);                      \
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                    \
                const cell value = (cell)from[lane];                                               \
                memcpy((char *)(to + addresses[lane]), &value, sizeof value);                      \
            }                                                                                      \
        } else {                                                                                   \
            name##_other(warp, step, mask);                                                        \
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

/* By kind, and then by space: those for vectors of addresses, and those for affine ones. */
#define SPACES(prefix, kind) {prefix##_global_##kind, prefix##_generic_##kind, prefix##_shared_##kind}
#define KINDS(prefix, of)                                                                          \
    {                                                                                              \
        [of##_8_32] = SPACES(prefix, 8_32), [of##_16_32] = SPACES(prefix, 16_32),                  \
        [of##_32_32] = SPACES(prefix, 32_32), [of##_64_64] = SPACES(prefix, 64_64)                 \
    }
_Static_assert(MEMORY_GLOBAL == 0 && MEMORY_GENERIC == 1 && MEMORY_SHARED == 2, "the columns");

ptx_run *OPS_NAME(memory_row_load)(enum memory_space space, enum load_kind kind, bool affine)
{
    static ptx_run *const runs[2][LOAD_KIND_COUNT][3] = {KINDS(load, LOAD),
                                                         KINDS(affine_load, LOAD)};

    return space <= MEMORY_SHARED ? runs[affine][kind][space] : NULL;
}

ptx_run *OPS_NAME(memory_row_store)(enum memory_space space, enum store_kind kind, bool affine)
{
    static ptx_run *const runs[2][STORE_KIND_COUNT][3] = {KINDS(store, STORE),
                                                          KINDS(affine_store, STORE)};

    return space <= MEMORY_SHARED ? runs[affine][kind][space] : NULL;
}
