/* SPDX-License-Identifier: MIT */
/* Arrays: rows of elements that only copies and textures reach. Rows lie without gaps. */
#ifndef CUSHIM_SIM_ARRAY_H
#define CUSHIM_SIM_ARRAY_H

#include "memory.h"

struct sim_array {
    struct sim_object object;
    CUDA_ARRAY3D_DESCRIPTOR_v2 shape; /* as it was asked for */
    struct sim_allocation *memory;    /* of a level: its mipmapped array's */
    uint64_t address;                 /* of its first element */
    size_t row, slice;                /* bytes from one to the next */
    size_t rows, slices;              /* at least 1 */
    bool part;                        /* of a mipmapped array, with which it goes */
};
struct sim_mipmap {
    struct sim_object object;
    CUDA_ARRAY3D_DESCRIPTOR_v2 shape;
    struct sim_allocation *memory;
    unsigned count;
    struct sim_array **levels;
};

/* --- Formats (array_format.c) --- */
struct sim_format {
    uint8_t channels; /* that it must have; 0: 1, 2 or 4 */
    uint8_t bytes;    /* of one channel; of a block or a packed element where `whole` */
    uint8_t block;    /* elements along each side of a block: 1 or 4 */
    bool whole;
};
/* NULL: no format that an array can have. */
const struct sim_format *sim_format(CUarray_format format);
/* Bytes of one element, or of a block; 0: the number of channels does not fit. */
size_t sim_format_size(CUarray_format format, unsigned channels);

/* --- Shapes (array_shape.c) --- */
CUresult sim_array_check(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape,
                         bool mipmapped);
void sim_array_measure(struct sim_array *array); /* sizes from the shape */
size_t sim_array_bytes(const struct sim_array *array);

/* --- Arrays (array.c) --- */
/* An array without its elements, which `place` gives it. NULL: no memory. */
struct sim_array *sim_array_make(struct sim_context *context,
                                 const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape);
void sim_array_place(struct sim_array *array, struct sim_allocation *memory, size_t offset);
void sim_array_destroy(struct sim_array *array);
void sim_mipmap_destroy(struct sim_mipmap *mipmap); /* mipmap.c */

#endif
