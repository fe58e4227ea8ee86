/* SPDX-License-Identifier: MIT */
/* What lanes of a warp tell each other: vote, match, shfl, redux, activemask, elect.
 *
 * Lanes that meet in one instruction may have several membermasks, as the tiles of a warp do: those
 * with the same one are a group of their own. The mask says whom a lane waits for, and no more: as
 * on a device a lane counts that its own mask leaves out, and a lane that is not there gives 0. */
#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/ops_mask.h"
#include "ptx/read/ir.h"

static uint64_t lane_value(const void *values, bool wide, unsigned lane)
{
    return wide ? ((const lane_u64 *)values)[lane] : ((const lane_u32 *)values)[lane];
}

static uint32_t equal_lanes(const void *values, bool wide, uint64_t value, uint32_t among)
{
    uint32_t equal = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        equal |= (uint32_t)(lane_value(values, wide, lane) == value) << lane;
    return equal & among;
}

/* The lanes of `left` that have the membermask of the first of them. */
static uint32_t next_group(const struct ptx_warp *warp, const struct ptx_step *step, unsigned index,
                           uint32_t left)
{
    if (index >= STEP_OPERANDS || step->operand[index] == PTX_ABSENT)
        return left;
    const lane_u32 *membermask = ptx_in(warp, step->operand[index]);
    return equal_lanes(membermask, false, membermask[__builtin_ctz(left)], left);
}
#define FOR_GROUPS(group, index, mask)                                                             \
    for (uint32_t left_ = (mask), group; left_ && (group = next_group(warp, step, index, left_));  \
         left_ &= ~group)

static void store_same(struct ptx_warp *warp, const struct ptx_step *step, uint32_t value,
                       uint32_t mask)
{
    if (step->operand[0] == PTX_ABSENT)
        return;
    OPS_STORE(warp, step, mask, u32, value)
}

static void run_vote(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_GROUPS (group, step->how.vote.membermask, mask) {
        const uint32_t set = ops_predicate(warp, step->operand[1]) & group;
        bool result = false;
        switch (step->how.vote.mode) {
        case IR_VOTE_ALL:
            result = set == group;
            break;
        case IR_VOTE_ANY:
            result = set != 0;
            break;
        case IR_VOTE_UNI:
            result = set == 0 || set == group;
            break;
        default:
            store_same(warp, step, set, group);
            continue;
        }
        ops_set_predicate(warp, step->operand[0], result ? PTX_FULL : 0, group);
    }
}

static void run_match_any(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const bool wide = step->how.match.wide;
    const void *a = ptx_in(warp, step->operand[1]);
    uint32_t found[PTX_LANES];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        found[lane] = equal_lanes(a, wide, lane_value(a, wide, lane), PTX_FULL);
    FOR_GROUPS (group, 2, mask) {
        OPS_STORE(warp, step, group, u32, found[lane] & group)
    }
}

static void run_match_all(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const bool wide = step->how.match.wide;
    const unsigned first = step->how.match.first;
    const void *a = ptx_in(warp, step->operand[first]);
    FOR_GROUPS (group, first + 1, mask) {
        const uint64_t value = lane_value(a, wide, (unsigned)__builtin_ctz(group));
        const bool same = equal_lanes(a, wide, value, group) == group;
        store_same(warp, step, same ? group : 0, group);
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

static void run_shfl(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const unsigned first = step->how.shuffle.first;
    const lane_u32 *a = ptx_in(warp, step->operand[first]);
    const lane_u32 *b = ptx_in(warp, step->operand[first + 1]);
    const lane_u32 *c = ptx_in(warp, step->operand[first + 2]);
    int32_t from[PTX_LANES];
    uint32_t values[PTX_LANES];
    struct ops_mask32 inside;
    switch (step->how.shuffle.mode) { /* each with its own loop */
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
    for (unsigned lane = 0; mask != PTX_FULL && lane < PTX_LANES; lane++)
        values[lane] &= 0U - (mask >> from[lane] & 1);
    if (step->operand[0] != PTX_ABSENT) {
        OPS_STORE(warp, step, mask, u32, values[lane])
    }
    if (first > 1)
        ops_set_predicate(warp, step->operand[1], ops_mask_of32(&inside), mask);
}

static uint32_t reduced(const struct how_reduce *how, uint32_t left, uint32_t right)
{
    const bool less = how->is_signed ? (int32_t)left < (int32_t)right : left < right;
    switch (how->mode) {
    case IR_REDUX_ADD:
        return left + right;
    case IR_REDUX_MIN:
        return less ? left : right;
    case IR_REDUX_MAX:
        return less ? right : left;
    case IR_REDUX_AND:
        return left & right;
    case IR_REDUX_OR:
        return left | right;
    default:
        return left ^ right;
    }
}

static void run_redux(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    FOR_GROUPS (group, 2, mask) {
        const unsigned first = (unsigned)__builtin_ctz(group);
        uint32_t result = a[first];
        for (unsigned lane = first + 1; lane < PTX_LANES; lane++)
            if (ops_has(group, lane))
                result = reduced(&step->how.reduce, result, a[lane]);
        store_same(warp, step, result, group);
    }
}

static uint32_t reduced_float(const struct how_reduce *how, uint32_t left, uint32_t right)
{
    const bool max = how->mode == IR_REDUX_MAX;
    if (how->nan)
        return max ? f32_max_nan(left, right) : f32_min_nan(left, right);
    return max ? f32_max(left, right) : f32_min(left, right);
}

static void run_redux_float(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    const uint32_t sign = step->how.reduce.abs ? F32_SIGN : 0;
    FOR_GROUPS (group, 2, mask) {
        uint32_t result = F32_NAN; /* of no numbers */
        for (unsigned lane = 0, any = 0; lane < PTX_LANES; lane++) {
            if (!ops_has(group, lane))
                continue;
            const uint32_t value = a[lane] & ~sign;
            result = reduced_float(&step->how.reduce, any++ ? result : value, value);
        }
        store_same(warp, step, result, group);
    }
}

static void run_activemask(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    store_same(warp, step, mask, mask); /* without those that a guard leaves out */
}

static void run_elect(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_GROUPS (group, 2, mask) {
        const uint32_t leader = (uint32_t)__builtin_ctz(group);
        store_same(warp, step, leader, group);
        ops_set_predicate(warp, step->operand[1], UINT32_C(1) << leader, group);
    }
}

static ptx_run *select_match(const struct ir_insn *insn, union ptx_how *how)
{
    how->match = (struct how_match){.wide = ops_size_of(insn->types[0]) == OPS_64,
                                    .first = insn->destinations};
    return insn->mode == IR_MATCH_ANY ? run_match_any : run_match_all;
}

ptx_run *OPS_NAME(ops_warp)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    (void)reason;
    switch (insn->op) {
    case IR_VOTE:
        how->vote = (struct how_vote){.mode = insn->mode,
                                      .membermask = insn->count > 2 ? 2 : STEP_OPERANDS};
        return run_vote;
    case IR_MATCH:
        return select_match(insn, how);
    case IR_SHFL:
        how->shuffle = (struct how_shuffle){.mode = insn->mode, .first = insn->destinations};
        return run_shfl;
    case IR_REDUX:
        how->reduce = (struct how_reduce){.mode = insn->mode,
                                          .is_signed = insn->types[0] == IR_S32,
                                          .nan = insn->nan,
                                          .abs = insn->abs};
        return insn->types[0] == IR_F32 ? run_redux_float : run_redux;
    case IR_ACTIVEMASK:
        return run_activemask;
    case IR_ELECT:
        return run_elect;
    default:
        return NULL;
    }
}
