/* SPDX-License-Identifier: MIT */
/* What a kernel sees of an array, a mipmapped array or plain memory through a texture. */
#include "texture/texture.h"

#define TEXTURE_FLAGS 0x3fU /* that drivers accept for every shape; some have no name */

struct source {                            /* elements, before a view picks a part of them */
    const struct sim_array *const *arrays; /* levels, or NULL: plain memory */
    unsigned first, count;                 /* of the levels */
    CUarray_format format;
    unsigned channels;
    const struct sim_allocation *memory;
    uint64_t address;
    size_t bytes, width, height, pitch; /* of plain memory */
    bool flat;                          /* with rows */
};

/* Channel of a format, and whether its integers stand for 0 to 1; 0: no texture reads it. */
static enum ptx_channel channel_of(CUarray_format format, bool *normalized)
{
    *normalized = format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4;
    if (format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_UNORM_INT8X4)
        return PTX_CHANNEL_U8;
    if (format >= CU_AD_FORMAT_UNORM_INT16X1 && format <= CU_AD_FORMAT_UNORM_INT16X4)
        return PTX_CHANNEL_U16;
    if (format >= CU_AD_FORMAT_SNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT8X4)
        return PTX_CHANNEL_S8;
    if (format >= CU_AD_FORMAT_SNORM_INT16X1 && format <= CU_AD_FORMAT_SNORM_INT16X4)
        return PTX_CHANNEL_S16;
    const struct sim_format *known = sim_format(format);
    return known && !known->whole ? (enum ptx_channel)format : (enum ptx_channel)0;
}

static CUresult of_memory(struct source *source, CUdeviceptr address, CUarray_format format,
                          unsigned channels)
{
    SIM_REFUSE(sim_format_size(format, channels) == 0 || address % 512);
    source->memory = sim_range_find(address);
    source->address = address;
    source->format = format;
    source->channels = channels;
    SIM_REFUSE(!source->memory || source->memory->ending || !source->memory->readable);
    source->bytes = source->memory->size - (size_t)(address - source->memory->address);
    return CUDA_SUCCESS;
}

/* Real drivers do not compare sizes with the memory's. Here a texture ends where the memory does,
 * and what lies beyond reads as what lies beyond any texture. */
static CUresult of_linear(struct source *source, const CUDA_RESOURCE_DESC_v1 *resource)
{
    size_t bytes = resource->res.linear.sizeInBytes;
    SIM_TRY(of_memory(source, resource->res.linear.devPtr, resource->res.linear.format,
                      resource->res.linear.numChannels));
    size_t element = sim_format_size(source->format, source->channels);
    source->width = (bytes < source->bytes ? bytes : source->bytes) / element;
    source->width = source->width < UINT32_MAX ? source->width : UINT32_MAX;
    source->pitch = source->width * element;
    return CUDA_SUCCESS;
}

/* All simulated devices are of one kind, and there need be no context. */
static bool at_most(size_t size, CUdevice_attribute attribute)
{
    return size <= (size_t)sim_device_value(&sim_device_all[0], (int)attribute);
}

