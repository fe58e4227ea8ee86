/* SPDX-License-Identifier: MIT */
/* What lanes of a warp tell each other: vote, match, shfl, redux, activemask, elect.
 *
 * Lanes that meet in one instruction may have several membermasks, as the tiles of a warp do: those
 * with the same one are a group of their own. The mask says whom a lane waits for, and no more: as
 * on a device a lane counts that its own mask leaves out, and a lane that is not there gives 0. */
#include "ptx/ops/ops_mask.h"

static uint32_t equal_lanes(const void *values, bool wide, uint64_t value, uint32_t among)
{
    uint32_t equal = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        equal |= (uint32_t)(ptx_lane(values, wide, lane) == value) << lane;
    return equal & among;
}

/* --- Lanes that take part from another step, in another branch: see schedule.c --- */
/* Where a step of a kind has what a lane brings. */
struct brings {
    uint8_t value; /* index of its operand; STEP_OPERANDS: none */
    bool predicate, wide;
    uint8_t membermask;
};

static void bring(struct warp_meeting *meeting, const struct ptx_warp *warp,
                  const struct ptx_step *step, uint32_t mask, struct brings what)
{
    const lane_u32 *membermask = ptx_in(warp, step->operand[what.membermask]);
    const uint32_t value = what.value < STEP_OPERANDS ? step->operand[what.value] : PTX_ABSENT;

    meeting->lanes |= mask;
    FOR_LANES (lane, mask) {
        meeting->membermask[lane] = membermask[lane];
        if (what.predicate)
            meeting->values[lane] = ops_predicate(warp, value) >> lane & 1;
        else if (value != PTX_ABSENT)
            meeting->values[lane] = ptx_lane(ptx_in(warp, value), what.wide, lane);
    }
}

/* The first that runs asks all: later the others' registers may have changed. */
static const struct warp_meeting *meet(struct ptx_warp *warp, const struct ptx_step *step,
                                       uint32_t mask,
                                       struct brings (*what)(const struct ptx_step *step))
{
    struct ptx_warp_state *state = warp->state;
    struct warp_meeting *meeting = &state->meeting;

    if (meeting->run == step->run && (meeting->lanes & mask))
        return meeting;
    meeting->run = step->run;
    meeting->lanes = 0;
    bring(meeting, warp, step, mask, what(step));
    for (unsigned i = 0; i < state->group_count; i++) {
        const struct group *group = &state->groups[i];
        struct ptx_warp other = *warp;

        if (!group->forced || group->pc->run != step->run)
            continue;
        other.registers = group->frame->registers;
        other.predicates = group->frame->predicates;
        bring(meeting, &other, group->pc, group->mask & guard_mask(&other, group->pc),
              what(group->pc));
    }
    return meeting;
}

/* A source of 32 or 64 bits, with what the others brought, in `all`. */
static const void *brought(const struct warp_meeting *meeting, const void *own, bool wide,
                           uint64_t all[PTX_LANES])
{
    if (!meeting)
        return own;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const uint64_t value =
            ops_has(meeting->lanes, lane) ? meeting->values[lane] : ptx_lane(own, wide, lane);
        ptx_lane_set(all, wide, lane, value);
    }
    return all;
}

/* The lanes of `left` that have the membermask of the first of them; `all`: with those that come
 * from elsewhere. */
static uint32_t next_group(const struct ptx_warp *warp, const struct ptx_step *step, unsigned index,
                           uint32_t left, const struct warp_meeting *meeting, uint32_t *all)
{
    *all = left;
    if (index >= STEP_OPERANDS || step->operand[index] == PTX_ABSENT)
        return left;
    const lane_u32 *membermask = ptx_in(warp, step->operand[index]);
    const uint32_t first = membermask[__builtin_ctz(left)];
    const uint32_t group = equal_lanes(membermask, false, first, left);
    *all = group;
    for (uint32_t other = meeting ? meeting->lanes : 0; other; other &= other - 1)
        if (meeting->membermask[__builtin_ctz(other)] == first)
            *all |= other & (0U - other);
    return group;
}
#define FOR_GROUPS(group, all, index, mask)                                                        \
    for (uint32_t left_ = (mask), all, group;                                                      \
         left_ && (group = next_group(warp, step, index, left_, meeting, &all)); left_ &= ~group)

