/* SPDX-License-Identifier: MIT */
/* Texture fetches: addressing modes, formats, filters, levels. */
#include "ptx/texture/texture.h"

#include <math.h>

enum { OUTSIDE = -1 }; /* a texel of the border */

unsigned tex_sample_channel_size(enum ptx_channel channel)
{
    switch (channel) {
    case PTX_CHANNEL_U8:
    case PTX_CHANNEL_S8:
        return 1;
    case PTX_CHANNEL_U16:
    case PTX_CHANNEL_S16:
    case PTX_CHANNEL_F16:
        return 2;
    default:
        return 4;
    }
}

uint32_t tex_sample_extent(const struct ptx_level *level, unsigned dimension)
{
    const uint32_t size = dimension == 0   ? level->width
                          : dimension == 1 ? level->height
                                           : level->depth;
    return size ? size : 1;
}

bool tex_sample_is_integer(const struct ptx_texture *texture)
{
    switch (texture->channel) {
    case PTX_CHANNEL_F16:
    case PTX_CHANNEL_F32:
        return false;
    case PTX_CHANNEL_U32:
    case PTX_CHANNEL_S32:
        return true;
    default:
        return texture->as_integer;
    }
}

/* --- One texel --- */
static float srgb_linear(float value)
{
    if (value <= 0.04045F)
        return value / 12.92F;
    return (float)pow(((double)value + 0.055) / 1.055, 2.4);
}

static uint32_t load_channel(enum ptx_channel channel, const char *from)
{
    uint32_t word = 0;
    uint16_t half;
    uint8_t byte;
    switch (tex_sample_channel_size(channel)) {
    case 1:
        memcpy(&byte, from, 1);
        return byte;
    case 2:
        memcpy(&half, from, 2);
        return half;
    default:
        memcpy(&word, from, 4);
        return word;
    }
}

/* What a normalized integer of that format makes of a border: cut off, not rounded. */
static uint32_t unit_border(float border, double least, double most)
{
    const double value = (double)border;
    const double unit = value > 1 ? 1 : value > least ? value : least;
    return (uint32_t)(int32_t)(unit * most);
}

/* A border has the format of the texels. Integers are the low bits of the float. */
uint32_t tex_sample_border(const struct ptx_texture *texture, unsigned index)
{
    const float border = texture->border[index];
    const uint32_t bits = f32_bits(border);
    const unsigned width = 8 * tex_sample_channel_size(texture->channel);
    const uint32_t mask = UINT32_MAX >> (32 - width);
    if (tex_sample_is_integer(texture) || texture->channel == PTX_CHANNEL_F32)
        return bits & mask;
    switch (texture->channel) {
    case PTX_CHANNEL_U8:
        return unit_border(border, 0, 255);
    case PTX_CHANNEL_U16:
        return unit_border(border, 0, 65535);
    case PTX_CHANNEL_S8:
        return unit_border(border, -1, 127) & mask;
    case PTX_CHANNEL_S16:
        return unit_border(border, -1, 32767) & mask;
    default: { /* halves, cut off too */
        const struct float_value value =
            float_decode(f64_bits((double)border), float_format_of(IR_F64));
        return (uint32_t)float_encode(&value, float_format_of(IR_F16), IR_RZ, false);
    }
    }
}

static uint32_t number_of(const struct ptx_texture *texture, uint32_t word, bool alpha)
{
    if (texture->srgb && !alpha && texture->channel == PTX_CHANNEL_U8 && !texture->as_integer)
        return f32_bits(srgb_linear((float)word / 255.0F));
    return tex_number(texture->channel, texture->as_integer, word);
}

/* A texel's channels as they are in memory. Those that the format lacks are 0, of the border too.
 */
static void read_words(const struct ptx_texture *texture, const struct ptx_level *level,
                       const int64_t at[3], uint32_t words[4])
{
    const unsigned size = tex_sample_channel_size(texture->channel);
    const bool outside = at[0] == OUTSIDE || at[1] == OUTSIDE || at[2] == OUTSIDE;
    const char *from = outside ? NULL
                               : level->data + (uint64_t)at[2] * level->slice_pitch +
                                     (uint64_t)at[1] * level->row_pitch +
                                     (uint64_t)at[0] * size * texture->channels;
    words[0] = words[1] = words[2] = words[3] = 0;
    for (unsigned i = 0; i < texture->channels && i < 4; i++)
        words[i] = outside ? tex_sample_border(texture, i)
                           : load_channel(texture->channel, from + (size_t)i * size);
}

static void read_texel(const struct ptx_texture *texture, const struct ptx_level *level,
                       const int64_t at[3], uint32_t texel[4])
{
    read_words(texture, level, at, texel);
    for (unsigned i = 0; i < texture->channels && i < 4; i++)
        texel[i] = number_of(texture, texel[i], i == 3);
}

/* --- Addressing --- */
static int64_t wrapped(int64_t index, int64_t size)
{
    const int64_t rest = index % size;
    return rest < 0 ? rest + size : rest;
}

