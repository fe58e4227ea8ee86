/* SPDX-License-Identifier: MIT */
/* Surfaces: suld.b, sust.b, sured.b. Columns are counted in bytes. Accesses of up to 8 bytes are
 * single loads and stores, as blocks may meet there. */
#include "tex.h"

struct surf_plan {
    uint8_t geometry;
    uint8_t type;   /* of one element */
    uint8_t count;  /* elements: 1, 2, 4 */
    uint8_t bounds; /* IR_TRAP_SURF, IR_CLAMP_SURF, IR_ZERO_SURF */
    uint8_t handle, at, values;
    uint8_t operation; /* enum ir_atomic */
};
union packed {
    struct surf_plan plan;
    uint64_t extra;
};

static const struct ptx_texture *surface_of(struct ptx_warp *warp, const struct ptx_step *step,
                                            unsigned lane, uint64_t handle)
{
    const struct ptx_world *world = ptx_warp_world(warp);
    const struct ptx_texture *surface = world->surface(world->user, handle);
    if (surface && surface->level_count)
        return surface;
    ptx_warp_fault(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, handle,
                   "the handle is no live surface");
    return NULL;
}

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

/* Where the access of `size` bytes goes; NULL: outside, and not clamped. */
static char *place_of(const struct ptx_texture *surface, const struct surf_plan *plan,
                      const int32_t at[4], unsigned size)
{
    const struct ptx_level *level = surface->levels;
    const unsigned dimensions = tex_dimensions(plan->geometry);
    const bool clamp = plan->bounds == IR_CLAMP_SURF, layered = tex_has_layer(plan->geometry);
    const int64_t row =
        (int64_t)level->width * surface->channels * tex_channel_size(surface->channel);
    const int32_t *place = at + layered;
    int64_t x = place[0], y = dimensions > 1 ? place[1] : 0;
    int64_t z = layered ? (int64_t)(uint32_t)at[0] : dimensions > 2 ? place[2] : 0;
    int64_t unit = x / size;
    if (row < size || x % size != 0)
        return NULL;
    if (!bounded(&unit, row / size, clamp))
        return NULL;
    if (!bounded(&y, tex_extent(level, 1), clamp))
        return NULL;
    if (!bounded(&z, tex_extent(level, 2), clamp))
        return NULL;
    x = unit * size;
    return level->data + (uint64_t)z * level->slice_pitch + (uint64_t)y * level->row_pitch + x;
}

static unsigned element_size(unsigned type)
{
    return ir_type_size((enum ir_type)type);
}

#define AT(T, place) ((T *)(void *)(place))
/* Rows may be packed more tightly than an access is wide. */
static bool is_aligned(const char *place, unsigned size)
{
    return ((uintptr_t)place & (size - 1)) == 0;
}

