/* SPDX-License-Identifier: MIT */
/* Formats of elements. */
#include "texture/texture.h"

const struct sim_format *sim_format(CUarray_format format)
{
    static const struct sim_format byte = {0, 1, 1, false}, half = {0, 2, 1, false},
                                   word = {0, 4, 1, false};
    /* By the number of channels that the format's name says: 1, 2, 4. */
    static const struct sim_format bytes[] = {{1, 1, 1, false}, {2, 1, 1, false}, {4, 1, 1, false}};
    static const struct sim_format halves[] = {
        {1, 2, 1, false}, {2, 2, 1, false}, {4, 2, 1, false}};
    static const struct sim_format packed = {4, 4, 1, true};
    /* Blocks of 4x4 elements. */
    static const struct sim_format bc1 = {4, 8, 4, true}, bc2 = {4, 16, 4, true},
                                   bc4 = {1, 8, 4, true}, bc5 = {2, 16, 4, true},
                                   bc6 = {3, 16, 4, true};
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return &byte;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return &half;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return &word;
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
        return &bytes[format - CU_AD_FORMAT_UNORM_INT8X1];
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4:
        return &bytes[format - CU_AD_FORMAT_SNORM_INT8X1];
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
        return &halves[format - CU_AD_FORMAT_UNORM_INT16X1];
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return &halves[format - CU_AD_FORMAT_SNORM_INT16X1];
    case CU_AD_FORMAT_UNORM_INT_101010_2:
        return &packed;
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB:
        return &bc1;
    case CU_AD_FORMAT_BC2_UNORM:
    case CU_AD_FORMAT_BC2_UNORM_SRGB:
    case CU_AD_FORMAT_BC3_UNORM:
    case CU_AD_FORMAT_BC3_UNORM_SRGB:
    case CU_AD_FORMAT_BC7_UNORM:
    case CU_AD_FORMAT_BC7_UNORM_SRGB:
        return &bc2;
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM:
        return &bc4;
    case CU_AD_FORMAT_BC5_UNORM:
    case CU_AD_FORMAT_BC5_SNORM:
        return &bc5;
    case CU_AD_FORMAT_BC6H_UF16:
    case CU_AD_FORMAT_BC6H_SF16:
        return &bc6;
    default:
        return NULL;
    }
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
