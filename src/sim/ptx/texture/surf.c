/* SPDX-License-Identifier: MIT */
/* Surfaces: suld.b, sust.b, sured.b, whose columns are counted in bytes, and sust.p, sured.p, which
 * count in texels. Accesses of up to 8 bytes are single loads and stores, as blocks may meet there.
 */
#include "ptx/texture/texture.h"

#include <math.h>

#include "ptx/memory/memory.h"

/* Brings a coordinate into [0, limit) under .clamp; false: outside. */
static bool bounded(int64_t *at, int64_t limit, bool clamp)
{
    if (*at >= 0 && *at < limit)
        return true;
    if (!clamp)
        return false;
    *at = *at < 0 ? 0 : limit - 1;
    return true;
}

static unsigned texel_size(const struct ptx_texture *surface)
{
    return surface->channels * tex_sample_channel_size(surface->channel);
}

static bool has_sign(const struct ptx_texture *surface)
{
    return surface->channel >= PTX_CHANNEL_S8 && surface->channel <= PTX_CHANNEL_S32;
}

/* Where the access of `size` bytes goes; NULL: outside, and not clamped. */
static char *place_of(const struct ptx_texture *surface, const struct how_surface *plan,
                      const int32_t at[4], unsigned size)
{
    const struct ptx_level *level = surface->levels;
    const unsigned dimensions = tex_dimensions(plan->insn->geometry);
    const bool clamp = plan->insn->mode == IR_CLAMP_SURF,
               layered = tex_has_layer(plan->insn->geometry);
    const int64_t row = (int64_t)level->width * texel_size(surface);
    const int32_t *place = at + layered;
    int64_t x = place[0], y = dimensions > 1 ? place[1] : 0;
    int64_t z = layered ? (int64_t)(uint32_t)at[0] : dimensions > 2 ? place[2] : 0;
    int64_t unit = plan->insn->formatted ? x : x / size;
    if (row < size || (!plan->insn->formatted && x % size != 0))
        return NULL;
    if (!bounded(&unit, row / size, clamp))
        return NULL;
    if (!bounded(&y, tex_sample_extent(level, 1), clamp))
        return NULL;
    if (!bounded(&z, tex_sample_extent(level, 2), clamp))
        return NULL;
    x = unit * size;
    return level->data + (uint64_t)z * level->slice_pitch + (uint64_t)y * level->row_pitch + x;
}

/* Rows may be packed more tightly than an access is wide. */
static bool is_aligned(const char *place, unsigned size)
{
    return ((uintptr_t)place & (size - 1)) == 0;
}

static uint64_t load(const char *place, unsigned size)
{
    uint64_t value = 0;

    if (is_aligned(place, size))
        access_move_word(&value, place, size);
    for (unsigned i = 0; i < size && !is_aligned(place, size); i++)
        value |= load(place + i, 1) << (8 * i);
    return value;
}

static void store(char *place, unsigned size, uint64_t value)
{
    if (is_aligned(place, size))
        access_move_word(place, &value, size);
    for (unsigned i = 0; i < size && !is_aligned(place, size); i++)
        store(place + i, 1, value >> (8 * i));
}

/* --- sust.p: from 32 bits to a channel's format --- */

/* Numbers beyond the channel's range become the nearest in it. */
static uint32_t whole_channel(uint32_t bits, unsigned width, bool is_signed)
{
    const int64_t most = (INT64_C(1) << (width - is_signed)) - 1, least = is_signed ? ~most : 0;
    const int64_t value = is_signed ? (int64_t)(int32_t)bits : (int64_t)bits;
    return (uint32_t)(value < least ? least : value > most ? most : value);
}

/* Integers that stand for 0 to 1, or -1 to 1: the product is exact, so it is rounded once. */
static uint32_t unit_channel(float value, unsigned width, bool is_signed)
{
    const int32_t most = (1 << (width - is_signed)) - 1;
    const double least = is_signed ? -1.0 : 0.0;
    const double number = isnan(value) ? 0.0 : fmin(fmax((double)value, least), 1.0);
    return (uint32_t)(int32_t)rint(number * most);
}

static uint32_t channel_bits(const struct ptx_texture *surface, uint32_t bits)
{
    const unsigned width = 8 * tex_sample_channel_size(surface->channel);
    const bool is_signed = has_sign(surface);
    if (surface->channel == PTX_CHANNEL_F16)
        return f16_bits(f32_of(bits));
    if (width == 32)
        return bits;
    const uint32_t value = tex_sample_is_integer(surface)
                               ? whole_channel(bits, width, is_signed)
                               : unit_channel(f32_of(bits), width, is_signed);
    return value & (PTX_FULL >> (32 - width));
}

/* Channels that the instruction does not give become 0; what the surface has no channel for is
 * dropped. */