static CUresult of_pitch(struct source *source, const CUDA_RESOURCE_DESC_v1 *resource)
{
    size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height;
    size_t pitch = resource->res.pitch2D.pitchInBytes;
    SIM_TRY(of_memory(source, resource->res.pitch2D.devPtr, resource->res.pitch2D.format,
                      resource->res.pitch2D.numChannels));
    size_t element = sim_format_size(source->format, source->channels);
    SIM_REFUSE(!at_most(width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
               !at_most(height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
               !at_most(pitch, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) || pitch % 32 ||
               (pitch && pitch < width * element));
    pitch = pitch ? pitch : width * element;
    if (width * element > source->bytes)
        width = source->bytes / element;
    size_t rows = pitch ? (source->bytes - width * element) / pitch + 1 : 1;
    source->width = width;
    source->height = height < rows ? height : rows;
    source->flat = true;
    source->pitch = pitch;
    return CUDA_SUCCESS;
}

static CUresult find_source(struct source *source, const CUDA_RESOURCE_DESC_v1 *resource,
                            const struct sim_array **array)
{
    const struct sim_mipmap *mipmap;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        *array = sim_object(SIM_ARRAY, resource->res.array.hArray);
        SIM_REFUSE(!*array);
        source->arrays = array;
        source->count = 1;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        mipmap = sim_object(SIM_MIPMAP, resource->res.mipmap.hMipmappedArray);
        SIM_REFUSE(!mipmap);
        source->arrays = (const struct sim_array *const *)mipmap->levels;
        source->count = mipmap->count;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        return of_linear(source, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
        return of_pitch(source, resource);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    source->format = source->arrays[0]->shape.Format;
    source->channels = source->arrays[0]->shape.NumChannels;
    source->memory = source->arrays[0]->memory;
    source->address = source->arrays[0]->address;
    source->bytes = source->memory->size - (size_t)(source->address - source->memory->address);
    return CUDA_SUCCESS;
}

/* The format that a view reads elements as; false: none of the plain ones. */
static bool view_format(CUresourceViewFormat format, CUarray_format *base, unsigned *channels)
{
    static const CUarray_format bases[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                           CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                           CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                           CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    unsigned index = (unsigned)format - 1;
    if (format < CU_RES_VIEW_FORMAT_UINT_1X8 || format > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return false;
    *base = bases[index / 3];
    *channels = 1U << index % 3;
    return true;
}

/* A part of the source: other format, fewer levels. Layers are picked with the levels. */
static CUresult narrow(struct source *source, const CUDA_RESOURCE_VIEW_DESC_v1 *part)
{
    CUarray_format format = source->format;
    unsigned channels = source->channels;
    const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape = &source->arrays[0]->shape;
    if (!view_format(part->format, &format, &channels)) /* compressed: no texture here is */
        return part->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 &&
                       part->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7
                   ? SIM_LACK_cuTexObjectCreate_format
                   : CUDA_ERROR_INVALID_VALUE;
    SIM_REFUSE(sim_format_size(format, channels) !=
                   sim_format_size(source->format, source->channels) ||
               part->width != shape->Width || part->height != shape->Height);
    SIM_REFUSE(part->firstMipmapLevel > part->lastMipmapLevel ||
               part->lastMipmapLevel >= source->count || part->firstLayer > part->lastLayer ||
               (part->lastLayer && part->lastLayer >= (shape->Depth ? shape->Depth : 1)));
    source->format = format;
    source->channels = channels;
    source->first = part->firstMipmapLevel;
    source->count = part->lastMipmapLevel - part->firstMipmapLevel + 1;
    return CUDA_SUCCESS;
}

static void fill_levels(struct sim_view *view, const struct source *source,
                        const CUDA_RESOURCE_VIEW_DESC_v1 *part)
{
    for (unsigned i = 0; i < source->count; i++) {
        const struct sim_array *array = source->arrays[source->first + i];
        const CUDA_ARRAY3D_DESCRIPTOR_v2 *s = &array->shape;
        size_t skipped = part ? part->firstLayer * array->slice : 0;
        view->levels[i] = (struct ptx_level){
            .data = array->memory->host + (array->address - array->memory->address) + skipped,
            .width = (uint32_t)s->Width,
            .height = (uint32_t)s->Height,
            .depth = (uint32_t)s->Depth,
            .row_pitch = array->row,
            .slice_pitch = array->slice};
        if (part && part->lastLayer && (s->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
            view->levels[i].depth = part->lastLayer - part->firstLayer + 1;
    }
}

static void fill_plain(struct sim_view *view, const struct source *source)
{
    view->levels[0] = (struct ptx_level){
        .data = source->memory->host + (source->address - source->memory->address),
        .width = (uint32_t)source->width,
        .height = (uint32_t)source->height,
        .row_pitch = source->pitch,
        .slice_pitch = source->pitch * (source->height ? source->height : 1)};
    view->seen.linear_memory = !source->flat;
}

static CUresult sample(struct ptx_texture *seen, const CUDA_TEXTURE_DESC_v1 *texture)
{
    bool integers = seen->channel != PTX_CHANNEL_F16 && seen->channel != PTX_CHANNEL_F32;
    bool wide = seen->channel == PTX_CHANNEL_U32 || seen->channel == PTX_CHANNEL_S32;
    seen->normalized = texture->flags & CU_TRSF_NORMALIZED_COORDINATES;
    seen->as_integer = integers && (wide || (texture->flags & CU_TRSF_READ_AS_INTEGER));
    seen->srgb = texture->flags & CU_TRSF_SRGB;
    seen->linear_filter = texture->filterMode == CU_TR_FILTER_MODE_LINEAR;
    seen->linear_mipmap = texture->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    seen->mipmap_bias = texture->mipmapLevelBias;
    seen->min_level = texture->minMipmapLevelClamp;
    seen->max_level = texture->maxMipmapLevelClamp;
    memcpy(seen->border, texture->borderColor, sizeof seen->border);
    for (int i = 0; i < 3; i++) {
        CUaddress_mode mode = texture->addressMode[i];
        SIM_REFUSE(mode > CU_TR_ADDRESS_MODE_BORDER);
        /* Coordinates that count elements do not wrap. */
        if (!seen->normalized &&
            (mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR))
            mode = CU_TR_ADDRESS_MODE_CLAMP;
        seen->address[i] = (enum ptx_address_mode)mode;
    }
    unsigned flags = TEXTURE_FLAGS | (seen->cubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0U);
    bool known = texture->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
                 texture->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR &&
                 !(texture->flags & ~flags);
    return SIM_VALID(known);
}

CUresult sim_view_make(const CUDA_RESOURCE_DESC_v1 *resource, const CUDA_TEXTURE_DESC_v1 *texture,
                       const CUDA_RESOURCE_VIEW_DESC_v1 *part, bool surface, struct sim_view **view)
{
    struct source source = {.first = 0};
    bool normalized;
    CUresult result = CUDA_SUCCESS;
    SIM_FIND(const struct sim_array *, array, find_source(&source, resource, &array));
    if (!source.arrays)
        part = NULL; /* a view of plain memory is not looked at */
    if (part)
        SIM_TRY(narrow(&source, part));
    enum ptx_channel channel = channel_of(source.format, &normalized);
    if (!channel)
        return SIM_LACK_cuTexObjectCreate_format;
    size_t levels = source.arrays ? source.count : 1;
    SIM_MADE(struct sim_view *, made, calloc(1, sizeof *made + levels * sizeof *made->levels));
    made->address = source.address;
    made->memory = source.memory->id;
    made->bytes = source.bytes;
    made->seen.levels = made->levels;
    made->seen.level_count = (uint32_t)levels;
    made->seen.channel = channel;
    made->seen.channels = source.channels;
    if (source.arrays) {
        unsigned flags = source.arrays[0]->shape.Flags;
        made->seen.layered = flags & CUDA_ARRAY3D_LAYERED;
        made->seen.cubemap = flags & CUDA_ARRAY3D_CUBEMAP;
        fill_levels(made, &source, part);
    } else {
        fill_plain(made, &source);
    }
    if (surface)
        made->seen.as_integer = true;
    else
        result = sample(&made->seen, texture);
    if (normalized)
        made->seen.as_integer = false;
    SIM_TRY_OR(result, free(made));
    *view = made;
    return CUDA_SUCCESS;
}
