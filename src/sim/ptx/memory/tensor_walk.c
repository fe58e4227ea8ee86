/* SPDX-License-Identifier: MIT */
#include "ptx/memory/tensor_walk.h"

static uint32_t count_of(const struct ptx_tensor *tensor, unsigned dimension)
{
    return (tensor->box[dimension] + tensor->steps[dimension] - 1U) / tensor->steps[dimension];
}

static void begin_box(struct tensor_walk *walk)
{
    const struct ptx_tensor *tensor = walk->tensor;

    walk->elements = tensor->box[0]; /* of neighbours: here a step does not count */
    for (unsigned i = 1; i < tensor->rank; i++) {
        /* Boxes that a kernel made may have any size; so many rows are refused. */
        if (walk->rows <= UINT16_MAX)
            walk->rows *= count_of(tensor, i);
        walk->first[i] = walk->at[i];
        walk->last[i] = walk->at[i] + tensor->box[i] - 1;
    }
}

/* Pixels begin at the coordinates, and go through the box that the corners leave of each image. */
static void begin_pixels(struct tensor_walk *walk, const uint16_t *offsets)
{
    const struct ptx_tensor *tensor = walk->tensor;
    /* An offset has 16 bits for one dimension, 8 for two, 5 for three. */
    static const uint16_t masks[PTX_TENSOR_RANKS + 1] = {[3] = 0xffff, [4] = 0xff, [5] = 0x1f};
    unsigned outer = tensor->rank - 1U;

    walk->elements = tensor->channels;
    walk->rows = tensor->pixels;
    for (unsigned i = 1; i < outer; i++) {
        walk->first[i] = tensor->lower[i - 1];
        walk->last[i] = (int64_t)tensor->sizes[i] + tensor->upper[i - 1];
        walk->shift[i] = offsets[i - 1] & masks[tensor->rank];
    }
    walk->last[outer] = INT64_MAX;
}

void tensor_walk_begin(struct tensor_walk *walk, const struct ptx_tensor *tensor,
                       const int32_t *coordinates, const uint16_t *offsets)
{
    *walk = (struct tensor_walk){.tensor = tensor, .rows = 1};
    for (unsigned i = 0; i < tensor->rank; i++)
        walk->at[i] = coordinates[i];
    if (tensor->im2col)
        begin_pixels(walk, offsets);
    else
        begin_box(walk);
}

bool tensor_walk_negative(const struct tensor_walk *walk)
{
    for (unsigned i = 0; i < walk->tensor->rank; i++)
        if (walk->at[i] < 0)
            return true;
    return false;
}

struct tensor_row tensor_walk_row(const struct tensor_walk *walk, int64_t limit)
{
    const struct ptx_tensor *tensor = walk->tensor;
    int64_t begin = walk->at[0] < 0 ? -walk->at[0] : 0;
    int64_t end = limit - walk->at[0];
    struct tensor_row row = {.address = tensor->address};

    for (unsigned i = 1; i < tensor->rank; i++) {
        int64_t at = walk->at[i] + walk->shift[i];

        if (at < 0 || at > tensor->sizes[i])
            return row;
        row.address += (uint64_t)at * tensor->strides[i - 1];
    }
    if (end > walk->elements)
        end = walk->elements;
    if (begin >= end)
        return row;
    row.begin = (uint32_t)begin;
    row.end = (uint32_t)end;
    row.address +=
        (uint64_t)(walk->at[0] + begin) * ptx_tensor_type_size((enum ptx_tensor_type)tensor->type);
    return row;
}

void tensor_walk_next(struct tensor_walk *walk)
{
    for (unsigned i = 1; i < walk->tensor->rank; i++) {
        walk->at[i] += walk->tensor->steps[i];
        if (walk->at[i] <= walk->last[i])
            return;
        walk->at[i] = walk->first[i];
    }
}
