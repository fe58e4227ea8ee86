/* SPDX-License-Identifier: MIT */
/* Which branches of the steps for teams may be taken by some lanes alone while the team stays one
 * (run/team.c): those that skip or repeat plain steps. An affine value made there must not be
 * seen elsewhere, for it would hold for some lanes only. */
#include "ptx/lower/lower.h"

/* Are the values that a step makes used between these steps alone? */
static bool is_local(const struct lower_region *region, uint32_t step, uint32_t first,
                     uint32_t last)
{
    const struct lower *lower = region->lower;

    FOR_REFS (lower, ref, region->general[step])
        if (ref->def && lower->places[ref->vreg] != PLACE_PREDICATE &&
            (lower->live_from[ref->vreg] < region->general[first] ||
             lower->live_to[ref->vreg] > region->general[last]))
            return false;
    return true;
}

/* A barrier for all of the block, which a team passes as one. The reader has checked its number. */
static bool is_plain_barrier(const struct ptx_step *step)
{
    return step->guard == PTX_ABSENT && ptx_insn(step)->mode == IR_BAR_SYNC &&
           (step->operand[1] & PTX_CONSTANT) && step->operand[2] == PTX_ABSENT;
}

/* What a team does with a step on vectors. */
uint8_t lower_region_control(const struct ptx_step *step)
{
    switch (step->control) {
    case CONTROL_BARRIER:
        return is_plain_barrier(step) ? CONTROL_BARRIER : CONTROL_PART;
    case CONTROL_CALL:
    case CONTROL_INDEXED:
    case CONTROL_CLUSTER:
    case CONTROL_SPIN: /* in a loop of atomics, a team of one gains nothing */
    case CONTROL_NAP:
    case CONTROL_TRAP:
        return CONTROL_PART;
    default:
        return step->control;
    }
}

/* Is the step an atomic whose result, the register `to`, nobody reads? No loop waits by it. */
bool lower_region_blind(const struct lower *lower, uint32_t step, uint32_t to)
{
    const unsigned op = lower->sources[step].insn->op;

    return lower->steps[step].control == CONTROL_SPIN && !lower->steps[step].list &&
           (op == IR_RED || (op == IR_ATOM && (to == NO_TARGET || (lower->live_from[to] == step &&
                                                                   lower->live_to[to] == step))));
}

/* Are all of these steps plain? */
static bool is_plain(const struct lower_region *region, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        switch (region->steps[i].control) {
        case CONTROL_RUN:
        case CONTROL_GUARDED:
        case CONTROL_MEMORY:
        case CONTROL_ROWS:
            break;
        case CONTROL_AFFINE:
            if (region->steps[i].guard != PTX_ABSENT || !is_local(region, i, first, last))
                return false;
            break;
        default:
            return false;
        }
    return true;
}

/* For each step whether it is such a branch. */
void lower_region_mark(const struct lower_region *region, bool *marks)
{
    for (uint32_t i = 0; i + 1 < region->count; i++) {
        const struct ptx_step *branch = &region->steps[i];

        if (branch->control == CONTROL_MEMORY &&
            region->lower->steps[region->general[i]].control == CONTROL_SPIN)
            marks[i] = branch->list_count != 0;
        if (branch->control != CONTROL_BRANCH)
            continue;
        uint32_t target = (uint32_t)(branch->how.jump.step - region->steps);
        if (target < region->count && target != i)
            marks[i] =
                target > i ? is_plain(region, i + 1, target - 1) : is_plain(region, target, i - 1);
    }
}

/* --- Counters --- */

/* Can a team repeat these general steps for some of its lanes? */
static bool is_repeated(const struct lower *lower, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s < last; s++)
        if (lower->steps[s].control > CONTROL_JOIN || lower->steps[s].control == CONTROL_SPIN)
            return false;
    return true;
}

/* Do lanes leave the loop one by one, as far as is known? Then its branch depends on vectors. */
static bool is_divergent(const struct lower_region *region, const enum affine_form *form,
                         const uint8_t *op, uint32_t first, uint32_t last)
{
    uint32_t guard = NO_TARGET;

    FOR_REFS (region->lower, ref, last)
        if (ref->slot == SLOT_GUARD)
            guard = ref->vreg;
    FOR_REFS_OF (region->lower, made, first, last)
        if (made->def && made->vreg == guard)
            FOR_REFS (region->lower, ref, made->step)
                if (!op[made->step] || (!ref->def && form[ref->vreg] == FORM_ANY))
                    return true;
    return false;
}

/* Does the step that the reference is in make an affine value of it, or an address? */
static bool is_taken(const struct lower_region *region, const uint8_t *op,
                     const struct lower_ref *use, uint32_t vreg)
{
    if (!op[use->step])
        return false;
    if (op[use->step] == AFFINE_LOAD || op[use->step] == AFFINE_STORE)
        return use->slot == (op[use->step] == AFFINE_LOAD);
    FOR_REFS (region->lower, ref, use->step)
        if (ref->def)
            return ref->vreg != vreg && region->lower->places[ref->vreg] != PLACE_PREDICATE;
    return true;
}

static bool is_counter(const struct lower_region *region, const uint8_t *op, uint32_t vreg,
                       uint32_t first, uint32_t last)
{
    const struct lower *lower = region->lower;

    if (lower->live_from[vreg] >= first && lower->live_to[vreg] <= last)
        return false;
    FOR_REFS_OF (lower, ref, lower->live_from[vreg], lower->live_to[vreg] + 1)
        if (!ref->def && ref->vreg == vreg && is_taken(region, op, ref, vreg))
            return false;
    return true;
}

/* What counts the turns of a loop that lanes leave one by one is a vector, so that the team can
 * stay one; if no other value is affine by it. True: there are such. */
bool lower_region_counters(const struct lower_region *region, enum affine_form *form,
                           const uint8_t *op)
{
    const struct lower *lower = region->lower;
    bool found = false;

    for (uint32_t s = 0; s < lower->step_count; s++) {
        const uint32_t first = lower->steps[s].control == CONTROL_BRANCH
                                   ? lower->first_step[lower->steps[s].how.jump.index]
                                   : NO_TARGET;

        if (first >= s || !is_repeated(lower, first, s) ||
            !is_divergent(region, form, op, first, s))
            continue;
        FOR_REFS_OF (lower, ref, first, s) {
            if (!ref->def || form[ref->vreg] == FORM_ANY ||
                !is_counter(region, op, ref->vreg, first, s))
                continue;
            form[ref->vreg] = FORM_ANY;
            found = true;
        }
    }
    return found;
}
