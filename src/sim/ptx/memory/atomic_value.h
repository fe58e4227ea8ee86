/* SPDX-License-Identifier: MIT */
/* What an atomic operation leaves in memory, of what was there and its operand: name(a, b, global).
 */
#ifndef CUSHIM_SIM_PTX_MEMORY_ATOMIC_VALUE_H
#define CUSHIM_SIM_PTX_MEMORY_ATOMIC_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx/ops/float_bits.h"
#include "ptx/ops/float_bits.h"

#define OPERATION(name, bits, value)                                                               \
    static inline bits name(bits a, bits b, bool global)                                           \
    {                                                                                              \
        (void)global;                                                                              \
        return (bits)(value);                                                                      \
    }
OPERATION(add_32, uint32_t, a + b)
OPERATION(add_64, uint64_t, a + b)
OPERATION(and_32, uint32_t, a &b)
OPERATION(and_64, uint64_t, a &b)
OPERATION(or_32, uint32_t, a | b)
OPERATION(or_64, uint64_t, a | b)
OPERATION(xor_32, uint32_t, a ^ b)
OPERATION(xor_64, uint64_t, a ^ b)
OPERATION(exch_32, uint32_t, (a & 0) | b)
OPERATION(exch_64, uint64_t, (a & 0) | b)
OPERATION(min_u32, uint32_t, b < a ? b : a)
OPERATION(max_u32, uint32_t, b > a ? b : a)
OPERATION(min_s32, uint32_t, (int32_t)b < (int32_t)a ? b : a)
OPERATION(max_s32, uint32_t, (int32_t)b > (int32_t)a ? b : a)
OPERATION(min_u64, uint64_t, b < a ? b : a)
OPERATION(max_u64, uint64_t, b > a ? b : a)
OPERATION(min_s64, uint64_t, (int64_t)b < (int64_t)a ? b : a)
OPERATION(max_s64, uint64_t, (int64_t)b > (int64_t)a ? b : a)
OPERATION(inc_u32, uint32_t, a >= b ? 0 : a + 1)
OPERATION(dec_u32, uint32_t, a == 0 || a > b ? b : a - 1)

static inline uint32_t flush32(uint32_t bits)
{
    return bits & F32_INFINITY ? bits : bits & F32_SIGN;
}

/* Subnormals become zero in global memory, and only there. */
static inline uint32_t add_f32(uint32_t a, uint32_t b, bool global)
{
    uint32_t sum = global ? f32_bits(f32_of(flush32(a)) + f32_of(flush32(b)))
                          : f32_bits(f32_of(a) + f32_of(b));

    if ((sum & ~F32_SIGN) > F32_INFINITY)
        return UINT32_C(0x7fffffff);
    return global ? flush32(sum) : sum;
}

static inline uint64_t add_f64(uint64_t a, uint64_t b, bool global)
{
    double one, two;
    uint64_t bits;

    (void)global;
    /* The memory's adder hands a NaN on as it is, signalling or not. */
    if (f64_is_nan(a) || f64_is_nan(b))
        return f64_is_nan(a) ? a : b;
    memcpy(&one, &a, sizeof one);
    memcpy(&two, &b, sizeof two);
    one += two;
    memcpy(&bits, &one, sizeof bits);
    return f64_is_nan(bits) ? F64_NAN : bits;
}

static inline uint16_t smaller(uint32_t a, uint32_t b, uint32_t infinity, bool larger)
{
    bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    int32_t x = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
    int32_t y = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : (int32_t)b;

    if (a_nan || b_nan)
        return (uint16_t)(a_nan && b_nan ? HALF_NAN : a_nan ? b : a);
    return (uint16_t)((larger ? y > x : y < x) ? b : a);
}
OPERATION(add_f16, uint16_t, f16_bits(f16_float(a) + f16_float(b)))
OPERATION(min_f16, uint16_t, smaller(a, b, F16_INFINITY, false))
OPERATION(max_f16, uint16_t, smaller(a, b, F16_INFINITY, true))
OPERATION(add_bf16, uint16_t, bf16_bits(bf16_float(a) + bf16_float(b)))
OPERATION(min_bf16, uint16_t, smaller(a, b, BF16_INFINITY, false))
OPERATION(max_bf16, uint16_t, smaller(a, b, BF16_INFINITY, true))
#define PAIR(name, half)                                                                           \
    OPERATION(name, uint32_t,                                                                      \
              (uint32_t)half((uint16_t)a, (uint16_t)b, global) |                                   \
                  (uint32_t)half((uint16_t)(a >> 16), (uint16_t)(b >> 16), global) << 16)
PAIR(add_f16x2, add_f16)
PAIR(min_f16x2, min_f16)
PAIR(max_f16x2, max_f16)
PAIR(add_bf16x2, add_bf16)
PAIR(min_bf16x2, min_bf16)
PAIR(max_bf16x2, max_bf16)

#undef OPERATION
#undef PAIR

#endif
