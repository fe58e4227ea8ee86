/* SPDX-License-Identifier: MIT */
/* Elements of matrices: bits and values. */
#include <math.h>
#include <string.h>

#include "matrix.h"

unsigned element_bits(enum type type)
{
    static const unsigned bits[] = {
        [F16] = 16, [BF16] = 16, [TF32] = 32, [E4M3] = 8, [E5M2] = 8, [F32] = 32, [F64] = 64,
        [S8] = 8,   [U8] = 8,    [S4] = 4,    [U4] = 4,   [B1] = 1,   [S32] = 32};

    return bits[type];
}

/* Exponent and fraction of the small floats. */
static double small_value(uint64_t bits, int exponent_bits, int fraction_bits)
{
    const int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double fraction = (double)(bits & ((UINT64_C(1) << fraction_bits) - 1));
    const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1.0 : 1.0;

    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + ldexp(1.0, fraction_bits), exponent - bias - fraction_bits);
}

double element_value(enum type type, uint64_t bits)
{
    float single;
    double value;
    uint32_t word = (uint32_t)bits;

    switch (type) {
    case F16:
        return small_value(bits, 5, 10);
    case BF16:
        return small_value(bits, 8, 7);
    case E4M3:
        return small_value(bits, 4, 3);
    case E5M2:
        return small_value(bits, 5, 2);
    case TF32:
        return small_value(bits >> 13, 8, 10);
    case F32:
        memcpy(&single, &word, sizeof single);
        return single;
    case F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case S8:
        return (int8_t)bits;
    case S4:
        return (int)(bits ^ 8) - 8;
    case S32:
        return (int32_t)word;
    default:
        return (double)bits;
    }
}

uint64_t element_of(enum type type, double value)
{
    float single = (float)value;
    uint32_t word;
    uint64_t wide;

    switch (type) {
    case F64:
        memcpy(&wide, &value, sizeof wide);
        return wide;
    case F32:
    case TF32:
    case BF16:
        memcpy(&word, &single, sizeof word);
        return type == BF16 ? word >> 16 : word;
    case F16: /* the float's upper bits, with another bias */
    case E4M3:
    case E5M2:
        memcpy(&word, &single, sizeof word);
        if (value == 0)
            return 0;
        wide = type == F16    ? (word >> 13 & 0x3ffff) - (112 << 10)
               : type == E4M3 ? (word >> 20 & 0x7ff) - (120 << 3)
                              : (word >> 21 & 0x3ff) - (112 << 2);
        return wide | (uint64_t)(value < 0) << (element_bits(type) - 1);
    default:
        return (uint64_t)(int64_t)value & ((UINT64_C(1) << element_bits(type)) - 1);
    }
}

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d) >> 11 | state << 53;
}

/* Floats have exponents from 2^-7 to 2^3 (e4m3, e5m2), from 2^-8 to 2^1 (f16, whose sums have to
 * be finite) or to 2^7; integers any bits. */
uint64_t element_random(enum type type)
{
    const uint64_t bits = random_bits(), exponent = bits >> 8 & 15;

    switch (type) {
    case F16:
        return (bits >> 40 & 0x83ff) | (exponent % 10 + 7) << 10;
    case BF16:
        return (bits >> 40 & 0x807f) | (exponent + 119) << 7;
    case TF32: /* with bits that do not count */
    case F32:
        return (bits >> 30 & 0x807fffff) | (exponent + 119) << 23;
    case F64:
        return (bits & UINT64_C(0x800fffffffffffff)) | (exponent + 1015) << 52;
    case E4M3:
        return (bits >> 40 & 0x87) | (exponent % 11) << 3;
    case E5M2:
        return (bits >> 40 & 0x83) | (exponent % 11 + 8) << 2;
    case S32: /* half of them are near the ends, so that sums go past these */
        return bits >> 60 & 1 ? UINT32_C(0x7fffffff) + (uint32_t)(bits & 0xff) - 128
                              : bits >> 20 & 0xffffffff;
    default:
        return bits >> 20 & ((UINT64_C(1) << element_bits(type)) - 1);
    }
}
