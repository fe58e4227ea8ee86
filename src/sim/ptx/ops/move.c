/* SPDX-License-Identifier: MIT */
/* Run functions that move values between registers: copies, widths, packs, predicates. */
#include "ptx/ops/ops.h"

#define COPY(name, type)                                                                           \
    void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)                   \
    {                                                                                              \
        type *to = ptx_out(warp, step->operand[0]);                                                \
        const type *from = ptx_in(warp, step->operand[1]);                                         \
                                                                                                   \
        if (mask == PTX_FULL)                                                                      \
            memmove(to, from, PTX_LANES * sizeof *to);                                             \
        else                                                                                       \
            FOR_LANES (lane, mask)                                                                 \
                to[lane] = from[lane];                                                             \
    }
COPY(move_copy32, reg32)
COPY(move_copy64, reg64)

#define COPY_128(name, high)                                                                       \
    void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)                   \
    {                                                                                              \
        reg64 *to = ptx_out(warp, step->operand[0]);                                               \
        const reg64 *from = ptx_in(warp, step->operand[1]);                                        \
                                                                                                   \
        FOR_LANES (lane, mask) {                                                                   \
            to[lane] = from[lane];                                                                 \
            to[lane + PTX_LANES] = (high);                                                         \
        }                                                                                          \
    }
COPY_128(move_copy128, from[lane + PTX_LANES])
COPY_128(move_zero128, 0)

#define MOVE(name, to_type, from_type, value)                                                      \
    void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)                   \
    {                                                                                              \
        to_type *to = ptx_out(warp, step->operand[0]);                                             \
        const from_type *from = ptx_in(warp, step->operand[1]);                                    \
                                                                                                   \
        EACH_LANE(mask, lane, to[lane] = (to_type)(value));                                        \
    }
MOVE(move_zero64, reg64, reg32, from[lane])
MOVE(move_sign64, reg64, reg32, (int64_t)(int32_t)from[lane])
MOVE(move_sign8_64, reg64, reg32, (int64_t)(int8_t)from[lane])
MOVE(move_sign16_64, reg64, reg32, (int64_t)(int16_t)from[lane])
MOVE(move_low32, reg32, reg64, from[lane])
MOVE(move_low64, reg64, reg64, from[lane])
MOVE(move_sign8, reg32, reg32, (int32_t)(int8_t)from[lane])
MOVE(move_sign16, reg32, reg32, (int32_t)(int16_t)from[lane])
MOVE(move_sign8_16, reg32, reg32, (uint16_t)(int8_t)from[lane])

void move_predicate_copy(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    ops_set_predicate(warp, step->operand[0], warp->predicates[step->operand[1]], mask);
}

void move_predicate_not(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    ops_set_predicate(warp, step->operand[0], ~warp->predicates[step->operand[1]], mask);
}

void move_predicate_set(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    ops_set_predicate(warp, step->operand[0], step->how.set, mask);
}

/* A lane of a register whose value has `bits` bits in all: 64 of them from bit `at` on. */
static uint64_t wide_get(const void *reg, unsigned lane, unsigned bits, unsigned at)
{
    if (bits <= 64)
        return ptx_lane(reg, bits > 32, lane) >> at;
    return at < 64 ? ((const reg64 *)reg)[lane] >> at |
                         (at ? ((const reg64 *)reg)[lane + 32] << (64 - at) : 0)
                   : ((const reg64 *)reg)[lane + 32] >> (at - 64);
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* Of the whole. */
static unsigned move_bits(const struct ptx_step *step)
{
    return opcodes_types[ptx_insn(step)->types[0]].bits;
}

/* mov.b64 d, {a, b}; list: d, a, b, ... */
void move_pack(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    unsigned total = move_bits(step), count = step->list_count - 1u, part = total / count;
    char *to = ptx_out(warp, step->list[0]);

    FOR_LANES (lane, mask) {
        uint64_t value[2] = {0, 0};

        for (unsigned i = 0; i < count; i++) {
            if (step->list[1 + i] == PTX_ABSENT)
                continue;
            const void *from = ptx_in(warp, step->list[1 + i]);
            value[i * part / 64] |= low_bits(wide_get(from, lane, part, 0), part)
                                    << (i * part % 64);
        }
        ptx_lane_set(to, total > 32, lane, value[0]);
        if (total == 128)
            ptx_lane_set(to, true, lane + PTX_LANES, value[1]);
    }
}

/* mov.b64 {a, b}, d; list: a, b, ..., d. */
void move_unpack(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    unsigned total = move_bits(step), count = step->list_count - 1u, part = total / count;
    const void *from = ptx_in(warp, step->list[count]);

    FOR_LANES (lane, mask) {
        uint64_t value[2];

        value[0] = wide_get(from, lane, total, 0);
        value[1] = total == 128 ? wide_get(from, lane, total, 64) : 0;
        for (unsigned i = 0; i < count; i++) {
            uint64_t bits = low_bits(value[i * part / 64] >> (i * part % 64), part);

            if (step->list[i] == PTX_ABSENT)
                continue;
            void *to = ptx_out(warp, step->list[i]);
            ptx_lane_set(to, part > 32, lane, bits);
        }
    }
}

void move_nothing(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    (void)warp;
    (void)step;
    (void)mask;
}
