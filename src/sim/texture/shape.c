/* SPDX-License-Identifier: MIT */
/* Shapes of arrays: which a device can have, and how many bytes they take. */
#include "texture/texture.h"

#define FITS(size, name)                                                                           \
    ((size) <= (size_t)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name))

static bool line_fits(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *s,
                      bool mipmapped)
{
    if (s->Flags & CUDA_ARRAY3D_LAYERED)
        return FITS(s->Width, 1D_LAYERED_WIDTH) && FITS(s->Depth, 1D_LAYERED_LAYERS);
    return mipmapped ? FITS(s->Width, 1D_MIPMAPPED_WIDTH) : FITS(s->Width, 1D_WIDTH);
}

static bool flat_fits(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *s,
                      bool mipmapped)
{
    if (s->Flags & CUDA_ARRAY3D_LAYERED)
        return FITS(s->Width, 2D_LAYERED_WIDTH) && FITS(s->Height, 2D_LAYERED_HEIGHT) &&
               FITS(s->Depth, 2D_LAYERED_LAYERS);
    if (s->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return FITS(s->Width, 2D_GATHER_WIDTH) && FITS(s->Height, 2D_GATHER_HEIGHT);
    if (mipmapped)
        return FITS(s->Width, 2D_MIPMAPPED_WIDTH) && FITS(s->Height, 2D_MIPMAPPED_HEIGHT);
    return FITS(s->Width, 2D_WIDTH) && FITS(s->Height, 2D_HEIGHT);
}

static bool deep_fits(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *s)
{
    return (FITS(s->Width, 3D_WIDTH) && FITS(s->Height, 3D_HEIGHT) && FITS(s->Depth, 3D_DEPTH)) ||
           (FITS(s->Width, 3D_WIDTH_ALTERNATE) && FITS(s->Height, 3D_HEIGHT_ALTERNATE) &&
            FITS(s->Depth, 3D_DEPTH_ALTERNATE));
}

static bool cube_fits(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *s)
{
    if (s->Width != s->Height)
        return false;
    if (s->Flags & CUDA_ARRAY3D_LAYERED)
        return s->Depth && s->Depth % 6 == 0 && FITS(s->Width, CUBEMAP_LAYERED_WIDTH) &&
               FITS(s->Depth, CUBEMAP_LAYERED_LAYERS);
    return s->Depth == 6 && FITS(s->Width, CUBEMAP_WIDTH);
}

static bool fits(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *s,
                 bool mipmapped)
{
    bool layered = s->Flags & CUDA_ARRAY3D_LAYERED;
    if (s->Flags & CUDA_ARRAY3D_CUBEMAP)
        return cube_fits(device, s);
    if (layered && s->Depth == 0)
        return false;
    if (s->Height == 0)
        return (layered || s->Depth == 0) && line_fits(device, s, mipmapped);
    if (layered || s->Depth == 0)
        return flat_fits(device, s, mipmapped);
    return deep_fits(device, s);
}

CUresult sim_shape_check(const struct sim_device *device, const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape,
                         bool mipmapped)
{
    const unsigned flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_SPARSE |
                           CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    SIM_REFUSE(shape->Width == 0 || (shape->Flags & ~flags) ||
               sim_format_size(shape->Format, shape->NumChannels) == 0);
    bool flat = shape->Height != 0 && shape->Depth == 0;
    SIM_REFUSE((shape->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && !flat);
    SIM_REFUSE((shape->Flags & CUDA_ARRAY3D_SPARSE) && (shape->Flags & CUDA_ARRAY3D_CUBEMAP));
    return SIM_VALID(fits(device, shape, mipmapped));
}

void sim_shape_measure(struct sim_array *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR_v2 *s = &array->shape;
    size_t block = sim_format(s->Format)->block;
    array->row = (s->Width + block - 1) / block * sim_format_size(s->Format, s->NumChannels);
    array->rows = s->Height ? (s->Height + block - 1) / block : 1;
    array->slices = s->Depth ? s->Depth : 1;
    array->slice = array->row * array->rows;
}

size_t sim_shape_bytes(const struct sim_array *array)
{
    return array->slice * array->slices;
}
