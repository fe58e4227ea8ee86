/* SPDX-License-Identifier: MIT */
/* Products of matrices, with the bits that an H100 gives: tests/sim/mma and tests/sim/wgmma compare
 * them. */
#include "ptx/ops/ops_mma.h"

#include <math.h>

/* --- Elements --- */
/* The exponent of zeros is below each other, so that they decide nothing. The largest of a sum is
 * at least EXPONENT_LEAST: an H100 gives other bits with one more or less. */
enum { EXPONENT_OF_ZERO = -1000, EXPONENT_LEAST = -133, EXPONENT_BIAS = 127, FRACTION_F32 = 23 };

/* Products of numbers between these, and what they are multiplied with below, are normal floats. */
enum { EXPONENT_NEAR = -50, EXPONENT_FAR = 62 };

OPS_INLINE int32_t field_of(uint32_t bits)
{
    return (int32_t)(bits >> FRACTION_F32 & 0xff);
}

/* Of a float that comes from a format whose least exponent is `least`. */
OPS_INLINE int32_t exponent_of(uint32_t bits, int32_t least)
{
    const int32_t exponent = field_of(bits) - EXPONENT_BIAS;
    const int32_t number = exponent < least ? least : exponent;
    return (bits & ~F32_SIGN) == 0 ? EXPONENT_OF_ZERO : number;
}

OPS_INLINE bool is_special(uint32_t bits)
{
    return field_of(bits) == 0xff;
}

/* Of a format, or of f16 that an element is converted to. */
OPS_INLINE int32_t least_of(unsigned type, bool as_f16)
{
    return type == IR_E4M3 && !as_f16 ? -6 : type == IR_BF16 || type == IR_TF32 ? -126 : -14;
}

/* As a float. */
OPS_INLINE uint32_t value_of(unsigned type, uint32_t word)
{
    switch (type) {
    case IR_F16:
        return f32_bits(f16_float(word));
    case IR_BF16:
        return word << 16;
    case IR_TF32:
        return word & ~UINT32_C(0x1fff);
    case IR_E5M2:
        return f32_bits(f16_float(word << 8));
    default: { /* e4m3: an f16 of 2^-8 times the value, but for the NaN */
        const float small = f16_float((word & 0x80) << 8 | (word & 0x7f) << 7);
        return half_pick((word & 0x7f) == 0x7f, F32_NAN, f32_bits(small * 256.0F));
    }
    }
}

OPS_INLINE void take_words(unsigned size, const product_line *from, struct product_elements *to)
{
    const unsigned count = to->count, rows = to->rows;
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < count; k++) {
            uint32_t word = 0;
            memcpy(&word, from[row] + (size_t)k * size, size);
            to->number[k * rows + row] = (int32_t)word;
        }
}

OPS_INLINE void take_floats(unsigned type, unsigned size, const struct product_side *side,
                            const product_line *lines, struct product_elements *to)
{
    const int32_t least = least_of(type, side->as_f16);
    const uint32_t sign = side->minus ? F32_SIGN : 0;
    uint32_t special = 0, far = 0;
    to->count = side->bytes / size;
    take_words(size, lines, to);
    const unsigned all = to->count * to->rows;
    OPS_UNORDERED
    for (unsigned i = 0; i < all; i++) {
        const uint32_t value = value_of(type, (uint32_t)to->number[i]) ^ sign;
        const int32_t exponent = exponent_of(value, least);
        to->number[i] = (int32_t)value;
        to->exponent[i] = exponent;
        special |= is_special(value);
        far |= (exponent > EXPONENT_FAR) |
               ((exponent < EXPONENT_NEAR) & (exponent != EXPONENT_OF_ZERO));
    }
    to->special = special;
    to->far = far;
}

void OPS_NAME(ops_product_take)(const struct product_side *side, unsigned rows,
                                const product_line *lines, struct product_elements *to)
{
    to->rows = rows;
    to->count = side->bytes;
    switch (side->type) {
    case IR_U8:
        take_words(1, lines, to);
        break;
    case IR_S8:
        take_words(1, lines, to);
        for (unsigned i = 0; i < to->count * rows; i++)
            to->number[i] = (int8_t)to->number[i];
        break;
    case IR_B1:
        to->count = side->bytes / 4;
        take_words(4, lines, to);
        break;
    case IR_F16:
        take_floats(IR_F16, 2, side, lines, to);
        break;
    case IR_BF16:
        take_floats(IR_BF16, 2, side, lines, to);
        break;
    case IR_TF32:
        take_floats(IR_TF32, 4, side, lines, to);
        break;
    case IR_E4M3:
        take_floats(IR_E4M3, 1, side, lines, to);
        break;
    default:
        take_floats(IR_E5M2, 1, side, lines, to);
    }
}

