/* SPDX-License-Identifier: MIT */
/* Integers: sums, products, extremes, absolute values; 16, 32 and 64 bits, and pairs of 16. */

#include "ptx/ops/ops.h"

static inline uint32_t saturated(uint32_t a, uint32_t result, uint32_t overflow)
{
    const uint32_t limit = (a >> 31) + UINT32_C(0x7fffffff);
    return overflow >> 31 ? limit : result;
}
static inline uint32_t add_saturated(uint32_t a, uint32_t b)
{
    const int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
    return sum > INT32_MAX   ? UINT32_C(0x7fffffff)
           : sum < INT32_MIN ? UINT32_C(0x80000000)
                             : (uint32_t)(uint64_t)sum;
}

/* What differs by type only. */
#define OF_TYPE(type, T, D, A, in, out)                                                            \
    OPS_OP(2, MIN, 0, OPS_##type, min_##T, D, A, A, out(in(a) < in(b) ? in(a) : in(b)))            \
    OPS_OP(2, MAX, 0, OPS_##type, max_##T, D, A, A, out(in(a) > in(b) ? in(a) : in(b)))            \
    OPS_OP(3, SAD, 0, OPS_##type, sad_##T, D, A, A, D,                                             \
           out(c + (lane_##D)(in(a) < in(b) ? (lane_##D)in(b) - (lane_##D)in(a)                    \
                                            : (lane_##D)in(a) - (lane_##D)in(b))))
#define SAME(x) (x)
#define LOW16(x) ops_u16((uint32_t)(x))
#define POSITIVE(x) ((x) > 0 ? (x) : 0)

#define HALVES(function) (ops_u16(function(a, b)) | function(a >> 16, b >> 16) << 16)
static inline uint32_t min_relu16(uint32_t a, uint32_t b)
{
    const int32_t least = ops_s16(a) < ops_s16(b) ? ops_s16(a) : ops_s16(b);
    return ops_u16((uint32_t)POSITIVE(least));
}
static inline uint32_t max_relu16(uint32_t a, uint32_t b)
{
    const int32_t most = ops_s16(a) > ops_s16(b) ? ops_s16(a) : ops_s16(b);
    return ops_u16((uint32_t)POSITIVE(most));
}

static inline uint64_t product24_u(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
static inline uint64_t product24_s(uint32_t a, uint32_t b)
{
    const int32_t left = (int32_t)(a << 8) >> 8, right = (int32_t)(b << 8) >> 8;
    return (uint64_t)((int64_t)left * right);
}

#define PAIRS (OPS_T(U16X2) | OPS_T(S16X2))
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_int.def"

static const struct ops_row rows[] = {
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_int.def"
};

ptx_run *OPS_NAME(ops_int)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    if (insn->cc || opcodes_class(insn->types[0]) > CLASS_PAIR)
        return NULL;
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
