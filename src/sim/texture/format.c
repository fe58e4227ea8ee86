/* SPDX-License-Identifier: MIT */
/* Formats of elements. */
#include "texture/texture.h"

static const struct sim_format formats[] = {
#define FORMAT(name, ...) [CU_AD_FORMAT_##name] = {__VA_ARGS__},
#include "texture/format.def"
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
