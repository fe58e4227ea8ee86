/* SPDX-License-Identifier: MIT */
/* What products of matrices share. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_MMA_H
#define CUSHIM_SIM_PTX_OPS_OPS_MMA_H

#include "ptx/ops/ops.h"

/* --- ops_mma.c --- What the files of mma share. */
static inline const uint32_t *ops_mma_list(const struct ptx_step *step)
{
    return step->list ? step->list : step->operand;
}

/* Registers of a: the distance to those of b, and so on. Behind c there are metadata and selector
 * if a is sparse, and the mask. */
static inline unsigned ops_mma_registers(const struct ptx_step *step, unsigned which)
{
    const struct how_mma *how = &step->how.mma;
    const unsigned end = step->list_count - (how->sparse ? 3U : 1U);
    return (which < 3 ? how->at[which + 1] : end) - how->at[which];
}

OPS_INLINE uint32_t ops_mma_f32(float sum)
{
    const uint32_t bits = f32_bits(sum);
    return f32_is_nan(bits) ? F32_NAN : bits;
}

/* Which element of a matrix each register of each lane has.
 *
 * The device's units are tiles of eight rows (a), eight columns (b) or both (c, d). Of a tile of a
 * or b, lane 4 r + p has one register: the p-th word of row r, or of column r, along k. Of a tile
 * of c or d it has two elements: 2 p and 2 p + 1 of row r. A fragment has the tiles of 16 rows of a
 * one below the other before it goes on along k, those of b along k, and those of 16 rows of c and
 * d one below the other before it goes on along n; then it goes on with the next 16 rows or 8
 * columns. PTX says this of mma, and nothing of wmma, whose fragments are the same here. Those of
 * wmma that have more registers than the matrix needs begin again with its first tile. Only the
 * f16 m8n8k4 of mma is different: see ops_mma.c. */
enum fragment_matrix { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C };

struct fragment_shape {
    uint16_t m, n, k;
};

static inline struct fragment_shape fragment_shape(unsigned shape)
{
    static const struct fragment_shape shapes[] = {
        {0, 0, 0},
#define IR_SHAPE(m, n, k) {m, n, k},
#include "ptx/read/opcodes_shapes.def"
    };
    return shapes[shape];
}

/* Elements of a register. */
static inline unsigned fragment_parts(unsigned type)
{
    const unsigned bits = opcodes_types[type].bits;
    return bits < 32 ? 32 / bits : 1;
}

struct fragment {
    uint8_t matrix; /* enum fragment_matrix */
    uint8_t type;   /* enum ir_type of its elements */
    uint16_t rows, columns;
};

static inline struct fragment fragment_of(unsigned shape, unsigned matrix, unsigned type)
{
    const struct fragment_shape all = fragment_shape(shape);
    return (struct fragment){.matrix = (uint8_t)matrix,
                             .type = (uint8_t)type,
                             .rows = matrix == FRAGMENT_B ? all.k : all.m,
                             .columns = matrix == FRAGMENT_A ? all.k : all.n};
}

/* Where the first element of a register of lane 0 is. */
static inline void fragment_tile(const struct fragment *fragment, unsigned index, unsigned *row,
                                 unsigned *column)
{
    const unsigned parts = fragment_parts(fragment->type), words = 4 * parts;
    if (fragment->matrix == FRAGMENT_A) {
        const unsigned along = fragment->columns / words;
        index %= along * (fragment->rows / 8);
        const unsigned inside = index % (2 * along), pair = fragment->rows > 8;
        *row = pair ? index / (2 * along) * 16 + inside % 2 * 8 : 0;
        *column = (pair ? inside / 2 : index) * words;
    } else if (fragment->matrix == FRAGMENT_B) {
        const unsigned along = fragment->rows / words;
        index %= along * (fragment->columns / 8);
        *row = index % along * words;
        *column = index / along * 8;
    } else {
        const unsigned tile = index * parts / 2, across = fragment->columns / 8;
        const unsigned pair = fragment->rows > 8;
        *row = pair ? tile / 2 / across * 16 + tile % 2 * 8 : 0;
        *column = (pair ? tile / 2 % across : tile) * 8 + (parts == 1 ? index % 2 : 0);
    }
}

/* How far from there the element `part` of a lane's register is. */
static inline void fragment_lane(const struct fragment *fragment, unsigned lane, unsigned part,
                                 unsigned *row, unsigned *column)
{
    const unsigned parts = fragment_parts(fragment->type);
    const unsigned across =
        fragment->matrix == FRAGMENT_C ? lane % 4 * 2 + part : lane % 4 * parts + part;
    *row = fragment->matrix == FRAGMENT_B ? across : lane / 4;
    *column = fragment->matrix == FRAGMENT_B ? lane / 4 : across;
}

