/* SPDX-License-Identifier: MIT */
/* Fetches of 32 lanes at once, step by step: the neighbours of every lane, their bytes, numbers
 * from the bytes, the sums. Each step computes what tex_sample.c does for one lane, which has the
 * reasons; what is rare is left to it. */
#include "ptx/texture/texture.h"

#include <math.h>

#define EACH OPS_UNORDERED for (unsigned lane = 0; lane < PTX_LANES; lane++)
#define FARTHEST 0x1p30    /* of coordinates; others are rare */
#define LARGEST (1U << 26) /* of sizes, likewise */

bool tex_warp_serves(const struct ptx_texture *texture)
{
    const struct ptx_level *level = texture->levels;
    return texture->level_count == 1 && !texture->linear_memory && !texture->srgb &&
           level->width < LARGEST && level->height < LARGEST && level->depth < LARGEST &&
           (level->row_pitch | level->slice_pitch) >> 32 == 0 &&
           (texture->channels == 1 || texture->channels == 2 || texture->channels == 4);
}

/* --- Places --- */
struct warp {
    const struct tex_warp *fetch;
    const struct ptx_level *level;
    struct tex_places places[3];
    uint32_t left[PTX_LANES];        /* 1: the lane is left to tex_sample */
    uint32_t words[8][4][PTX_LANES]; /* of each corner: its texel */
    bool linear, bounded;            /* something can be outside */
};

OPS_INLINE int32_t modulo(int32_t index, int32_t size)
{
    return index - size * (int32_t)tex_floor((double)index / (double)size);
}

static void place(struct warp *warp, unsigned dimension, uint32_t pitch)
{
    const struct tex_warp *fetch = warp->fetch;
    const struct ptx_texture *texture = fetch->texture;
    const lane_u32 *from = fetch->at[dimension], *offset = fetch->offset[dimension];
    struct tex_places *to = &warp->places[dimension];
    const int32_t size = (int32_t)tex_sample_extent(warp->level, dimension);
    const enum ptx_address_mode asked = texture->address[dimension];
    const enum ptx_address_mode mode =
        texture->normalized || asked == PTX_BORDER ? asked : PTX_CLAMP;
    const bool turns = texture->normalized && !fetch->integer;
    int32_t indices[2][PTX_LANES];
    uint32_t pitches[PTX_LANES]; /* a vector, for the product of 32 bits by 32 */
    double at[PTX_LANES];

    EACH pitches[lane] = pitch;
    EACH
    {
        const double number =
            fetch->integer ? (double)(int32_t)from[lane] : (double)f32_of(from[lane]);
        at[lane] = number == number ? number : 0.0;
        warp->left[lane] |= __builtin_fabs(at[lane]) < FARTHEST ? 0 : 1;
    }
    if (turns && mode == PTX_WRAP) {
        EACH at[lane] -= tex_floor(at[lane]);
    }
    if (turns && mode == PTX_MIRROR) {
        EACH at[lane] -= 2 * tex_floor(at[lane] / 2);
    }
    EACH
    {
        const double scaled = turns ? at[lane] * size : at[lane];
        const double moved = offset ? (double)((int32_t)((offset[lane] & 15) ^ 8) - 8) : 0.0;
        const bool near = __builtin_fabs(scaled) < FARTHEST;
        warp->left[lane] |= near ? 0 : 1;
        at[lane] = (near ? scaled : 0.0) + moved - (warp->linear ? 0.5 : 0.0);
    }
    if (warp->linear && mode == PTX_CLAMP) {
        const double most = size - 1.0;
        EACH
        {
            const double above = at[lane] < 0.0 ? 0.0 : at[lane];
            at[lane] = above > most ? most : above;
        }
    }
    if (warp->linear) {
        EACH at[lane] = tex_floor(at[lane] * 256.0 + 0.5) * (1 / 256.0);
    }
    EACH
    {
        const double base = tex_floor(at[lane]);
        indices[0][lane] = (int32_t)base;
        indices[1][lane] = (int32_t)base + 1;
        to->weight[lane] = warp->linear ? (int32_t)((at[lane] - base) * 256.0) : 0;
    }
    for (unsigned i = 0; i < (warp->linear ? 2 : 1); i++) {
        int32_t *index = indices[i], *outside = to->outside[i];
        EACH outside[lane] =
            (fetch->integer || mode == PTX_BORDER) && (index[lane] < 0 || index[lane] >= size);
        if (!fetch->integer && mode == PTX_WRAP) {
            EACH index[lane] = modulo(index[lane], size);
        }
        if (!fetch->integer && mode == PTX_MIRROR) {
            EACH
            {
                const int32_t twice = modulo(index[lane], 2 * size);
                index[lane] = twice < size ? twice : 2 * size - 1 - twice;
            }
        }
        EACH
        {
            const int32_t above = index[lane] < 0 ? 0 : index[lane];
            const uint32_t place = (uint32_t)(above < size ? above : size - 1);
            to->at[i][lane] = (uint64_t)place * pitches[lane];
        }
    }
    warp->bounded |= fetch->integer || mode == PTX_BORDER;
}