static void store_same(struct ptx_warp *warp, const struct ptx_step *step, uint32_t value,
                       uint32_t mask)
{
    if (step->operand[0] == PTX_ABSENT)
        return;
    OPS_STORE(warp, step, mask, u32, value)
}

static uint8_t vote_members(const struct ptx_step *step)
{
    return ptx_insn(step)->count > 2 ? 2 : STEP_OPERANDS;
}

static struct brings vote_brings(const struct ptx_step *step)
{
    return (struct brings){1, true, false, vote_members(step)};
}

static void run_vote(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, vote_brings) : NULL;
    uint32_t bits = ops_predicate(warp, step->operand[1]) & mask;
    for (unsigned lane = 0; meeting && lane < PTX_LANES; lane++)
        if (ops_has(meeting->lanes, lane))
            bits |= (uint32_t)meeting->values[lane] << lane;
    FOR_GROUPS (group, all, vote_members(step), mask) {
        const uint32_t set = bits & all;
        bool result = false;
        switch (ptx_insn(step)->mode) {
        case IR_VOTE_ALL:
            result = set == all;
            break;
        case IR_VOTE_ANY:
            result = set != 0;
            break;
        case IR_VOTE_UNI:
            result = set == 0 || set == all;
            break;
        default:
            store_same(warp, step, set, group);
            continue;
        }
        ops_set_predicate(warp, step->operand[0], result ? PTX_FULL : 0, group);
    }
}

static bool match_wide(const struct ptx_step *step)
{
    return ops_size_of(ptx_insn(step)->types[0]) == OPS_64;
}

static struct brings match_brings(const struct ptx_step *step)
{
    const uint8_t first = ptx_insn(step)->destinations;
    return (struct brings){first, false, match_wide(step), first + 1};
}

static void run_match_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const bool wide = match_wide(step);
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, match_brings) : NULL;
    uint64_t values[PTX_LANES];
    const void *a = brought(meeting, ptx_in(warp, step->operand[1]), wide, values);
    uint32_t found[PTX_LANES];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        found[lane] = equal_lanes(a, wide, ptx_lane(a, wide, lane), PTX_FULL);
    FOR_GROUPS (group, all, 2, mask) {
        OPS_STORE(warp, step, group, u32, found[lane] & all)
    }
}

static void run_match_all(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const bool wide = match_wide(step);
    const unsigned first = ptx_insn(step)->destinations;
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, match_brings) : NULL;
    uint64_t values[PTX_LANES];
    const void *a = brought(meeting, ptx_in(warp, step->operand[first]), wide, values);
    FOR_GROUPS (group, all, first + 1, mask) {
        const uint64_t value = ptx_lane(a, wide, (unsigned)__builtin_ctz(group));
        const bool same = equal_lanes(a, wide, value, all) == all;
        store_same(warp, step, same ? all : 0, group);
        if (first > 1)
            ops_set_predicate(warp, step->operand[1], same ? PTX_FULL : 0, group);
    }
}

/* The lane that each lane reads from, and whether that is in bounds. The bound: c's low bits, with
 * the segment mask above them. */
static inline void sources(unsigned mode, const lane_u32 *b, const lane_u32 *c,
                           int32_t from[PTX_LANES], struct ops_mask32 *inside)
{
    OPS_LANES
    {
        const int32_t self = (int32_t)lane, shift = (int32_t)(b[lane] & 31);
        const int32_t segment = (int32_t)(c[lane] >> 8 & 31);
        const int32_t bound = (self & segment) | ((int32_t)(c[lane] & 31) & ~segment);
        const int32_t at = mode == IR_SHFL_UP     ? self - shift
                           : mode == IR_SHFL_DOWN ? self + shift
                           : mode == IR_SHFL_BFLY ? self ^ shift
                                                  : (self & segment) | (shift & ~segment & 31);
        const bool within = mode == IR_SHFL_UP ? at >= bound : at <= bound;
        from[lane] = within ? at & 31 : self;
        inside->lanes[lane] = within ? -1 : 0;
    }
}

static struct brings shfl_brings(const struct ptx_step *step)
{
    const uint8_t first = ptx_insn(step)->destinations;
    return (struct brings){first, false, false, first + 3};
}

