/* SPDX-License-Identifier: MIT */
/* ldmatrix and stmatrix: matrices of eight rows of 16 bytes. Lane 8 i + r has the address of row r
 * of matrix i, and register i of lane 4 r + p has the elements 2 p and 2 p + 1 of row r, or with
 * .trans of column r. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ptx.h"

enum { ROW = 16, ROWS = 8, MOST = 4 }; /* bytes, rows, matrices */

typedef uint16_t matrix[ROWS][ROWS];

static char *row_of(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    const reg64 *addresses, bool write)
{
    return memory_resolve(warp, step, lane, step->how.matrix.space,
                          addresses[lane] + step->how.matrix.offset, ROW, write);
}

/* The element of a lane's register: the lower half is `part` 0. */
static uint16_t *element(matrix cells, const struct ptx_step *step, unsigned lane, unsigned part)
{
    const unsigned row = lane / 4, column = lane % 4 * 2 + part;

    return step->how.matrix.columns ? &cells[column][row] : &cells[row][column];
}

DEVICE_ACCESS static void copy_row(void *to, const void *from)
{
    memcpy(to, from, ROW);
}

void memory_matrix_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned count = step->list_count - 1u;
    const uint32_t *list = step->list ? step->list : step->operand;
    const reg64 *addresses = ptx_in(warp, list[count]);
    matrix matrices[MOST] = {0};

    FOR_LANES (lane, mask) {
        const char *from;

        if (lane >= count * ROWS)
            break;
        from = row_of(warp, step, lane, addresses, false);
        if (!from)
            return;
        copy_row(matrices[lane / ROWS][lane % ROWS], from);
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

void memory_matrix_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
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
        char *to;

        if (lane >= count * ROWS)
            break;
        to = row_of(warp, step, lane, addresses, true);
        if (!to)
            return;
        copy_row(to, matrices[lane / ROWS][lane % ROWS]);
    }
}
