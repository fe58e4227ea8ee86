/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"

/* Bytes of a channel in the formats that arrays began with; 0 for others, which are in blocks or
 * planes. */
static size_t array_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

bool cushim_array_measure(const CUDA_ARRAY3D_DESCRIPTOR *shape, struct cushim_extent *extent)
{
    size_t element = array_channel_bytes(shape->Format) * shape->NumChannels;
    extent->rows = shape->Height ? shape->Height : 1;
    extent->planes = shape->Depth ? shape->Depth : 1;
    extent->known = element != 0;
    if (!cushim_multiply(shape->Width, element ? element : 1, &extent->row) ||
        !cushim_multiply(extent->row, extent->rows, &extent->bytes) ||
        !cushim_multiply(extent->bytes, extent->planes, &extent->bytes))
        return false;
    if (!extent->known)
        extent->row = extent->bytes = 0;
    return true;
}

static CUresult array_check(const char *helper, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                            struct cushim_extent *extent)
{
    if (!shape->Width)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "shape: Width: 0");
    if (array_channel_bytes(shape->Format) && shape->NumChannels != 1 && shape->NumChannels != 2 &&
        shape->NumChannels != 4)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "shape: NumChannels: %u is none of 1, 2 and 4", shape->NumChannels);
    if (!cushim_array_measure(shape, extent))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "shape: Width %zu by Height %zu by Depth %zu overflow", shape->Width,
                             shape->Height, shape->Depth);
    return CUDA_SUCCESS;
}

CUresult cushim_array_create(const struct cushim_api *cu, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                             CUarray *array)
{
    CUarray found = NULL;
    struct cushim_extent extent;
    CUresult code = cushim_require(shape, __func__, "shape");
    if (code == CUDA_SUCCESS)
        code = cushim_require(array, __func__, "array");
    if (code == CUDA_SUCCESS)
        code = array_check(__func__, shape, &extent);
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_TRY(cu, __func__, cuArray3DCreate_v2, &found, shape);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, extent.bytes);
    struct cushim_range range = {
        .base = (uintptr_t)found,
        .size = 1,
        .kind = CUSHIM_MEMORY_ARRAY,
        .id = extent.bytes,
    };
    cushim_track_add(cu, &range);
    *array = found;
    return CUDA_SUCCESS;
}

CUresult cushim_array_destroy(const struct cushim_api *cu, CUarray array)
{
    struct cushim_range taken;
    if (!array)
        return CUDA_SUCCESS;
    CUresult code =
        cushim_take(cu, __func__, "array", (uintptr_t)array, CUSHIM_MEMORY_ARRAY, &taken);
    if (code != CUDA_SUCCESS)
        return code;
    return cushim_taken(cu, &taken, CUSHIM_TRY(cu, __func__, cuArrayDestroy, array));
}