static void place_all(struct warp *warp)
{
    const struct tex_warp *fetch = warp->fetch;
    const struct ptx_level *level = warp->level;
    const uint32_t texel =
        tex_sample_channel_size(fetch->texture->channel) * fetch->texture->channels;
    const uint32_t pitches[3] = {texel, (uint32_t)level->row_pitch, (uint32_t)level->slice_pitch};
    for (unsigned i = 0; i < fetch->dimensions; i++)
        place(warp, i, pitches[i]);
    if (fetch->dimensions < 3 && fetch->layer) {
        const uint32_t last = tex_sample_extent(level, 2) - 1;
        const lane_u32 *layer = fetch->layer;
        for (unsigned i = 0; i < (warp->linear ? 2 : 1); i++) {
            uint64_t *at = warp->places[0].at[i];
            EACH at[lane] += (uint64_t)(layer[lane] < last ? layer[lane] : last) * pitches[2];
        }
    }
}

/* --- Bytes --- */
#define READ(name, count, word)                                                                    \
    static void name(const char *data, const uint64_t *at, uint32_t words[4][PTX_LANES])           \
    {                                                                                              \
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                        \
            word texel[count];                                                                     \
            memcpy(texel, data + at[lane], sizeof texel);                                          \
            for (unsigned i = 0; i < (count); i++)                                                 \
                words[i][lane] = texel[i];                                                         \
        }                                                                                          \
    }
READ(read_1, 1, uint8_t)
READ(read_2, 1, uint16_t)
READ(read_4, 1, uint32_t)
READ(read_8, 2, uint32_t)
READ(read_16, 4, uint32_t)

/* The texels of one corner; bits of its number say which neighbour in which dimension. */
static void read_corner(struct warp *warp, unsigned corner)
{
    const struct ptx_texture *texture = warp->fetch->texture;
    const char *data = warp->level->data;
    uint32_t(*words)[PTX_LANES] = warp->words[corner];
    const uint64_t *from = warp->places[0].at[corner & 1];
    uint64_t at[PTX_LANES];

    for (unsigned i = 1; i < warp->fetch->dimensions; i++) {
        const uint64_t *more = warp->places[i].at[corner >> i & 1];
        EACH at[lane] = from[lane] + more[lane];
        from = at;
    }
    switch (tex_sample_channel_size(texture->channel) * texture->channels) {
    case 1:
        read_1(data, from, words);
        break;
    case 2:
        read_2(data, from, words);
        break;
    case 4:
        read_4(data, from, words);
        break;
    case 8:
        read_8(data, from, words);
        break;
    default:
        read_16(data, from, words);
    }
}

/* One channel of a corner. */
static void take_channel(const struct warp *warp, unsigned corner, unsigned channel,
                         uint32_t raw[PTX_LANES])
{
    const unsigned bits = 8 * tex_sample_channel_size(warp->fetch->texture->channel);
    const unsigned shift = channel * bits % 32;
    const uint32_t mask = UINT32_MAX >> (32 - bits);
    const uint32_t *words = warp->words[corner][channel * bits / 32];
    EACH raw[lane] = words[lane] >> shift & mask;
}

static void outside_of(const struct warp *warp, unsigned corner, int32_t outside[PTX_LANES])
{
    const int32_t *x = warp->places[0].outside[corner & 1];
    EACH outside[lane] = x[lane];
    for (unsigned i = 1; i < warp->fetch->dimensions; i++) {
        const int32_t *more = warp->places[i].outside[corner >> i & 1];
        EACH outside[lane] |= more[lane];
    }
}

