/* SPDX-License-Identifier: MIT */
/* Products of wgmma, with the bits that an H100 gives: tests/sim/wgmma compares them. */
#include "ptx/ops/ops_wgmma.h"

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

/* Below each of a product, so that zeros decide nothing. */
enum { EXPONENT_OF_ZERO = -1000, EXPONENT_LEAST = -300 };

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
typedef uint32_t words[WGMMA_BYTES][WGMMA_ROWS];

OPS_INLINE void take_words(unsigned bytes, unsigned rows, const wgmma_bytes *from, words to)
{
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < WGMMA_BYTES / bytes; k++) {
            uint32_t word = 0;
            memcpy(&word, (*from)[row] + (size_t)k * bytes, bytes);
            to[k][row] = word;
        }
}

OPS_INLINE void take_floats(unsigned type, bool minus, unsigned rows, const wgmma_bytes *bytes,
                            struct wgmma_elements *to)
{
    const struct format format = format_of(type);
    const uint32_t sign = minus ? F32_SIGN : 0;
    uint32_t special = 0;
    words from;
    to->count = WGMMA_BYTES / format.bytes;
    take_words(format.bytes, rows, bytes, from);
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

OPS_INLINE void take_integers(bool is_signed, unsigned rows, const wgmma_bytes *bytes,
                              struct wgmma_elements *to)
{
    for (unsigned k = 0; k < WGMMA_BYTES; k++)
        for (unsigned row = 0; row < rows; row++) {
            const uint8_t byte = (*bytes)[row][k];
            to->number[k][row] = is_signed ? (int8_t)byte : byte;
        }
    to->count = WGMMA_BYTES;
}

static void take_bits(unsigned rows, const wgmma_bytes *bytes, struct wgmma_elements *to)
{
    to->count = WGMMA_BYTES / 4;
    for (unsigned k = 0; k < to->count; k++)
        for (unsigned row = 0; row < rows; row++)
            memcpy(&to->number[k][row], (*bytes)[row] + (size_t)k * 4, 4);
}

void OPS_NAME(ops_wgmma_take)(unsigned type, bool minus, unsigned rows, const wgmma_bytes *bytes,
                              struct wgmma_elements *to)
{
    switch (type) {
    case IR_S8:
    case IR_U8:
        take_integers(type == IR_S8, rows, bytes, to);
        break;
    case IR_B1:
        take_bits(rows, bytes, to);
        break;
    case IR_F16:
        take_floats(IR_F16, minus, rows, bytes, to);
        break;
    case IR_BF16:
        take_floats(IR_BF16, minus, rows, bytes, to);
        break;
    case IR_TF32:
        take_floats(IR_TF32, minus, rows, bytes, to);
        break;
    case IR_E4M3:
        take_floats(IR_E4M3, minus, rows, bytes, to);
        break;
    default:
        take_floats(IR_E5M2, minus, rows, bytes, to);
    }
}

/* --- Sums of floats --- */
/* A device adds c and all products of the instruction at once, as fixed-point numbers: bits are cut
 * off that are so far below the largest exponent of a product or c. That of a product is the sum of
 * its factors' exponents. The sum is exact, and cut off once more to the type of d; where a and b
 * have 8 bits, to as many bits behind the first as were kept. f16 is rounded to nearest even. */
enum { FRACTION = 25, FRACTION_NARROW = 13, FRACTION_F32 = 23 };

OPS_INLINE uint32_t f32_cut(double sum, bool narrow)
{
    const float nearest = (float)sum;
    const bool beyond = fabs((double)nearest) > fabs(sum) && fabs(sum) < 0x1p128;
    const uint32_t bits = f32_bits(nearest) - beyond;
    return narrow ? bits & ~0U << (FRACTION_F32 - FRACTION_NARROW) : bits;
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
        int32_t exponent[WGMMA_COLUMNS];
        float part[WGMMA_COLUMNS];
    } c[WGMMA_ROWS];
    int32_t top[WGMMA_ROWS][WGMMA_COLUMNS]; /* the largest exponents */
    /* Two sums, as one could overflow. */
    int32_t even[WGMMA_ROWS][WGMMA_COLUMNS], odd[WGMMA_ROWS][WGMMA_COLUMNS];
};