/* Coordinates that are not normalized know no wrapping. */
static enum ptx_address_mode address_mode(const struct ptx_texture *texture, unsigned dimension)
{
    const enum ptx_address_mode mode = texture->address[dimension];
    return texture->normalized || mode == PTX_BORDER ? mode : PTX_CLAMP;
}

static int64_t addressed(const struct ptx_texture *texture, unsigned dimension, int64_t index,
                         int64_t size)
{
    if (index >= 0 && index < size)
        return index;
    switch (address_mode(texture, dimension)) {
    case PTX_WRAP:
        return wrapped(index, size);
    case PTX_MIRROR: {
        const int64_t twice = wrapped(index, 2 * size);
        return twice < size ? twice : 2 * size - 1 - twice;
    }
    case PTX_BORDER:
        return OUTSIDE;
    default:
        return index < 0 ? 0 : size - 1;
    }
}

/* The coordinate in texels; normalized ones are first brought near, where they repeat. */
static double in_texels(const struct tex_fetch *fetch, unsigned dimension, uint32_t size)
{
    const struct ptx_texture *texture = fetch->texture;
    double at = fetch->at[dimension];
    if (at != at)
        return 0;
    if (texture->normalized && !fetch->integer) {
        if (isfinite(at) && texture->address[dimension] == PTX_WRAP)
            at -= floor(at);
        if (isfinite(at) && texture->address[dimension] == PTX_MIRROR)
            at -= 2 * floor(at / 2);
        at *= size;
    }
    return at < -0x1p40 ? -0x1p40 : at > 0x1p40 ? 0x1p40 : at;
}

/* --- Filters --- */
enum reading { NEAREST, LINEAR, GATHER };
struct axis { /* two neighbours, and the second one's weight in 256ths */
    int64_t index[2];
    int weight;
};

static struct axis axis_of(const struct tex_fetch *fetch, const struct ptx_level *level,
                           unsigned dimension, enum reading reading)
{
    const uint32_t size = tex_sample_extent(level, dimension);
    double at = in_texels(fetch, dimension, size) + fetch->offset[dimension];
    struct axis axis = {{0, 0}, 0};
    if (reading != NEAREST)
        at -= 0.5;
    if (reading == LINEAR && address_mode(fetch->texture, dimension) == PTX_CLAMP)
        at = at < 0 ? 0 : at > size - 1.0 ? size - 1.0 : at;
    if (reading == LINEAR) /* rounded first: what comes near to the next texel is there */
        at = floor(at * 256 + 0.5) / 256;
    const double base = floor(at);
    const int64_t first = (int64_t)base;
    axis.index[0] = addressed(fetch->texture, dimension, first, size);
    axis.index[1] = addressed(fetch->texture, dimension, first + 1, size);
    if (reading == LINEAR)
        axis.weight = (int)((at - base) * 256);
    return axis;
}

static void axes_of(const struct tex_fetch *fetch, const struct ptx_level *level,
                    enum reading reading, struct axis axes[3])
{
    for (unsigned i = 0; i < 3; i++)
        axes[i] =
            i < fetch->dimensions ? axis_of(fetch, level, i, reading) : (struct axis){{0, 0}, 0};
    if (fetch->dimensions < 3) { /* layers are slices, beyond the last: the last */
        const uint32_t layers = tex_sample_extent(level, 2);
        axes[2].index[0] = fetch->layer < layers ? fetch->layer : layers - 1;
    }
    /* To a device a line is a plane of one row, and is read on that row's edge. */
    if (reading == LINEAR && tex_sample_half_border(fetch->texture, fetch->dimensions))
        axes[1] = (struct axis){{OUTSIDE, 0}, 128};
}

bool tex_sample_half_border(const struct ptx_texture *texture, unsigned dimensions)
{
    return dimensions == 1 && !texture->layered && texture->address[1] == PTX_BORDER;
}

/* Weights of the eight corners, as devices have them: whole numbers that add up to the level's
 * share of 256. A slice shares its weight between its columns, and each column between its rows. */
static void corner_weights(const struct axis axes[3], int share, int weights[8])
{
    const int row = axes[1].weight, beyond = (share * axes[2].weight + 128) >> 8;
    for (unsigned slice = 0; slice < 2; slice++) {
        const int whole = slice ? beyond : share - beyond;
        const int second = (whole * axes[0].weight + 128) >> 8, first = whole - second;
        int *to = weights + 4 * (size_t)slice;
        to[2] = (first * row + 127) >> 8;
        to[3] = (second * row + 128) >> 8;
        to[0] = first - to[2];
        to[1] = second - to[3];
    }
}

static double summand(const struct ptx_texture *texture, uint32_t word, bool alpha)
{
    if (texture->srgb && !tex_sample_is_integer(texture))
        return (double)f32_of(number_of(texture, word, alpha));
    return tex_summand(texture->channel, texture->as_integer, word);
}

