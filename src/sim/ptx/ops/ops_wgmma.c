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

struct number { /* part * 2^exponent */
    float part;
    int32_t exponent;
    bool special;
};

OPS_INLINE struct number number_of(uint32_t word, struct format format)
{
    const uint32_t ones = (1U << format.mantissa) - 1, all = (1U << format.exponent) - 1;
    const uint32_t bits = word >> format.unused, low = bits & ones;
    const uint32_t exponent = bits >> format.mantissa & all, normal = exponent != 0;
    const float magnitude =
        (float)(int32_t)(low | normal << format.mantissa) * f32_of((127 - format.mantissa) << 23);
    const uint32_t sign = bits >> (format.mantissa + format.exponent) << 31;
    return (struct number){.part = f32_of(f32_bits(magnitude) | sign),
                           .exponent = (int32_t)(exponent + 1 - normal) - (int32_t)(all >> 1),
                           .special = exponent == all && (!format.finite || low == ones)};
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
enum { FRACTION = 25, FRACTION_NARROW = 13 };

OPS_INLINE int32_t cut(float part, int32_t below, int fraction)
{
    /* What is far below the highest bit is cut off whole. */
    const int32_t down = below < 64 ? below : 64;
    return (int32_t)(part * f32_of((uint32_t)(127 + fraction - down) << 23));
}

static void multiply_floats(const struct how_wgmma *how, const struct wgmma_elements *a,
                            const struct wgmma_elements *b, bool add, wgmma_sums *sums)
{
    const int fraction = how->a == IR_E4M3 || how->a == IR_E5M2 ? FRACTION_NARROW : FRACTION;
    const struct format format = format_of(how->d);
    for (unsigned row = 0; row < WGMMA_ROWS; row++) {
        int32_t top[WGMMA_COLUMNS], even[WGMMA_COLUMNS], odd[WGMMA_COLUMNS];
        struct number c[WGMMA_COLUMNS];
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            c[j] = number_of((*sums)[row][j], format);
            top[j] = add ? c[j].exponent : -1000;
        }
        for (unsigned k = 0; k < a->count; k++)
            for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
                const int32_t exponent = a->exponent[k][row] + b->exponent[k][j];
                top[j] = exponent > top[j] ? exponent : top[j];
            }
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            even[j] = cut(c[j].part, top[j] - c[j].exponent, fraction);
            odd[j] = 0;
        }
        for (unsigned k = 0; k < a->count; k += 2)
            for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
                even[j] += cut(a->part[k][row] * b->part[k][j],
                               top[j] - a->exponent[k][row] - b->exponent[k][j], fraction);
                odd[j] += cut(a->part[k + 1][row] * b->part[k + 1][j],
                              top[j] - a->exponent[k + 1][row] - b->exponent[k + 1][j], fraction);
            }
        for (unsigned j = 0; j < WGMMA_COLUMNS; j++) {
            const double sum = ((double)even[j] + odd[j]) * ldexp(1.0, top[j] - fraction);
            const float near = (float)sum;
            uint32_t bits = f32_bits(near);
            if (fabs((double)near) > fabs(sum))
                bits--;
            if (how->d == IR_F16)
                bits = f16_bits((float)sum);
            (*sums)[row][j] = bits;
        }
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
    default:
        multiply_floats(how, a, b, add, sums);
    }
}
