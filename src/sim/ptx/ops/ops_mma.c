/* SPDX-License-Identifier: MIT */
/* mma, wmma.mma and movmatrix: products of matrices whose elements are in the registers of a warp.
 *
 * The sums have the bits that an H100 gives; tests/sim/mma compares them. It has instructions for
 * products of f16, bf16, tf32 and integers, whose sums are those of ops_product.c. Others it makes
 * of several: see enum parts. In f64 each product is added in the order of k, beginning with c,
 * and rounded once with the sum, as fma does. A NaN is the one NaN of its type. */

#include "ptx/ops/ops_mma.h"

/* What an H100 makes two products of. The first begins with 0, and c is added to the second. */
enum parts {
    PARTS_ONE,
    PARTS_HALVES, /* of k; the first begins with c */
    PARTS_PAIRS,  /* elements 0 and 1 of each four, then 2 and 3 */
    PARTS_NIBBLES /* even elements, then odd ones */
};

/* Elements of the largest c; rows of a or columns of b; bytes of a column where a is sparse. */
enum { MOST_C = 256, MOST_LINES = 32, MOST_BYTES = 2 * PRODUCT_BYTES };

/* The fragments of a, b and c. */
static struct fragment fragment_in(const struct ptx_step *step, unsigned matrix)
{
    const struct how_mma *how = &step->how.mma;
    struct fragment fragment = fragment_of(how->shape, matrix,
                                           matrix == FRAGMENT_A   ? how->a
                                           : matrix == FRAGMENT_B ? how->b
                                                                  : how->c);
    if (how->sparse && matrix == FRAGMENT_A)
        fragment.columns /= 2;
    return fragment;
}

/* --- Registers --- */
/* As fragment_lane, in words: lane 4 r + p has word p of line r, and of a row of c the elements 2 p
 * and 2 p + 1. */
static void read_lines(const struct ptx_warp *warp, const struct ptx_step *step, unsigned matrix,
                       uint8_t (*to)[MOST_BYTES])
{
    const struct fragment fragment = fragment_in(step, matrix);
    const uint32_t *list = ops_mma_list(step) + step->how.mma.at[matrix + 1];
    const unsigned bits = opcodes_types[fragment.type].bits;
    for (unsigned i = 0; i < ops_mma_registers(step, matrix + 1); i++) {
        const lane_u32 *words = ptx_in(warp, list[i]);
        unsigned row, column;
        fragment_tile(&fragment, i, &row, &column);
        const unsigned line = matrix == FRAGMENT_A ? row : column;
        const unsigned byte = (matrix == FRAGMENT_A ? column : row) * bits / 8;
        for (unsigned r = 0; r < 8; r++)
            memcpy(to[line + r] + byte, words + 4 * r, 4 * sizeof *words);
    }
}

/* Elements of c, by rows. */
static void read_sums(const struct ptx_warp *warp, const struct ptx_step *step, uint32_t *to)
{
    const struct fragment fragment = fragment_in(step, FRAGMENT_C);
    const uint32_t *list = ops_mma_list(step) + step->how.mma.at[3];
    const bool halves = fragment.type == IR_F16;
    for (unsigned i = 0; i < ops_mma_registers(step, 3); i++) {
        const lane_u32 *words = ptx_in(warp, list[i]);
        unsigned row, column;
        fragment_tile(&fragment, i, &row, &column);
        uint32_t *first = to + row * fragment.columns + column;
        for (unsigned r = 0; r < 8; r++, first += fragment.columns)
            for (unsigned p = 0; p < 4; p++) {
                const uint32_t word = words[4 * r + p];
                first[2 * p] = halves ? word & 0xffff : word;
                if (halves)
                    first[2 * p + 1] = word >> 16;
            }
    }
}

