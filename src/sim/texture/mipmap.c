/* SPDX-License-Identifier: MIT */
/* Mipmapped arrays: levels of halved sizes, in one piece of memory. */
#include "texture/texture.h"

static size_t halved(size_t size, unsigned times)
{
    size_t left = times < 64 ? size >> times : 0;
    return size && left == 0 ? 1 : left;
}

static CUDA_ARRAY3D_DESCRIPTOR_v2 level_shape(const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape,
                                              unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR_v2 small = *shape;
    small.Width = halved(shape->Width, level);
    small.Height = halved(shape->Height, level);
    if (!(shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        small.Depth = halved(shape->Depth, level);
    return small;
}

/* How many levels there are down to a single element. */
static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape)
{
    size_t longest = shape->Width > shape->Height ? shape->Width : shape->Height;
    unsigned count = 1;
    if (!(shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) && shape->Depth > longest)
        longest = shape->Depth;
    while (longest >>= 1)
        count++;
    return count;
}

void sim_mipmap_end(struct sim_object *object)
{
    struct sim_mipmap *mipmap = (struct sim_mipmap *)object;
    for (unsigned i = 0; i < mipmap->count; i++)
        if (mipmap->levels[i])
            sim_array_end(&mipmap->levels[i]->object);
    sim_object_remove(object);
    if (mipmap->memory)
        sim_memory_free(mipmap->memory);
    free(mipmap->levels);
    free(mipmap);
}

static CUresult make_levels(struct sim_context *context, struct sim_mipmap *mipmap)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < mipmap->count; i++) {
        CUDA_ARRAY3D_DESCRIPTOR_v2 shape = level_shape(&mipmap->shape, i);
        SIM_MADE(struct sim_array *, level, sim_array_make(context, &shape));
        mipmap->levels[i] = level;
        level->part = true;
        bytes += (sim_shape_bytes(level) + 511) & ~(size_t)511;
    }
    SIM_TRY(sim_memory_allocate(context, SIM_MEMORY_ARRAY, bytes, 0, 0, &mipmap->memory));
    mipmap->memory->owner = mipmap;
    bytes = 0;
    for (unsigned i = 0; i < mipmap->count; i++) {
        sim_array_place(mipmap->levels[i], mipmap->memory, bytes);
        bytes += (sim_shape_bytes(mipmap->levels[i]) + 511) & ~(size_t)511;
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMipmappedArrayCreate)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_REFUSE(!pHandle || !pMipmappedArrayDesc);
    SIM_TRY(sim_shape_check(context->device, pMipmappedArrayDesc, true));
    unsigned most = most_levels(pMipmappedArrayDesc);
    unsigned count = numMipmapLevels < most ? numMipmapLevels : most;
    count = count ? count : 1;
    struct sim_mipmap *mipmap = calloc(1, sizeof *mipmap);
    if (!mipmap || !(mipmap->levels = calloc(count, sizeof *mipmap->levels))) {
        free(mipmap);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mipmap->shape = *pMipmappedArrayDesc;
    mipmap->count = count;
    sim_object_add(&mipmap->object, SIM_MIPMAP, context);
    SIM_TRY_OR(make_levels(context, mipmap), sim_mipmap_end(&mipmap->object));
    *pHandle = (CUmipmappedArray)mipmap;
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMipmappedArrayGetLevel)
{
    SIM_TRY(sim_current_check());
    SIM_FIND(const struct sim_mipmap *, mipmap, SIM_FOUND(mipmap, SIM_MIPMAP, hMipmappedArray));
    SIM_REFUSE(!pLevelArray || level >= mipmap->count);
    *pLevelArray = (CUarray)mipmap->levels[level];
    return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_FIND(struct sim_mipmap *, mipmap, SIM_FOUND(mipmap, SIM_MIPMAP, hMipmappedArray));
    uint64_t serial = mipmap->object.serial;
    CUresult result = sim_stream_wait_context(mipmap->object.context);
    if (sim_object_alive(SIM_MIPMAP, hMipmappedArray, serial))
        sim_mipmap_end(&mipmap->object);
    return result;
}
