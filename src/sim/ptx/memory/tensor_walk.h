/* SPDX-License-Identifier: MIT */
/* The rows of a tile: neighbours along a tensor's innermost dimension, which are neighbours in
 * memory. A tile of im2col has a row of channels for each pixel. */
#ifndef CUSHIM_SIM_PTX_MEMORY_TENSOR_WALK_H
#define CUSHIM_SIM_PTX_MEMORY_TENSOR_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct tensor_walk {
    const struct ptx_tensor *tensor;
    uint32_t rows, elements;         /* in the tile, and in a row */
    int64_t at[PTX_TENSOR_RANKS];    /* of the row: the coordinates of its first element */
    int64_t first[PTX_TENSOR_RANKS]; /* where a dimension begins again */
    int64_t last[PTX_TENSOR_RANKS];  /* behind which it does */
    int64_t shift[PTX_TENSOR_RANKS]; /* im2col: from a pixel to the one that is read */
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
void tensor_walk_next(struct tensor_walk *walk);

#endif