/* --- Numbers --- */
/* The statement of each lane, with the channel as a constant. */
#define OF_CHANNEL(which, ...)                                                                     \
    case which: {                                                                                  \
        const enum ptx_channel channel = which;                                                    \
        EACH __VA_ARGS__;                                                                          \
        break;                                                                                     \
    }
#define BY_CHANNEL(texture, ...)                                                                   \
    switch ((texture)->channel) {                                                                  \
        OF_CHANNEL(PTX_CHANNEL_U8, __VA_ARGS__)                                                    \
        OF_CHANNEL(PTX_CHANNEL_U16, __VA_ARGS__)                                                   \
        OF_CHANNEL(PTX_CHANNEL_U32, __VA_ARGS__)                                                   \
        OF_CHANNEL(PTX_CHANNEL_S8, __VA_ARGS__)                                                    \
        OF_CHANNEL(PTX_CHANNEL_S16, __VA_ARGS__)                                                   \
        OF_CHANNEL(PTX_CHANNEL_S32, __VA_ARGS__)                                                   \
        OF_CHANNEL(PTX_CHANNEL_F16, __VA_ARGS__)                                                   \
        OF_CHANNEL(PTX_CHANNEL_F32, __VA_ARGS__)                                                   \
    }

static void numbers_of(const struct ptx_texture *texture, uint32_t raw[PTX_LANES])
{
    const bool as_integer = texture->as_integer;

    BY_CHANNEL(texture, raw[lane] = tex_number(channel, as_integer, raw[lane]))
}

/* Borders in place of what is outside; integer coordinates have no border. */
static void put_border(const struct warp *warp, unsigned channel, const int32_t outside[PTX_LANES],
                       uint32_t raw[PTX_LANES])
{
    const uint32_t border =
        warp->fetch->integer ? 0 : tex_sample_border(warp->fetch->texture, channel);
    EACH raw[lane] = outside[lane] ? border : raw[lane];
}

static void fetch_nearest(struct warp *warp, uint32_t texels[4][PTX_LANES])
{
    const struct ptx_texture *texture = warp->fetch->texture;
    int32_t outside[PTX_LANES];

    read_corner(warp, 0);
    if (warp->bounded)
        outside_of(warp, 0, outside);
    for (unsigned i = 0; i < texture->channels; i++) {
        take_channel(warp, 0, i, texels[i]);
        if (warp->bounded)
            put_border(warp, i, outside, texels[i]);
        numbers_of(texture, texels[i]);
    }
}

/* --- Filters --- */
/* Of all corners, in 256ths. */
static void weights_of(const struct warp *warp, int32_t weights[8][PTX_LANES])
{
    static const int32_t none[PTX_LANES];
    const unsigned dimensions = warp->fetch->dimensions;
    const int32_t *columns = warp->places[0].weight;
    const int32_t *rows = dimensions > 1 ? warp->places[1].weight : none;
    const int32_t *slices = dimensions > 2 ? warp->places[2].weight : none;
    for (unsigned slice = 0; slice < (dimensions > 2 ? 2 : 1); slice++)
        EACH
        {
            const int32_t column = columns[lane], row = rows[lane], beyond = slices[lane];
            const int32_t whole = slice ? beyond : 256 - beyond;
            const int32_t second = (whole * column + 128) >> 8, first = whole - second;
            const int32_t low = (first * row + 127) >> 8, high = (second * row + 128) >> 8;
            weights[4 * slice][lane] = first - low;
            weights[4 * slice + 1][lane] = second - high;
            weights[4 * slice + 2][lane] = low;
            weights[4 * slice + 3][lane] = high;
        }
}

static void units_of(const struct ptx_texture *texture, const uint32_t raw[PTX_LANES],
                     double units[PTX_LANES])
{
    const bool as_integer = texture->as_integer;

    BY_CHANNEL(texture, units[lane] = tex_summand(channel, as_integer, raw[lane]))
}

