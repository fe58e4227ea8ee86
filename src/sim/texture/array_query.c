/* SPDX-License-Identifier: MIT */
/* What arrays and mipmapped arrays say of how they lie in memory: planes, tiles, requirements. */
#include "core/core.h"
#include "device/device.h"
#include "memory/memory.h"
#include "texture/texture.h"

#define TILE ((size_t)65536)

/* The tile that real devices use for an element of so many bytes: 64 KiB of the shape. */
static CUresult tile(CUDA_ARRAY_SPARSE_PROPERTIES_v1 *properties,
                     const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, unsigned levels, size_t tail)
{
    static const unsigned flat[][2] = {{256, 256}, {256, 128}, {128, 128}, {128, 64}, {64, 64}};
    static const unsigned deep[][3] = {
        {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    unsigned size = (unsigned)sim_format_size(shape->Format, shape->NumChannels), index = 0;
    if (!(shape->Flags & CUDA_ARRAY3D_SPARSE))
        return CUDA_ERROR_INVALID_VALUE;
    while (index < 4 && (1U << index) < size)
        index++;
    bool is_deep = shape->Depth && !(shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    *properties = (CUDA_ARRAY_SPARSE_PROPERTIES_v1){0};
    properties->tileExtent.width = is_deep ? deep[index][0] : flat[index][0];
    properties->tileExtent.height = is_deep ? deep[index][1] : flat[index][1];
    properties->tileExtent.depth = is_deep ? deep[index][2] : 1;
    while (properties->miptailFirstLevel < levels &&
           shape->Width >> properties->miptailFirstLevel >= properties->tileExtent.width &&
           shape->Height >> properties->miptailFirstLevel >= properties->tileExtent.height)
        properties->miptailFirstLevel++;
    properties->miptailSize = properties->miptailFirstLevel < levels ? tail : 0;
    return CUDA_SUCCESS;
}

static CUresult requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 *out,
                             const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, size_t bytes)
{
    if (!(shape->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS_v1){.size = (bytes + TILE - 1) / TILE * TILE,
                                               .alignment = TILE};
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES_v1 *out, CUarray array)
{
    const struct sim_array *found = sim_object(SIM_ARRAY, array);
    if (!out || !found)
        return found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    return tile(out, &found->shape, 1, TILE);
}

CUresult sim_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES_v1 *out,
                                                 CUmipmappedArray mipmap)
{
    const struct sim_mipmap *found = sim_object(SIM_MIPMAP, mipmap);
    if (!out || !found)
        return found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    return tile(out, &found->shape, found->count, TILE);
}

CUresult sim_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 *out, CUarray array,
                                          CUdevice device)
{
    const struct sim_array *found = sim_object(SIM_ARRAY, array);
    if (!out || !found)
        return found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return requirements(out, &found->shape, sim_shape_bytes(found));
}

CUresult sim_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 *out,
                                                   CUmipmappedArray mipmap, CUdevice device)
{
    const struct sim_mipmap *found = sim_object(SIM_MIPMAP, mipmap);
    if (!out || !found)
        return found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return requirements(out, &found->shape, found->memory->size);
}

/* Formats of several planes cannot be made here: no array has one. */
CUresult sim_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx;
    if (!sim_object(SIM_ARRAY, hArray))
        return CUDA_ERROR_INVALID_HANDLE;
    (void)pPlaneArray;
    return CUDA_ERROR_INVALID_VALUE;
}