/* The lanes of `mask` get the elements of d. */
static void write_sums(struct ptx_warp *warp, const struct ptx_step *step, const uint32_t *from,
                       uint32_t mask)
{
    const struct fragment fragment = fragment_of(step->how.mma.shape, FRAGMENT_C, step->how.mma.d);
    const uint32_t *list = ops_mma_list(step);
    const bool halves = fragment.type == IR_F16;
    for (unsigned i = 0; i < ops_mma_registers(step, 0); i++) {
        unsigned row, column;
        if (list[i] == PTX_ABSENT)
            continue;
        lane_u32 *to = ptx_out(warp, list[i]);
        uint32_t all[PTX_LANES];
        fragment_tile(&fragment, i, &row, &column);
        const uint32_t *first = from + row * fragment.columns + column;
        for (unsigned r = 0; r < 8; r++, first += fragment.columns)
            for (unsigned p = 0; p < 4; p++)
                all[4 * r + p] = halves ? first[2 * p] | first[2 * p + 1] << 16 : first[2 * p];
        OPS_LANES
        {
            to[lane] = ops_has(mask, lane) ? all[lane] : to[lane];
        }
    }
}

/* --- Parts --- */
/* The bytes of part 0 or 1 of a line; how many there are. Integers of 4 bits become s8 or u8. */
static unsigned split_line(enum parts parts, unsigned type, unsigned which, unsigned bytes,
                           const uint8_t *from, product_line to)
{
    switch (parts) {
    case PARTS_ONE:
        memcpy(to, from, PRODUCT_BYTES);
        return bytes;
    case PARTS_HALVES:
        memcpy(to, from + which * bytes / 2, PRODUCT_BYTES / 2);
        return bytes / 2;
    case PARTS_PAIRS:
        for (unsigned k = 0; k < PRODUCT_BYTES / 2; k += 2)
            memcpy(to + k, from + (size_t)k * 2 + (size_t)which * 2, 2);
        return bytes / 2;
    case PARTS_NIBBLES:
        for (unsigned k = 0; k < PRODUCT_BYTES; k++) {
            const unsigned nibble = from[k] >> which * 4 & 15;
            to[k] = (uint8_t)(type == IR_S4 && nibble > 7 ? nibble | 0xf0 : nibble);
        }
    }
    return bytes;
}

static unsigned whole_type(unsigned type)
{
    return type == IR_S4 ? IR_S8 : type == IR_U4 ? IR_U8 : type;
}

static void take_part(const struct ptx_step *step, unsigned type, unsigned which, unsigned count,
                      const uint8_t (*lines)[MOST_BYTES], struct product_elements *to)
{
    const struct how_mma *how = &step->how.mma;
    const unsigned bytes = fragment_in(step, FRAGMENT_A).columns * opcodes_types[type].bits / 8;
    struct product_side side = {.type = (uint8_t)whole_type(type), .as_f16 = true};
    product_line parts[PRODUCT_ROWS];
    for (unsigned i = 0; i < count; i++)
        side.bytes =
            (uint8_t)split_line((enum parts)how->parts, type, which, bytes, lines[i], parts[i]);
    OPS_NAME(ops_product_take)(&side, count, (const product_line *)parts, to);
}

/* --- Sums --- */
OPS_INLINE uint64_t f64_result(double sum)
{
    const uint64_t bits = f64_bits(sum);
    return f64_is_nan(bits) ? F64_NAN : bits;
}

/* The type of sums: f32 if c or d is. */
static unsigned wide_type(const struct how_mma *how)
{
    return how->c == IR_F32 ? IR_F32 : how->d;
}

/* To another type. */
static void convert_sums(unsigned count, unsigned from, unsigned to, uint32_t *sums)
{
    for (unsigned i = 0; i < count && from != to; i++)
        sums[i] = to == IR_F16 ? f16_bits(f32_of(sums[i])) : f32_bits(f16_float(sums[i]));
}

