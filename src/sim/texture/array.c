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
    return SIM_FOUND(*array, SIM_ARRAY, handle);
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

/* What a slice takes on real devices: pieces of 64 bytes by 8 rows, in stacks of up to 16. */
static size_t slice_bytes(const struct sim_array *array)
{
    size_t high = (array->rows + 7) / 8, stack = 1;
    while (stack < 16 && stack < high)
        stack *= 2;
    return (array->row + 63) / 64 * ((high + stack - 1) / stack * stack) * 512;
}

/* The tile that real devices use for an element of so many bytes: 64 KiB of the shape. Levels that
 * are smaller than a tile share the tail; an array of one tile or more has none. */
static CUresult tile(CUDA_ARRAY_SPARSE_PROPERTIES_v1 *properties, struct sim_array *const *levels,
                     unsigned count, bool mipmapped)
{
    static const unsigned flat[][2] = {{256, 256}, {256, 128}, {128, 128}, {128, 64}, {64, 64}};
    static const unsigned deep[][3] = {
        {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape = &levels[0]->shape;
    unsigned size = (unsigned)sim_format_size(shape->Format, shape->NumChannels), index = 0;
    SIM_REFUSE(!(shape->Flags & CUDA_ARRAY3D_SPARSE));
    while (index < 4 && (1U << index) < size)
        index++;
    bool is_deep = shape->Depth && !(shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    unsigned width = is_deep ? deep[index][0] : flat[index][0], first = 0;
    unsigned height = is_deep ? deep[index][1] : flat[index][1];
    unsigned depth = is_deep ? deep[index][2] : 1;
    while (first < count && levels[first]->shape.Width >= width &&
           levels[first]->shape.Height >= height && levels[first]->slices >= depth)
        first++;
    size_t tail = 0;
    for (unsigned i = first; i < count; i++)
        tail += slice_bytes(levels[i]) * (is_deep ? levels[i]->slices : 1);
    *properties = (CUDA_ARRAY_SPARSE_PROPERTIES_v1){
        .tileExtent = {width, height, depth},
        .miptailFirstLevel = mipmapped ? first : 0,
        .miptailSize = sim_rounded_up(tail, TILE),
        .flags = first ? 0 : CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL,
    };
    return CUDA_SUCCESS;
}

static CUresult requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 *out,
                             struct sim_array *const *levels, unsigned count, CUdevice device)
{
    size_t bytes = 0;
    (void)device; /* any number will do */
    SIM_REFUSE(!(levels[0]->shape.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING));
    for (unsigned i = 0; i < count; i++)
        bytes += slice_bytes(levels[i]) * levels[i]->slices;
    bytes = sim_rounded_up(bytes, TILE);
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS_v1){.size = bytes, .alignment = TILE};
    return CUDA_SUCCESS;
}

/* A live array that is no level, for a question that has somewhere to write its answer. */
static CUresult whole(CUarray handle, const void *out, struct sim_array **array)
{
    SIM_TRY(SIM_FOUND(*array, SIM_ARRAY, handle));
    return SIM_VALID(out && !(*array)->part);
}

SIM_WITH(cuArrayGetSparseProperties, struct sim_array *, found,
         whole(array, sparseProperties, &found), tile(sparseProperties, &found, 1, false))
SIM_WITH(cuMipmappedArrayGetSparseProperties, const struct sim_mipmap *, found,
         SIM_VALID((found = sim_object(SIM_MIPMAP, mipmap)) && sparseProperties),
         tile(sparseProperties, found->levels, found->count, true))
SIM_WITH(cuArrayGetMemoryRequirements, struct sim_array *, found,
         whole(array, memoryRequirements, &found),
         requirements(memoryRequirements, &found, 1, device))
SIM_WITH(cuMipmappedArrayGetMemoryRequirements, const struct sim_mipmap *, found,
         SIM_VALID((found = sim_object(SIM_MIPMAP, mipmap)) && memoryRequirements),
         requirements(memoryRequirements, found->levels, found->count, device))

/* Formats of several planes cannot be made here: no array has one. */
CUresult sim_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx, (void)pPlaneArray;
    return sim_object(SIM_ARRAY, hArray) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}
