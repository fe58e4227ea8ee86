/* SPDX-License-Identifier: MIT */
/* Carry chains: add.cc addc sub.cc subc mad.cc madc. The flag is a bit per lane in warp->carry. A
 * subtraction adds the complement: its flag is 1 where nothing was borrowed, which compilers use in
 * an addc after a sub.cc. */

#include "ptx/ops/ops.h"

/* Each yields the result and sets *carry, which holds the flag before, 0 or 1. Without a flag a
 * subtraction begins with 1. */
#define CHAIN(T)                                                                                   \
    static inline T add_##T(T a, T b, unsigned *carry)                                             \
    {                                                                                              \
        const T sum = (T)(a + b), total = (T)(sum + *carry);                                       \
        *carry = (sum < a) | (total < sum);                                                        \
        return total;                                                                              \
    }                                                                                              \
    static inline T sub_##T(T a, T b, unsigned *carry)                                             \
    {                                                                                              \
        return add_##T(a, (T)~b, carry);                                                           \
    }
CHAIN(uint32_t)
CHAIN(uint64_t)

#define LOW32(a, b) ((a) * (b))
#define HIGH32U(a, b) ((uint32_t)((uint64_t)(a) * (b) >> 32))
#define HIGH32S(a, b) ((uint32_t)((uint64_t)((int64_t)(int32_t)(a) * (int32_t)(b)) >> 32))
#define HIGH64U(a, b) ops_high_product(a, b, false)
#define HIGH64S(a, b) ops_high_product(a, b, true)

/* `left` and `right`: the terms, from the sources a, b, c. */
#define RUN(name, T, U, function, left, right, three, first)                                       \
    static void run_##name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)      \
    {                                                                                              \
        const lane_##U *pa = ptx_in(warp, step->operand[1]);                                       \
        const lane_##U *pb = ptx_in(warp, step->operand[2]);                                       \
        const lane_##U *pc = three ? ptx_in(warp, step->operand[3]) : pa;                          \
        lane_##U *to = step->operand[0] == PTX_ABSENT ? NULL : ptx_out(warp, step->operand[0]);    \
        uint32_t flags = 0;                                                                        \
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                        \
            const T a = pa[lane], b = pb[lane], c = pc[lane];                                      \
            unsigned carry = step->how.carry.in ? warp->carry >> lane & 1U : (first);              \
            const T value = function(left, right, &carry);                                         \
            (void)b;                                                                               \
            (void)c;                                                                               \
            flags |= (uint32_t)carry << lane;                                                      \
            if (to && ops_has(mask, lane))                                                         \
                to[lane] = value;                                                                  \
        }                                                                                          \
        if (step->how.carry.out)                                                                   \
            warp->carry = (warp->carry & ~mask) | (flags & mask);                                  \
    }
RUN(add32, uint32_t, u32, add_uint32_t, a, b, false, 0)
RUN(add64, uint64_t, u64, add_uint64_t, a, b, false, 0)
RUN(sub32, uint32_t, u32, sub_uint32_t, a, b, false, 1)
RUN(sub64, uint64_t, u64, sub_uint64_t, a, b, false, 1)
RUN(madlo32, uint32_t, u32, add_uint32_t, LOW32(a, b), c, true, 0)
RUN(madhi_u32, uint32_t, u32, add_uint32_t, HIGH32U(a, b), c, true, 0)
RUN(madhi_s32, uint32_t, u32, add_uint32_t, HIGH32S(a, b), c, true, 0)
RUN(madlo64, uint64_t, u64, add_uint64_t, LOW32(a, b), c, true, 0)
RUN(madhi_u64, uint64_t, u64, add_uint64_t, HIGH64U(a, b), c, true, 0)
RUN(madhi_s64, uint64_t, u64, add_uint64_t, HIGH64S(a, b), c, true, 0)

#define BOTH(op, modifiers, stem)                                                                  \
    OPS_ROW(op, modifiers, OPS_U32 | OPS_S32, stem##32),                                           \
        OPS_ROW(op, modifiers, OPS_U64 | OPS_S64, stem##64)
#define HIGH(op) OPS_BY_SIGN(op, OPS_HIGH, madhi, 32), OPS_BY_SIGN(op, OPS_HIGH, madhi, 64)
static const struct ops_row rows[] = {
    BOTH(ADD, 0, add),   BOTH(ADDC, 0, add),   BOTH(SUB, 0, sub), BOTH(SUBC, 0, sub),
    BOTH(MAD, 0, madlo), BOTH(MADC, 0, madlo), HIGH(MAD),         HIGH(MADC),
};

ptx_run *ops_carry(const struct ir_insn *insn, union ptx_how *how)
{
    const bool carry_in = insn->op == IR_ADDC || insn->op == IR_SUBC || insn->op == IR_MADC;

    if (!carry_in && !insn->cc)
        return NULL;
    how->carry = (struct how_carry){.in = carry_in, .out = insn->cc};
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
