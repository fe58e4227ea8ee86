/* SPDX-License-Identifier: MIT */
/* wmma.load and wmma.store: fragments from and to matrices in memory. The stride is the distance of
 * two rows, or with .col of two columns, in elements. */
#include "ptx/memory/memory.h"

#include "ptx/ops/ops_mma.h"

struct place { /* of a fragment in memory */
    struct fragment fragment;
    const struct ptx_step *step;
    const reg64 *addresses;
    const reg32 *strides; /* NULL: the matrix has no gaps */
    unsigned bytes;       /* of one access: an element, or all of a register where they are
                             neighbours */
    unsigned parts;       /* accesses of a register */
};

static struct place fragment_place(const struct ptx_warp *warp, const struct ptx_step *step,
                                   uint32_t address)
{
    const struct ir_insn *insn = ptx_insn(step);
    struct place place = {.fragment = fragment_of(insn->shape, insn->component, insn->types[0]),
                          .step = step,
                          .addresses = ptx_in(warp, address)};
    const unsigned bits = opcodes_types[insn->types[0]].bits;
    const bool along = insn->component == FRAGMENT_B ? insn->columns : !insn->columns;

    if (insn->count > 2)
        place.strides = ptx_in(warp, step->list[step->list_count - 1]);
    place.parts = along ? 1 : fragment_parts(insn->types[0]);
    place.bytes = along && bits < 32 ? 4 : bits / 8;
    return place;
}

/* The bytes of access `part` of a lane's register; NULL after a fault. */
static char *fragment_find(struct ptx_warp *warp, const struct place *place, unsigned index,
                           unsigned lane, unsigned part, bool write)
{
    const struct ir_insn *insn = ptx_insn(place->step);
    unsigned row, column, row_in, column_in;

    fragment_tile(&place->fragment, index, &row, &column);
    fragment_lane(&place->fragment, lane, part, &row_in, &column_in);
    uint64_t lines = insn->columns ? column + column_in : row + row_in;
    uint64_t inside = insn->columns ? row + row_in : column + column_in;
    uint64_t stride = place->strides  ? place->strides[lane]
                      : insn->columns ? place->fragment.rows
                                      : place->fragment.columns;
    return memory_resolve(warp, place->step, lane, insn->space,
                          place->addresses[lane] +
                              (lines * stride + inside) * opcodes_types[insn->types[0]].bits / 8,
                          place->bytes, write);
}

/* A register's bits from memory, or to it. */
static bool fragment_move(struct ptx_warp *warp, const struct place *place, unsigned index,
                          unsigned lane, uint64_t *bits, bool write)
{
    uint64_t all = 0;

    for (unsigned part = 0; part < place->parts; part++) {
        const unsigned shift = part * place->bytes * 8 % 64;
        uint64_t one = write ? *bits >> shift : 0;
        char *at = fragment_find(warp, place, index, lane, part, write);

        if (!at)
            return false;
        access_copy(write ? (void *)at : &one, write ? (void *)&one : at, place->bytes);
        all |= one << shift;
    }
    if (!write)
        *bits = all;
    return true;
}

void memory_wmma_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u - (ptx_insn(step)->count > 2);
    const struct place place = fragment_place(warp, step, step->list[count]);
    const bool wide = ptx_insn(step)->types[0] == IR_F64;
    uint64_t bits[8][PTX_LANES];

    /* A destination may be the register of the address. */
    for (unsigned i = 0; i < count; i++)
        FOR_LANES (lane, mask)
            if (!fragment_move(warp, &place, i, lane, &bits[i][lane], false))
                return;
    for (unsigned i = 0; i < count; i++) {
        void *to = ptx_out(warp, step->list[i]);

        if (step->list[i] == PTX_ABSENT)
            continue;
        FOR_LANES (lane, mask)
            ptx_lane_set(to, wide, lane, bits[i][lane]);
    }
}

void memory_wmma_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u - (ptx_insn(step)->count > 2);
    const struct place place = fragment_place(warp, step, step->list[0]);
    const bool wide = ptx_insn(step)->types[0] == IR_F64;

    for (unsigned i = 0; i < count; i++) {
        const void *from = ptx_in(warp, step->list[i + 1]);

        FOR_LANES (lane, mask) {
            uint64_t bits = ptx_lane(from, wide, lane);

            if (!fragment_move(warp, &place, i, lane, &bits, true))
                return;
        }
    }
}

/* ldmatrix and stmatrix: matrices of eight rows of 16 bytes. Lane 8 i + r has the address of row r
 * of matrix i, and register i of lane 4 r + p has the elements 2 p and 2 p + 1 of row r, or with
 * .trans of column r. */

enum { ROW = 16, ROWS = 8, MOST = 4 }; /* bytes, rows, matrices */

typedef uint16_t matrix[ROWS][ROWS];

static char *row_of(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    const reg64 *addresses, bool write)
{
    return memory_resolve(warp, step, lane, ptx_insn(step)->space, addresses[lane], ROW, write);
}

/* The element of a lane's register: the lower half is `part` 0. */
static uint16_t *element(matrix cells, const struct ptx_step *step, unsigned lane, unsigned part)
{
    const unsigned row = lane / 4, column = lane % 4 * 2 + part;

    return ptx_insn(step)->columns ? &cells[column][row] : &cells[row][column];
}

void memory_wmma_matrix_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u;
    const uint32_t *list = step->list ? step->list : step->operand;
    const reg64 *addresses = ptx_in(warp, list[count]);
    matrix matrices[MOST] = {0};

    FOR_LANES (lane, mask) {
        if (lane >= count * ROWS)
            break;
        const char *from = row_of(warp, step, lane, addresses, false);
        if (!from)
            return;
        access_copy(matrices[lane / ROWS][lane % ROWS], from, ROW);
    }
    for (unsigned i = 0; i < count; i++) {
        reg32 *to = ptx_out(warp, list[i]);

        if (list[i] == PTX_ABSENT)
            continue;
        FOR_LANES (lane, mask)
            to[lane] = *element(matrices[i], step, lane, 0) |
                       (uint32_t)*element(matrices[i], step, lane, 1) << 16;
    }
}

void memory_wmma_matrix_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u;
    const uint32_t *list = step->list ? step->list : step->operand;
    const reg64 *addresses = ptx_in(warp, list[0]);
    matrix matrices[MOST] = {0};

    for (unsigned i = 0; i < count; i++) {
        const reg32 *from = ptx_in(warp, list[i + 1]);

        FOR_LANES (lane, mask) {
            *element(matrices[i], step, lane, 0) = (uint16_t)from[lane];
            *element(matrices[i], step, lane, 1) = (uint16_t)(from[lane] >> 16);
        }
    }
    FOR_LANES (lane, mask) {
        if (lane >= count * ROWS)
            break;
        char *to = row_of(warp, step, lane, addresses, true);
        if (!to)
            return;
        access_copy(to, matrices[lane / ROWS][lane % ROWS], ROW);
    }
}
