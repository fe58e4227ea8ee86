/* SPDX-License-Identifier: MIT */
/* Where the elements of a problem are: in registers as the PTX ISA says, one element after the
 * other, or in memory with gaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

/* Of element i of lane's fragment of a: row and column. */
static void place_a(const struct instruction *one, unsigned lane, unsigned i, unsigned *row,
                    unsigned *column)
{
    const unsigned bits = element_bits(one->a), group = lane / 4, in_group = lane % 4;
    const unsigned per = bits < 32 ? 32 / bits : 1; /* elements of a register */
    const unsigned lower = one->m == 16 && i / per % 2 == 1;

    if (matrix_quads(one) == 4) { /* m8n8k4: a quad of lanes and the one 16 above */
        const unsigned half = lane / 16 * 4, quad = lane % 16 / 4 * 8;

        *row = quad + half + (strstr(one->text, "k4.row") ? lane % 4 : i);
        *column = strstr(one->text, "k4.row") ? i : lane % 4;
        return;
    }
    *row = group + 8 * lower;
    *column = in_group * per + i % per + i / per / (one->m / 8) * 4 * per;
}

static void place_b(const struct instruction *one, unsigned lane, unsigned i, unsigned *row,
                    unsigned *column)
{
    const unsigned bits = element_bits(one->b), per = bits < 32 ? 32 / bits : 1;

    if (matrix_quads(one) == 4) {
        const unsigned half = lane / 16 * 4, quad = lane % 16 / 4 * 4;
        const bool rows = strstr(one->text, "row.row") || strstr(one->text, "col.row");

        *row = quad + (rows ? lane % 4 : i);
        *column = half + (rows ? i : lane % 4);
        return;
    }
    *row = lane % 4 * per + i % per + i / per * 4 * per;
    *column = lane / 4;
}

static void place_c(const struct instruction *one, enum type type, unsigned lane, unsigned i,
                    unsigned *row, unsigned *column)
{
    if (matrix_quads(one) == 4) {
        const unsigned half = lane / 16 * 4, quad = lane % 16 / 4 * 8;

        *row = quad + half + (type == F16 ? lane % 4 : (lane & 1) + (i & 2));
        *column = type == F16 ? i : (i & 4) + (lane & 2) + (i & 1);
        return;
    }
    *row = lane / 4 + (i >= 2 ? 8 : 0);
    *column = lane % 4 * 2 + i % 2;
}

static enum type type_of(const struct instruction *one, int which)
{
    return which == 0 ? one->a : which == 1 ? one->b : which == 2 ? one->c : one->d;
}

static uint64_t *matrix_of(struct problem *problem, int which)
{
    return which == 0 ? problem->a : which == 1 ? problem->b : which == 2 ? problem->c : problem->d;
}

/* Copy `bits` bits from or into an array, at a bit. */
static void move_bits(unsigned char *array, size_t at, unsigned bits, uint64_t *value, bool put)
{
    uint64_t mask = bits < 8 ? (UINT64_C(1) << bits) - 1 : 0;
    unsigned char *byte = array + at / 8;

    if (bits >= 8 && put)
        memcpy(byte, value, bits / 8);
    else if (bits >= 8)
        *value = 0, memcpy(value, byte, bits / 8);
    else if (put)
        *byte = (unsigned char)((*byte & ~(mask << at % 8)) | *value << at % 8);
    else
        *value = (uint64_t)(*byte >> at % 8) & mask;
}

static void move_registers(struct batch *batch, unsigned index, int which, bool put)
{
    const struct instruction *one = batch->one;
    const enum type type = type_of(one, which);
    const unsigned bits = element_bits(type), size = bits == 64 ? 64 : 32, per = size / bits;
    unsigned char *array = batch->arrays[which] + batch->each[which] * index;
    const unsigned columns = which == 0 ? one->k : one->n;

    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < one->registers[which] * per; i++) {
            unsigned row, column;

            if (which == 0)
                place_a(one, lane, i, &row, &column);
            else if (which == 1)
                place_b(one, lane, i, &row, &column);
            else
                place_c(one, type, lane, i, &row, &column);
            move_bits(array, ((size_t)i / per * 32 + lane) * size + i % per * bits, bits,
                      &matrix_of(&batch->problems[index], which)[row * columns + column], put);
        }
}

/* Is the matrix in memory by columns? c is by rows, d by columns. */
static bool by_columns(const struct instruction *one, int which)
{
    return which == 0 ? one->layout_a[0] == 'c' : which == 1 ? one->layout_b[0] == 'c' : which == 3;
}

static void sizes_of(const struct instruction *one, int which, unsigned *rows, unsigned *columns)
{
    *rows = which == 1 ? one->k : one->m;
    *columns = which == 0 ? one->k : one->n;
}

static void move_memory(struct batch *batch, unsigned index, int which, bool put)
{
    const struct instruction *one = batch->one;
    const unsigned bits = element_bits(type_of(one, which)), stride = batch->sizes[which + 4];
    unsigned char *array = batch->arrays[which] + batch->each[which] * index;
    unsigned rows, columns;

    sizes_of(one, which, &rows, &columns);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            const size_t at =
                by_columns(one, which) ? column * stride + row : row * stride + column;

            move_bits(array, at * bits, bits,
                      &matrix_of(&batch->problems[index], which)[row * columns + column], put);
        }
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory) {
        perror("memory");
        exit(1);
    }
    return memory;
}

void matrix_batch(struct batch *batch, const struct instruction *one, unsigned count)
{
    memset(batch, 0, sizeof *batch);
    batch->one = one;
    batch->count = count;
    batch->problems = allocate(count * sizeof *batch->problems);
    for (int which = 0; which < 4; which++) {
        const unsigned bits = element_bits(type_of(one, which));

        batch->each[which] = (size_t)one->registers[which] * 32 * (bits == 64 ? 8 : 4);
        if (one->layout_a) {
            unsigned rows, columns, lines, stride;

            sizes_of(one, which, &rows, &columns);
            lines = by_columns(one, which) ? columns : rows;
            stride = (by_columns(one, which) ? rows : columns) + 256 / bits;
            batch->sizes[which + 4] = stride;
            batch->each[which] = (size_t)lines * stride * bits / 8;
            batch->sizes[which] = (uint32_t)batch->each[which];
        }
        batch->bytes[which] = batch->each[which] * count;
        batch->arrays[which] = allocate(batch->bytes[which]);
    }
}

void matrix_batch_free(struct batch *batch)
{
    for (int which = 0; which < 4; which++)
        free(batch->arrays[which]);
    free(batch->problems);
}

void matrix_put(struct batch *batch, unsigned index)
{
    for (int which = 0; which < 3; which++)
        (batch->one->layout_a ? move_memory : move_registers)(batch, index, which, true);
}

void matrix_get(struct batch *batch, unsigned index)
{
    (batch->one->layout_a ? move_memory : move_registers)(batch, index, 3, false);
}
