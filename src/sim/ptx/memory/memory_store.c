/* SPDX-License-Identifier: MIT */
/* Stores: from registers into checked memory. */
#include "ptx/memory/memory.h"

#include <string.h>

unsigned memory_store_size(enum store_kind kind)
{
    static const uint8_t sizes[] = {
#define STORE(kind, cell, shape) sizeof(cell),
        STORE_KINDS(STORE)
#undef STORE
            16};

    return sizes[kind];
}

#define STORE_ONE(cell, pointer, value)                                                            \
    do {                                                                                           \
        cell bits_ = (cell)(value);                                                                \
        memcpy((pointer), &bits_, sizeof bits_);                                                   \
    } while (0)

#define STORE(kind, cell, shape)                                                                   \
    DEVICE_ACCESS static void spill_##kind(const shape *from, const struct access *access,         \
                                           uint32_t mask, size_t at)                               \
    {                                                                                              \
        char *base = access->pattern == ACCESS_GATHER ? NULL : access->base + at;                  \
                                                                                                   \
        if (access->pattern == ACCESS_ROW) {                                                       \
            for (unsigned i = 0; i < PTX_LANES; i++)                                               \
                STORE_ONE(cell, base + i * access->stride, from[i]);                               \
        } else if (access->pattern == ACCESS_HALVES) {                                             \
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
STORE_KINDS(STORE)
#undef STORE

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
#define STORE(kind, cell, shape)                                                                   \
    case STORE_##kind:                                                                             \
        spill_##kind(from, access, mask, at);                                                      \
        break;
        STORE_KINDS(STORE)
#undef STORE
    default:
        spill_128(from, access, mask, at);
    }
}

#define STORE(kind, cell, shape)                                                                   \
    DEVICE_ACCESS static void memory_store_##kind(struct ptx_warp *warp,                           \
                                                  const struct ptx_step *step, uint32_t mask)      \
    {                                                                                              \
        const reg64 *addresses = ptx_in(warp, step->operand[0]);                                   \
        const enum memory_space space = step->how.memory.space;                                    \
        const shape *from = ptx_in(warp, step->operand[1]);                                        \
        struct access access;                                                                      \
                                                                                                   \
        memory_access(warp, step, mask, space, addresses, sizeof(cell), true, &access);            \
        if (access.pattern == ACCESS_FAILED)                                                       \
            return;                                                                                \
        if (access.pattern == ACCESS_ROW && sizeof(cell) == sizeof(shape))                         \
            memcpy(access.base, from, PTX_LANES * sizeof(shape));                                  \
        else                                                                                       \
            spill_##kind(from, &access, mask, 0);                                                  \
    }                                                                                              \
    static void memory_store_frame_##kind(struct ptx_warp *warp, const struct ptx_step *step,      \
                                          uint32_t mask)                                           \
    {                                                                                              \
        const struct ptx_warp_state *state = warp->state;                                          \
        const shape *from = ptx_in(warp, step->operand[0]);                                        \
        char *to = state->local + state->frame->local_base + step->how.fixed.at;                   \
        size_t stride = state->local_stride;                                                       \
                                                                                                   \
        FOR_LANES (lane, mask)                                                                     \
            STORE_ONE(cell, to + lane * stride, from[lane]);                                       \
    }
STORE_KINDS(STORE)
#undef STORE

static void memory_store_frame128(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_warp_state *state = warp->state;
    struct access access = {.pattern = ACCESS_HALVES, .stride = state->local_stride};

    access.base = state->local + state->frame->local_base + step->how.fixed.at;
    access.second = access.base + 16 * access.stride;
    spill_128(ptx_in(warp, step->operand[0]), &access, mask, 0);
}

ptx_run *memory_store(enum store_kind kind)
{
    static ptx_run *const runs[STORE_KIND_COUNT] = {
#define STORE(kind, cell, shape) memory_store_##kind,
        STORE_KINDS(STORE)
#undef STORE
            memory_store_any};

    return runs[kind];
}

ptx_run *memory_store_frame(enum store_kind kind)
{
    static ptx_run *const runs[STORE_KIND_COUNT] = {
#define STORE(kind, cell, shape) memory_store_frame_##kind,
        STORE_KINDS(STORE)
#undef STORE
            memory_store_frame128};

    return runs[kind];
}

static void ordered_write(uintptr_t to, const void *from, unsigned size)
{
    uint16_t bits16;
    uint32_t bits32;
    uint64_t bits64;

    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)to, *(const uint8_t *)from, __ATOMIC_RELEASE);
        break;
    case 2:
        memcpy(&bits16, from, sizeof bits16);
        __atomic_store_n((uint16_t *)to, bits16, __ATOMIC_RELEASE);
        break;
    case 4:
        memcpy(&bits32, from, sizeof bits32);
        __atomic_store_n((uint32_t *)to, bits32, __ATOMIC_RELEASE);
        break;
    default:
        for (unsigned i = 0; i < size; i += 8) {
            memcpy(&bits64, (const char *)from + i, sizeof bits64);
            __atomic_store_n((uint64_t *)(to + i), bits64, __ATOMIC_RELEASE);
        }
    }
}

void memory_store_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    enum store_kind kind = step->how.memory.store;
    unsigned size = memory_store_size(kind), count = !step->list ? 1 : step->list_count - 1u;
    const uint32_t *list = !step->list ? step->operand : step->list;
    struct access access, copied = {.pattern = ACCESS_HALVES};
    char copy[PTX_LANES][64];

    memory_access(warp, step, mask, step->how.memory.space, ptx_in(warp, list[0]), size * count,
                  true, &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    if (!step->how.memory.ordered) {
        for (unsigned i = 0; i < count; i++)
            if (list[1 + i] != PTX_ABSENT)
                spill_any(kind, ptx_in(warp, list[1 + i]), &access, mask, (size_t)i * size);
        return;
    }
#if defined(__SSE2__)
    __builtin_ia32_sfence(); /* behind what went past the caches (memory_row.c) */
#endif
    copied.base = copy[0];
    copied.second = copy[16];
    copied.stride = sizeof copy[0];
    for (unsigned i = 0; i < count; i++)
        if (list[1 + i] != PTX_ABSENT)
            spill_any(kind, ptx_in(warp, list[1 + i]), &copied, mask, (size_t)i * size);
    FOR_LANES (lane, mask)
        for (unsigned i = 0; i < count; i++)
            if (list[1 + i] != PTX_ABSENT)
                ordered_write(access_lane(&access, lane) + i * size, copy[lane] + i * size, size);
}
