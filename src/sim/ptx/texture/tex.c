/* SPDX-License-Identifier: MIT */
/* tex, tld4, txq and istypep, for handles (64 bits) and for references, whose handle the compiler
 * puts in the same place. */
#include "ptx/texture/texture.h"

#include <math.h>

/* Are the coordinates integers? */
static bool tex_integer(const struct how_texture *plan)
{
    return plan->insn->types[1] == IR_S32;
}

static uint32_t word_at(const struct ptx_warp *warp, uint32_t operand, unsigned lane)
{
    return ((const lane_u32 *)ptx_in(warp, operand))[lane];
}
static double number_at(const struct ptx_warp *warp, uint32_t operand, unsigned lane, bool integer)
{
    const uint32_t bits = word_at(warp, operand, lane);
    return integer ? (double)(int32_t)bits : (double)f32_of(bits);
}

/* A direction to a face and a place on it. Faces: +x -x +y -y +z -z. */
static unsigned cube_face(const double direction[3], double at[2])
{
    const double x = fabs(direction[0]), y = fabs(direction[1]), z = fabs(direction[2]);
    const unsigned axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    const double major = axis == 0 ? x : axis == 1 ? y : z;
    const bool negative = direction[axis] < 0;
    double s, t;
    switch (axis) {
    case 0:
        s = negative ? direction[2] : -direction[2];
        t = -direction[1];
        break;
    case 1:
        s = direction[0];
        t = negative ? -direction[2] : direction[2];
        break;
    default:
        s = negative ? -direction[0] : direction[0];
        t = -direction[1];
    }
    at[0] = major > 0 ? (s / major + 1) / 2 : 0.5;
    at[1] = major > 0 ? (t / major + 1) / 2 : 0.5;
    return 2 * axis + negative;
}

/* The level whose texels are as far apart as the fetches of neighbours. */
static double gradient_level(const struct ptx_warp *warp, const struct ptx_texture *texture,
                             const uint32_t *operands, unsigned width, unsigned dimensions,
                             unsigned lane)
{
    double longest = 0;
    for (unsigned direction = 0; direction < 2; direction++) {
        double sum = 0;
        for (unsigned i = 0; i < dimensions && i < width; i++) {
            double step = number_at(warp, operands[direction * width + i], lane, false);
            if (texture->normalized)
                step *= tex_sample_extent(texture->levels, i);
            sum += step * step;
        }
        if (sum > longest)
            longest = sum;
    }
    return longest > 0 ? log2(longest) / 2 : -1000;
}

/* Registers of one gradient or offset vector. */
static unsigned vector_width(unsigned dimensions)
{
    return dimensions == 3 ? 4 : dimensions;
}

static void prepare(const struct ptx_warp *warp, const struct ptx_step *step,
                    const struct how_texture *plan, unsigned lane, struct tex_fetch *fetch)
{
    const uint32_t *operands = tex_operands(step);
    const bool has_layer = tex_has_layer(plan->insn->geometry);
    const unsigned dimensions = tex_dimensions(plan->insn->geometry), first = plan->at + has_layer;
    const unsigned width = vector_width(dimensions);
    unsigned rest = plan->rest;
    fetch->dimensions = dimensions;
    fetch->integer = tex_integer(plan);
    fetch->layer = has_layer ? word_at(warp, operands[plan->at], lane) : 0;
    fetch->level = 0;
    for (unsigned i = 0; i < 3; i++) {
        fetch->at[i] =
            i < dimensions ? number_at(warp, operands[first + i], lane, tex_integer(plan)) : 0;
        fetch->offset[i] = 0;
    }
    if (plan->insn->level == IR_LEVEL) {
        fetch->level = number_at(warp, operands[rest++], lane, false);
    } else if (plan->insn->level == IR_GRADIENTS) {
        fetch->level =
            gradient_level(warp, fetch->texture, operands + rest, width, dimensions, lane);
        rest += 2 * width;
    }
    for (unsigned i = 0; plan->offset && i < dimensions; i++) {
        const uint32_t bits = word_at(warp, operands[rest + i], lane);
        fetch->offset[i] = (int)((bits & 15) ^ 8) - 8; /* 4 bits, signed */
    }
    if (plan->insn->geometry == IR_CUBE || plan->insn->geometry == IR_ACUBE) {
        double place[2];
        const unsigned face = cube_face(fetch->at, place);
        fetch->layer = fetch->layer * 6 + face;
        fetch->at[0] = place[0];
        fetch->at[1] = place[1];
        fetch->dimensions = 2;
    }
}

