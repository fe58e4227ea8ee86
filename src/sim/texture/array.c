/* SPDX-License-Identifier: MIT */
/* Arrays: made, described, destroyed. */
#include "texture/texture.h"

#include <stdlib.h>

#include "core/core.h"
#include "memory/memory.h"
#include "queue/queue.h"

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

void sim_array_destroy(struct sim_array *array)
{
    sim_object_remove(&array->object);
    if (array->memory && !array->part)
        sim_memory_free(array->memory);
    free(array);
}

static CUresult create(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape)
{
    struct sim_context *context;
    struct sim_allocation *memory;
    CUresult result = sim_memory_begin(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !shape)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_shape_check(context->device, shape, false);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_array *array = sim_array_make(context, shape);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = sim_memory_allocate(context, SIM_MEMORY_ARRAY, sim_shape_bytes(array), 0, 0, &memory);
    if (result != CUDA_SUCCESS) {
        sim_array_destroy(array);
        return result;
    }
    memory->owner = array;
    sim_array_place(array, memory, 0);
    *handle = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult sim_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v2 *pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}

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
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *array = sim_object(SIM_ARRAY, handle);
    return *array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
    struct sim_context *context;
    struct sim_array *array;
    CUresult result = sim_memory_begin(&context);
    if (result == CUDA_SUCCESS)
        result = find(hArray, &array);
    if (result != CUDA_SUCCESS || array->part) /* a level goes with its mipmapped array */
        return result;
    uint64_t serial = array->object.serial;
    result = sim_stream_wait_context(array->object.context);
    if (sim_object_alive(SIM_ARRAY, hArray, serial))
        sim_array_destroy(array);
    return result;
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR_v2 *pArrayDescriptor, CUarray hArray)
{
    struct sim_array *array;
    CUresult result = find(hArray, &array);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = array->shape;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR_v2 *pArrayDescriptor, CUarray hArray)
{
    struct sim_array *array;
    CUresult result = find(hArray, &array);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR_v2){array->shape.Width, array->shape.Height,
                                                   array->shape.Format, array->shape.NumChannels};
    return CUDA_SUCCESS;
}

void sim_array_end(struct sim_object *object)
{
    sim_array_destroy((struct sim_array *)object);
}
