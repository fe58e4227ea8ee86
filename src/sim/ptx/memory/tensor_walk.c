/* SPDX-License-Identifier: MIT */
#include "ptx/memory/memory.h"

/* The dimensions of the map, behind the one that an interleaved tensor has before them. */
static struct tensor_dimension *of_map(struct tensor_walk *walk)
{
    return walk->dimensions + (walk->rank - walk->tensor->rank);
}

static void set_dimensions(struct tensor_walk *walk, const int32_t *coordinates)
{
    const struct ptx_tensor *tensor = walk->tensor;
    struct tensor_dimension *all = of_map(walk);

    if (tensor->interleave) {
        unsigned bytes = ptx_tensor_slice(tensor);

        walk->elements = bytes / ptx_tensor_type_size((enum ptx_tensor_type)tensor->type);
        walk->dimensions[0] = (struct tensor_dimension){.size = walk->elements};
        all[0].stride = bytes;
    }
    for (unsigned i = 0; i < tensor->rank; i++) {
        all[i].size = (int64_t)tensor->sizes[i] + 1;
        all[i].at = coordinates[i];
        all[i].step = tensor->steps[i];
        if (i)
            all[i].stride = tensor->strides[i - 1];
    }
}

/* Whether the map's dimension is the one of slices. */
static bool is_slices(const struct ptx_tensor *tensor, unsigned i)
{
    return tensor->interleave && i + 2 == tensor->rank;
}

static void begin_box(struct tensor_walk *walk)
{
    const struct ptx_tensor *tensor = walk->tensor;
    struct tensor_dimension *all = of_map(walk);

    if (!tensor->interleave)
        walk->elements = tensor->box[0]; /* of neighbours: here a step does not count */
    for (unsigned i = tensor->interleave ? 0 : 1; i < tensor->rank; i++) {
        unsigned box = is_slices(tensor, i) ? 1 : tensor->box[i];

        /* Boxes that a kernel made may have any size; so many rows are refused. */
        if (walk->rows <= UINT16_MAX)
            walk->rows *= (box + tensor->steps[i] - 1U) / tensor->steps[i];
        all[i].first = all[i].at;
        all[i].last = all[i].at + box - 1;
    }
}

/* Pixels begin at the coordinates, and go through the box that the corners leave of each image. */
static void begin_pixels(struct tensor_walk *walk, const uint16_t *offsets)
{
    const struct ptx_tensor *tensor = walk->tensor;
    /* An offset has 16 bits for one dimension, 8 for two, 5 for three. */
    static const uint16_t masks[PTX_TENSOR_RANKS + 1] = {[3] = 0xffff, [4] = 0xff, [5] = 0x1f};
    struct tensor_dimension *all = of_map(walk), *image = walk->dimensions + 1;

    if (!tensor->interleave)
        walk->elements = tensor->channels;
    walk->rows = tensor->pixels;
    for (unsigned i = 0; i + 2U < tensor->rank; i++) {
        image[i].first = tensor->lower[i];
        image[i].last = image[i].size - 1 + tensor->upper[i];
        image[i].shift = offsets[i] & masks[tensor->rank];
    }
    if (tensor->interleave) /* one slice */
        all[tensor->rank - 2].first = all[tensor->rank - 2].last = all[tensor->rank - 2].at;
    all[tensor->rank - 1].last = INT64_MAX;
}

void tensor_walk_begin(struct tensor_walk *walk, const struct ptx_tensor *tensor,
                       const int32_t *coordinates, const uint16_t *offsets)
{
    memset(walk, 0, sizeof *walk);
    walk->tensor = tensor;
    walk->rows = 1;
    walk->rank = tensor->rank + (tensor->interleave ? 1U : 0U);
    set_dimensions(walk, coordinates);
    walk->count = walk->dimensions[0].size;
    if (tensor->im2col)
        begin_pixels(walk, offsets);
    else
        begin_box(walk);
}

bool tensor_walk_negative(const struct tensor_walk *walk)
{
    for (unsigned i = 0; i < walk->rank; i++)
        if (walk->dimensions[i].at < 0)
            return true;
    return false;
}

/* Of an image the dimensions follow the innermost one, in each layout. */
bool tensor_walk_begins_inside(const struct tensor_walk *walk)
{
    for (unsigned i = 1; i + 1U < walk->tensor->rank; i++) {
        const struct tensor_dimension *image = &walk->dimensions[i];

        if (image->at < image->first || image->at > image->last)
            return false;
    }
    return true;
}

bool tensor_walk_stays_inside(const struct tensor_walk *walk)
{
    for (unsigned i = 1; i + 1U < walk->tensor->rank; i++) {
        const struct tensor_dimension *image = &walk->dimensions[i];

        if (image->first < 0 || image->last >= image->size)
            return false;
    }
    return true;
}

struct tensor_row tensor_walk_row(const struct tensor_walk *walk, int64_t limit)
{
    const struct ptx_tensor *tensor = walk->tensor;
    int64_t first = walk->dimensions[0].at;
    int64_t begin = first < 0 ? -first : 0;
    int64_t end = limit - first;
    struct tensor_row row = {.address = tensor->address};

    for (unsigned i = 1; i < walk->rank; i++) {
        const struct tensor_dimension *dimension = &walk->dimensions[i];
        int64_t at = dimension->at + dimension->shift;

        if (at < 0 || at >= dimension->size)
            return row;
        row.address += (uint64_t)at * dimension->stride;
    }
    if (end > walk->elements)
        end = walk->elements;
    if (begin >= end)
        return row;
    row.begin = (uint32_t)begin;
    row.end = (uint32_t)end;
    row.address +=
        (uint64_t)(first + begin) * ptx_tensor_type_size((enum ptx_tensor_type)tensor->type);
    return row;
}

void tensor_walk_next(struct tensor_walk *walk)
{
    for (unsigned i = 1; i < walk->rank; i++) {
        struct tensor_dimension *dimension = &walk->dimensions[i];

        dimension->at += dimension->step;
        if (dimension->at <= dimension->last)
            return;
        dimension->at = dimension->first;
    }
}
