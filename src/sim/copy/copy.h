/* SPDX-License-Identifier: MIT */
/* Copies, however they were asked for: boxes of rows, checked when they are asked for and once more
 * when their turn in the stream comes. */
#ifndef CUSHIM_SIM_COPY_COPY_H
#define CUSHIM_SIM_COPY_COPY_H

#include "texture/texture.h"

enum sim_side_kind {
    SIM_SIDE_HOST,   /* the program's own memory, which nobody can check */
    SIM_SIDE_DEVICE, /* live memory of the driver's, in the space of device addresses */
    SIM_SIDE_ARRAY   /* the elements of an array: live memory that only the array's copies see */
};
struct sim_side {
    enum sim_side_kind kind;
    uint64_t address;  /* of the box's first byte */
    size_t row, slice; /* bytes from one row, or slice, to the next */
};
struct sim_copy {
    struct sim_side to, from;
    size_t width, height, depth; /* bytes, rows, slices; any 0: nothing to do */
};

/* --- Done: `copy` in the stream, with or without waiting; `parameters` is what a graph
 * shows of it, NULL: a plain range. --- */
CUresult sim_copy_submit(CUstream stream, const struct sim_copy *copy,
                         const CUDA_MEMCPY3D_v2 *parameters, bool wait);
/* A copy or fill in the stream is refused with this code: what a capture makes of that. */
CUresult sim_copy_refused(CUstream stream, CUresult code);

struct sim_place { /* one side, as a caller gives it */
    CUmemorytype type;
    uint64_t address;
    CUarray array;
    size_t x, y, z, pitch, height; /* a level of detail is not looked at */
};
/* What a graph shows of such a copy. */
CUDA_MEMCPY3D_v2 sim_copy_shown(const struct sim_place *to, const struct sim_place *from,
                                size_t width, size_t height, size_t depth);
/* The copy as an item; `parameters` as above. With `stage` its bytes are read now. */
CUresult sim_copy_item(struct sim_context *context, const struct sim_copy *copy,
                       const CUDA_MEMCPY3D_v2 *parameters, bool stage, struct sim_item *item);

/* --- copy_box.c --- */
/* A copy of any shape: item->params.memcpy.copyParams and copyCtx. */
CUresult sim_copy_box_prepare(struct sim_context *context, const CUDA_MEMCPY3D_v2 *copy,
                              struct sim_item *item);
CUresult sim_copy_box(struct sim_copy *copy, const CUDA_MEMCPY3D_v2 *parameters);

/* --- copy.c --- */
/* A plain range, in every direction. */
CUresult sim_copy_line(struct sim_copy *copy, CUmemorytype to_type, uint64_t to,
                       CUmemorytype from_type, uint64_t from, size_t size);
/* What the caller says that an address is; UNIFIED: whatever it is. */
CUresult sim_copy_line_side(struct sim_side *side, CUmemorytype type, uint64_t address, size_t size,
                            bool write);
/* A synchronous copy between contexts follows all that is pending in both, and is done when the
 * call returns ("cuMemcpyPeer" of the driver API's manual). NULL: the current one. */
CUresult sim_copy_line_settle(CUcontext one, CUcontext other);

/* --- fill.c --- */
/* A fill: width in elements, as graph nodes say it: item->params.memset. */
CUresult sim_fill_prepare(struct sim_context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *fill,
                          struct sim_item *item);

#endif