static uint64_t load(const char *place, unsigned size)
{
    if (!is_aligned(place, size)) {
        uint64_t value = 0;
        for (unsigned i = 0; i < size; i++)
            value |= load(place + i, 1) << (8 * i);
        return value;
    }
    switch (size) {
    case 1:
        return __atomic_load_n((const uint8_t *)place, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n(AT(const uint16_t OPS_ALIAS, place), __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n(AT(const uint32_t OPS_ALIAS, place), __ATOMIC_RELAXED);
    default:
        return __atomic_load_n(AT(const uint64_t OPS_ALIAS, place), __ATOMIC_RELAXED);
    }
}

static void store(char *place, unsigned size, uint64_t value)
{
    if (!is_aligned(place, size)) {
        for (unsigned i = 0; i < size; i++)
            store(place + i, 1, value >> (8 * i));
        return;
    }
    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)place, (uint8_t)value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n(AT(uint16_t OPS_ALIAS, place), (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n(AT(uint32_t OPS_ALIAS, place), (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n(AT(uint64_t OPS_ALIAS, place), value, __ATOMIC_RELAXED);
    }
}

static uint64_t combined(const struct surf_plan *plan, uint64_t old, uint64_t value)
{
    const bool wide = element_size(plan->type) == 8, is_signed = ops_is_signed(plan->type);
    const bool less = !is_signed ? old < value
                      : wide     ? (int64_t)old < (int64_t)value
                                 : (int32_t)(uint32_t)old < (int32_t)(uint32_t)value;
    switch (plan->operation) {
    case IR_ATOM_ADD:
        return old + value;
    case IR_ATOM_MIN:
        return less ? old : value;
    case IR_ATOM_MAX:
        return less ? value : old;
    case IR_ATOM_AND:
        return old & value;
    default:
        return old | value;
    }
}

static void reduce(const struct surf_plan *plan, char *place, uint64_t value)
{
    if (element_size(plan->type) == 8) {
        uint64_t OPS_ALIAS *cell = (void *)place;
        uint64_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(cell, &old, combined(plan, old, value), true,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
        return;
    }
    uint32_t OPS_ALIAS *cell = (void *)place;
    uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(cell, &old, (uint32_t)combined(plan, old, value), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static uint64_t value_of(const struct ptx_warp *warp, uint32_t operand, bool wide, unsigned lane)
{
    const void *values = ptx_in(warp, operand);
    return wide ? ((const lane_u64 *)values)[lane] : ((const lane_u32 *)values)[lane];
}

/* One lane; `place` NULL: loads give zero, the others do nothing. step->detail: the instruction. */
static void access_lane(struct ptx_warp *warp, const struct ptx_step *step,
                        const struct surf_plan *plan, unsigned lane, char *place)
{
    const uint32_t *operands = tex_operands(step) + plan->values;
    const unsigned size = element_size(plan->type);
    const bool wide = size == 8;
    for (unsigned i = 0; i < plan->count; i++) {
        if (step->detail == IR_SULD) {
            const uint64_t value = place ? load(place + (size_t)i * size, size) : 0;
            if (operands[i] == PTX_ABSENT)
                continue;
            void *to = ptx_out(warp, operands[i]);
            if (wide)
                ((lane_u64 *)to)[lane] = value;
            else
                ((lane_u32 *)to)[lane] = (uint32_t)value;
        } else if (place && step->detail == IR_SUST) {
            store(place + (size_t)i * size, size, value_of(warp, operands[i], wide, lane));
        } else if (place) {
            reduce(plan, place, value_of(warp, operands[i], wide, lane));
        }
    }
}

static void run_surface(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const union packed packed = {.extra = step->extra};
    const struct surf_plan *plan = &packed.plan;
    const uint32_t *operands = tex_operands(step);
    const lane_u64 *handles = ptx_in(warp, operands[plan->handle]);
    const unsigned size = element_size(plan->type) * plan->count;
    const unsigned coordinates = tex_dimensions(plan->geometry) + tex_has_layer(plan->geometry);
    const struct ptx_texture *surface = NULL;
    uint64_t known = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        int32_t at[4] = {0, 0, 0, 0};
        if (!ops_has(mask, lane))
            continue;
        if (!surface || handles[lane] != known) {
            known = handles[lane];
            surface = surface_of(warp, step, lane, known);
            if (!surface)
                return;
        }
        for (unsigned i = 0; i < coordinates; i++)
            at[i] = ((const lane_s32 *)ptx_in(warp, operands[plan->at + i]))[lane];
        char *place = place_of(surface, plan, at, size);
        if (!place && plan->bounds == IR_TRAP_SURF) {
            ptx_warp_fault(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, known,
                           "the coordinates are outside of the surface");
            return;
        }
        if (place && step->detail == IR_SURED && !is_aligned(place, size)) {
            ptx_warp_fault(warp, step, lane, PTX_FAULT_MISALIGNED, known,
                           "the surface has no aligned place there");
            return;
        }
        access_lane(warp, step, plan, lane, place);
    }
}

ptx_run *surf_select(const struct ir_insn *insn, struct ptx_step *step, const char **reason)
{
    union packed packed = {.extra = 0};
    struct surf_plan *plan = &packed.plan;
    const bool is_load = insn->op == IR_SULD;
    if (!is_load && insn->op != IR_SUST && insn->op != IR_SURED)
        return NULL;
    const struct ir_operand *group = &insn->operands[is_load ? 1 : 0];
    const struct ir_operand *values = &insn->operands[is_load ? 0 : 1];
    if (insn->count < 2 || group->kind != IR_OPERAND_GROUP)
        return NULL;
    if (insn->formatted) {
        *reason = "formatted surface access (.p) is not supported";
        return NULL;
    }
    plan->geometry = insn->geometry;
    plan->type = insn->types[0];
    plan->count = (uint8_t)tex_width(values);
    plan->bounds = insn->mode;
    plan->operation = insn->atomic;
    plan->handle = is_load ? plan->count : 0;
    plan->at = plan->handle + 1;
    plan->values = is_load ? 0 : (uint8_t)tex_width(group);
    step->extra = packed.extra;
    step->detail = insn->op;
    return run_surface;
}