static void run_shfl(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned first = ptx_insn(step)->destinations;
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, shfl_brings) : NULL;
    const uint32_t all = mask | (meeting ? meeting->lanes : 0);
    uint64_t others[PTX_LANES];
    const lane_u32 *a = brought(meeting, ptx_in(warp, step->operand[first]), false, others);
    const lane_u32 *b = ptx_in(warp, step->operand[first + 1]);
    const lane_u32 *c = ptx_in(warp, step->operand[first + 2]);
    int32_t from[PTX_LANES];
    uint32_t values[PTX_LANES];
    struct ops_mask32 inside;
    switch (ptx_insn(step)->mode) { /* each with its own loop */
    case IR_SHFL_UP:
        sources(IR_SHFL_UP, b, c, from, &inside);
        break;
    case IR_SHFL_DOWN:
        sources(IR_SHFL_DOWN, b, c, from, &inside);
        break;
    case IR_SHFL_BFLY:
        sources(IR_SHFL_BFLY, b, c, from, &inside);
        break;
    default:
        sources(IR_SHFL_IDX, b, c, from, &inside);
    }
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        values[lane] = a[from[lane]];
    for (unsigned lane = 0; all != PTX_FULL && lane < PTX_LANES; lane++)
        values[lane] &= 0U - (all >> from[lane] & 1);
    if (step->operand[0] != PTX_ABSENT) {
        OPS_STORE(warp, step, mask, u32, values[lane])
    }
    if (first > 1)
        ops_set_predicate(warp, step->operand[1], ops_mask_of32(&inside), mask);
}

static struct brings redux_brings(const struct ptx_step *step)
{
    (void)step;
    return (struct brings){1, false, false, 2};
}

static void run_redux(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, redux_brings) : NULL;
    uint64_t values[PTX_LANES];
    const lane_u32 *a = brought(meeting, ptx_in(warp, step->operand[1]), false, values);
    FOR_GROUPS (group, all, 2, mask) {
        uint32_t result = a[__builtin_ctz(all)];
        FOR_LANES (lane, all & (all - 1)) {
            const bool less = ops_is_signed(insn->types[0]) ? (int32_t)result < (int32_t)a[lane]
                                                            : result < a[lane];
            result = (uint32_t)ops_reduced(insn->atomic, result, a[lane], less);
        }
        store_same(warp, step, result, group);
    }
}

static void run_redux_float(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, redux_brings) : NULL;
    uint64_t values[PTX_LANES];
    const lane_u32 *a = brought(meeting, ptx_in(warp, step->operand[1]), false, values);
    const uint32_t sign = ptx_insn(step)->abs ? F32_SIGN : 0;
    const bool max = ptx_insn(step)->atomic == IR_ATOM_MAX;
    FOR_GROUPS (group, all, 2, mask) {
        uint32_t result = F32_NAN; /* of no numbers */
        for (unsigned lane = 0, any = 0; lane < PTX_LANES; lane++) {
            if (!ops_has(all, lane))
                continue;
            const uint32_t value = a[lane] & ~sign;
            result = f32_extreme(any++ ? result : value, value, max, ptx_insn(step)->nan);
        }
        store_same(warp, step, result, group);
    }
}

static void run_activemask(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    store_same(warp, step, mask, mask); /* without those that a guard leaves out */
}

static struct brings elect_brings(const struct ptx_step *step)
{
    (void)step;
    return (struct brings){STEP_OPERANDS, false, false, 2};
}

static void run_elect(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct warp_meeting *meeting = warp->met ? meet(warp, step, mask, elect_brings) : NULL;
    FOR_GROUPS (group, all, 2, mask) {
        const uint32_t leader = (uint32_t)__builtin_ctz(all);
        store_same(warp, step, leader, group);
        ops_set_predicate(warp, step->operand[1], UINT32_C(1) << leader, group);
    }
}

ptx_run *OPS_NAME(ops_warp)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    switch (insn->op) {
    case IR_VOTE:
        return run_vote;
    case IR_MATCH:
        return insn->mode == IR_MATCH_ANY ? run_match_any : run_match_all;
    case IR_SHFL:
        return run_shfl;
    case IR_REDUX:
        return insn->types[0] == IR_F32 ? run_redux_float : run_redux;
    case IR_ACTIVEMASK:
        return run_activemask;
    case IR_ELECT:
        return run_elect;
    default:
        return NULL;
    }
}
