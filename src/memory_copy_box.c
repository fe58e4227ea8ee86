/* SPDX-License-Identifier: MIT */
/* Rectangles and boxes: the driver's structures, checked before it sees them. */
#include <stdio.h>
#include <string.h>

#include "memory_internal.h"
#include "scope.h"

/* One side of a copy, whichever structure it is from. */
struct copy_side {
    const char *name; /* "src" or "dst", with which its members' names begin */
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height; /* of the memory; 0: none given */
    struct cushim_box box;
};

static CUresult copy_check_extent(const char *helper, const struct cushim_box *box)
{
    const char *forgotten = !box->width    ? "WidthInBytes"
                            : !box->height ? "Height"
                            : !box->depth  ? "Depth"
                                           : NULL;
    if (!forgotten)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "copy: %s: 0", forgotten);
}

static CUresult copy_refuse_overflow(const char *helper, const struct copy_side *side)
{
    const struct cushim_box *box = &side->box;
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                         "copy: WidthInBytes %zu by Height %zu by Depth %zu from %sXInBytes %zu, "
                         "%sY %zu, %sZ %zu with %sPitch %zu overflow",
                         box->width, box->height, box->depth, side->name, box->x, side->name,
                         box->y, side->name, box->z, side->name, side->pitch);
}

/* Rows and planes that fill what they are said to; where nothing is said they leave no gap. */
static CUresult copy_check_pitch(const char *helper, const struct copy_side *side, size_t *pitch,
                                 size_t *height)
{
    const struct cushim_box *box = &side->box;
    size_t row, column;
    if (!cushim_add(box->x, box->width, &row) || !cushim_add(box->y, box->height, &column))
        return copy_refuse_overflow(helper, side);
    if (side->pitch && side->pitch < row)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "copy: %sPitch: %zu is less than %sXInBytes %zu and WidthInBytes %zu",
                             side->name, side->pitch, side->name, box->x, box->width);
    if (side->height && side->height < column)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "copy: %sHeight: %zu is less than %sY %zu and Height %zu", side->name,
                             side->height, side->name, box->y, box->height);
    *pitch = side->pitch ? side->pitch : row;
    *height = side->height ? side->height : column;
    return CUDA_SUCCESS;
}

/* Bytes from the memory's beginning to a place in it; false where they overflow. */
static bool copy_offset(size_t x, size_t y, size_t z, size_t pitch, size_t height, size_t *offset)
{
    size_t rows;
    return cushim_multiply(z, height, &rows) && cushim_add(rows, y, &rows) &&
           cushim_multiply(rows, pitch, offset) && cushim_add(*offset, x, offset);
}

static CUresult copy_check_memory(const struct cushim_api *cu, const char *helper,
                                  const struct copy_side *side, uintptr_t address,
                                  const char *member)
{
    const struct cushim_box *box = &side->box;
    size_t pitch = 0, height = 0, first, last, plane;
    char argument[32];
    snprintf(argument, sizeof argument, "copy: %s%s", side->name, member);
    CUresult code = copy_check_pitch(helper, side, &pitch, &height);
    if (code != CUDA_SUCCESS)
        return code;
    if (!address)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: 0 is no address", argument);
    if (!copy_offset(box->x, box->y, box->z, pitch, height, &first) ||
        !cushim_add(box->z, box->depth - 1, &plane) ||
        !copy_offset(box->x + box->width, box->y + (box->height - 1), plane, pitch, height,
                     &last) ||
        last > UINTPTR_MAX - address)
        return copy_refuse_overflow(helper, side);
    return cushim_check_range(cu, helper, argument, address + first, last - first);
}

static CUresult copy_check_side(const struct cushim_api *cu, const char *helper,
                                const struct copy_side *side)
{
    char argument[32];
    switch (side->type) {
    case CU_MEMORYTYPE_HOST:
        return copy_check_memory(cu, helper, side, (uintptr_t)side->host, "Host");
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return copy_check_memory(cu, helper, side, side->device, "Device");
    case CU_MEMORYTYPE_ARRAY:
        snprintf(argument, sizeof argument, "copy: %sArray", side->name);
        return cushim_check_array(cu, helper, argument, side->array, &side->box);
    default:
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "copy: %sMemoryType: %d is no type of memory", side->name,
                             (int)side->type);
    }
}

static CUresult copy_check_sides(const struct cushim_api *cu, const char *helper,
                                 const struct copy_side *src, const struct copy_side *dst)
{
    CUresult code = copy_check_extent(helper, &src->box);
    if (code == CUDA_SUCCESS)
        code = copy_check_side(cu, helper, src);
    return code == CUDA_SUCCESS ? copy_check_side(cu, helper, dst) : code;
}

/* ---- 2D */

