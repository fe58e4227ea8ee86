/* SPDX-License-Identifier: MIT */
/* Arrays: made, described, destroyed. */
#include "texture/texture.h"

struct sim_array *sim_array_make(struct sim_context *context,
                                 const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape)
{
    struct sim_array *array = calloc(1, sizeof *array);
    if (!array)
        return NULL;
    array->shape = *shape;
    sim_shape_measure(array);
    sim_object_add(&array->object, SIM_ARRAY, context);
    return array;
}

void sim_array_place(struct sim_array *array, struct sim_allocation *memory, size_t offset)
{
    array->memory = memory;
    array->address = memory->address + offset;
}

void sim_array_end(struct sim_object *object)
{
    struct sim_array *array = (struct sim_array *)object;
    sim_object_remove(object);
    if (array->memory && !array->part)
        sim_memory_free(array->memory);
    free(array);
}

static CUresult create(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape)
{
    struct sim_allocation *memory;
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_REFUSE(!handle || !shape);
    SIM_TRY(sim_shape_check(context->device, shape, false));
    SIM_MADE(struct sim_array *, array, sim_array_make(context, shape));
    SIM_TRY_OR(
        sim_memory_allocate(context, SIM_MEMORY_ARRAY, sim_shape_bytes(array), 0, 0, &memory),
        sim_array_end(&array->object));
    memory->owner = array;
    sim_array_place(array, memory, 0);
    *handle = (CUarray)array;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuArray3DCreate_v2, create(pHandle, pAllocateArray))

CUresult sim_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v2 *pAllocateArray)
{
    CUDA_ARRAY3D_DESCRIPTOR_v2 shape = {0};
    if (pAllocateArray)
        shape = (CUDA_ARRAY3D_DESCRIPTOR_v2){.Width = pAllocateArray->Width,
                                             .Height = pAllocateArray->Height,
                                             .Format = pAllocateArray->Format,
                                             .NumChannels = pAllocateArray->NumChannels};
    return create(pHandle, pAllocateArray ? &shape : NULL);
}

/* A live array, or the code to answer. */
static CUresult find(CUarray handle, struct sim_array **array)
{
    SIM_TRY(sim_current_check());
    *array = sim_object(SIM_ARRAY, handle);
    return *array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_FIND(struct sim_array *, array, find(hArray, &array));
    if (array->part) /* a level goes with its mipmapped array */
        return CUDA_SUCCESS;
    uint64_t serial = array->object.serial;
    CUresult result = sim_stream_wait_context(array->object.context);
    if (sim_object_alive(SIM_ARRAY, hArray, serial))
        sim_array_end(&array->object);
    return result;
}

SIM_TELL_AFTER(cuArray3DGetDescriptor_v2, pArrayDescriptor, struct sim_array *array,
               find(hArray, &array), array->shape)
SIM_TELL_AFTER(cuArrayGetDescriptor_v2, pArrayDescriptor, struct sim_array *array,
               find(hArray, &array),
               ((CUDA_ARRAY_DESCRIPTOR_v2){array->shape.Width, array->shape.Height,
                                           array->shape.Format, array->shape.NumChannels}))

/* What arrays and mipmapped arrays say of how they lie in memory: planes, tiles, requirements. */

#define TILE ((size_t)65536)

/* The tile that real devices use for an element of so many bytes: 64 KiB of the shape. */
static CUresult tile(CUDA_ARRAY_SPARSE_PROPERTIES_v1 *properties,
                     const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, unsigned levels, size_t tail)
{
    static const unsigned flat[][2] = {{256, 256}, {256, 128}, {128, 128}, {128, 64}, {64, 64}};
    static const unsigned deep[][3] = {
        {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    unsigned size = (unsigned)sim_format_size(shape->Format, shape->NumChannels), index = 0;
    SIM_REFUSE(!(shape->Flags & CUDA_ARRAY3D_SPARSE));
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
                             const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, size_t bytes, CUdevice device)
{
    SIM_TRY(sim_device_of(device, NULL));
    SIM_REFUSE(!(shape->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING));
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS_v1){.size = (bytes + TILE - 1) / TILE * TILE,
                                               .alignment = TILE};
    return CUDA_SUCCESS;
}

/* A live array, for a question that has somewhere to write its answer. */
static CUresult ask(const void *found, const void *out)
{
    SIM_FAIL(INVALID_HANDLE, !found);
    return SIM_VALID(out);
}

SIM_WITH(cuArrayGetSparseProperties, const struct sim_array *, found,
         ask(found = sim_object(SIM_ARRAY, array), sparseProperties),
         tile(sparseProperties, &found->shape, 1, TILE))
SIM_WITH(cuMipmappedArrayGetSparseProperties, const struct sim_mipmap *, found,
         ask(found = sim_object(SIM_MIPMAP, mipmap), sparseProperties),
         tile(sparseProperties, &found->shape, found->count, TILE))
SIM_WITH(cuArrayGetMemoryRequirements, const struct sim_array *, found,
         ask(found = sim_object(SIM_ARRAY, array), memoryRequirements),
         requirements(memoryRequirements, &found->shape, sim_shape_bytes(found), device))
SIM_WITH(cuMipmappedArrayGetMemoryRequirements, const struct sim_mipmap *, found,
         ask(found = sim_object(SIM_MIPMAP, mipmap), memoryRequirements),
         requirements(memoryRequirements, &found->shape, found->memory->size, device))

/* Formats of several planes cannot be made here: no array has one. */
CUresult sim_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx, (void)pPlaneArray;
    return sim_object(SIM_ARRAY, hArray) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}
