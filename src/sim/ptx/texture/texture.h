/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: what the files of this room share. */
#ifndef CUSHIM_SIM_PTX_TEXTURE_TEXTURE_H
#define CUSHIM_SIM_PTX_TEXTURE_TEXTURE_H

#include "ptx/ops/ops.h"

/* --- surf.c --- */
ops_family surf_select;

/* --- tex.c --- Textures and surfaces: what tex.c (instructions), tex_sample.c (fetches) and surf.c
 * share. */
/* One fetch. Coordinates in the texture's own unit: texels, or normalized. */
struct tex_fetch {
    const struct ptx_texture *texture;
    double at[3];
    int offset[3]; /* texels */
    unsigned dimensions;
    uint32_t layer;
    bool integer; /* the coordinates were integers: no filter, texels */
    double level;
};

static inline const uint32_t *tex_operands(const struct ptx_step *step)
{
    return step->list ? step->list : step->operand;
}

/* The object behind a handle; NULL after a fault, which says what is wrong: it is no live one. */
static inline const struct ptx_texture *tex_live(struct ptx_warp *warp, const struct ptx_step *step,
                                                 unsigned lane, uint64_t handle, bool surface,
                                                 const char *wrong)
{
    const struct ptx_world *world = fault_world(warp);
    const struct ptx_texture *found =
        (surface ? world->surface : world->texture)(world->user, handle);
    if (found && found->level_count)
        return found;
    fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, handle, wrong);
    return NULL;
}

/* Coordinates that a geometry has, beside a layer in front. */
static inline unsigned tex_dimensions(unsigned geometry)
{
    switch (geometry) {
    case IR_1D:
    case IR_A1D:
        return 1;
    case IR_2D:
    case IR_A2D:
        return 2;
    default:
        return 3;
    }
}
static inline bool tex_has_layer(unsigned geometry)
{
    return geometry == IR_A1D || geometry == IR_A2D || geometry == IR_ACUBE;
}

/* Registers of an operand, flattened. */
static inline unsigned tex_width(const struct ir_operand *operand)
{
    unsigned width = 0;
    if (operand->kind != IR_OPERAND_VECTOR && operand->kind != IR_OPERAND_GROUP &&
        operand->kind != IR_OPERAND_ADDRESS)
        return 1;
    for (unsigned i = 0; i < operand->count; i++)
        width += tex_width(&operand->parts[i]);
    return width;
}
OPS_HOT(tex_select)

/* --- tex_warp.c --- Fetches of a whole warp from one texture. */
struct tex_warp {
    const struct ptx_texture *texture;
    const lane_u32 *at[3];     /* coordinates: floats, or integers */
    const lane_u32 *offset[3]; /* texels; NULL: none */
    const lane_u32 *layer;     /* NULL: none */
    unsigned dimensions;
    bool integer; /* the coordinates are */
};

/* Two neighbours along one dimension. */
struct tex_places {
    uint64_t at[2][PTX_LANES];     /* in bytes */
    int32_t outside[2][PTX_LANES]; /* 1: of the border, or beyond integer coordinates */
    int32_t weight[PTX_LANES];     /* of the second one, in 256ths */
};

/* Is the texture of the usual kind? */
#define tex_warp_serves OPS_NAME(tex_warp_serves)
bool tex_warp_serves(const struct ptx_texture *texture);
/* What tex_sample gives, for all lanes but those of the result: they are left to it. */
#define tex_warp_fetch OPS_NAME(tex_warp_fetch)
uint32_t tex_warp_fetch(const struct tex_warp *fetch, uint32_t texels[4][PTX_LANES]);

/* --- tex_quads.c --- Sums of a linear filter, for texels of four floats. */
/* The sums of weights and texels for each channel, of 32 lanes. False: one is not finite, and all
 * are for a caller to compute who leaves out texels without weight. */
#define tex_quads_sum OPS_NAME(tex_quads_sum)
bool tex_quads_sum(const char *data, const struct tex_places *places, unsigned dimensions,
                   const int32_t weights[8][PTX_LANES], double sums[4][PTX_LANES]);

