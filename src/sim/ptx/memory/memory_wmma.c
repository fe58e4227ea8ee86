/* SPDX-License-Identifier: MIT */
/* wmma.load and wmma.store: fragments from and to matrices in memory. The stride is the distance of
 * two rows, or with .col of two columns, in elements. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops_mma.h"
#include "ptx/ptx.h"

struct place { /* of a fragment in memory */
    struct fragment fragment;
    const struct ptx_step *step;
    const reg64 *addresses;
    const reg32 *strides; /* NULL: the matrix has no gaps */
    unsigned bytes;       /* of one access: an element, or all of a register where they are
                             neighbours */
    unsigned parts;       /* accesses of a register */
};

static struct place place_of(const struct ptx_warp *warp, const struct ptx_step *step,
                             uint32_t address)
{
    const struct how_matrix *how = &step->how.matrix;
    struct place place = {.fragment = fragment_of(how->shape, how->matrix, how->type),
                          .step = step,
                          .addresses = ptx_in(warp, address)};
    const unsigned bits = fragment_bits(how->type);
    const bool along = how->matrix == FRAGMENT_B ? how->columns : !how->columns;

    if (how->stride)
        place.strides = ptx_in(warp, step->list[step->list_count - 1]);
    place.parts = along ? 1 : fragment_parts(how->type);
    place.bytes = along && bits < 32 ? 4 : bits / 8;
    return place;
}

/* The bytes of access `part` of a lane's register; NULL after a fault. */
static char *find(struct ptx_warp *warp, const struct place *place, unsigned index, unsigned lane,
                  unsigned part, bool write)
{
    const struct how_matrix *how = &place->step->how.matrix;
    unsigned row, column, row_in, column_in;
    uint64_t lines, inside, stride;

    fragment_tile(&place->fragment, index, &row, &column);
    fragment_lane(&place->fragment, lane, part, &row_in, &column_in);
    lines = how->columns ? column + column_in : row + row_in;
    inside = how->columns ? row + row_in : column + column_in;
    stride = place->strides ? place->strides[lane]
             : how->columns ? place->fragment.rows
                            : place->fragment.columns;
    return memory_resolve(warp, place->step, lane, how->space,
                          place->addresses[lane] + how->offset +
                              (lines * stride + inside) * fragment_bits(how->type) / 8,
                          place->bytes, write);
}

DEVICE_ACCESS static void copy(void *to, const void *from, unsigned bytes)
{
    memcpy(to, from, bytes);
}

/* A register's bits from memory. */
static bool gather(struct ptx_warp *warp, const struct place *place, unsigned index, unsigned lane,
                   uint64_t *bits)
{
    *bits = 0;
    for (unsigned part = 0; part < place->parts; part++) {
        const char *from = find(warp, place, index, lane, part, false);
        uint64_t one = 0;

        if (!from)
            return false;
        copy(&one, from, place->bytes);
        *bits |= one << part * place->bytes * 8 % 64;
    }
    return true;
}

static bool scatter(struct ptx_warp *warp, const struct place *place, unsigned index, unsigned lane,
                    uint64_t bits)
{
    for (unsigned part = 0; part < place->parts; part++) {
        const uint64_t one = bits >> part * place->bytes * 8 % 64;
        char *to = find(warp, place, index, lane, part, true);

        if (!to)
            return false;
        copy(to, &one, place->bytes);
    }
    return true;
}

void memory_wmma_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u - step->how.matrix.stride;
    const struct place place = place_of(warp, step, step->list[count]);
    const bool wide = step->how.matrix.type == IR_F64;
    uint64_t bits[8][PTX_LANES];

    /* A destination may be the register of the address. */
    for (unsigned i = 0; i < count; i++)
        FOR_LANES (lane, mask)
            if (!gather(warp, &place, i, lane, &bits[i][lane]))
                return;
    for (unsigned i = 0; i < count; i++) {
        void *to = ptx_out(warp, step->list[i]);

        if (step->list[i] == PTX_ABSENT)
            continue;
        FOR_LANES (lane, mask) {
            if (wide)
                ((reg64 *)to)[lane] = bits[i][lane];
            else
                ((reg32 *)to)[lane] = (uint32_t)bits[i][lane];
        }
    }
}

void memory_wmma_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u - step->how.matrix.stride;
    const struct place place = place_of(warp, step, step->list[0]);
    const bool wide = step->how.matrix.type == IR_F64;

    for (unsigned i = 0; i < count; i++) {
        const void *from = ptx_in(warp, step->list[i + 1]);

        FOR_LANES (lane, mask)
            if (!scatter(warp, &place, i, lane,
                         wide ? ((const reg64 *)from)[lane] : ((const reg32 *)from)[lane]))
                return;
    }
}
