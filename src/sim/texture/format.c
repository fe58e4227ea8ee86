/* SPDX-License-Identifier: MIT */
/* Formats of elements. */
#include "texture/texture.h"

/* Those with BC in the name have blocks of 4x4 elements. */
static const struct sim_format formats[] = {
    [CU_AD_FORMAT_UNSIGNED_INT8] = {0, 1, 1, false},
    [CU_AD_FORMAT_SIGNED_INT8] = {0, 1, 1, false},
    [CU_AD_FORMAT_UNSIGNED_INT16] = {0, 2, 1, false},
    [CU_AD_FORMAT_SIGNED_INT16] = {0, 2, 1, false},
    [CU_AD_FORMAT_HALF] = {0, 2, 1, false},
    [CU_AD_FORMAT_UNSIGNED_INT32] = {0, 4, 1, false},
    [CU_AD_FORMAT_SIGNED_INT32] = {0, 4, 1, false},
    [CU_AD_FORMAT_FLOAT] = {0, 4, 1, false},
    [CU_AD_FORMAT_UNORM_INT8X1] = {1, 1, 1, false},
    [CU_AD_FORMAT_UNORM_INT8X2] = {2, 1, 1, false},
    [CU_AD_FORMAT_UNORM_INT8X4] = {4, 1, 1, false},
    [CU_AD_FORMAT_SNORM_INT8X1] = {1, 1, 1, false},
    [CU_AD_FORMAT_SNORM_INT8X2] = {2, 1, 1, false},
    [CU_AD_FORMAT_SNORM_INT8X4] = {4, 1, 1, false},
    [CU_AD_FORMAT_UNORM_INT16X1] = {1, 2, 1, false},
    [CU_AD_FORMAT_UNORM_INT16X2] = {2, 2, 1, false},
    [CU_AD_FORMAT_UNORM_INT16X4] = {4, 2, 1, false},
    [CU_AD_FORMAT_SNORM_INT16X1] = {1, 2, 1, false},
    [CU_AD_FORMAT_SNORM_INT16X2] = {2, 2, 1, false},
    [CU_AD_FORMAT_SNORM_INT16X4] = {4, 2, 1, false},
    [CU_AD_FORMAT_UNORM_INT_101010_2] = {4, 4, 1, true},
    [CU_AD_FORMAT_BC1_UNORM] = {4, 8, 4, true},
    [CU_AD_FORMAT_BC1_UNORM_SRGB] = {4, 8, 4, true},
    [CU_AD_FORMAT_BC2_UNORM] = {4, 16, 4, true},
    [CU_AD_FORMAT_BC2_UNORM_SRGB] = {4, 16, 4, true},
    [CU_AD_FORMAT_BC3_UNORM] = {4, 16, 4, true},
    [CU_AD_FORMAT_BC3_UNORM_SRGB] = {4, 16, 4, true},
    [CU_AD_FORMAT_BC4_UNORM] = {1, 8, 4, true},
    [CU_AD_FORMAT_BC4_SNORM] = {1, 8, 4, true},
    [CU_AD_FORMAT_BC5_UNORM] = {2, 16, 4, true},
    [CU_AD_FORMAT_BC5_SNORM] = {2, 16, 4, true},
    [CU_AD_FORMAT_BC6H_UF16] = {3, 16, 4, true},
    [CU_AD_FORMAT_BC6H_SF16] = {3, 16, 4, true},
    [CU_AD_FORMAT_BC7_UNORM] = {4, 16, 4, true},
    [CU_AD_FORMAT_BC7_UNORM_SRGB] = {4, 16, 4, true},
};

const struct sim_format *sim_format(CUarray_format format)
{
    bool known = (size_t)format < sizeof formats / sizeof *formats && formats[format].bytes;
    return known ? &formats[format] : NULL;
}

size_t sim_format_size(CUarray_format format, unsigned channels)
{
    const struct sim_format *found = sim_format(format);
    if (!found)
        return 0;
    bool fits = found->channels ? channels == found->channels
                                : channels == 1 || channels == 2 || channels == 4;
    if (!fits)
        return 0;
    return found->whole ? found->bytes : (size_t)found->bytes * channels;
}

/* At most 2^30 elements and at most 4 GiB, of a format whose name says no number of channels. */
SIM_BEHAVIOUR(cuDeviceGetTexture1DLinearMaxWidth)
{
    const struct sim_format *found = sim_format(format);
    size_t size = sim_format_size(format, numChannels);
    SIM_REFUSE(!maxWidthInElements);
    SIM_TRY(sim_device_of(dev, NULL));
    SIM_REFUSE(size == 0 || found->channels);
    *maxWidthInElements = ((size_t)1 << 32) / (size < 4 ? 4 : size);
    return CUDA_SUCCESS;
}