OPS_INLINE void add_row(const struct wgmma_elements *a, const struct wgmma_elements *b,
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
static uint32_t special_or(uint32_t bits, const struct wgmma_elements *a,
                           const struct wgmma_elements *b, unsigned row, unsigned j, float c,
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

OPS_INLINE void multiply_floats(const struct wgmma_elements *a, const struct wgmma_elements *b,
                                bool is_f16, bool narrow, bool add, wgmma_sums *d)
{
    const int fraction = narrow ? FRACTION_NARROW : FRACTION;
    const struct format format = format_of(is_f16 ? IR_F16 : IR_F32);
    uint32_t special = a->special || b->special;
    struct sums sums;
    float c[WGMMA_ROWS][WGMMA_COLUMNS];
    for (unsigned row = 0; row < WGMMA_ROWS; row++)
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const struct number number = number_of(add ? (*d)[row][j] : 0, format);
            const bool least = number.exponent < EXPONENT_LEAST;
            sums.c[row].exponent[j] = least ? EXPONENT_LEAST : number.exponent;
            sums.c[row].part[j] = number.part;
            c[row][j] = number.value;
            special |= number.special;
        }
    for (unsigned row = 0; row < WGMMA_ROWS; row++)
        add_row(a, b, row, fraction, &sums);
    for (unsigned row = 0; row < WGMMA_ROWS; row++)
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const uint64_t unit = (uint64_t)(1023 + sums.top[row][j] - fraction) << 52;
            const double sum = (double)sums.even[row][j] + (double)sums.odd[row][j];
            const double scaled = sum * f64_of(unit);
            (*d)[row][j] = is_f16 ? f16_sum(scaled) : f32_cut(scaled, narrow);
        }
    for (unsigned row = 0; row < WGMMA_ROWS && special; row++)
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++)
            (*d)[row][j] = special_or((*d)[row][j], a, b, row, j, c[row][j], is_f16);
}

/* --- Integers and bits --- */
static void multiply_integers(const struct how_wgmma *how, const struct wgmma_elements *a,
                              const struct wgmma_elements *b, wgmma_sums *sums)
{
    for (unsigned row = 0; row < WGMMA_ROWS; row++) {
        int32_t products[WGMMA_COLUMNS] = {0};
        for (unsigned k = 0; k < a->count; k++)
            for (unsigned j = 0; j < WGMMA_COLUMNS; j++)
                products[j] += a->number[k][row] * b->number[k][j];
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const int64_t sum = (int64_t)(int32_t)(*sums)[row][j] + products[j];
            const int64_t near = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            (*sums)[row][j] = (uint32_t)(how->satfinite ? near : sum);
        }
    }
}

static void multiply_bits(const struct wgmma_elements *a, const struct wgmma_elements *b,
                          wgmma_sums *sums)
{
    for (unsigned row = 0; row < WGMMA_ROWS; row++)
        for (unsigned k = 0; k < a->count; k++)
            for (unsigned j = 0; j < WGMMA_COLUMNS; j++)
                (*sums)[row][j] += (uint32_t)__builtin_popcount((uint32_t)a->number[k][row] &
                                                                (uint32_t)b->number[k][j]);
}

void OPS_NAME(ops_wgmma_multiply)(const struct how_wgmma *how, const struct wgmma_elements *a,
                                  const struct wgmma_elements *b, bool add, wgmma_sums *sums)
{
    switch (how->a) {
    case IR_S8:
    case IR_U8:
        multiply_integers(how, a, b, sums);
        break;
    case IR_B1:
        multiply_bits(a, b, sums);
        break;
    case IR_E4M3:
    case IR_E5M2:
        if (how->d == IR_F16)
            multiply_floats(a, b, true, true, add, sums);
        else
            multiply_floats(a, b, false, true, add, sums);
        break;
    default:
        if (how->d == IR_F16)
            multiply_floats(a, b, true, false, add, sums);
        else
            multiply_floats(a, b, false, false, add, sums);
    }
}