/* Results in the type that the instruction names; integers and float bits pass as they are. */
static void store(struct ptx_warp *warp, const struct ptx_step *step,
                  const struct how_texture *plan, unsigned lane, const uint32_t texel[4])
{
    const uint32_t *operands = tex_operands(step);
    for (unsigned i = 0; i < plan->results; i++) {
        uint32_t value = texel[i];
        if (operands[i] == PTX_ABSENT)
            continue;
        if (plan->insn->types[0] == IR_F16)
            value = f16_bits(f32_of(value));
        if (plan->insn->types[0] == IR_F16X2)
            value = f16_bits(f32_of(texel[2 * i])) | f16_bits(f32_of(texel[2 * i + 1])) << 16;
        ((lane_u32 *)ptx_out(warp, operands[i]))[lane] = value;
    }
}

/* All lanes at once; those of the result are left, as in `texels` they are not. */
static uint32_t fetch_warp(const struct ptx_warp *warp, const struct ptx_step *step,
                           const struct ptx_texture *texture, uint32_t texels[4][PTX_LANES])
{
    const struct how_texture *plan = &step->how.texture;
    const uint32_t *operands = tex_operands(step);
    const bool has_layer = tex_has_layer(plan->insn->geometry);
    const unsigned first = plan->at + has_layer;
    const unsigned levels = plan->insn->level == IR_LEVEL ? 1 : 0;
    struct tex_warp fetch = {.texture = texture,
                             .dimensions = tex_dimensions(plan->insn->geometry),
                             .integer = tex_integer(plan),
                             .layer = has_layer ? ptx_in(warp, operands[plan->at]) : NULL};
    for (unsigned i = 0; i < fetch.dimensions; i++) {
        fetch.at[i] = ptx_in(warp, operands[first + i]);
        if (plan->offset)
            fetch.offset[i] = ptx_in(warp, operands[plan->rest + levels + i]);
    }
    return tex_warp_fetch(&fetch, texels);
}

/* Is it for tex_warp.c? Few lanes are not worth the while. */
static bool whole_warp(const struct how_texture *plan, const struct ptx_texture *texture,
                       const lane_u64 *handles, uint32_t mask)
{
    const uint64_t handle = handles[__builtin_ctz(mask)];
    uint64_t different = 0;
    if (plan->insn->op == IR_TLD4 || plan->insn->geometry == IR_CUBE ||
        plan->insn->geometry == IR_ACUBE || plan->insn->level == IR_GRADIENTS ||
        __builtin_popcount(mask) < 4 || !tex_warp_serves(texture) ||
        (texture->linear_filter &&
         tex_sample_half_border(texture, tex_dimensions(plan->insn->geometry))))
        return false;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        different |= ops_has(mask, lane) ? handles[lane] ^ handle : 0;
    return different == 0;
}

/* The usual result, of 32 bits each. */
static void store_warp(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                       uint32_t texels[4][PTX_LANES])
{
    const struct how_texture *plan = &step->how.texture;
    const uint32_t *operands = tex_operands(step);
    if (plan->insn->types[0] == IR_F16 || plan->insn->types[0] == IR_F16X2) {
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const uint32_t texel[4] = {texels[0][lane], texels[1][lane], texels[2][lane],
                                       texels[3][lane]};
            if (ops_has(mask, lane))
                store(warp, step, plan, lane, texel);
        }
        return;
    }
    for (unsigned i = 0; i < plan->results; i++) {
        if (operands[i] == PTX_ABSENT)
            continue;
        lane_u32 *to = ptx_out(warp, operands[i]);
        OPS_LANES
        {
            to[lane] = ops_has(mask, lane) ? texels[i][lane] : to[lane];
        }
    }
}

static void run_tex(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_texture *plan = &step->how.texture;
    const uint32_t *operands = tex_operands(step);
    const lane_u64 *handles = ptx_in(warp, operands[plan->handle]);
    struct tex_fetch fetch = {.texture = NULL};
    uint32_t texels[4][PTX_LANES], left = mask;
    uint64_t known = 0;
    for (unsigned lane = 0; lane < PTX_LANES && left >> lane; lane++) {
        uint32_t texel[4];
        if (!ops_has(left, lane))
            continue;
        if (!fetch.texture || handles[lane] != known) {
            known = handles[lane];
            fetch.texture =
                tex_live(warp, step, lane, known, false, "the handle is no live texture");
            if (!fetch.texture)
                return;
            if (left == mask && whole_warp(plan, fetch.texture, handles, mask)) {
                left = mask & fetch_warp(warp, step, fetch.texture, texels);
                lane = (unsigned)-1;
                continue;
            }
        }
        prepare(warp, step, plan, lane, &fetch);
        if (plan->insn->op == IR_TLD4)
            tex_sample_gather(&fetch, plan->insn->component, texel);
        else
            tex_sample(&fetch, texel);
        for (unsigned i = 0; i < 4; i++)
            texels[i][lane] = texel[i];
    }
    store_warp(warp, step, mask, texels);
    if (plan->predicate) /* the texels are there */
        ops_set_predicate(warp, operands[plan->results], PTX_FULL, mask);
}

