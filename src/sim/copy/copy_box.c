/* SPDX-License-Identifier: MIT */
/* Copies of rectangles and boxes, between memory and arrays. */
#include "copy/copy.h"

_Static_assert(sizeof(CUDA_MEMCPY3D_v2) == sizeof(CUDA_MEMCPY3D_PEER_v1), "one layout");

/* a * b + c, or false where it does not fit. */
static bool scaled(size_t a, size_t b, size_t c, size_t *sum)
{
    return !__builtin_mul_overflow(a, b, sum) && !__builtin_add_overflow(*sum, c, sum);
}

static bool within(size_t at, size_t count, size_t limit)
{
    return at <= limit && count <= limit - at;
}

static CUresult array_side(struct sim_side *side, const struct sim_place *place,
                           const struct sim_copy *copy)
{
    const struct sim_array *array = sim_object(SIM_ARRAY, place->array);
    SIM_REFUSE(!array);
    SIM_REFUSE(!within(place->x, copy->width, array->row) ||
               !within(place->y, copy->height, array->rows) ||
               !within(place->z, copy->depth, array->slices));
    *side = (struct sim_side){.kind = SIM_SIDE_ARRAY,
                              .address = array->address + place->z * array->slice +
                                         place->y * array->row + place->x,
                              .row = array->row,
                              .slice = array->slice};
    return CUDA_SUCCESS;
}

static CUresult memory_side(struct sim_side *side, const struct sim_place *place,
                            const struct sim_copy *copy, bool write)
{
    size_t pitch = place->pitch, height = place->height, slice = 0, before, size, end;
    SIM_REFUSE(!scaled(1, place->x, copy->width, &end));
    /* 0 stands for rows, and slices, without gaps. */
    if (pitch == 0)
        pitch = end;
    SIM_REFUSE(height == 0 && !scaled(1, place->y, copy->height, &height));
    SIM_REFUSE(pitch < end);
    SIM_REFUSE(copy->depth > 1 && !within(place->y, copy->height, height));
    SIM_REFUSE(!scaled(pitch, height, 0, &slice) || !scaled(place->z, slice, place->x, &before) ||
               !scaled(place->y, pitch, before, &before) ||
               !scaled(copy->depth - 1, slice, copy->width, &size) ||
               !scaled(copy->height - 1, pitch, size, &size) ||
               before > UINT64_MAX - place->address);
    SIM_REFUSE(place->address == 0);
    CUresult result = sim_copy_line_side(side, place->type, place->address + before, size, write);
    side->row = pitch;
    side->slice = slice;
    return result;
}

static CUresult one_side(struct sim_side *side, const struct sim_place *place,
                         const struct sim_copy *copy, bool write)
{
    switch (place->type) {
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return memory_side(side, place, copy, write);
    case CU_MEMORYTYPE_ARRAY:
        return array_side(side, place, copy);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

#define FLAT(p, side)                                                                              \
    .type = (p)->side##MemoryType,                                                                 \
    .address = (p)->side##MemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)(p)->side##Host            \
                                                           : (p)->side##Device,                    \
    .array = (p)->side##Array, .x = (p)->side##XInBytes, .y = (p)->side##Y,                        \
    .pitch = (p)->side##Pitch
#define PLACE(p, side)                                                                             \
    {                                                                                              \
        FLAT(p, side), .z = (p)->side##Z, .height = (p)->side##Height                              \
    }

CUresult sim_copy_box(struct sim_copy *copy, const CUDA_MEMCPY3D_v2 *p)
{
    const struct sim_place from = PLACE(p, src), to = PLACE(p, dst);
    *copy = (struct sim_copy){.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth};
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return CUDA_SUCCESS;
    SIM_TRY(one_side(&copy->from, &from, copy, false));
    return one_side(&copy->to, &to, copy, true);
}

CUresult sim_copy_box_prepare(struct sim_context *context, const CUDA_MEMCPY3D_v2 *parameters,
                              struct sim_item *item)
{
    SIM_FIND(struct sim_copy, copy, sim_copy_box(&copy, parameters));
    SIM_REFUSE(!copy.width || !copy.height || !copy.depth); /* a node must do something */
    return sim_copy_item(context, &copy, parameters, false, item);
}

/* A synchronous or asynchronous entry's whole work, unless it is refused already. */
static CUresult box(const CUDA_MEMCPY3D_v2 *parameters, CUresult result, CUstream stream, bool wait)
{
    struct sim_copy copy;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!parameters);
    if (result == CUDA_SUCCESS)
        result = sim_copy_box(&copy, parameters);
    return result == CUDA_SUCCESS ? sim_copy_submit(stream, &copy, parameters, wait)
                                  : sim_copy_refused(stream, result);
}

static CUresult flat(const CUDA_MEMCPY2D_v2 *p, CUstream stream, bool wait)
{
    if (!p)
        return box(NULL, CUDA_SUCCESS, stream, wait);
    const struct sim_place from = {FLAT(p, src)}, to = {FLAT(p, dst)};
    const CUDA_MEMCPY3D_v2 deep = sim_copy_shown(&to, &from, p->WidthInBytes, p->Height, 1);
    return box(&deep, CUDA_SUCCESS, stream, wait);
}

/* The same layout, of which the contexts count. */
static CUresult peers(const CUDA_MEMCPY3D_PEER_v1 *p, CUstream stream, bool wait)
{
    CUDA_MEMCPY3D_v2 same;
    struct sim_context *context;
    if (!p)
        return box(NULL, CUDA_SUCCESS, stream, wait);
    memcpy(&same, p, sizeof same);
    same.reserved0 = same.reserved1 = NULL;
    CUresult result = sim_current_of(p->srcContext, &context);
    if (result == CUDA_SUCCESS)
        result = sim_current_of(p->dstContext, &context);
    return box(&same, result, stream, wait);
}

SIM_ENTRY(cuMemcpy2D_v2, flat(pCopy, NULL, true))
SIM_ENTRY(cuMemcpy2DAsync_v2, flat(pCopy, hStream, false))
SIM_ENTRY(cuMemcpy3D_v2, box(pCopy, CUDA_SUCCESS, NULL, true))
SIM_ENTRY(cuMemcpy3DAsync_v2, box(pCopy, CUDA_SUCCESS, hStream, false))

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
    struct sim_context *context;
    if (pCopy)
        SIM_TRY(sim_copy_line_settle(pCopy->dstContext, pCopy->srcContext));
    SIM_TRY(peers(pCopy, NULL, true));
    return sim_current(&context) == CUDA_SUCCESS ? sim_stream_wait_context(context) : CUDA_SUCCESS;
}

SIM_ENTRY(cuMemcpy3DPeerAsync, peers(pCopy, hStream, false))