/* The sum's bits rounded to so many less, halves away from zero; NaNs stay. */
OPS_INLINE double rounded(double value, unsigned less)
{
    const uint64_t half = UINT64_C(1) << (less - 1);
    return f64_of((f64_bits(value) + half) & ~(2 * half - 1));
}
static void filtered_floats(struct warp *warp, const double sums[PTX_LANES],
                            uint32_t texel[PTX_LANES])
{
    if (warp->fetch->texture->channel == PTX_CHANNEL_F16) {
        EACH
        {
            const double value = sums[lane] / 256.0, near = rounded(value, 42);
            const double magnitude = __builtin_fabs(near);
            const double finite = magnitude > 65504.0 ? __builtin_copysign(INFINITY, near) : near;
            texel[lane] = f32_out((float)finite);
            /* Subnormal ones have fewer bits. */
            warp->left[lane] |= value != 0.0 && __builtin_fabs(value) < 0x1p-14 ? 1 : 0;
        }
    } else {
        EACH
        {
            const double value = sums[lane] / 256.0;
            texel[lane] = f32_out((float)rounded(value, 29));
            warp->left[lane] |= value != 0.0 && __builtin_fabs(value) < 0x1p-126 ? 1 : 0;
        }
    }
}

static void filtered(struct warp *warp, const double sums[PTX_LANES], uint32_t texel[PTX_LANES])
{
    const struct ptx_texture *texture = warp->fetch->texture;
    const bool integer = tex_sample_is_integer(texture);

    if (texture->channel == PTX_CHANNEL_F16 || texture->channel == PTX_CHANNEL_F32)
        filtered_floats(warp, sums, texel);
    else
        BY_CHANNEL(texture, texel[lane] = tex_filtered(channel, integer, sums[lane]))
}

static void sum_corners(struct warp *warp, const int32_t weights[8][PTX_LANES],
                        double sums[4][PTX_LANES])
{
    const struct ptx_texture *texture = warp->fetch->texture;
    const unsigned corners = 1U << warp->fetch->dimensions;
    double units[PTX_LANES];
    uint32_t raw[PTX_LANES];
    int32_t outside[PTX_LANES];

    /* All are read before one is used: what was just written in words is not yet there as a vector.
     */
    for (unsigned corner = 0; corner < corners; corner++)
        read_corner(warp, corner);
    for (unsigned corner = 0; corner < corners; corner++) {
        const int32_t *weight = weights[corner];
        if (warp->bounded)
            outside_of(warp, corner, outside);
        for (unsigned i = 0; i < texture->channels; i++) {
            double *sum = sums[i];
            take_channel(warp, corner, i, raw);
            if (warp->bounded)
                put_border(warp, i, outside, raw);
            units_of(texture, raw, units);
            /* A corner without weight is not read: it may be infinite or a NaN. */
            if (corner == 0) {
                EACH sum[lane] = weight[lane] ? weight[lane] * units[lane] + 0.0 : 0.0;
            } else {
                EACH sum[lane] += weight[lane] ? weight[lane] * units[lane] : 0.0;
            }
        }
    }
}

static void fetch_linear(struct warp *warp, uint32_t texels[4][PTX_LANES])
{
    const struct ptx_texture *texture = warp->fetch->texture;
    const bool quads =
        texture->channel == PTX_CHANNEL_F32 && texture->channels == 4 && !warp->bounded;
    int32_t weights[8][PTX_LANES];
    double sums[4][PTX_LANES];

    weights_of(warp, weights);
    if (!quads ||
        !tex_quads_sum(warp->level->data, warp->places, warp->fetch->dimensions, weights, sums))
        sum_corners(warp, weights, sums);
    for (unsigned i = 0; i < texture->channels; i++)
        filtered(warp, sums[i], texels[i]);
}

uint32_t tex_warp_fetch(const struct tex_warp *fetch, uint32_t texels[4][PTX_LANES])
{
    const struct ptx_texture *texture = fetch->texture;
    struct warp warp;
    uint32_t left = 0;

    warp.fetch = fetch;
    warp.level = texture->levels;
    warp.bounded = false;
    warp.linear = texture->linear_filter && !fetch->integer;
    EACH warp.left[lane] = 0;
    for (unsigned i = texture->channels; i < 4; i++)
        EACH texels[i][lane] = 0;
    place_all(&warp);
    if (warp.linear)
        fetch_linear(&warp, texels);
    else
        fetch_nearest(&warp, texels);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        left |= warp.left[lane] << lane;
    return left;
}