static uint32_t answer(const struct ptx_texture *texture, unsigned query, uint32_t number)
{
    const uint32_t last = texture->level_count - 1;
    const struct ptx_level *level = &texture->levels[number < last ? number : last];
    const uint32_t faces = texture->cubemap ? 6 : 1;
    switch (query) {
    case IR_QUERY_WIDTH:
        return level->width;
    case IR_QUERY_HEIGHT:
        return level->height;
    case IR_QUERY_DEPTH:
        return texture->layered || texture->cubemap ? 0 : level->depth;
    case IR_QUERY_ARRAY_SIZE:
        return texture->layered ? level->depth / faces : 0;
    case IR_QUERY_MIPMAP_LEVELS:
        return texture->level_count;
    default: /* samples */
        return 1;
    }
}

/* txq and suq: d, [handle][, level]. */
static void run_query(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const uint32_t *operands = tex_operands(step);
    const lane_u64 *handles = ptx_in(warp, operands[1]);
    lane_u32 *to = ptx_out(warp, operands[0]);
    FOR_LANES (lane, mask) {
        const struct ptx_texture *object =
            tex_live(warp, step, lane, handles[lane], insn->op == IR_SUQ,
                     "the handle is no live texture or surface");
        if (!object)
            return;
        const uint32_t level = insn->count > 2 ? word_at(warp, operands[2], lane) : 0;
        to[lane] = answer(object, insn->mode, level);
    }
}

static void run_istypep(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const uint32_t *operands = tex_operands(step);
    const struct ptx_world *world = fault_world(warp);
    const lane_u64 *handles = ptx_in(warp, operands[1]);
    uint32_t bits = 0;
    FOR_LANES (lane, mask) {
        const bool is = ptx_insn(step)->mode == IR_ISTYPEP_SURFREF
                            ? !!world->surface(world->user, handles[lane])
                            : !!world->texture(world->user, handles[lane]);
        bits |= (uint32_t)is << lane;
    }
    ops_set_predicate(warp, operands[0], bits, mask);
}

static bool plan_fetch(const struct ir_insn *insn, struct how_texture *plan)
{
    const unsigned group_index = insn->destinations;
    const struct ir_operand *group = &insn->operands[group_index];
    const unsigned dimensions = tex_dimensions(insn->geometry);
    if (insn->geometry == IR_2DMS || insn->geometry == IR_A2DMS || group_index >= insn->count ||
        group->kind != IR_OPERAND_GROUP || group->count < 2)
        return false;
    *plan = (struct how_texture){.insn = insn};
    plan->results = (uint8_t)tex_width(&insn->operands[0]);
    plan->predicate = insn->destinations > 1;
    plan->handle = plan->results + plan->predicate;
    plan->at = (uint8_t)(plan->handle + group->count - 1); /* a sampler may stand between */
    plan->rest = (uint8_t)(plan->handle + tex_width(group));
    unsigned next = group_index + 1 + insn->level; /* operands: one level, or two gradients */
    if (next < insn->count && (insn->operands[next].kind == IR_OPERAND_VECTOR || dimensions == 1)) {
        plan->offset = true;
        next++;
    }
    return next >= insn->count; /* else there is a value to compare the depth with */
}

static ptx_run *select_query(const struct ir_insn *insn)
{
    switch (insn->mode) {
    case IR_QUERY_WIDTH:
    case IR_QUERY_HEIGHT:
    case IR_QUERY_DEPTH:
    case IR_QUERY_ARRAY_SIZE:
    case IR_QUERY_MIPMAP_LEVELS:
    case IR_QUERY_SAMPLES:
        return run_query;
    default:
        return NULL;
    }
}

ptx_run *OPS_NAME(tex_select)(const struct ir_insn *insn, union ptx_how *how)
{
    switch (insn->op) {
    case IR_TEX:
    case IR_TLD4:
        return plan_fetch(insn, &how->texture) ? run_tex : NULL;
    case IR_TXQ:
    case IR_SUQ:
        return select_query(insn);
    case IR_ISTYPEP:
        return run_istypep;
    default:
        return NULL;
    }
}
