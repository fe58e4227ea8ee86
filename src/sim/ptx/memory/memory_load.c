/* SPDX-License-Identifier: MIT */
/* Loads: from checked memory into registers. */
#include "ptx/memory/memory.h"

unsigned memory_load_size(enum load_kind kind)
{
    static const uint8_t sizes[] = {
#define LOAD_SIZE(kind, cell, cast, shape) sizeof(cell),
        LOAD_KINDS(LOAD_SIZE) 16};

    return sizes[kind];
}

#define LOAD_ONE(cell, cast, shape, pointer)                                                       \
    ({                                                                                             \
        cell bits_;                                                                                \
        memcpy(&bits_, (pointer), sizeof bits_);                                                   \
        (shape) cast bits_;                                                                        \
    })

#define LOAD_FUNCTION(kind, cell, cast, shape)                                                     \
    DEVICE_ACCESS static void fill_##kind(shape *to, const struct access *access, uint32_t mask,   \
                                          size_t at)                                               \
    {                                                                                              \
        const char *base = access->pattern == ACCESS_GATHER ? NULL : access->base + at;            \
                                                                                                   \
        if (access->pattern == ACCESS_HALVES && access->stride == 0) {                             \
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
LOAD_KINDS(LOAD_FUNCTION)

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
#define LOAD_CASE(kind, cell, cast, shape)                                                         \
    case LOAD_##kind:                                                                              \
        fill_##kind(to, access, mask, at);                                                         \
        break;
        LOAD_KINDS(LOAD_CASE)
    default:
        fill_128(to, access, mask, at);
    }
}

static void load_fixed(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                       const char *from, size_t stride)
{
    struct access access;

    access_fixed(&access, from, stride, mask);
    fill_any((enum load_kind)step->how.fixed.kind, ptx_out(warp, step->operand[0]), &access, mask,
             0);
}

void memory_load_param(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    load_fixed(warp, step, mask, warp->block->launch->params + step->how.fixed.at, 0);
}

void memory_load_frame(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_warp_state *state = warp->state;

    load_fixed(warp, step, mask, state->local + state->frame->local_base + step->how.fixed.at,
               state->local_stride);
}

/* Copy what ordered accesses read, and let the ordinary code take it from there. */
static void access_ordered(struct access *access, uint32_t mask, unsigned count, unsigned size,
                           char (*copy)[64])
{
    FOR_LANES (lane, mask) {
        uintptr_t from = access_lane(access, lane);

        for (unsigned i = 0; i < count; i++)
            access_move(copy[lane] + i * size, (const void *)(from + i * size), size);
    }
    /* A row would be for all lanes. */
    access_gather(access);
    FOR_LANES (lane, mask)
        access->pointers[lane] = (uintptr_t)copy[lane];
}

void memory_load_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    enum load_kind kind = step->how.memory.load;
    unsigned size = memory_load_size(kind), count = !step->list ? 1 : step->list_count - 1u;
    const uint32_t *list = !step->list ? step->operand : step->list;
    const reg64 *addresses = ptx_in(warp, list[count]);
    reg64 kept[PTX_LANES];
    struct access access;
    _Alignas(16) char copy[PTX_LANES][64];

    if (step->list) /* a destination may be the register of the address */
        addresses = memcpy(kept, addresses, sizeof kept);
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