static uint32_t sum_add(uint32_t c, uint32_t products, const struct how_mma *how)
{
    if (how->d == IR_F16)
        return f16_sum((double)f16_float(c) + (double)f16_float(products));
    if (how->d == IR_F32)
        return ops_mma_f32(f32_of(c) + f32_of(products));
    const int64_t sum = (int64_t)(int32_t)c + (int32_t)products;
    return (uint32_t)(!how->satfinite   ? sum
                      : sum > INT32_MAX ? INT32_MAX
                      : sum < INT32_MIN ? INT32_MIN
                                        : sum);
}

/* A product of `m` rows and `n` columns. */
struct block {
    const uint8_t (*a)[MOST_BYTES], (*b)[MOST_BYTES];
    uint32_t *d;
    unsigned m, n;
};

static void multiply_part(const struct ptx_step *step, const struct block *block, unsigned which)
{
    const struct how_mma *how = &step->how.mma;
    const unsigned most = block->m < PRODUCT_ROWS ? block->m : PRODUCT_ROWS;
    const struct product_kind kind = {.type = (uint8_t)whole_type(how->a),
                                      .d = (uint8_t)wide_type(how),
                                      .satfinite = how->satfinite && !how->apart,
                                      .differ = !how->both};
    struct product_elements a, b;
    product_sums sums[PRODUCT_ROWS];
    for (unsigned row = 0; row < block->m; row += most) {
        take_part(step, how->a, which, most, block->a + row, &a);
        for (unsigned column = 0; column < block->n; column += PRODUCT_COLUMNS) {
            uint32_t *d = block->d + row * block->n + column;
            take_part(step, how->b, which, PRODUCT_COLUMNS, block->b + column, &b);
            for (unsigned i = 0; i < most; i++)
                memcpy(sums[i], d + i * block->n, sizeof sums[i]);
            OPS_NAME(ops_product_multiply)(&kind, most, &a, &b, which > 0 || !how->apart, sums);
            for (unsigned i = 0; i < most; i++)
                memcpy(d + i * block->n, sums[i], sizeof sums[i]);
        }
    }
}

static void multiply(const struct ptx_step *step, const struct block *block)
{
    for (unsigned which = 0; which < 1U + (step->how.mma.parts != PARTS_ONE); which++)
        multiply_part(step, block, which);
}

/* Each row of a sparse matrix has a b of its own. */
static void multiply_sparse(const struct ptx_warp *warp, const struct ptx_step *step,
                            const struct block *all)
{
    const struct how_mma *how = &step->how.mma;
    const struct fragment fragment = fragment_in(step, FRAGMENT_A);
    const unsigned bytes = fragment.columns * opcodes_types[how->a].bits / 8;
    const lane_u32 *words = ptx_in(warp, step->list[step->list_count - 3]);
    uint8_t b[PRODUCT_COLUMNS][MOST_BYTES];
    for (unsigned row = 0; row < all->m; row++) {
        const uint64_t metadata = sparse_row(words, how->a, bytes, how->selector, row);
        const struct block one = {all->a + row, (const uint8_t(*)[MOST_BYTES])b,
                                  all->d + row * all->n, 1, all->n};
        for (unsigned column = 0; column < all->n; column++)
            sparse_pick(metadata, how->a, bytes, all->b[column], b[column]);
        multiply(step, &one);
    }
}

static void run_tiles(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_mma *how = &step->how.mma;
    const struct fragment_shape shape = fragment_shape(how->shape);
    const unsigned sums = shape.m * shape.n, wide = wide_type(how);
    uint8_t a[MOST_LINES][MOST_BYTES], b[MOST_LINES][MOST_BYTES];
    uint32_t c[MOST_C], d[MOST_C];
    const struct block block = {(const uint8_t(*)[MOST_BYTES])a, (const uint8_t(*)[MOST_BYTES])b, d,
                                shape.m, shape.n};
    read_lines(warp, step, FRAGMENT_A, a);
    read_lines(warp, step, FRAGMENT_B, b);
    read_sums(warp, step, c);
    convert_sums(sums, how->c, wide, c);
    memcpy(d, c, sums * sizeof *d);
    if (how->sparse)
        multiply_sparse(warp, step, &block);
    else
        multiply(step, &block);
    for (unsigned i = 0; i < sums && how->apart; i++)
        d[i] = sum_add(c[i], d[i], how);
    convert_sums(sums, wide, how->d, d);
    write_sums(warp, step, d, mask);
}

