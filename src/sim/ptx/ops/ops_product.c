/* SPDX-License-Identifier: MIT */
/* Products of matrices, with the bits that an H100 gives: tests/sim/mma and tests/sim/wgmma compare
 * them. */
#include "ptx/ops/ops_product.h"

#include <math.h>
#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/half.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

/* --- Elements --- */
struct format {                  /* of a float */
    unsigned bytes;              /* in memory */
    unsigned unused;             /* lowest bits */
    unsigned mantissa, exponent; /* bits */
    bool finite;                 /* but for the largest number, which is the NaN */
};

OPS_INLINE struct format format_of(unsigned type)
{
    switch (type) {
    case IR_F16:
        return (struct format){2, 0, 10, 5, false};
    case IR_BF16:
        return (struct format){2, 0, 7, 8, false};
    case IR_TF32:
        return (struct format){4, 13, 10, 8, false};
    case IR_E4M3:
        return (struct format){1, 0, 3, 4, true};
    case IR_E5M2:
        return (struct format){1, 0, 2, 5, false};
    default:
        return (struct format){4, 0, 23, 8, false};
    }
}

/* That of zeros is below each other, so that they decide nothing. The largest of a sum is at least
 * EXPONENT_LEAST: an H100 gives other bits with one more or less. */
enum { EXPONENT_OF_ZERO = -1000, EXPONENT_LEAST = -133 };

struct number { /* part * 2^exponent */
    float part, value;
    int32_t exponent;
    uint32_t special;
};

OPS_INLINE struct number number_of(uint32_t word, struct format format)
{
    const uint32_t ones = (1U << format.mantissa) - 1, all = (1U << format.exponent) - 1;
    const uint32_t bits = word >> format.unused, low = bits & ones;
    const uint32_t exponent = bits >> format.mantissa & all, normal = exponent != 0;
    const float magnitude =
        (float)(int32_t)(low | normal << format.mantissa) * f32_of((127 - format.mantissa) << 23);
    const uint32_t sign = bits >> (format.mantissa + format.exponent) << 31;
    const uint32_t special = exponent == all && (!format.finite || low == ones);
    const uint32_t infinite = special && low == 0;
    const uint32_t value = infinite ? F32_INFINITY : special ? F32_NAN : f32_bits(magnitude);
    return (struct number){.part = f32_of((special ? 0 : f32_bits(magnitude)) | sign),
                           .value = f32_of(value | sign),
                           .exponent = (low | exponent) == 0
                                           ? EXPONENT_OF_ZERO
                                           : (int32_t)(exponent + 1 - normal) - (int32_t)(all >> 1),
                           .special = special};
}

/* Elements by place and row, as bits. */
typedef uint32_t words[PRODUCT_BYTES][PRODUCT_ROWS];

OPS_INLINE void take_words(unsigned bytes, unsigned rows, unsigned count, const product_line *from,
                           words to)
{
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < count; k++) {
            uint32_t word = 0;
            memcpy(&word, from[row] + (size_t)k * bytes, bytes);
            to[k][row] = word;
        }
}

OPS_INLINE void take_floats(unsigned type, bool minus, unsigned rows, const product_line *lines,
                            struct product_elements *to)
{
    const struct format format = format_of(type);
    const uint32_t sign = minus ? F32_SIGN : 0;
    uint32_t special = 0;
    words from;
    to->count = PRODUCT_BYTES / format.bytes;
    take_words(format.bytes, rows, to->count, lines, from);
    for (unsigned k = 0; k < to->count; k++) {
        OPS_UNORDERED
        for (unsigned row = 0; row < rows; row++) {
            const struct number number = number_of(from[k][row], format);
            to->part[k][row] = f32_of(f32_bits(number.part) ^ sign);
            to->exponent[k][row] = number.exponent;
            special |= number.special;
        }
    }
    to->special = special;
    for (unsigned k = 0; k < to->count && special; k++)
        for (unsigned row = 0; row < rows; row++)
            to->value[k][row] = f32_of(f32_bits(number_of(from[k][row], format).value) ^ sign);
}

