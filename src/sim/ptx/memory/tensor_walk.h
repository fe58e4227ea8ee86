/* SPDX-License-Identifier: MIT */
/* The rows of a tile: neighbours along a tensor's innermost dimension, which are neighbours in
 * memory. A tile of im2col has a row of channels for each pixel.
 *
 * An interleaved tensor is walked as one of a dimension more. The innermost one is a pixel's slice,
 * of 16 or 32 bytes; the map's own follow, first the pixels that are neighbours in memory. The last
 * but one is of slices, of which a tile has one. */
#ifndef CUSHIM_SIM_PTX_MEMORY_TENSOR_WALK_H
#define CUSHIM_SIM_PTX_MEMORY_TENSOR_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

enum { TENSOR_WALK_RANKS = PTX_TENSOR_RANKS + 1 };

struct tensor_walk {
    const struct ptx_tensor *tensor;
    unsigned rank;
    uint32_t rows, elements; /* in the tile, and in a row */
    int64_t count;           /* of elements in the tensor's innermost dimension */
    struct tensor_dimension {
        int64_t size;        /* in the tensor */
        uint64_t stride;     /* in bytes, of all but the innermost */
        int64_t at;          /* of the row: the coordinates of its first element */
        int64_t first, last; /* where the dimension begins again, and behind which it does */
        int64_t step;
        int64_t shift; /* im2col: from a pixel to the one that is read */
    } dimensions[TENSOR_WALK_RANKS];
};

struct tensor_row {
    uint64_t address;    /* of the elements that are in the tensor */
    uint32_t begin, end; /* which these are; equal: none */
};

void tensor_walk_begin(struct tensor_walk *walk, const struct ptx_tensor *tensor,
                       const int32_t *coordinates, const uint16_t *offsets);
/* Of the first `limit` elements of the innermost dimension. */
struct tensor_row tensor_walk_row(const struct tensor_walk *walk, int64_t limit);
bool tensor_walk_negative(const struct tensor_walk *walk); /* is a coordinate of the row? */
/* im2col: whether the first pixel is in the box of pixels, and whether that is in the tensor. */
bool tensor_walk_begins_inside(const struct tensor_walk *walk);
bool tensor_walk_stays_inside(const struct tensor_walk *walk);
void tensor_walk_next(struct tensor_walk *walk);

#endif
