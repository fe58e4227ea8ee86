/* SPDX-License-Identifier: MIT */
/* mma, wmma.mma and movmatrix: products of matrices whose elements are in the registers of a warp.
 *
 * Integers wrap around, or with .satfinite the sum, which is exact, becomes the nearest s32. With
 * f64 each product is added in the order of k, beginning with c, and rounded once with the sum (as
 * fma does). All other floats are computed so: a product is exact, the products are added to c in
 * f64 in the order of k, and the sum is rounded once, to nearest even, to the type of d. A device
 * adds in an order and a width of its own, and truncates. A NaN is the one NaN of its type. */
#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/fragment.h"
#include "ptx/ops/half.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

/* Elements of the largest matrices; those of a and b of b1 are 32 each. */
enum { MOST_A = 1024, MOST_B = 512, MOST_C = 256 };

static const uint32_t *list_of(const struct ptx_step *step)
{
    return step->list ? step->list : step->operand;
}

/* Registers of a: the distance to those of b, and so on. The mask is the last operand. */
static unsigned registers_of(const struct ptx_step *step, unsigned which)
{
    const struct how_mma *how = &step->how.mma;
    return (which < 3 ? how->at[which + 1] : step->list_count - 1U) - how->at[which];
}

/* READ(name, T, cell, element, value): a function that reads a fragment of elements of that type,
 * each the expression `value` of a register's bits, `word`, and of the element's number in it. */