OPS_INLINE void take_integers(bool is_signed, unsigned rows, const product_line *lines,
                              struct product_elements *to)
{
    for (unsigned k = 0; k < PRODUCT_BYTES; k++)
        for (unsigned row = 0; row < rows; row++) {
            const uint8_t byte = lines[row][k];
            to->number[k][row] = is_signed ? (int8_t)byte : byte;
        }
    to->count = PRODUCT_BYTES;
}

static void take_bits(unsigned rows, const product_line *lines, struct product_elements *to)
{
    to->count = PRODUCT_BYTES / 4;
    for (unsigned k = 0; k < to->count; k++)
        for (unsigned row = 0; row < rows; row++)
            memcpy(&to->number[k][row], lines[row] + (size_t)k * 4, 4);
}

void OPS_NAME(ops_product_take)(unsigned type, bool minus, unsigned rows, const product_line *lines,
                                struct product_elements *to)
{
    switch (type) {
    case IR_S8:
    case IR_U8:
        take_integers(type == IR_S8, rows, lines, to);
        break;
    case IR_B1:
        take_bits(rows, lines, to);
        break;
    case IR_F16:
        take_floats(IR_F16, minus, rows, lines, to);
        break;
    case IR_BF16:
        take_floats(IR_BF16, minus, rows, lines, to);
        break;
    case IR_TF32:
        take_floats(IR_TF32, minus, rows, lines, to);
        break;
    case IR_E4M3:
        take_floats(IR_E4M3, minus, rows, lines, to);
        break;
    default:
        take_floats(IR_E5M2, minus, rows, lines, to);
    }
}

/* --- Sums of floats --- */
/* A device adds c and all products of the instruction at once, as fixed-point numbers: bits are cut
 * off that are so far below the largest exponent of a product or c. That of a product is the sum of
 * its factors' exponents. The sum is exact, and cut off once more to the type of d; where a and b
 * have 8 bits, to as many bits behind the first as were kept. f16 is rounded to nearest even. What
 * is too small is +0. */
enum { FRACTION = 25, FRACTION_NARROW = 13, FRACTION_F32 = 23, F16_SIGN = 0x8000 };

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
typedef float floats __attribute__((vector_size(32), aligned(4), may_alias));

/* part * 2^(exponent - top) in units of the last bit that counts; 0 if it is far below. */
#define FIXED(part, exponent, top, fraction)                                                       \
    __builtin_convertvector(                                                                       \
        (part) * (floats)((((exponent) - (top) + 127 + (fraction)) & ((exponent) - (top) > -64))   \
                          << FRACTION_F32),                                                        \
        ints)

struct sums { /* of d: c, and what it becomes */
    struct {
        int32_t exponent[PRODUCT_COLUMNS];
        float part[PRODUCT_COLUMNS];
    } c[PRODUCT_ROWS];
    int32_t top[PRODUCT_ROWS][PRODUCT_COLUMNS]; /* the largest exponents */
    /* Two sums, as one could overflow. */
    int32_t even[PRODUCT_ROWS][PRODUCT_COLUMNS], odd[PRODUCT_ROWS][PRODUCT_COLUMNS];
};

OPS_INLINE void add_row(const struct product_elements *a, const struct product_elements *b,
                        unsigned row, int fraction, struct sums *sums)
{
    const ints c = *(const ints *)sums->c[row].exponent;
    ints top = c, even, odd = c ^ c;
    for (unsigned k = 0; k < a->count; k++) {
        const ints exponent = a->exponent[k][row] + *(const ints *)b->exponent[k];
        const ints more = exponent > top;
        top = (exponent & more) | (top & ~more);
    }
    even = FIXED(*(const floats *)sums->c[row].part, c, top, fraction);
    for (unsigned k = 0; k < a->count; k += 2) {
        const ints first = a->exponent[k][row] + *(const ints *)b->exponent[k];
        const ints second = a->exponent[k + 1][row] + *(const ints *)b->exponent[k + 1];
        even += FIXED(a->part[k][row] * *(const floats *)b->part[k], first, top, fraction);
        odd += FIXED(a->part[k + 1][row] * *(const floats *)b->part[k + 1], second, top, fraction);
    }
    *(ints *)sums->top[row] = top;
    *(ints *)sums->even[row] = even;
    *(ints *)sums->odd[row] = odd;
}