/* --- Sums of floats --- */
/* A device adds c and all products of the instruction at once, as fixed-point numbers: bits are cut
 * off that are so far below the largest exponent of a product or c. That of a product is the sum of
 * its factors' exponents. The sum is exact, and cut off once more to the type of d; where a and b
 * have 8 bits, to as many bits behind the first as were kept. f16 is rounded to nearest even. What
 * is too small is +0. */
enum { FRACTION = 25, FRACTION_NARROW = 13, F16_SIGN = 0x8000 };

OPS_INLINE uint32_t f32_cut(double sum, bool narrow)
{
    const float nearest = (float)sum;
    const bool beyond = fabs((double)nearest) > fabs(sum) && fabs(sum) < 0x1p128;
    const uint32_t bits = f32_bits(nearest) - beyond;
    const uint32_t cut = narrow ? bits & ~0U << (FRACTION_F32 - FRACTION_NARROW) : bits;
    return cut == F32_SIGN ? 0 : cut;
}

OPS_INLINE uint32_t f16_rounded(double sum)
{
    const uint32_t bits = f16_sum(sum);
    return bits == F16_SIGN ? 0 : bits;
}

/* Of eight columns at once. They stay inside of a function: how vectors are handed over depends on
 * the instruction set. */
typedef int32_t ints __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t sums_32 __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int64_t longs __attribute__((vector_size(64), aligned(8)));
typedef double doubles __attribute__((vector_size(64), aligned(8), may_alias));

#define INTS(from) (*(const ints *)(from))
#define FLOATS(from) (*(const floats *)(from))
#define DOUBLES(from) __builtin_convertvector(from, doubles)
#define MOST(one, other) (((one) & ((one) > (other))) | ((other) & ((one) <= (other))))
/* 2^exponents, as doubles. */
#define POWER(exponents) ((doubles)(__builtin_convertvector((exponents) + 1023, longs) << 52))
/* Products in units of the last bit that counts. Far ones need doubles. */
#define FIXED(one, others)                                                                         \
    (far ? __builtin_convertvector((double)(one)*DOUBLES(others) * units, ints)                    \
         : __builtin_convertvector((one) * (others)*near_units, ints))

OPS_INLINE float value_at(const struct product_elements *of, unsigned k, unsigned row)
{
    return f32_of((uint32_t)of->number[k * of->rows + row]);
}

/* The sums of a row. `c` are floats, whose exponents are `exponent`. What is not finite makes them
 * meaningless. */
OPS_INLINE void add_row(bool far, const struct product_elements *a,
                        const struct product_elements *b, unsigned row, int fraction,
                        const uint32_t *c, const int32_t *exponent, double *sums)
{
    ints top = INTS(exponent);
    for (unsigned k = 0; k < a->count; k++) {
        const ints sum = a->exponent[k * a->rows + row] + INTS(b->exponent + k * PRODUCT_COLUMNS);
        top = MOST(sum, top);
    }
    const ints up = fraction - top;
    const doubles units = POWER(up);
    /* With an exponent that no float has, all products are 0. */
    const floats near_units =
        (floats)(((up & (up <= EXPONENT_BIAS)) + EXPONENT_BIAS) << FRACTION_F32);
    /* Two sums, as one could overflow; they wrap if they are meaningless. */
    sums_32 even = (sums_32) __builtin_convertvector(DOUBLES(FLOATS(c)) * units, ints);
    sums_32 odd = even ^ even;
    for (unsigned k = 0; k < a->count; k += 2) {
        const int32_t *others = b->number + (size_t)k * PRODUCT_COLUMNS;
        even += (sums_32)FIXED(value_at(a, k, row), FLOATS(others));
        odd += (sums_32)FIXED(value_at(a, k + 1, row), FLOATS(others + PRODUCT_COLUMNS));
    }
    *(doubles *)sums = (DOUBLES((ints)even) + DOUBLES((ints)odd)) * POWER(-up);
}