/* --- f64 --- */
static void read_doubles(const struct ptx_warp *warp, const struct ptx_step *step, unsigned matrix,
                         double *to)
{
    const struct fragment fragment = fragment_in(step, matrix);
    const uint32_t *list = ops_mma_list(step) + step->how.mma.at[matrix + 1];
    for (unsigned i = 0; i < ops_mma_registers(step, matrix + 1); i++) {
        const lane_u64 *words = ptx_in(warp, list[i]);
        unsigned row, column, row_in, column_in;
        fragment_tile(&fragment, i, &row, &column);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            fragment_lane(&fragment, lane, 0, &row_in, &column_in);
            to[(row + row_in) * fragment.columns + column + column_in] = f64_of(words[lane]);
        }
    }
}

static void write_doubles(struct ptx_warp *warp, const struct ptx_step *step, const double *from,
                          uint32_t mask)
{
    const struct fragment fragment = fragment_in(step, FRAGMENT_C);
    const uint32_t *list = ops_mma_list(step);
    for (unsigned i = 0; i < ops_mma_registers(step, 0); i++) {
        unsigned row, column, row_in, column_in;
        if (list[i] == PTX_ABSENT)
            continue;
        lane_u64 *to = ptx_out(warp, list[i]);
        fragment_tile(&fragment, i, &row, &column);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            fragment_lane(&fragment, lane, 0, &row_in, &column_in);
            const double sum = from[(row + row_in) * fragment.columns + column + column_in];
            to[lane] = ops_has(mask, lane) ? f64_result(sum) : to[lane];
        }
    }
}

static void run_double(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct fragment_shape shape = fragment_shape(step->how.mma.shape);
    double a[MOST_C], b[MOST_C], c[MOST_C];
    read_doubles(warp, step, FRAGMENT_A, a);
    read_doubles(warp, step, FRAGMENT_B, b);
    read_doubles(warp, step, FRAGMENT_C, c);
    for (unsigned k = 0; k < shape.k; k++)
        for (unsigned i = 0; i < shape.m; i++)
            for (unsigned j = 0; j < 8; j++)
                c[i * 8 + j] = __builtin_fma(a[i * shape.k + k], b[k * 8 + j], c[i * 8 + j]);
    write_doubles(warp, step, c, mask);
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

static enum parts parts_of(const struct ir_insn *insn, unsigned type)
{
    if (type == IR_E4M3 || type == IR_E5M2)
        return PARTS_PAIRS;
    if (type == IR_S4 || type == IR_U4)
        return PARTS_NIBBLES;
    return insn->op == IR_WMMA && type == IR_TF32 ? PARTS_HALVES : PARTS_ONE;
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
    mma.sparse = insn->sparse;
    mma.selector = insn->sparse ? (uint8_t)insn->operands[5].bits : 0;
    mma.parts = (uint8_t)parts_of(insn, mma.a);
    mma.apart = mma.parts == PARTS_PAIRS || mma.parts == PARTS_NIBBLES;
    how->mma = mma;
    if (mma.a == IR_F64)
        return run_double;
    return mma.a == IR_F16 && insn->shape == IR_M8N8K4 ? OPS_NAME(ops_mma_quads) : run_tiles;
}

ptx_run *OPS_NAME(ops_mma)(const struct ir_insn *insn, union ptx_how *how)
{
    if (insn->op == IR_MMA || insn->op == IR_WMMA)
        return select_mma(insn, how);
    return insn->op == IR_MOVMATRIX ? run_movmatrix : NULL;
}