static CUresult copy_check_2d(const struct cushim_api *cu, const char *helper,
                              const CUDA_MEMCPY2D *copy)
{
    CUresult code = cushim_require(copy, helper, "copy");
    if (code != CUDA_SUCCESS)
        return code;
    struct copy_side src = {
        "src",
        copy->srcMemoryType,
        copy->srcHost,
        copy->srcDevice,
        copy->srcArray,
        copy->srcPitch,
        0,
        {copy->srcXInBytes, copy->srcY, 0, copy->WidthInBytes, copy->Height, 1}};
    struct copy_side dst = {
        "dst",
        copy->dstMemoryType,
        copy->dstHost,
        copy->dstDevice,
        copy->dstArray,
        copy->dstPitch,
        0,
        {copy->dstXInBytes, copy->dstY, 0, copy->WidthInBytes, copy->Height, 1}};
    return copy_check_sides(cu, helper, &src, &dst);
}

CUresult cushim_copy_2d(const struct cushim_api *cu, const CUDA_MEMCPY2D *copy)
{
    CUresult code = copy_check_2d(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy2D_v2, copy) : code;
}

CUresult cushim_copy_2d_async(const struct cushim_api *cu, const CUDA_MEMCPY2D *copy,
                              CUstream stream)
{
    CUresult code = copy_check_2d(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy2DAsync_v2, copy, stream) : code;
}

/* ---- 3D */

static CUresult copy_check_3d(const struct cushim_api *cu, const char *helper,
                              const CUDA_MEMCPY3D *copy)
{
    CUresult code = cushim_require(copy, helper, "copy");
    if (code != CUDA_SUCCESS)
        return code;
    struct copy_side src = {
        "src",
        copy->srcMemoryType,
        copy->srcHost,
        copy->srcDevice,
        copy->srcArray,
        copy->srcPitch,
        copy->srcHeight,
        {copy->srcXInBytes, copy->srcY, copy->srcZ, copy->WidthInBytes, copy->Height, copy->Depth}};
    struct copy_side dst = {
        "dst",
        copy->dstMemoryType,
        copy->dstHost,
        copy->dstDevice,
        copy->dstArray,
        copy->dstPitch,
        copy->dstHeight,
        {copy->dstXInBytes, copy->dstY, copy->dstZ, copy->WidthInBytes, copy->Height, copy->Depth}};
    return copy_check_sides(cu, helper, &src, &dst);
}

CUresult cushim_copy_3d(const struct cushim_api *cu, const CUDA_MEMCPY3D *copy)
{
    CUresult code = copy_check_3d(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy3D_v2, copy) : code;
}

CUresult cushim_copy_3d_async(const struct cushim_api *cu, const CUDA_MEMCPY3D *copy,
                              CUstream stream)
{
    CUresult code = copy_check_3d(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy3DAsync_v2, copy, stream) : code;
}

/* ---- 3D between contexts */

/* The same structure with contexts in its reserved places. */
_Static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D), "the same members");
_Static_assert(offsetof(CUDA_MEMCPY3D_PEER, srcPitch) == offsetof(CUDA_MEMCPY3D, srcPitch) &&
                   offsetof(CUDA_MEMCPY3D_PEER, dstPitch) == offsetof(CUDA_MEMCPY3D, dstPitch) &&
                   offsetof(CUDA_MEMCPY3D_PEER, Depth) == offsetof(CUDA_MEMCPY3D, Depth),
               "at the same places");

static CUresult copy_check_3d_peer(const struct cushim_api *cu, const char *helper,
                                   const CUDA_MEMCPY3D_PEER *copy)
{
    CUDA_MEMCPY3D box;
    CUresult code = cushim_require(copy, helper, "copy");
    if (code != CUDA_SUCCESS)
        return code;
    if (copy->srcContext)
        code = cushim_context_required(cu, copy->srcContext, helper, "copy: srcContext");
    if (code == CUDA_SUCCESS && copy->dstContext)
        code = cushim_context_required(cu, copy->dstContext, helper, "copy: dstContext");
    if (code != CUDA_SUCCESS)
        return code;
    memcpy(&box, copy, sizeof box);
    return copy_check_3d(cu, helper, &box);
}

CUresult cushim_copy_3d_peer(const struct cushim_api *cu, const CUDA_MEMCPY3D_PEER *copy)
{
    CUresult code = copy_check_3d_peer(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy3DPeer, copy) : code;
}

CUresult cushim_copy_3d_peer_async(const struct cushim_api *cu, const CUDA_MEMCPY3D_PEER *copy,
                                   CUstream stream)
{
    CUresult code = copy_check_3d_peer(cu, __func__, copy);
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemcpy3DPeerAsync, copy, stream)
                                : code;
}