#define READ(name, T, cell, element, value)                                                        \
    static void name(const struct ptx_warp *warp, const uint32_t *list, unsigned count,            \
                     struct fragment fragment, T *to)                                              \
    {                                                                                              \
        fragment.type = (element);                                                                 \
        for (unsigned i = 0; i < count; i++) {                                                     \
            const lane_##cell *words = ptx_in(warp, list[i]);                                      \
            unsigned row, column, row_in, column_in;                                               \
            fragment_tile(&fragment, i, &row, &column);                                            \
            for (unsigned part = 0; part < fragment_parts(element); part++) {                      \
                T values[PTX_LANES];                                                               \
                OPS_LANES                                                                          \
                {                                                                                  \
                    const lane_##cell word = words[lane];                                          \
                    values[lane] = (T)(value);                                                     \
                }                                                                                  \
                for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                \
                    fragment_lane(&fragment, lane, part, &row_in, &column_in);                     \
                    to[(row + row_in) * fragment.columns + column + column_in] = values[lane];     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define NIBBLE(word, part) ((word) >> 4 * (part)&15)

READ(read_f16, double, u32, IR_F16, f16_float(word >> 16 * part & 0xffff))
READ(read_bf16, double, u32, IR_BF16, bf16_float(word >> 16 * part & 0xffff))
READ(read_tf32, double, u32, IR_TF32, f32_of((word & 0xffffe000) >> part))
READ(read_f32, double, u32, IR_F32, f32_of(word >> part))
READ(read_f64, double, u64, IR_F64, f64_of(word >> part))
/* The upper byte of an f16; and an f16 of 2^-8 times the value, but for the NaN. */
READ(read_e5m2, double, u32, IR_E5M2, f16_float((word >> 8 * part & 0xff) << 8))
READ(read_e4m3, double, u32, IR_E4M3,
     (word >> 8 * part & 0x7f) == 0x7f
         ? __builtin_nanf("")
         : f16_float((word >> 8 * part & 0x80) << 8 | (word >> 8 * part & 0x7f) << 7) * 256.0F)
READ(read_s32, int32_t, u32, IR_S32, word >> part)
READ(read_s8, int32_t, u32, IR_S8, (int8_t)(word >> 8 * part))
READ(read_u8, int32_t, u32, IR_U8, (uint8_t)(word >> 8 * part))
READ(read_s4, int32_t, u32, IR_S4, (int32_t)(NIBBLE(word, part) ^ 8) - 8)
READ(read_u4, int32_t, u32, IR_U4, NIBBLE(word, part))

static void read_floats(const struct ptx_warp *warp, const uint32_t *list, unsigned count,
                        struct fragment fragment, double *to)
{
    switch (fragment.type) {
    case IR_F16:
        read_f16(warp, list, count, fragment, to);
        break;
    case IR_BF16:
        read_bf16(warp, list, count, fragment, to);
        break;
    case IR_TF32:
        read_tf32(warp, list, count, fragment, to);
        break;
    case IR_E4M3:
        read_e4m3(warp, list, count, fragment, to);
        break;
    case IR_E5M2:
        read_e5m2(warp, list, count, fragment, to);
        break;
    case IR_F64:
        read_f64(warp, list, count, fragment, to);
        break;
    default:
        read_f32(warp, list, count, fragment, to);
    }
}

static void read_integers(const struct ptx_warp *warp, const uint32_t *list, unsigned count,
                          struct fragment fragment, int32_t *to)
{
    switch (fragment.type) {
    case IR_S8:
        read_s8(warp, list, count, fragment, to);
        break;
    case IR_U8:
        read_u8(warp, list, count, fragment, to);
        break;
    case IR_S4:
        read_s4(warp, list, count, fragment, to);
        break;
    case IR_U4:
        read_u4(warp, list, count, fragment, to);
        break;
    default:
        read_s32(warp, list, count, fragment, to);
    }
}

/* --- Results --- */
OPS_INLINE uint32_t f32_result(double sum)
{
    const uint32_t bits = f32_bits((float)sum);
    return f32_is_nan(bits) ? F32_NAN : bits;
}
OPS_INLINE uint64_t f64_result(double sum)
{
    const uint64_t bits = f64_bits(sum);
    return f64_is_nan(bits) ? F64_NAN : bits;
}

/* WRITE(name, T, cell, element, bits): the lanes of `mask` get the elements of d. */
#define WRITE(name, T, cell, element, bits)                                                        \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, const T *from,            \
                     uint32_t mask)                                                                \
    {                                                                                              \
        const struct fragment fragment = fragment_of(step->how.mma.shape, FRAGMENT_C, element);    \
        const uint32_t *list = list_of(step);                                                      \
        for (unsigned i = 0; i < registers_of(step, 0); i++) {                                     \
            lane_##cell words[PTX_LANES] = {0}, *to;                                               \
            unsigned row, column, row_in, column_in;                                               \
            if (list[i] == PTX_ABSENT)                                                             \
                continue;                                                                          \
            to = ptx_out(warp, list[i]);                                                           \
            fragment_tile(&fragment, i, &row, &column);                                            \
            for (unsigned part = 0; part < fragment_parts(element); part++) {                      \
                T values[PTX_LANES];                                                               \
                for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                \
                    fragment_lane(&fragment, lane, part, &row_in, &column_in);                     \
                    values[lane] = from[(row + row_in) * fragment.columns + column + column_in];   \
                }                                                                                  \
                OPS_LANES                                                                          \
                {                                                                                  \
                    const T value = values[lane];                                                  \
                    words[lane] |= (lane_##cell)(bits) << 16 * part;                               \
                }                                                                                  \
            }                                                                                      \
            OPS_LANES                                                                              \
            {                                                                                      \
                to[lane] = ops_has(mask, lane) ? words[lane] : to[lane];                           \
            }                                                                                      \
        }                                                                                          \
    }
WRITE(write_f16, double, u32, IR_F16, f16_sum(value))
WRITE(write_f32, double, u32, IR_F32, f32_result(value))
WRITE(write_f64, double, u64, IR_F64, f64_result(value))
WRITE(write_s32, int32_t, u32, IR_S32, (uint32_t)value)

static void write_floats(struct ptx_warp *warp, const struct ptx_step *step, const double *from,
                         uint32_t mask)
{
    if (step->how.mma.d == IR_F16)
        write_f16(warp, step, from, mask);
    else
        write_f32(warp, step, from, mask);
}

/* --- Products --- */
/* The fragments of a, b and c. */
static struct fragment source(const struct ptx_step *step, unsigned matrix)
{
    const struct how_mma *how = &step->how.mma;
    return fragment_of(how->shape, matrix,
                       matrix == FRAGMENT_A   ? how->a
                       : matrix == FRAGMENT_B ? how->b
                                              : how->c);
}

#define READ_MATRIX(function, warp, step, matrix, to)                                              \
    function(warp, list_of(step) + (step)->how.mma.at[(matrix) + 1],                               \
             registers_of(step, (matrix) + 1), source(step, matrix), to)

/* c += a b, one addition after the other: several elements of a row of c at a time. */
OPS_INLINE void multiply_rows(const double *a, const double *b, double *c, unsigned m, unsigned n,
                              unsigned k, bool fused)
{
    for (unsigned l = 0; l < k; l++)
        for (unsigned i = 0; i < m; i++) { /* sums that do not wait for each other */
            const double one = a[i * k + l];
            for (unsigned j = 0; j < n; j++)
                c[i * n + j] = fused ? __builtin_fma(one, b[l * n + j], c[i * n + j])
                                     : c[i * n + j] + one * b[l * n + j];
        }
}

static void run_float(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct fragment_shape shape = fragment_shape(step->how.mma.shape);
    double a[MOST_A], b[MOST_B], c[MOST_C];
    READ_MATRIX(read_floats, warp, step, FRAGMENT_A, a);
    READ_MATRIX(read_floats, warp, step, FRAGMENT_B, b);
    READ_MATRIX(read_floats, warp, step, FRAGMENT_C, c);
    if (shape.n == 8)
        multiply_rows(a, b, c, shape.m, 8, shape.k, false);
    else
        multiply_rows(a, b, c, shape.m, shape.n, shape.k, false);
    write_floats(warp, step, c, mask);
}

static void run_double(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct fragment_shape shape = fragment_shape(step->how.mma.shape);
    double a[MOST_A], b[MOST_B], c[MOST_C];
    READ_MATRIX(read_floats, warp, step, FRAGMENT_A, a);
    READ_MATRIX(read_floats, warp, step, FRAGMENT_B, b);
    READ_MATRIX(read_floats, warp, step, FRAGMENT_C, c);
    multiply_rows(a, b, c, shape.m, 8, shape.k, true);
    write_f64(warp, step, c, mask);
}

/* The sum of products has far less than 31 bits. */
static int32_t accumulated(int32_t c, int32_t products, bool satfinite)
{
    const int64_t sum = (int64_t)c + products;
    if (satfinite && sum > INT32_MAX)
        return INT32_MAX;
    if (satfinite && sum < INT32_MIN)
        return INT32_MIN;
    return (int32_t)(uint32_t)sum;
}

static void run_integer(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct fragment_shape shape = fragment_shape(step->how.mma.shape);
    int32_t a[MOST_A], b[MOST_B], c[MOST_C];
    READ_MATRIX(read_integers, warp, step, FRAGMENT_A, a);
    READ_MATRIX(read_integers, warp, step, FRAGMENT_B, b);
    READ_MATRIX(read_integers, warp, step, FRAGMENT_C, c);
    for (unsigned i = 0; i < shape.m; i++) {
        int32_t sums[32] = {0};
        for (unsigned l = 0; l < shape.k; l++)
            for (unsigned j = 0; j < shape.n; j++)
                sums[j] += a[i * shape.k + l] * b[l * shape.n + j];
        for (unsigned j = 0; j < shape.n; j++)
            c[i * shape.n + j] = accumulated(c[i * shape.n + j], sums[j], step->how.mma.satfinite);
    }
    write_s32(warp, step, c, mask);
}

/* Of one bit each: how many are set in the .and or .xor of a row and a column. Words of 32 elements
 * of b1 lie as elements of 32 bits do. */
static void run_bits(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct fragment_shape shape = fragment_shape(step->how.mma.shape);
    const unsigned words = shape.k / 32U;
    int32_t a[MOST_A], b[MOST_B], c[MOST_C];
    struct fragment first = source(step, FRAGMENT_A), second = source(step, FRAGMENT_B);
    first.columns = second.rows = (uint16_t)words;
    read_s32(warp, list_of(step) + step->how.mma.at[1], registers_of(step, 1), first, a);
    read_s32(warp, list_of(step) + step->how.mma.at[2], registers_of(step, 2), second, b);
    READ_MATRIX(read_integers, warp, step, FRAGMENT_C, c);
    for (unsigned i = 0; i < shape.m; i++)
        for (unsigned j = 0; j < shape.n; j++) {
            int32_t sum = 0;
            for (unsigned l = 0; l < words; l++) {
                const uint32_t left = (uint32_t)a[i * words + l];
                const uint32_t right = (uint32_t)b[l * shape.n + j];
                sum += __builtin_popcount(step->how.mma.both ? left & right : left ^ right);
            }
            c[i * shape.n + j] = accumulated(c[i * shape.n + j], sum, false);
        }
    write_s32(warp, step, c, mask);
}

/* --- m8n8k4 of f16: four products. Lanes 4 q to 4 q + 3 and those 16 above have that of q. --- */
struct quad {
    double a[8][4], b[4][8], c[8][8];
};

/* The element `e` of c or d that a lane has. */
static double *quad_element(struct quad *quad, unsigned lane, unsigned e, bool is_f32)
{
    const unsigned upper = lane / 16 * 4;
    if (is_f32)
        return &quad->c[(lane & 1) + (e & 2) + upper][(e & 4) + (lane & 2) + (e & 1)];
    return &quad->c[lane % 4 + upper][e];
}

static double half_at(const struct ptx_warp *warp, const uint32_t *list, unsigned lane, unsigned e)
{
    const lane_u32 *words = ptx_in(warp, list[e / 2]);
    return f16_float(words[lane] >> e % 2 * 16 & 0xffff);
}

static void quad_read(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      struct quad *quad)
{
    const struct how_mma *how = &step->how.mma;
    const uint32_t *list = list_of(step);
    const unsigned upper = lane / 16 * 4, place = lane % 4;
    for (unsigned e = 0; e < 4; e++) {
        const double a = half_at(warp, list + how->at[1], lane, e);
        const double b = half_at(warp, list + how->at[2], lane, e);
        if (how->columns & 2)
            quad->a[e + upper][place] = a;
        else
            quad->a[place + upper][e] = a;
        if (how->columns & 1)
            quad->b[e][place + upper] = b;
        else
            quad->b[place][e + upper] = b;
    }
    for (unsigned e = 0; e < 8; e++) {
        const bool is_f32 = how->c == IR_F32;
        const lane_u32 *words = ptx_in(warp, list[how->at[3] + (is_f32 ? e : 0)]);
        *quad_element(quad, lane, e, is_f32) =
            is_f32 ? (double)f32_of(words[lane]) : half_at(warp, list + how->at[3], lane, e);
    }
}

static void quad_write(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                       struct quad *quad)
{
    const uint32_t *list = list_of(step);
    for (unsigned e = 0; e < 8; e++) {
        const bool is_f32 = step->how.mma.d == IR_F32;
        const uint32_t place = list[is_f32 ? e : e / 2];
        lane_u32 *words = ptx_out(warp, place);
        if (place == PTX_ABSENT)
            continue;
        const double sum = *quad_element(quad, lane, e, is_f32);
        if (is_f32)
            words[lane] = f32_result(sum);
        else if (e % 2 == 0)
            words[lane] = f16_sum(sum);
        else
            words[lane] |= f16_sum(sum) << 16;
    }
}

static void run_quads(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct quad quads[4];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        quad_read(warp, step, lane, &quads[lane % 16 / 4]);
    for (unsigned q = 0; q < 4; q++)
        multiply_rows(&quads[q].a[0][0], &quads[q].b[0][0], &quads[q].c[0][0], 8, 8, 4, false);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (ops_has(mask, lane))
            quad_write(warp, step, lane, &quads[lane % 16 / 4]);
}

/* --- movmatrix: 8 x 8 elements of 16 bits, transposed --- */
static void run_movmatrix(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    lane_u32 *to = ptx_out(warp, step->operand[0]);
    uint16_t from[PTX_LANES][2];
    memcpy(from, ptx_in(warp, step->operand[1]), sizeof from);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const unsigned row = lane / 4, column = lane % 4 * 2;
        const uint16_t low = from[column * 4 + row / 2][row % 2];
        const uint16_t high = from[(column + 1) * 4 + row / 2][row % 2];
        const uint32_t word = (uint32_t)high << 16 | low;
        to[lane] = ops_has(mask, lane) ? word : to[lane];
    }
}

/* --- Choice --- */
static unsigned count_of(const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_VECTOR ? operand->count : 1;
}

static ptx_run *select_mma(const struct ir_insn *insn, union ptx_how *how)
{
    /* wmma names only d and c where a and b are f16. */
    const bool all = insn->type_count == 4;
    struct how_mma mma = {.shape = insn->shape,
                          .d = insn->types[0],
                          .a = all ? insn->types[1] : (uint8_t)IR_F16,
                          .b = all ? insn->types[2] : (uint8_t)IR_F16,
                          .c = insn->types[all ? 3 : 1],
                          .columns = insn->columns,
                          .satfinite = insn->satfinite,
                          .both = insn->atomic == IR_ATOM_AND};
    for (unsigned i = 0; i < 3; i++)
        mma.at[i + 1] = (uint8_t)(mma.at[i] + count_of(&insn->operands[i]));
    how->mma = mma;
    switch (mma.a) {
    case IR_B1:
        return run_bits;
    case IR_F64:
        return run_double;
    case IR_S8:
    case IR_U8:
    case IR_S4:
    case IR_U4:
        return run_integer;
    default:
        return insn->op == IR_MMA && insn->shape == IR_M8N8K4 ? run_quads : run_float;
    }
}

ptx_run *OPS_NAME(ops_mma)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    (void)reason;
    if (insn->op == IR_MMA || insn->op == IR_WMMA)
        return select_mma(insn, how);
    return insn->op == IR_MOVMATRIX ? run_movmatrix : NULL;
}
