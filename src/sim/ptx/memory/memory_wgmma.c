/* SPDX-License-Identifier: MIT */
/* wgmma.mma_async: a product of matrices that are in shared memory, or a in registers. The four
 * warps of a warpgroup have 16 rows of a and d each, and each computes its own at once when it
 * comes here: the ISA lets nobody see d before wgmma.wait_group.
 *
 * A matrix in shared memory is made of chunks of 16 bytes. Neighbours in a chunk are neighbours
 * along k, or where the matrix is transposed along its rows (a) or columns (b). Eight chunks that
 * are 16, 32, 64 or 128 bytes apart, as wide as the swizzle, are neighbours in the other
 * direction. */
#include "ptx/memory/memory.h"

#include "ptx/ops/ops_mma.h"

/* The columns of b are longer where a is sparse. */
enum { CHUNK = 16, LINES = 8, MOST_BYTES = 2 * PRODUCT_BYTES };

/* A matrix descriptor. */
struct layout {
    uint32_t start, leading, stride; /* bytes */
    uint32_t width;                  /* of the swizzle, in bytes; CHUNK: none */
    uint32_t base;                   /* where the swizzle begins, in units of 128 bytes */
    bool transposed;
};

static struct layout layout_of(uint64_t descriptor, bool transposed)
{
    static const uint8_t widths[] = {CHUNK, 128, 64, 32};
    return (struct layout){.start = (uint32_t)(descriptor & 0x3fff) * CHUNK,
                           .leading = (uint32_t)(descriptor >> 16 & 0x3fff) * CHUNK,
                           .stride = (uint32_t)(descriptor >> 32 & 0x3fff) * CHUNK,
                           .width = widths[descriptor >> 62],
                           .base = (uint32_t)(descriptor >> 49 & 7),
                           .transposed = transposed};
}

/* Where chunk number `chunk` of a line is. A line is a row of a or a column of b; or where the
 * matrix is transposed, what has one place along k. */
static uint32_t layout_chunk(const struct layout *layout, unsigned line, unsigned chunk)
{
    const unsigned across = layout->width / CHUNK;
    uint32_t at = layout->start + line % LINES * layout->width;
    if (layout->width == CHUNK)
        at += layout->transposed ? line / LINES * layout->leading + chunk * layout->stride
                                 : line / LINES * layout->stride + chunk * layout->leading;
    else
        at += line / LINES * layout->stride + chunk / across * layout->leading +
              chunk % across * CHUNK;
    return at ^ (((at >> 7) - layout->base) & (across - 1)) * CHUNK;
}

/* A chunk of shared memory; false after a fault. */
static bool read_chunk(struct ptx_warp *warp, const struct ptx_step *step, uint32_t at, void *to)
{
    const struct ptx_block *block = warp->block;
    if (at >= block->shared_size || block->shared_size - at < CHUNK)
        return fault_warp(warp, step, 0, PTX_FAULT_ILLEGAL_ADDRESS, at,
                          "a matrix has 16 bytes that are not in shared memory");
    access_copy(to, block->shared + at, CHUNK);
    return true;
}

/* `rows` rows of a, or columns of b, from row `first` on, with the bytes that they have along k. */
static bool read_rows(struct ptx_warp *warp, const struct ptx_step *step,
                      const struct layout *layout, unsigned first, unsigned rows, unsigned bytes,
                      uint8_t *to)
{
    enum { HALVES = CHUNK / 2 }; /* what is transposed has elements of two bytes */
    if (!layout->transposed) {
        for (unsigned row = 0; row < rows; row++)
            for (unsigned chunk = 0; chunk < bytes / CHUNK; chunk++)
                if (!read_chunk(warp, step, layout_chunk(layout, first + row, chunk),
                                to + row * bytes + chunk * CHUNK))
                    return false;
        return true;
    }
    for (unsigned k = 0; k < bytes / 2; k++)
        for (unsigned row = 0; row < rows; row += HALVES) {
            uint16_t halves[HALVES];
            if (!read_chunk(warp, step, layout_chunk(layout, k, (first + row) / HALVES), halves))
                return false;
            for (unsigned i = 0; i < HALVES; i++)
                memcpy(to + (row + i) * bytes + 2 * k, &halves[i], 2);
        }
    return true;
}

/* Register r of lane 4 i + p has word p of row i; r 1 and 3 are 8 rows below, 2 and 3 four words
 * on. */
static void read_registers(const struct ptx_warp *warp, const uint32_t *list, product_line *to)
{
    for (unsigned r = 0; r < 4; r++) {
        const lane_u32 *words = ptx_in(warp, list[r]);
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            memcpy(to[lane / 4 + r % 2 * 8] + (lane % 4 + r / 2 * 4) * 4, &words[lane], 4);
    }
}

/* --- d: as a and c of mma, of eight columns a lane has two neighbours in two rows --- */
static void sums_read(const struct ptx_warp *warp, const uint32_t *list, bool halves,
                      product_sums *sums)
{
    for (unsigned i = 0; i < 4; i++) {
        const lane_u32 *words = ptx_in(warp, list[halves ? i / 2 : i]);
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] =
                halves ? words[lane] >> i % 2 * 16 & 0xffff : words[lane];
    }
}

static void sums_write(struct ptx_warp *warp, const uint32_t *list, bool halves, uint32_t mask,
                       product_sums *sums)
{
    for (unsigned r = 0; r < (halves ? 2 : 4); r++) {
        lane_u32 *to = ptx_out(warp, list[r]);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const unsigned row = lane / 4 + (halves ? r : r / 2) * 8, column = lane % 4 * 2;
            const uint32_t word = halves ? sums[row][column] | sums[row][column + 1] << 16
                                         : sums[row][column + r % 2];
            to[lane] = ops_has(mask, lane) ? word : to[lane];
        }
    }
}

