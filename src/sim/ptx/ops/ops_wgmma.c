/* SPDX-License-Identifier: MIT */
#include "ptx/ops/ops_wgmma.h"

#include <math.h>
#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/fragment.h"
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

static struct format format_of(unsigned type)
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

OPS_INLINE uint32_t element_at(const uint8_t *row, unsigned k, unsigned bytes)
{
    uint32_t word = 0;
    memcpy(&word, row + (size_t)k * bytes, bytes);
    return word;
}

OPS_INLINE void take_floats(struct format format, bool minus, unsigned rows,
                            const wgmma_bytes *bytes, struct wgmma_elements *to)
{
    uint32_t special = 0;
    for (unsigned k = 0; k < WGMMA_BYTES / format.bytes; k++)
        for (unsigned row = 0; row < rows; row++) {
            const uint32_t word = element_at((*bytes)[row], k, format.bytes);
            const struct number number = number_of(word, format);
            to->part[k][row] = minus ? -number.part : number.part;
            to->value[k][row] = minus ? -number.value : number.value;
            to->exponent[k][row] = number.exponent;
            special |= number.special;
        }
    to->count = WGMMA_BYTES / format.bytes;
    to->special = special;
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
    default:
        take_floats(format_of(type), minus, rows, bytes, to);
    }
}

/* --- Sums of floats --- */
/* A device adds c and all products of the instruction at once, as fixed-point numbers: bits are cut
 * off that are so far below the largest exponent of a product or c. That of a product is the sum of
 * its factors' exponents. The sum is exact, and cut off once more to the type of d; where a and b
 * have 8 bits, to as many bits behind the first as were kept. f16 is rounded to nearest even. */
enum { FRACTION = 25, FRACTION_NARROW = 13, FRACTION_F32 = 23 };

OPS_INLINE int32_t fixed(float part, int32_t below, int fraction)
{
    const int32_t down = below < 64 ? below : 64;
    return (int32_t)(part * f32_of((uint32_t)(127 + fraction - down) << FRACTION_F32));
}

OPS_INLINE uint32_t f32_cut(double sum, bool narrow)
{
    const float nearest = (float)sum;
    const bool beyond = fabs((double)nearest) > fabs(sum) && fabs(sum) < 0x1p128;
    const uint32_t bits = f32_bits(nearest) - beyond;
    return narrow ? bits & ~0U << (FRACTION_F32 - FRACTION_NARROW) : bits;
}

struct row_sums { /* of one row of a */
    struct number c[WGMMA_COLUMNS];
    int32_t top[WGMMA_COLUMNS];                      /* the largest exponents */
    int32_t even[WGMMA_COLUMNS], odd[WGMMA_COLUMNS]; /* two, as one could overflow */
};

OPS_INLINE void row_add(const struct wgmma_elements *a, const struct wgmma_elements *b,
                        unsigned row, int fraction, bool add, struct row_sums *sums)
{
    for (unsigned j = 0; j < WGMMA_COLUMNS; j++)
        sums->top[j] =
            add && sums->c[j].exponent > EXPONENT_LEAST ? sums->c[j].exponent : EXPONENT_LEAST;
    for (unsigned k = 0; k < a->count; k++)
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const int32_t exponent = a->exponent[k][row] + b->exponent[k][j];
            sums->top[j] = exponent > sums->top[j] ? exponent : sums->top[j];
        }
    for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
        sums->even[j] =
            add ? fixed(sums->c[j].part, sums->top[j] - sums->c[j].exponent, fraction) : 0;
        sums->odd[j] = 0;
    }
    for (unsigned k = 0; k < a->count; k += 2)
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const int32_t even = a->exponent[k][row] + b->exponent[k][j];
            const int32_t odd = a->exponent[k + 1][row] + b->exponent[k + 1][j];
            sums->even[j] += fixed(a->part[k][row] * b->part[k][j], sums->top[j] - even, fraction);
            sums->odd[j] +=
                fixed(a->part[k + 1][row] * b->part[k + 1][j], sums->top[j] - odd, fraction);
        }
}

/* Infinity or NaN, if the sum of c and the products is; else `bits`. */
static uint32_t special_or(uint32_t bits, const struct wgmma_elements *a,
                           const struct wgmma_elements *b, unsigned row, unsigned j, float c,
                           bool is_f16)
{
    float sum = c;
    for (unsigned k = 0; k < a->count; k++)
        sum += a->value[k][row] * b->value[k][j];
    if (isfinite(sum))
        return bits;
    if (isnan(sum))
        return is_f16 ? HALF_NAN : F32_NAN;
    return is_f16 ? f16_bits(sum) : f32_bits(sum);
}

OPS_INLINE void multiply_floats(const struct wgmma_elements *a, const struct wgmma_elements *b,
                                bool is_f16, bool narrow, bool add, wgmma_sums *sums)
{
    const int fraction = narrow ? FRACTION_NARROW : FRACTION;
    const struct format format = format_of(is_f16 ? IR_F16 : IR_F32);
    for (unsigned row = 0; row < WGMMA_ROWS; row++) {
        struct row_sums all;
        uint32_t special = a->special || b->special;
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            all.c[j] = number_of((*sums)[row][j], format);
            special |= all.c[j].special;
        }
        row_add(a, b, row, fraction, add, &all);
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const uint64_t unit = (uint64_t)(1023 + all.top[j] - fraction) << 52;
            const double sum = ((double)all.even[j] + (double)all.odd[j]) * f64_of(unit);
            (*sums)[row][j] = is_f16 ? f16_sum(sum) : f32_cut(sum, narrow);
        }
        for (unsigned j = 0; j < WGMMA_COLUMNS && special; j++)
            (*sums)[row][j] = special_or((*sums)[row][j], a, b, row, j, all.c[j].value, is_f16);
    }
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