/* Infinity or NaN, if the sum of c and the products is; else `bits`. */
static uint32_t special_or(uint32_t bits, const struct product_elements *a,
                           const struct product_elements *b, unsigned row, unsigned j, float c,
                           bool is_f16)
{
    float sum = c;
    for (unsigned k = 0; k < a->count; k++)
        sum += (a->special ? a->value[k][row] : a->part[k][row]) *
               (b->special ? b->value[k][j] : b->part[k][j]);
    if (isfinite(sum))
        return bits;
    if (isnan(sum))
        return is_f16 ? HALF_NAN : F32_NAN;
    return is_f16 ? f16_bits(sum) : f32_bits(sum);
}

OPS_INLINE void multiply_floats(bool is_f16, bool narrow, unsigned rows,
                                const struct product_elements *a, const struct product_elements *b,
                                bool add, product_sums *d)
{
    const int fraction = narrow ? FRACTION_NARROW : FRACTION;
    const struct format format = format_of(is_f16 ? IR_F16 : IR_F32);
    uint32_t special = a->special || b->special;
    struct sums sums;
    float c[PRODUCT_ROWS][PRODUCT_COLUMNS];
    for (unsigned row = 0; row < rows; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
            const struct number number = number_of(add ? d[row][j] : 0, format);
            const bool least = number.exponent < EXPONENT_LEAST;
            sums.c[row].exponent[j] = least ? EXPONENT_LEAST : number.exponent;
            sums.c[row].part[j] = number.part;
            c[row][j] = number.value;
            special |= number.special;
        }
    for (unsigned row = 0; row < rows; row++)
        add_row(a, b, row, fraction, &sums);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
            const uint64_t unit = (uint64_t)(1023 + sums.top[row][j] - fraction) << 52;
            const double sum = (double)sums.even[row][j] + (double)sums.odd[row][j];
            const double scaled = sum * f64_of(unit);
            d[row][j] = is_f16 ? f16_rounded(scaled) : f32_cut(scaled, narrow);
        }
    for (unsigned row = 0; row < rows && special; row++)
        for (unsigned j = 0; j < PRODUCT_COLUMNS; j++)
            d[row][j] = special_or(d[row][j], a, b, row, j, c[row][j], is_f16);
}

/* --- Integers and bits --- */
static void multiply_integers(bool satfinite, unsigned rows, const struct product_elements *a,
                              const struct product_elements *b, product_sums *sums)
{
    for (unsigned row = 0; row < rows; row++) {
        int32_t products[PRODUCT_COLUMNS] = {0};
        for (unsigned k = 0; k < a->count; k++) {
            const int32_t *factors = b->number[k];
            for (unsigned j = 0; j < PRODUCT_COLUMNS; j++)
                products[j] += a->number[k][row] * factors[j];
        }
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
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < a->count; k++)
            for (unsigned j = 0; j < PRODUCT_COLUMNS; j++) {
                const uint32_t one = (uint32_t)a->number[k][row], other = (uint32_t)b->number[k][j];
                sums[row][j] += (uint32_t)__builtin_popcount(differ ? one ^ other : one & other);
            }
}

void OPS_NAME(ops_product_multiply)(const struct product_kind *kind, unsigned rows,
                                    const struct product_elements *a,
                                    const struct product_elements *b, bool add, product_sums *sums)
{
    const bool narrow = kind->type == IR_E4M3 || kind->type == IR_E5M2;
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