/* Infinity or NaN, if the sum of c and the products is; else `bits`. */
static uint32_t special_or(uint32_t bits, const struct product_elements *a,
                           const struct product_elements *b, unsigned row, unsigned j, uint32_t c,
                           bool is_f16)
{
    double sum = (double)f32_of(c);
    for (unsigned k = 0; k < a->count; k++)
        sum += (double)value_at(a, k, row) * (double)value_at(b, k, j);
    if (isfinite(sum))
        return bits;
    if (isnan(sum))
        return is_f16 ? HALF_NAN : F32_NAN;
    return is_f16 ? f16_bits((float)sum) : f32_bits((float)sum);
}

OPS_INLINE void multiply_floats(bool is_f16, bool narrow, unsigned rows,
                                const struct product_elements *a, const struct product_elements *b,
                                bool add, product_sums *d)
{
    const int fraction = narrow ? FRACTION_NARROW : FRACTION;
    const int32_t least = is_f16 ? -14 : -126;
    uint32_t special = a->special || b->special;
    uint32_t c[PRODUCT_ROWS][PRODUCT_COLUMNS];
    int32_t exponent[PRODUCT_ROWS][PRODUCT_COLUMNS];
    double sums[PRODUCT_ROWS][PRODUCT_COLUMNS];
    for (unsigned row = 0; row < rows; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
            const uint32_t bits = add ? d[row][j] : 0;
            const uint32_t value = is_f16 ? f32_bits(f16_float(bits)) : bits;
            const int32_t own = exponent_of(value, least);
            exponent[row][j] = own < EXPONENT_LEAST ? EXPONENT_LEAST : own;
            c[row][j] = value;
            special |= is_special(value);
        }
    if (a->far || b->far)
        for (unsigned row = 0; row < rows; row++)
            add_row(true, a, b, row, fraction, c[row], exponent[row], sums[row]);
    else
        for (unsigned row = 0; row < rows; row++)
            add_row(false, a, b, row, fraction, c[row], exponent[row], sums[row]);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++)
            d[row][j] = is_f16 ? f16_rounded(sums[row][j]) : f32_cut(sums[row][j], narrow);
    for (unsigned row = 0; row < rows && special; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++)
            d[row][j] = special_or(d[row][j], a, b, row, j, c[row][j], is_f16);
}

/* --- Integers and bits --- */
static void multiply_integers(bool satfinite, unsigned rows, const struct product_elements *a,
                              const struct product_elements *b, product_sums *sums)
{
    for (unsigned row = 0; row < rows; row++) {
        const int32_t *one = a->number + row, *others = b->number;
        ints products = {0};
        for (unsigned k = a->count; k > 0; k--, one += a->rows, others += PRODUCT_COLUMNS)
            products += *one * INTS(others);
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
            const int64_t sum = (int64_t)(int32_t)sums[row][j] + products[j];
            const int64_t near = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            sums[row][j] = (uint32_t)(satfinite ? near : sum);
        }
    }
}

static void multiply_bits(bool differ, unsigned rows, const struct product_elements *a,
                          const struct product_elements *b, product_sums *sums)
{
    for (unsigned row = 0; row < rows; row++) {
        const int32_t *one = a->number + row, *others = b->number;
        product_sums counts = {0};
        for (unsigned k = a->count; k > 0; k--, one += a->rows, others += PRODUCT_COLUMNS)
            for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
                const int32_t bits = differ ? *one ^ others[j] : *one & others[j];
                counts[j] += (uint32_t)__builtin_popcount((unsigned)bits);
            }
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++)
            sums[row][j] += counts[j];
    }
}

void OPS_NAME(ops_product_multiply)(const struct product_kind *kind, unsigned rows,
                                    const struct product_elements *a,
                                    const struct product_elements *b, bool add, product_sums *sums)
{
    const bool narrow = kind->narrow;
    if (kind->d == IR_S32 && !add)
        memset(sums, 0, rows * sizeof *sums);
    switch (kind->type) {
    case IR_S8:
    case IR_U8:
        multiply_integers(kind->satfinite, rows, a, b, sums);
        break;
    case IR_B1:
        multiply_bits(kind->differ, rows, a, b, sums);
        break;
    default:
        if (kind->d == IR_F16)
            multiply_floats(true, narrow, rows, a, b, add, sums);
        else
            multiply_floats(false, narrow, rows, a, b, add, sums);
    }
}
