/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEX_SAMPLE_H
#define CUSHIM_SIM_PTX_TEXTURE_TEX_SAMPLE_H

#include "ptx/ptx.h"

struct tex_fetch;

/* Four channels, float bits or integers: tex_sample_is_integer says which. */
void tex_sample(const struct tex_fetch *fetch, uint32_t texel[4]);
/* Channel `component` of the four texels that a linear fetch would mix, in the order of tld4. */
void tex_sample_gather(const struct tex_fetch *fetch, unsigned component, uint32_t texel[4]);
bool tex_sample_is_integer(const struct ptx_texture *texture);
unsigned tex_sample_channel_size(enum ptx_channel channel);
/* A channel of the border, in the bits that a texel has it in. */
uint32_t tex_sample_border(const struct ptx_texture *texture, unsigned index);
/* Are linear fetches of so many dimensions mixed with the border, everywhere? */
bool tex_sample_half_border(const struct ptx_texture *texture, unsigned dimensions);
/* Signed normalized bytes: their weighted sum, in 256ths, as an integer of 16 bits. */
static inline double tex_sample_widened(double sum)
{
    const int32_t value = (int32_t)sum, wide = value + ((value + 64 + (value >> 12) * 16) >> 7);
    return wide < -32767 ? -32767 : wide > 32767 ? 32767 : wide;
}
/* The sizes of a level; 1 where it has no such dimension. */
uint32_t tex_sample_extent(const struct ptx_level *level, unsigned dimension);

#endif
