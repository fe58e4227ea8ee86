/* SPDX-License-Identifier: MIT */
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
#ifndef CUSHIM_SIM_PTX_OPS_FRAGMENT_H
#define CUSHIM_SIM_PTX_OPS_FRAGMENT_H

#include <stdint.h>

#include "ptx/read/ir.h"

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
#undef IR_SHAPE
    };
    return shapes[shape];
}

/* Bits of an element. */
static inline unsigned fragment_bits(unsigned type)
{
    switch (type) {
    case IR_B1:
        return 1;
    case IR_U4:
    case IR_S4:
        return 4;
    case IR_U8:
    case IR_S8:
    case IR_E4M3:
    case IR_E5M2:
        return 8;
    case IR_F16:
    case IR_BF16:
        return 16;
    case IR_F64:
        return 64;
    default:
        return 32;
    }
}

/* Elements of a register. */
static inline unsigned fragment_parts(unsigned type)
{
    const unsigned bits = fragment_bits(type);
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

#endif