/* Sparse matrices: of each four units along k, a has two, and metadata says which. A
 * unit has two bytes, or one where elements have 8 or 4 bits; a tf32 element is two units.
 *
 * Metadata has two bits for each unit of a. A lane's word is of one row, or where units have two
 * bytes its halves are of rows that are 8 apart. Those of the other lanes do not count. Bits that
 * the ISA does not define do the same on an H100: tests/sim/mma has them. */
static inline unsigned sparse_unit(unsigned type)
{
    return opcodes_types[type].bits < 16 ? 1 : 2;
}

/* How many selectors there are, if rows of a have that many bytes. */
static inline unsigned sparse_selectors(unsigned type, unsigned bytes)
{
    return 32 * sparse_unit(type) / bytes;
}

/* The metadata of a row of a. */
static inline uint64_t sparse_row(const lane_u32 *words, unsigned type, unsigned bytes,
                                  unsigned selector, unsigned row)
{
    const unsigned lanes = 4 / sparse_selectors(type, bytes); /* of each four */
    const unsigned first = row % 8 * 4 + selector * lanes;
    uint64_t metadata = 0;
    if (sparse_unit(type) == 2)
        for (unsigned i = 0; i < lanes; i++)
            metadata |= (uint64_t)(words[first + i] >> row / 8 * 16 & 0xffff) << i * 16;
    else
        for (unsigned i = 0; i < lanes / 2; i++)
            metadata |= (uint64_t)words[first + i * 2 + row / 8] << i * 32;
    return metadata;
}

/* Of a column of b, what the elements of that row are multiplied with. */
static inline void sparse_pick(uint64_t metadata, unsigned type, unsigned bytes, const uint8_t *b,
                               uint8_t *to)
{
    const unsigned unit = sparse_unit(type);
    for (unsigned i = 0; i < bytes / unit; i++, metadata >>= 2)
        memcpy(to + i * unit, b + (i / 2 * 4 + (metadata & 3)) * unit, unit);
}

/* --- ops_product.c --- The arithmetic of mma and wgmma: 16 rows of a times 8 columns of b. */
/* The rows of a and columns of b at a time, and the bytes that they have along k. */
enum { PRODUCT_ROWS = 16, PRODUCT_COLUMNS = 8, PRODUCT_BYTES = 32 };

/* Elements of a or b by their place along k, then by row of a or column of b: those of place k
 * begin at k * rows. */
struct product_elements {
    unsigned count; /* along k */
    unsigned rows;
    bool special; /* some are not finite */
    bool far;     /* the exponents of some are so large or small that a product is no float */
    int32_t number[PRODUCT_BYTES * PRODUCT_ROWS];   /* integers, words of bits, or bits of floats */
    int32_t exponent[PRODUCT_BYTES * PRODUCT_ROWS]; /* of floats */
};

typedef uint8_t product_line[PRODUCT_BYTES];    /* of a or b, along k */
typedef uint32_t product_sums[PRODUCT_COLUMNS]; /* of a row of d: bits of elements */

/* How a or b are read. */
struct product_side {
    uint8_t type;  /* enum ir_type of elements */
    uint8_t bytes; /* of a line */
    bool minus;
    bool as_f16; /* e4m3: subnormals have the exponents that they have as f16 */
};

struct product_kind {
    uint8_t type; /* enum ir_type of the elements of a; b has the like */
    uint8_t d;    /* enum ir_type of sums */
    bool satfinite;
    bool differ; /* bits: .xor, not .and */
    bool narrow; /* sums of fewer bits, as wgmma has of floats of 8 bits */
};

/* Take `count` rows of a, or columns of b. */
typedef void ops_product_take_of(const struct product_side *side, unsigned count,
                                 const product_line *lines, struct product_elements *to);
/* Add the products of `rows` rows to the sums, or if not `add`, to 0. */
typedef void ops_product_multiply_of(const struct product_kind *kind, unsigned rows,
                                     const struct product_elements *a,
                                     const struct product_elements *b, bool add,
                                     product_sums *sums);
ops_product_take_of OPS_NAME(ops_product_take);
ops_product_multiply_of OPS_NAME(ops_product_multiply);

/* --- ops_mma_quads.c --- */
ptx_run OPS_NAME(ops_mma_quads);

#endif