/* Halves of a last place go away from zero. */
static uint32_t filtered(const struct ptx_texture *texture, double sum)
{
    const bool integer = tex_sample_is_integer(texture);

    if (integer || (!texture->srgb && texture->channel != PTX_CHANNEL_F16 &&
                    texture->channel != PTX_CHANNEL_F32))
        return tex_filtered(texture->channel, integer, sum);
    const unsigned type = texture->channel == PTX_CHANNEL_F16 ? IR_F16 : IR_F32;
    const struct float_value value = float_decode(f64_bits(sum / 256), float_format_of(IR_F64));
    const uint32_t bits = (uint32_t)float_encode(&value, float_format_of(type), IR_RNA, false);
    return type == IR_F16 ? f32_out(f16_float(bits)) : bits;
}

/* The corners of one level, which has that share of 256. */
static void add_level(const struct tex_fetch *fetch, const struct ptx_level *level, int share,
                      double sum[4])
{
    const struct ptx_texture *texture = fetch->texture;
    struct axis axes[3];
    int weights[8];
    axes_of(fetch, level, texture->linear_filter ? LINEAR : NEAREST, axes);
    corner_weights(axes, share, weights);
    for (unsigned corner = 0; corner < 8; corner++) {
        uint32_t words[4];
        const int64_t at[3] = {axes[0].index[corner & 1], axes[1].index[corner >> 1 & 1],
                               axes[2].index[corner >> 2]};
        if (weights[corner] == 0)
            continue;
        read_words(texture, level, at, words);
        for (unsigned i = 0; i < texture->channels && i < 4; i++)
            sum[i] += weights[corner] * summand(texture, words[i], i == 3);
    }
}

/* Integer coordinates know no addressing modes: what lies outside reads as zero. */
static bool in_level(const struct tex_fetch *fetch, const struct ptx_level *level)
{
    for (unsigned i = 0; i < fetch->dimensions; i++) {
        const double at = fetch->at[i] + fetch->offset[i];
        if (at < 0 || at >= tex_sample_extent(level, i))
            return false;
    }
    return true;
}

static void sample_nearest(const struct tex_fetch *fetch, const struct ptx_level *level,
                           uint32_t texel[4])
{
    struct axis axes[3];
    axes_of(fetch, level, NEAREST, axes);
    const int64_t at[3] = {axes[0].index[0], axes[1].index[0], axes[2].index[0]};
    texel[0] = texel[1] = texel[2] = texel[3] = 0;
    if (!fetch->integer || in_level(fetch, level))
        read_texel(fetch->texture, level, at, texel);
}

/* From a level and, with what share of 256, the next. */
static void sample_levels(const struct tex_fetch *fetch, uint32_t number, int next,
                          uint32_t texel[4])
{
    const struct ptx_texture *texture = fetch->texture;
    const struct ptx_level *level = &texture->levels[number];
    double sum[4] = {0, 0, 0, 0};
    if (fetch->integer || (!texture->linear_filter && !next)) {
        sample_nearest(fetch, level, texel);
        return;
    }
    add_level(fetch, level, 256 - next, sum);
    if (next)
        add_level(fetch, level + 1, next, sum);
    texel[0] = texel[1] = texel[2] = texel[3] = 0;
    for (unsigned i = 0; i < texture->channels && i < 4; i++)
        texel[i] = filtered(texture, sum[i]);
}

/* A buffer: what lies outside reads as zero. */
static void sample_memory(const struct tex_fetch *fetch, uint32_t texel[4])
{
    const struct ptx_level *level = fetch->texture->levels;
    const double x = floor(fetch->at[0]) + fetch->offset[0];
    if (!(x >= 0 && x < level->width)) {
        texel[0] = texel[1] = texel[2] = texel[3] = 0;
        return;
    }
    const int64_t at[3] = {(int64_t)x, 0, 0};
    read_texel(fetch->texture, level, at, texel);
}

void tex_sample(const struct tex_fetch *fetch, uint32_t texel[4])
{
    const struct ptx_texture *texture = fetch->texture;
    if (texture->linear_memory) {
        sample_memory(fetch, texel);
        return;
    }
    const double last = texture->level_count - 1;
    double level = fetch->level + (double)texture->mipmap_bias;
    if (texture->level_count == 1 || !(level > (double)texture->min_level))
        level = (double)texture->min_level;
    if (level > (double)texture->max_level)
        level = (double)texture->max_level;
    if (!(level > 0))
        level = 0;
    if (level > last)
        level = last;
    if (!texture->linear_mipmap) {
        sample_levels(fetch, (uint32_t)floor(level + 0.5), 0, texel);
        return;
    }
    sample_levels(fetch, (uint32_t)level, (int)((level - floor(level)) * 256), texel);
}

void tex_sample_gather(const struct tex_fetch *fetch, unsigned component, uint32_t texel[4])
{
    static const uint8_t columns[4] = {0, 1, 1, 0}, rows[4] = {1, 1, 0, 0};
    const struct ptx_level *level = fetch->texture->levels;
    struct axis axes[3];
    axes_of(fetch, level, GATHER, axes);
    for (unsigned i = 0; i < 4; i++) {
        const int64_t at[3] = {axes[0].index[columns[i]], axes[1].index[rows[i]], axes[2].index[0]};
        uint32_t all[4];
        read_texel(fetch->texture, level, at, all);
        texel[i] = all[component & 3];
    }
}