/* --- Numbers of a channel, for one texel and for 32 --- */
/* The largest whole number that is not larger, of less than 2^51. */
OPS_INLINE double tex_floor(double value)
{
    const double near = (value + F64_ROUNDING) - F64_ROUNDING;

    return near - (near > value ? 1.0 : 0.0);
}

/* The bits of an integer with their sign. */
OPS_INLINE int64_t tex_whole(enum ptx_channel channel, uint32_t bits)
{
    switch (channel) {
    case PTX_CHANNEL_S8:
        return (int8_t)(uint8_t)bits;
    case PTX_CHANNEL_S16:
        return ops_s16(bits);
    case PTX_CHANNEL_S32:
        return (int32_t)bits;
    default:
        return bits;
    }
}

/* Whole numbers up to `most` stand for up to 1. By the inverse: for all of 8 and 16 bits that is
 * the float nearest to the quotient. */
OPS_INLINE uint32_t tex_unit(int32_t whole, int32_t most)
{
    return f32_bits((float)((whole < -most ? -most : whole) * (1.0 / most)));
}

/* What a fetch gives of a texel. */
OPS_INLINE uint32_t tex_number(enum ptx_channel channel, bool as_integer, uint32_t word)
{
    const int32_t whole = (int32_t)tex_whole(channel, word);

    if (channel == PTX_CHANNEL_F16)
        return f32_bits(f16_float(word));
    if (channel == PTX_CHANNEL_F32 || as_integer)
        return channel == PTX_CHANNEL_F32 ? word : (uint32_t)whole;
    switch (channel) {
    case PTX_CHANNEL_U8:
        return tex_unit(whole, 255);
    case PTX_CHANNEL_U16:
        return tex_unit(whole, 65535);
    case PTX_CHANNEL_S8:
        return tex_unit(whole, 127);
    case PTX_CHANNEL_S16:
        return tex_unit(whole, 32767);
    default:
        return word;
    }
}

/* What a filter sums: integers as they are, but unsigned normalized ones with the 16 bits that a
 * byte is widened to; else floats. */
OPS_INLINE double tex_summand(enum ptx_channel channel, bool as_integer, uint32_t word)
{
    switch (channel) {
    case PTX_CHANNEL_U8:
        return (double)(int32_t)(word * (as_integer ? 1U : 257U));
    case PTX_CHANNEL_U16:
        return (double)(int32_t)word;
    case PTX_CHANNEL_S16:
        return (double)(!as_integer && word == 0x8000 ? -32767 : ops_s16(word));
    case PTX_CHANNEL_F16:
        return (double)f16_float(word);
    case PTX_CHANNEL_F32:
        return (double)f32_of(word);
    default:
        return (double)tex_whole(channel, word);
    }
}

/* Signed normalized bytes: their weighted sum, in 256ths, as an integer of 16 bits. */
static inline double tex_sample_widened(double sum)
{
    const int32_t value = (int32_t)sum, wide = value + ((value + 64 + (value >> 12) * 16) >> 7);

    return wide < -32767 ? -32767 : wide > 32767 ? 32767 : wide;
}

/* The result of a filter's sum, in 256ths, of all but floats. Integers of 32 bits are cut off,
 * others and normalized ones rounded. */
OPS_INLINE uint32_t tex_filtered(enum ptx_channel channel, bool integer, double sum)
{
    const bool cut = channel == PTX_CHANNEL_U32 || channel == PTX_CHANNEL_S32;
    const double rounded = tex_floor(sum / 256.0 + (cut ? 0.0 : 0.5));

    if (integer)
        return (uint32_t)(int64_t)rounded;
    if (channel == PTX_CHANNEL_S8)
        return f32_out((float)(tex_sample_widened(sum) / 32767));
    return f32_out((float)(rounded / (channel == PTX_CHANNEL_S16 ? 32767 : 65535)));
}

/* --- tex_sample.c --- */
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
/* The sizes of a level; 1 where it has no such dimension. */
uint32_t tex_sample_extent(const struct ptx_level *level, unsigned dimension);

#endif
