/* SPDX-License-Identifier: MIT */
/* Stores: from registers into checked memory. */
#include "ptx/memory/memory.h"

unsigned memory_store_size(enum store_kind kind)
{
    static const uint8_t sizes[] = {
#define STORE_SIZE(kind, cell, shape) sizeof(cell),
        STORE_KINDS(STORE_SIZE) 16};

    return sizes[kind];
}

#define STORE_ONE(cell, pointer, value)                                                            \
    do {                                                                                           \
        cell bits_ = (cell)(value);                                                                \
        memcpy((pointer), &bits_, sizeof bits_);                                                   \
    } while (0)

#define STORE_FUNCTION(kind, cell, shape)                                                          \
    DEVICE_ACCESS static void spill_##kind(const shape *from, const struct access *access,         \
                                           uint32_t mask, size_t at)                               \
    {                                                                                              \
        char *base = access->pattern == ACCESS_GATHER ? NULL : access->base + at;                  \
                                                                                                   \
        if (access->pattern == ACCESS_HALVES) {                                                    \
            char *second = access->second + at;                                                    \
                                                                                                   \
            for (unsigned i = 0; i < 16; i++)                                                      \
                STORE_ONE(cell, base + i * access->stride, from[i]);                               \
            for (unsigned i = 0; i < 16; i++)                                                      \
                STORE_ONE(cell, second + i * access->stride, from[i + 16]);                        \
        } else {                                                                                   \
            uintptr_t to = (uintptr_t)access->base + at;                                           \
                                                                                                   \
            FOR_LANES (lane, mask)                                                                 \
                STORE_ONE(cell, (char *)(to + access->offsets[lane]), from[lane]);                 \
        }                                                                                          \
    }
STORE_KINDS(STORE_FUNCTION)

DEVICE_ACCESS static void spill_128(const reg64 *from, const struct access *access, uint32_t mask,
                                    size_t at)
{
    FOR_LANES (lane, mask) {
        uint64_t bits[2] = {from[lane], from[lane + PTX_LANES]};

        memcpy((char *)access_lane(access, lane) + at, bits, sizeof bits);
    }
}

static void spill_any(enum store_kind kind, const void *from, const struct access *access,
                      uint32_t mask, size_t at)
{
    switch (kind) {
#define STORE_CASE(kind, cell, shape)                                                              \
    case STORE_##kind:                                                                             \
        spill_##kind(from, access, mask, at);                                                      \
        break;
        STORE_KINDS(STORE_CASE)
    default:
        spill_128(from, access, mask, at);
    }
}

void memory_store_frame(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_warp_state *state = warp->state;
    struct access access;

    access_fixed(&access, state->local + state->frame->local_base + step->how.fixed.at,
                 state->local_stride, mask);
    spill_any((enum store_kind)step->how.fixed.kind, ptx_in(warp, step->operand[0]), &access, mask,
              0);
}

/* By way of a copy, from which each lane's parts go to memory whole. */
static void store_ordered(const struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                          const struct access *access, unsigned count)
{
    enum store_kind kind = step->how.memory.store;
    const uint32_t *list = !step->list ? step->operand : step->list;
    unsigned size = memory_store_size(kind);
    struct access copied;
    _Alignas(16) char copy[PTX_LANES][64];

#if defined(__SSE2__)
    __builtin_ia32_sfence(); /* behind what went past the caches (memory_row.c) */
#endif
    access_fixed(&copied, copy[0], sizeof copy[0], PTX_FULL);
    for (unsigned i = 0; i < count; i++) {
        spill_any(kind, ptx_in(warp, list[1 + i]), &copied, mask, (size_t)i * size);
        FOR_LANES (lane, mask)
            access_move((void *)(access_lane(access, lane) + i * size), copy[lane] + i * size,
                        size);
    }
}

void memory_store_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    enum store_kind kind = step->how.memory.store;
    unsigned size = memory_store_size(kind), count = !step->list ? 1 : step->list_count - 1u;
    const uint32_t *list = !step->list ? step->operand : step->list;
    struct access access;

    memory_access(warp, step, mask, step->how.memory.space, ptx_in(warp, list[0]), size * count,
                  true, &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    if (step->how.memory.ordered) {
        store_ordered(warp, step, mask, &access, count);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        spill_any(kind, ptx_in(warp, list[1 + i]), &access, mask, (size_t)i * size);
}