/* Will all four warps come here? One that ended earlier will not. */
static bool has_warpgroup(const struct ptx_warp *warp)
{
    struct ptx_block *block = warp->block;
    const uint32_t first = warp->index & ~3U, products = ++warp->state->products;
    block->products = true;
    for (uint32_t i = first; i < first + 4; i++)
        if (i >= block->warp_count || (block->warps[i].done && block->warps[i].products < products))
            return false;
    return true;
}

/* Of what stands behind the predicate, has number `index` this value? */
static bool has_value(const struct ir_insn *insn, unsigned index, uint32_t value)
{
    const unsigned at = (insn->sparse ? 6U : 4U) + index;
    return at < insn->count && (uint32_t)insn->operands[at].bits == value;
}

/* Sign 0 is that of a, 1 of b. */
static struct product_side side_of(const struct ir_insn *insn, unsigned which)
{
    return (struct product_side){insn->types[1 + which], PRODUCT_BYTES,
                                 has_value(insn, which, UINT32_MAX), false};
}

/* Each row of a sparse matrix has a b of its own. */
static void multiply_sparse(const struct ptx_warp *warp, const struct ptx_step *step,
                            const struct product_kind *kind, const product_line *a_lines,
                            const uint8_t *b_lines, bool add, product_sums *sums)
{
    const struct ir_insn *insn = ptx_insn(step);
    const struct product_side a_side = side_of(insn, 0), b_side = side_of(insn, 1);
    const unsigned selector = (unsigned)insn->operands[4].bits;
    const lane_u32 *words = ptx_in(warp, step->list[step->list_count - 2]);
    struct product_elements a, b;
    product_line picked[PRODUCT_COLUMNS];
    for (unsigned row = 0; row < PRODUCT_ROWS; row++) {
        const uint64_t metadata = sparse_row(words, a_side.type, PRODUCT_BYTES, selector, row);
        for (unsigned column = 0; column < PRODUCT_COLUMNS; column++)
            sparse_pick(metadata, a_side.type, PRODUCT_BYTES, b_lines + column * MOST_BYTES,
                        picked[column]);
        OPS_NAME(ops_product_take)(&a_side, 1, a_lines + row, &a);
        OPS_NAME(ops_product_take)(&b_side, PRODUCT_COLUMNS, (const product_line *)picked, &b);
        OPS_NAME(ops_product_multiply)(kind, 1, &a, &b, add, sums + row);
    }
}

void OPS_NAME(memory_wgmma)(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const struct product_side a_side = side_of(insn, 0), b_side = side_of(insn, 1);
    const unsigned columns = fragment_shape(insn->shape).n;
    const bool halves = insn->types[0] == IR_F16;
    const unsigned registers = halves ? 2 : 4; /* of eight columns */
    const bool registers_a = insn->operands[1].kind == IR_OPERAND_VECTOR;
    const uint32_t *sources = step->list + columns / PRODUCT_COLUMNS * registers;
    const uint32_t *end = step->list + step->list_count;
    const lane_u64 *b_descriptors = ptx_in(warp, end[insn->sparse ? -3 : -2]);
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const struct layout b_layout =
        layout_of(b_descriptors[lane], has_value(insn, registers_a ? 2 : 3, 1));
    const unsigned b_bytes = insn->sparse ? MOST_BYTES : PRODUCT_BYTES;
    const bool add = ops_predicate(warp, end[-1]) & mask; /* of any lane */
    const struct product_kind kind = {.type = a_side.type,
                                      .d = insn->types[0],
                                      .satfinite = insn->satfinite,
                                      .narrow = a_side.type == IR_E4M3 || a_side.type == IR_E5M2};
    product_line a_lines[PRODUCT_ROWS];
    uint8_t b_lines[PRODUCT_COLUMNS * MOST_BYTES];
    struct product_elements a, b;

    if (!has_warpgroup(warp)) {
        fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                   "the warpgroup has fewer than four warps");
        return;
    }
    if (registers_a) {
        read_registers(warp, sources, a_lines);
    } else {
        const lane_u64 *a_descriptors = ptx_in(warp, sources[0]);
        const struct layout a_layout = layout_of(a_descriptors[lane], has_value(insn, 2, 1));
        if (!read_rows(warp, step, &a_layout, warp->index % 4 * PRODUCT_ROWS, PRODUCT_ROWS,
                       PRODUCT_BYTES, a_lines[0]))
            return;
    }
    OPS_NAME(ops_product_take)(&a_side, PRODUCT_ROWS, (const product_line *)a_lines, &a);
    for (unsigned column = 0; column < columns; column += PRODUCT_COLUMNS) {
        const uint32_t *list = step->list + column / PRODUCT_COLUMNS * registers;
        product_sums sums[PRODUCT_ROWS] = {{0}};
        if (!read_rows(warp, step, &b_layout, column, PRODUCT_COLUMNS, b_bytes, b_lines))
            return;
        if (add)
            sums_read(warp, list, halves, sums);
        if (insn->sparse) {
            multiply_sparse(warp, step, &kind, (const product_line *)a_lines, b_lines, add, sums);
        } else {
            OPS_NAME(ops_product_take)
            (&b_side, PRODUCT_COLUMNS, (const product_line *)b_lines, &b);
            OPS_NAME(ops_product_multiply)(&kind, PRODUCT_ROWS, &a, &b, add, sums);
        }
        sums_write(warp, list, halves, mask, sums);
    }
}
