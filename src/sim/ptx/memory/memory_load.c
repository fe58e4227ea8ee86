/* SPDX-License-Identifier: MIT */
/* Loads: from checked memory into registers. */
#include "ptx/memory/memory.h"

#include <string.h>

unsigned memory_load_size(enum load_kind kind)
{
    static const uint8_t sizes[] = {
#define LOAD(kind, cell, cast, shape) sizeof(cell),
        LOAD_KINDS(LOAD)
#undef LOAD
            16};

    return sizes[kind];
}

#define LOAD_ONE(cell, cast, shape, pointer)                                                       \
    ({                                                                                             \
        cell bits_;                                                                                \
        memcpy(&bits_, (pointer), sizeof bits_);                                                   \
        (shape) cast bits_;                                                                        \
    })

#define LOAD(kind, cell, cast, shape)                                                              \
    DEVICE_ACCESS static void fill_##kind(shape *to, const struct access *access, uint32_t mask,   \
                                          size_t at)                                               \
    {                                                                                              \
        const char *base = access->pattern == ACCESS_GATHER ? NULL : access->base + at;            \
                                                                                                   \
        if (access->pattern == ACCESS_ROW) {                                                       \
            for (unsigned i = 0; i < PTX_LANES; i++)                                               \
                to[i] = LOAD_ONE(cell, cast, shape, base + i * access->stride);                    \
        } else if (access->pattern == ACCESS_HALVES && access->stride == 0) {                      \
            shape one = LOAD_ONE(cell, cast, shape, base);                                         \
            shape two = LOAD_ONE(cell, cast, shape, access->second + at);                          \
                                                                                                   \
            for (unsigned i = 0; i < 16; i++)                                                      \
                to[i] = one;                                                                       \
            for (unsigned i = 16; i < PTX_LANES; i++)                                              \
                to[i] = two;                                                                       \
        } else if (access->pattern == ACCESS_HALVES && access->stride == sizeof(shape) &&          \
                   sizeof(cell) == sizeof(shape)) {                                                \
            memcpy(to, base, 16 * sizeof(shape));                                                  \
            memcpy(to + 16, access->second + at, 16 * sizeof(shape));                              \
        } else if (access->pattern == ACCESS_HALVES) {                                             \
            const char *second = access->second + at;                                              \
                                                                                                   \
            for (unsigned i = 0; i < 16; i++) {                                                    \
                to[i] = LOAD_ONE(cell, cast, shape, base + i * access->stride);                    \
                to[i + 16] = LOAD_ONE(cell, cast, shape, second + i * access->stride);             \
            }                                                                                      \
        } else {                                                                                   \
            uintptr_t from = (uintptr_t)access->base + at;                                         \
                                                                                                   \
            EACH_LANE(mask, lane,                                                                  \
                      to[lane] = LOAD_ONE(cell, cast, shape,                                       \
                                          (const char *)(from + access->offsets[lane])));          \
        }                                                                                          \
    }
LOAD_KINDS(LOAD)
#undef LOAD

DEVICE_ACCESS static void fill_128(reg64 *to, const struct access *access, uint32_t mask, size_t at)
{
    FOR_LANES (lane, mask) {
        uint64_t bits[2];

        memcpy(bits, (const char *)access_lane(access, lane) + at, sizeof bits);
        to[lane] = bits[0];
        to[lane + PTX_LANES] = bits[1];
    }
}

static void fill_any(enum load_kind kind, void *to, const struct access *access, uint32_t mask,
                     size_t at)
{
    switch (kind) {
#define LOAD(kind, cell, cast, shape)                                                              \
    case LOAD_##kind:                                                                              \
        fill_##kind(to, access, mask, at);                                                         \
        break;
        LOAD_KINDS(LOAD)
#undef LOAD
    default:
        fill_128(to, access, mask, at);
    }
}

/* The common case, a row of 32-bit or 64-bit values, is a copy. */
#define LOAD(kind, cell, cast, shape)                                                              \
    DEVICE_ACCESS static void memory_load_##kind(struct ptx_warp *warp,                            \
                                                 const struct ptx_step *step, uint32_t mask)       \
    {                                                                                              \
        const reg64 *addresses = ptx_in(warp, step->operand[1]);                                   \
        const enum memory_space space = step->how.memory.space;                                    \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        struct access access;                                                                      \
                                                                                                   \
        memory_access(warp, step, mask, space, addresses, sizeof(cell), false, &access);           \
        if (access.pattern == ACCESS_FAILED)                                                       \
            return;                                                                                \
        if (access.pattern == ACCESS_ROW && sizeof(cell) == sizeof(shape))                         \
            memcpy(to, access.base, PTX_LANES * sizeof(shape));                                    \
        else                                                                                       \
            fill_##kind(to, &access, mask, 0);                                                     \
    }
LOAD_KINDS(LOAD)
#undef LOAD

ptx_run *memory_load(enum load_kind kind)
{
    static ptx_run *const runs[LOAD_KIND_COUNT] = {
#define LOAD(kind, cell, cast, shape) memory_load_##kind,
        LOAD_KINDS(LOAD)
#undef LOAD
            memory_load_any};

    return runs[kind];
}

