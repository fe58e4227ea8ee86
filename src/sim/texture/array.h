/* SPDX-License-Identifier: MIT */
/* Arrays: rows of elements that only copies and textures reach. Rows lie without gaps. */
#ifndef CUSHIM_SIM_TEXTURE_ARRAY_H
#define CUSHIM_SIM_TEXTURE_ARRAY_H

#include "core/object.h"
#include "sim.h"

struct sim_allocation;
struct sim_context;
struct sim_device;

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

/* --- Formats --- */
struct sim_format {
    uint8_t channels; /* that it must have; 0: 1, 2 or 4 */
    uint8_t bytes;    /* of one channel; of a block or a packed element where `whole` */
    uint8_t block;    /* elements along each side of a block: 1 or 4 */
    bool whole;
};

/* --- Arrays --- */
/* An array without its elements, which `place` gives it. NULL: no memory. */
struct sim_array *sim_array_make(struct sim_context *context,
                                 const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape);
void sim_array_place(struct sim_array *array, struct sim_allocation *memory, size_t offset);
void sim_array_destroy(struct sim_array *array);
void sim_array_end(struct sim_object *object); /* with its context */

#endif