static void store_texel(const struct ptx_warp *warp, const uint32_t *values, unsigned count,
                        const struct ptx_texture *surface, unsigned lane, char *place)
{
    const unsigned size = tex_sample_channel_size(surface->channel), total = texel_size(surface);
    uint64_t words[2] = {0, 0};
    for (unsigned i = 0; i < surface->channels && i < count; i++) {
        const uint32_t bits = ((const lane_u32 *)ptx_in(warp, values[i]))[lane];
        words[i * size / 8] |= (uint64_t)channel_bits(surface, bits) << (i * size % 8 * 8);
    }
    store(place, total < 8 ? total : 8, words[0]);
    if (total > 8)
        store(place + 8, 8, words[1]);
}

/* sured of one lane. The type of sured.p says no sign: the surface's channels do. */
static void reduce_lane(const struct ptx_warp *warp, const struct ptx_step *step,
                        const struct how_surface *plan, const struct ptx_texture *surface,
                        unsigned lane, char *place)
{
    const bool wide = opcodes_type_size(plan->insn->types[0]) == 8;
    const bool is_signed =
        plan->insn->formatted ? has_sign(surface) : ops_is_signed(plan->insn->types[0]);
    const uint64_t value = ptx_lane(ptx_in(warp, tex_operands(step)[plan->values]), wide, lane);
    uint64_t old = load(place, wide ? 8 : 4), wanted;
    bool done = false;

    while (!done) {
        const bool less = !is_signed ? old < value
                          : wide     ? (int64_t)old < (int64_t)value
                                     : (int32_t)(uint32_t)old < (int32_t)(uint32_t)value;
        wanted = ops_reduced(plan->insn->atomic, old, value, less);
        done = atomic_replace(place, wide ? 8 : 4, &old, wanted);
    }
}

/* suld, sust.b of one lane; `place` NULL: loads give zero, stores do nothing. */
static void surf_lane(struct ptx_warp *warp, const struct ptx_step *step,
                      const struct how_surface *plan, unsigned lane, char *place)
{
    const uint32_t *operands = tex_operands(step) + plan->values;
    const unsigned size = opcodes_type_size(plan->insn->types[0]);
    const bool wide = size == 8;
    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->insn->op == IR_SULD) {
            const uint64_t value = place ? load(place + (size_t)i * size, size) : 0;
            if (operands[i] == PTX_ABSENT)
                continue;
            ptx_lane_set(ptx_out(warp, operands[i]), wide, lane, value);
        } else if (place) {
            store(place + (size_t)i * size, size, ptx_lane(ptx_in(warp, operands[i]), wide, lane));
        }
    }
}

static void run_surface(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_surface *plan = &step->how.surface;
    const uint32_t *operands = tex_operands(step);
    const lane_u64 *handles = ptx_in(warp, operands[plan->handle]);
    const unsigned size = opcodes_type_size(plan->insn->types[0]) * plan->count;
    const bool reduces = plan->insn->op == IR_SURED;
    const unsigned coordinates =
        tex_dimensions(plan->insn->geometry) + tex_has_layer(plan->insn->geometry);
    const struct ptx_texture *surface = NULL;
    uint64_t known = 0;
    FOR_LANES (lane, mask) {
        int32_t at[4] = {0, 0, 0, 0};
        if (!surface || handles[lane] != known) {
            known = handles[lane];
            surface = tex_live(warp, step, lane, known, true, "the handle is no live surface");
            if (!surface)
                return;
        }
        for (unsigned i = 0; i < coordinates; i++)
            at[i] = ((const lane_s32 *)ptx_in(warp, operands[plan->at + i]))[lane];
        if (plan->insn->formatted && reduces && texel_size(surface) < size) {
            fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, known,
                       "the surface's elements are smaller than what is reduced");
            return;
        }
        char *place =
            place_of(surface, plan, at, plan->insn->formatted ? texel_size(surface) : size);
        if (!place && plan->insn->mode == IR_TRAP_SURF) {
            fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, known,
                       "the coordinates are outside of the surface");
            return;
        }
        if (place && reduces && !is_aligned(place, size)) {
            fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, known,
                       "the surface has no aligned place there");
            return;
        }
        if (place && reduces)
            reduce_lane(warp, step, plan, surface, lane, place);
        else if (place && plan->insn->formatted)
            store_texel(warp, operands + plan->values, plan->count, surface, lane, place);
        else if (!plan->insn->formatted && !reduces)
            surf_lane(warp, step, plan, lane, place);
    }
}

ptx_run *surf_select(const struct ir_insn *insn, union ptx_how *how)
{
    struct how_surface *plan = &how->surface;
    const bool is_load = insn->op == IR_SULD;
    if (!is_load && insn->op != IR_SUST && insn->op != IR_SURED)
        return NULL;
    const struct ir_operand *group = &insn->operands[is_load ? 1 : 0];
    const struct ir_operand *values = &insn->operands[is_load ? 0 : 1];
    if (insn->count < 2 || group->kind != IR_OPERAND_GROUP)
        return NULL;
    *plan = (struct how_surface){.count = tex_width(values) & 7, .insn = insn};
    plan->handle = is_load ? plan->count : 0;
    plan->at = plan->handle + 1;
    plan->values = is_load ? 0 : (uint8_t)tex_width(group);
    return run_surface;
}