/* An entry's parameter: the same for all lanes. */
#define LOAD(kind, cell, cast, shape)                                                              \
    static void memory_load_param_##kind(struct ptx_warp *warp, const struct ptx_step *step,       \
                                         uint32_t mask)                                            \
    {                                                                                              \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        const char *from = warp->block->launch->params + step->how.fixed.at;                       \
        shape value = LOAD_ONE(cell, cast, shape, from);                                           \
                                                                                                   \
        EACH_LANE(mask, lane, to[lane] = value);                                                   \
    }                                                                                              \
    static void memory_load_frame_##kind(struct ptx_warp *warp, const struct ptx_step *step,       \
                                         uint32_t mask)                                            \
    {                                                                                              \
        const struct ptx_warp_state *state = warp->state;                                          \
        shape *to = ptx_out(warp, step->operand[0]);                                               \
        const char *from = state->local + state->frame->local_base + step->how.fixed.at;           \
        size_t stride = state->local_stride;                                                       \
                                                                                                   \
        EACH_LANE(mask, lane, to[lane] = LOAD_ONE(cell, cast, shape, from + lane * stride));       \
    }
LOAD_KINDS(LOAD)
#undef LOAD

static void memory_load_param128(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct access access = {.pattern = ACCESS_HALVES};

    access.base = access.second =
        (char *)(uintptr_t)warp->block->launch->params + step->how.fixed.at;
    fill_128(ptx_out(warp, step->operand[0]), &access, mask, 0);
}

static void memory_load_frame128(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_warp_state *state = warp->state;
    struct access access = {.pattern = ACCESS_HALVES, .stride = state->local_stride};

    access.base = state->local + state->frame->local_base + step->how.fixed.at;
    access.second = access.base + 16 * access.stride;
    fill_128(ptx_out(warp, step->operand[0]), &access, mask, 0);
}

ptx_run *memory_load_param(enum load_kind kind)
{
    static ptx_run *const runs[LOAD_KIND_COUNT] = {
#define LOAD(kind, cell, cast, shape) memory_load_param_##kind,
        LOAD_KINDS(LOAD)
#undef LOAD
            memory_load_param128};

    return runs[kind];
}

ptx_run *memory_load_frame(enum load_kind kind)
{
    static ptx_run *const runs[LOAD_KIND_COUNT] = {
#define LOAD(kind, cell, cast, shape) memory_load_frame_##kind,
        LOAD_KINDS(LOAD)
#undef LOAD
            memory_load_frame128};

    return runs[kind];
}

/* The lanes' bytes, in a way that other threads of the CPU may write them at the same time. */
static void ordered_read(void *to, uintptr_t from, unsigned size)
{
    switch (size) {
    case 1:
        *(uint8_t *)to = __atomic_load_n((const uint8_t *)from, __ATOMIC_ACQUIRE);
        break;
    case 2: {
        uint16_t bits = __atomic_load_n((const uint16_t *)from, __ATOMIC_ACQUIRE);
        memcpy(to, &bits, sizeof bits);
        break;
    }
    case 4: {
        uint32_t bits = __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE);
        memcpy(to, &bits, sizeof bits);
        break;
    }
    default:
        for (unsigned i = 0; i < size; i += 8) {
            uint64_t bits = __atomic_load_n((const uint64_t *)(from + i), __ATOMIC_ACQUIRE);
            memcpy((char *)to + i, &bits, sizeof bits);
        }
    }
}

/* Copy what ordered accesses read, and let the ordinary code take it from there. */
static void access_ordered(struct access *access, uint32_t mask, unsigned count, unsigned size,
                           char (*copy)[64])
{
    FOR_LANES (lane, mask) {
        uintptr_t from = access_lane(access, lane);

        for (unsigned i = 0; i < count; i++)
            ordered_read(copy[lane] + i * size, from + i * size, size);
    }
    /* A row would be for all lanes. */
    access->pattern = ACCESS_GATHER;
    access->base = NULL;
    access->offsets = access->pointers;
    FOR_LANES (lane, mask)
        access->pointers[lane] = (uintptr_t)copy[lane];
}

void memory_load_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    enum load_kind kind = step->how.memory.load;
    unsigned size = memory_load_size(kind), count = !step->list ? 1 : step->list_count - 1u;
    const uint32_t *list = !step->list ? step->operand : step->list;
    uint64_t addresses[PTX_LANES];
    struct access access;
    char copy[PTX_LANES][64];

    /* A destination may be the register of the address. */
    memcpy(addresses, ptx_in(warp, list[count]), sizeof addresses);
    memory_access(warp, step, mask, step->how.memory.space, addresses, size * count, false,
                  &access);
    if (access.pattern == ACCESS_FAILED)
        return;
    if (step->how.memory.ordered)
        access_ordered(&access, mask, count, size, copy);
    for (unsigned i = 0; i < count; i++)
        if (list[i] != PTX_ABSENT)
            fill_any(kind, ptx_out(warp, list[i]), &access, mask, (size_t)i * size);
}
