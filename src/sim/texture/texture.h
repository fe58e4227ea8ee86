/* SPDX-License-Identifier: MIT */
/* Arrays, and what a kernel finds behind a handle of a texture or surface. */
#ifndef CUSHIM_SIM_TEXTURE_TEXTURE_H
#define CUSHIM_SIM_TEXTURE_TEXTURE_H

#include "memory/memory.h"
#include "ptx/ptx.h"

/* Textures and surfaces, objects and references alike: what a kernel finds behind a
 * handle. */
struct sim_view { /* what is behind a handle at one time */
    struct ptx_texture seen;
    uint64_t address, memory; /* of the first byte, and the allocation's id: gone if another's */
    size_t bytes;
    uint64_t handle;         /* of a view that is withdrawn, or was replaced */
    uint64_t since, until;   /* numbers of changes: what was launched between sees this one */
    struct sim_view *before; /* that some queued launch may still see */
    struct ptx_level levels[];
};

/* --- array.c --- Arrays: rows of elements that only copies and textures reach. Rows lie without
 * gaps. */
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
void sim_array_end(struct sim_object *object);

/* --- format.c --- */
/* NULL: no format that an array can have. */
const struct sim_format *sim_format(CUarray_format format);
/* Bytes of one element, or of a block; 0: the number of channels does not fit. */
size_t sim_format_size(CUarray_format format, unsigned channels);

/* --- mipmap.c --- */
void sim_mipmap_end(struct sim_object *object);

/* --- reference.c --- A texture or surface reference: settings, and what is bound. */
struct sim_reference {
    struct sim_object object; /* SIM_TEXREF or SIM_SURFREF */
    uint64_t handle;
    bool bound, own; /* own: made by cuTexRefCreate, not a module's */
    CUDA_RESOURCE_DESC_v1 resource;
    CUDA_TEXTURE_DESC_v1 texture;
    CUarray_format format;
    int channels;
    CUdeviceptr address;
    CUfilter_mode filter; /* as it was set: drivers take anything */
};

/* The live reference of a handle, or the code to answer. */
CUresult sim_reference_of(CUtexref handle, struct sim_reference **reference);
/* Let kernels see the reference as it is now. What cannot be seen stays unbound until it can. */
CUresult sim_reference_update(struct sim_reference *reference);
struct sim_reference *sim_reference_make(struct sim_context *context, bool surface);
void sim_reference_destroy(struct sim_reference *reference);
void sim_reference_end(struct sim_object *object); /* with its context, if it is no module's */

/* --- shape.c --- */
CUresult sim_shape_check(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape,
                         bool mipmapped);
void sim_shape_measure(struct sim_array *array); /* sizes from the shape */
size_t sim_shape_bytes(const struct sim_array *array);

/* --- table.c --- */
/* Handles, by which kernels find views. The functions that launches call take no lock of the
 * driver's; the answer lives until the launch ends. */
/* As bound at that number of changes; NULL: nothing, or its memory is gone. */
const struct ptx_texture *sim_table_find(uint64_t handle, bool surface, uint64_t changes);
extern uint64_t sim_table_changes; /* how many there were; with the driver's lock */
#define SIM_TABLE_NEWEST UINT64_MAX
/* A handle for a view, which may be NULL and change; 0: no memory. */
uint64_t sim_table_publish(struct sim_view *view, bool surface, void *owner);
void *sim_table_owner(uint64_t handle, bool surface); /* NULL: no such handle */
/* Launches that are queued now see the one before, which is freed when they are done. */
void sim_table_change(uint64_t handle, struct sim_view *view);
/* For calls the handle is gone; launches that are queued now still find the view, which is freed
 * when they are done. */
void sim_table_withdraw(uint64_t handle);

/* --- texture_object.c --- */
void sim_texture_object_end(struct sim_object *object); /* with its context */

/* --- view.c --- */
CUresult sim_view_make(const CUDA_RESOURCE_DESC_v1 *resource, const CUDA_TEXTURE_DESC_v1 *texture,
                       const CUDA_RESOURCE_VIEW_DESC_v1 *part, bool surface,
                       struct sim_view **view);

#endif
