/* SPDX-License-Identifier: MIT */
/* Steps for teams of warps. Most of what a kernel computes beside its data is affine: the places of
 * its data. While all lanes of a team are at one place, such registers are kept as a few numbers
 * (ops/affine.h), and comparisons, loads and stores look at those. Here an entry gets a second list
 * of steps that does so. When the warps part, each goes on alone in it. When its lanes part, or a
 * value is not affine after all, the numbers become vectors, and the general steps go on from that
 * place, until the warp ends.
 *
 * A register is affine where all steps that write it make affine values of affine values. What it
 * holds is also a vector, where a step needs one. A value that depends on the launch alone is
 * computed once for the memory of a warp, which the warps of other blocks use again. */
#include "ptx/lower/lower.h"

#define NONE UINT32_MAX
#define MOST_TURNS 16 /* over all steps; where that is not enough, there are no such steps */
#define MOST_SOURCES 3

struct affine_pass {
    struct lower *lower;
    uint8_t *op;                 /* by step: enum affine_op */
    enum affine_form *form;      /* by virtual register */
    uint8_t *vector;             /* is it needed as a vector? */
    uint32_t *writer;            /* the step that writes it; NONE: several do */
    uint32_t *fixed;             /* its place where it depends on the launch alone; else NONE */
    uint32_t *team_at;           /* by step: the step for teams */
    uint32_t forms_at, fixed_at; /* in the register file */
    uint32_t fixed_count, affine_count;
    uint8_t tids;
    struct ptx_step *steps, *fixed_steps;
    uint32_t *general;
    uint32_t count;
};

static enum affine_op op_of(const struct affine_pass *pass, uint32_t step)
{
    return (enum affine_op)pass->op[step];
}

/* The register in an operand of the step; NONE: a constant, or nothing. */
static uint32_t vreg_in(const struct affine_pass *pass, uint32_t step, uint32_t slot)
{
    FOR_REFS (pass->lower, ref, step)
        if (ref->slot == slot)
            return ref->vreg;
    return NONE;
}

static enum affine_form form_in(const struct affine_pass *pass, uint32_t step, uint32_t slot)
{
    const uint32_t vreg = vreg_in(pass, step, slot);

    if (vreg != NONE)
        return pass->form[vreg];
    return pass->lower->steps[step].operand[slot] & PTX_CONSTANT ? FORM_UNIFORM : FORM_ANY;
}

/* Of what the step writes. */
static enum affine_form form_made(const struct affine_pass *pass, uint32_t step)
{
    const struct ptx_step *at = &pass->lower->steps[step];
    const enum affine_op op = op_of(pass, step);
    enum affine_form sources[MOST_SOURCES] = {FORM_ANY, FORM_ANY, FORM_ANY};
    const uint32_t count = at->list_count ? at->list_count - 1U : 0;

    if (!affine_run_of(op) || at->list || count > MOST_SOURCES)
        return FORM_ANY;
    for (uint32_t i = 0; i < count; i++)
        sources[i] = at->operand[i + 1] & PTX_CONSTANT ? FORM_UNIFORM : FORM_ANY;
    FOR_REFS (pass->lower, ref, step)
        if (ref->slot - 1 < count)
            sources[ref->slot - 1] = pass->form[ref->vreg];
    return affine_form_of(op, sources, count);
}

/* Does the step compute on the forms of its sources? */
static bool is_affine(const struct affine_pass *pass, uint32_t step)
{
    const uint32_t vreg = vreg_in(pass, step, 0);

    return affine_run_of(op_of(pass, step)) && vreg != NONE && pass->form[vreg] != FORM_ANY;
}

/* setp of two affine values: its run function, or NULL. */
static affine_run *compare_run(const struct affine_pass *pass, uint32_t step)
{
    const uint32_t first = pass->lower->steps[step].how.compare.first;
    const enum affine_op op = op_of(pass, step);

    return (op == AFFINE_COMPARE_U32 || op == AFFINE_COMPARE_S32 || op == AFFINE_COMPARE_64) &&
                   form_in(pass, step, first) != FORM_ANY &&
                   form_in(pass, step, first + 1) != FORM_ANY
               ? affine_run_of(op)
               : NULL;
}

/* A load or store at an affine address: its run function, or NULL. */
static affine_run *memory_run(const struct affine_pass *pass, uint32_t step)
{
    const struct how_memory *how = &pass->lower->steps[step].how.memory;
    const enum affine_op op = op_of(pass, step);
    const uint32_t vreg = op == AFFINE_LOAD    ? vreg_in(pass, step, 1)
                          : op == AFFINE_STORE ? vreg_in(pass, step, 0)
                                               : NONE;
    const uint32_t slot = op == AFFINE_LOAD;
    const bool fixed = (op == AFFINE_LOAD || op == AFFINE_STORE) &&
                       (pass->lower->steps[step].operand[slot] & PTX_CONSTANT);

    if (vreg == NONE ? !fixed : pass->form[vreg] == FORM_ANY)
        return NULL;
    return op == AFFINE_LOAD
               ? select_affine_load((enum memory_space)how->space, (enum load_kind)how->load)
               : select_affine_store((enum memory_space)how->space, (enum store_kind)how->store);
}

/* The operands whose forms the step takes, as bits; the others it takes as vectors. */
#define ALL_OPERANDS UINT32_MAX
static uint32_t forms_taken(const struct affine_pass *pass, uint32_t step)
{
    const enum affine_op op = op_of(pass, step);

    if (op == AFFINE_NONE)
        return 0;
    if (is_affine(pass, step))
        return ALL_OPERANDS;
    if (compare_run(pass, step))
        return UINT32_C(3) << pass->lower->steps[step].how.compare.first;
    return memory_run(pass, step) ? op == AFFINE_LOAD ? 2 : 1 : 0;
}

/* --- Forms --- */

static void index_refs(struct affine_pass *pass)
{
    const struct lower *lower = pass->lower;
    for (uint32_t v = 0; v < lower->vreg_count; v++) {
        pass->form[v] =
            lower->places[v] == PLACE_32 || lower->places[v] == PLACE_64 ? FORM_UNIFORM : FORM_ANY;
        pass->writer[v] = pass->fixed[v] = NONE;
    }
    for (uint32_t s = 0; s < lower->step_count; s++) {
        const enum affine_op op = (enum affine_op)lower->sources[s].affine;

        pass->op[s] =
            (uint8_t)(op == AFFINE_SPECIAL ? affine_op_special(&lower->steps[s].how.special) : op);
    }
    for (uint32_t i = 0; i < lower->ref_count; i++)
        if (lower->refs[i].def)
            pass->writer[lower->refs[i].vreg] = lower->refs[i].step;
    /* Of several, the last is remembered: the others see that it is not they. */
    for (uint32_t i = 0; i < lower->ref_count; i++)
        if (lower->refs[i].def && pass->writer[lower->refs[i].vreg] != lower->refs[i].step)
            pass->writer[lower->refs[i].vreg] = NONE;
}

/* From "all are uniform" on, until nothing changes. */
static bool solve_forms(struct affine_pass *pass)
{
    const struct lower *lower = pass->lower;
    bool changed = true;

    for (unsigned turns = 0; changed; turns++) {
        if (turns == MOST_TURNS)
            return false;
        changed = false;
        for (uint32_t i = 0; i < lower->ref_count; i++) {
            const struct lower_ref *ref = &lower->refs[i];

            if (!ref->def || pass->form[ref->vreg] == FORM_ANY)
                continue;
            enum affine_form made = op_of(pass, ref->step) ? form_made(pass, ref->step) : FORM_ANY;
            if (made > pass->form[ref->vreg]) {
                pass->form[ref->vreg] = made;
                changed = true;
            }
        }
    }
    return true;
}

/* What is the same in all blocks: written once, before all uses, from what is so too. */
static void find_fixed(struct affine_pass *pass)
{
    const struct lower *lower = pass->lower;

    for (uint32_t s = 0; s < lower->step_count; s++) {
        const enum affine_op op = op_of(pass, s);
        bool fixed = op != AFFINE_BLOCK && affine_run_of(op) && lower->steps[s].guard == PTX_ABSENT;

        if (!fixed)
            continue;
        uint32_t vreg = vreg_in(pass, s, 0);
        fixed = vreg != NONE && pass->form[vreg] == FORM_UNIFORM && pass->writer[vreg] == s &&
                lower->live_from[vreg] == s;
        FOR_REFS (lower, ref, s)
            fixed = fixed && (ref->def || pass->fixed[ref->vreg] != NONE);
        if (fixed)
            pass->fixed[vreg] =
                pass->fixed_at + pass->fixed_count++ * (uint32_t)sizeof(struct affine);
    }
}

static void find_uses(struct affine_pass *pass)
{
    const struct lower *lower = pass->lower;

    for (uint32_t s = 0; s < lower->step_count; s++) {
        const uint32_t taken = forms_taken(pass, s);

        FOR_REFS (lower, ref, s)
            if (!ref->def && pass->form[ref->vreg] != FORM_ANY && !(taken >> (ref->slot & 31) & 1))
                pass->vector[ref->vreg] = 1;
    }
}

/* --- Steps --- */

/* Forms share places as the vectors do. */
static uint32_t place_of(const struct affine_pass *pass, uint32_t vreg)
{
    const struct lower *lower = pass->lower;
    const uint32_t at = lower->place_at[vreg], narrow = lower->narrow_bytes;

    if (pass->fixed[vreg] != NONE)
        return pass->fixed[vreg];
    return pass->forms_at + (at < narrow ? at / 4 : narrow / 4 + (at - narrow) / 8);
}

/* What the pool has at an operand. Its entries lie in the order of their offsets. */
static const struct pool_entry *pool_at(const struct affine_pass *pass, uint32_t operand)
{
    const struct pool_entry *pool = pass->lower->module->pool;
    const uint32_t offset = operand & ~PTX_CONSTANT;
    uint32_t low = 0, past = pass->lower->module->pool_count;

    while (past - low > 1) {
        const uint32_t middle = low + (past - low) / 2;

        if (pool[middle].offset <= offset)
            low = middle;
        else
            past = middle;
    }
    return &pool[low];
}

/* The operand's form: a register's, or one in the pool. */
static uint32_t form_operand(struct affine_pass *pass, uint32_t step, uint32_t slot)
{
    const uint32_t vreg = vreg_in(pass, step, slot);
    const uint32_t operand = pass->lower->steps[step].operand[slot];

    if (vreg != NONE)
        return place_of(pass, vreg);
    if (operand == PTX_ABSENT)
        return PTX_ABSENT;
    const struct pool_entry *entry = pool_at(pass, operand);
    return lower_pool(pass->lower, (enum pool_kind)entry->kind, PLACE_FORM, entry->index,
                      entry->value);
}

/* The step on forms: its operands, and a vector of the result if one is needed. */
static void make_affine(struct affine_pass *pass, uint32_t s, struct ptx_step *step)
{
    const struct lower *lower = pass->lower;
    const uint32_t vreg = vreg_in(pass, s, 0);
    const bool wide = lower->places[vreg] == PLACE_64;

    for (uint32_t i = 0; i < step->list_count; i++)
        step->operand[i] = form_operand(pass, s, i);
    step->affine = affine_run_of(op_of(pass, s));
    step->control = CONTROL_AFFINE;
    if (pass->vector[vreg] && pass->fixed[vreg] == NONE) {
        step->form = step->affine;
        step->affine = wide ? affine_vector_both_64 : affine_vector_both_32;
        step->operand[5] = lower->place_at[vreg];
    }
    if (op_of(pass, s) == AFFINE_TID)
        pass->tids |= (uint8_t)(1U << step->how.special.component);
    pass->affine_count++;
}

/* What was computed before the warp began; where a vector is needed, it is made here. */
static bool make_fixed(struct affine_pass *pass, uint32_t s, struct ptx_step *step)
{
    const struct lower *lower = pass->lower;
    const uint32_t vreg = vreg_in(pass, s, 0);

    make_affine(pass, s, step);
    pass->fixed_steps[(pass->fixed[vreg] - pass->fixed_at) / sizeof(struct affine)] = *step;
    if (!pass->vector[vreg])
        return false;
    step->operand[0] = lower->place_at[vreg];
    step->operand[1] = pass->fixed[vreg];
    step->affine =
        lower->places[vreg] == PLACE_64 ? affine_vector_spread_64 : affine_vector_spread_32;
    return true;
}

/* How much memory an atomic may reach, if that is shared; else 0. */
static uint16_t atomic_bytes(const struct affine_pass *pass, uint32_t s)
{
    const struct ptx_step *step = &pass->lower->steps[s];
    const uint32_t value = vreg_in(pass, s, 2);
    const unsigned place = value != NONE ? pass->lower->places[value]
                           : step->operand[2] & PTX_CONSTANT
                               ? pool_at(pass, step->operand[2])->place
                               : PLACE_MEMORY;

    if (step->how.memory.space != MEMORY_SHARED || step->list_count > 3)
        return 0;
    return place == PLACE_64 ? 8 : place == PLACE_32 ? 4 : 0;
}

/* The step for teams; false: there is none. */
static bool make_step(struct affine_pass *pass, uint32_t s, struct ptx_step *step)
{
    const uint32_t taken = forms_taken(pass, s);

    *step = pass->lower->steps[s];
    if (step->control == CONTROL_JOIN)
        return false;
    if (lower_region_blind(pass->lower, s, vreg_in(pass, s, 0))) {
        step->operand[0] = PTX_ABSENT;
        step->control = CONTROL_MEMORY;
        step->list_count = atomic_bytes(pass, s); /* for lower_region_mark */
        return true;
    }
    if (!taken) {
        step->control = lower_region_control(step);
        return true;
    }
    if (taken == ALL_OPERANDS) {
        if (pass->fixed[vreg_in(pass, s, 0)] != NONE)
            return make_fixed(pass, s, step);
        make_affine(pass, s, step);
        return true;
    }
    affine_run *compare = compare_run(pass, s);
    step->affine = compare ? compare : memory_run(pass, s);
    step->control = compare ? CONTROL_AFFINE : CONTROL_ROWS;
    for (uint32_t i = 0; i < step->list_count; i++)
        if (taken >> i & 1)
            step->operand[i] = form_operand(pass, s, i);
    return true;
}

static bool make_steps(struct affine_pass *pass)
{
    struct lower *lower = pass->lower;

    pass->steps = lower_module_alloc(lower->module, lower->step_count * sizeof *pass->steps);
    pass->general = lower_module_alloc(lower->module, lower->step_count * sizeof *pass->general);
    pass->fixed_steps =
        lower_module_alloc(lower->module, pass->fixed_count * sizeof *pass->fixed_steps);
    if (!pass->steps || !pass->general || !pass->fixed_steps)
        return false;
    for (uint32_t s = 0; s < lower->step_count; s++) {
        pass->team_at[s] = pass->count;
        pass->general[pass->count] = s;
        pass->count += make_step(pass, s, &pass->steps[pass->count]);
    }
    pass->team_at[lower->step_count] = pass->count;
    for (uint32_t i = 0; i < pass->count; i++) {
        struct ptx_step *step = &pass->steps[i];

        if (step->control != CONTROL_JUMP && step->control != CONTROL_BRANCH)
            continue;
        step->how.jump.step = &pass->steps[pass->team_at[lower->first_step[step->how.jump.index]]];
        step->control = step->control == CONTROL_JUMP && step->how.jump.step <= step
                            ? CONTROL_LOOP
                            : step->control;
    }
    return lower->status == PTX_OK;
}

/* Which registers are to become vectors, and where, when a warp leaves its team. */
static bool make_values(const struct affine_pass *pass, struct team_code *team)
{
    const struct lower *lower = pass->lower;
    uint32_t count = 0;

    for (uint32_t v = 0; v < lower->vreg_count; v++)
        count += pass->form[v] != FORM_ANY && lower->live_from[v] != NONE;
    team->values = lower_module_alloc(lower->module, count * sizeof *team->values);
    if (!team->values)
        return false;
    for (uint32_t v = 0; v < lower->vreg_count; v++)
        if (pass->form[v] != FORM_ANY && lower->live_from[v] != NONE)
            team->values[team->value_count++] =
                (struct affine_value){.from = lower->live_from[v],
                                      .to = lower->live_to[v],
                                      .vector = lower->place_at[v],
                                      .form = place_of(pass, v),
                                      .wide = lower->places[v] == PLACE_64};
    return true;
}

static bool make_team(struct affine_pass *pass)
{
    struct lower *lower = pass->lower;
    struct ptx_code *code = lower->code;
    struct team_code *team;

    pass->forms_at = code->register_bytes;
    pass->fixed_at =
        pass->forms_at + lower->narrow_bytes / 4 + (code->register_bytes - lower->narrow_bytes) / 8;
    find_fixed(pass);
    find_uses(pass);
    team = lower_module_alloc(lower->module, sizeof *team);
    if (!team || !make_steps(pass) || !make_values(pass, team))
        return false;
    team->region = lower_module_alloc(lower->module, pass->count * sizeof *team->region);
    if (!team->region)
        return false;
    if (!pass->affine_count)
        return true;
    lower_region_mark(
        &(struct lower_region){
            .lower = lower, .general = pass->general, .steps = pass->steps, .count = pass->count},
        team->region);
    team->steps = pass->steps;
    team->general = pass->general;
    team->step_count = pass->count;
    team->fixed = pass->fixed_steps;
    team->fixed_count = pass->fixed_count;
    team->tids = pass->tids;
    code->team = team;
    code->fixed_bytes = pass->fixed_count * (uint32_t)sizeof(struct affine);
    code->register_bytes = pass->fixed_at + code->fixed_bytes;
    return true;
}

void lower_affine(struct lower *lower)
{
    const size_t steps = lower->step_count, vregs = lower->vreg_count;
    struct affine_pass pass = {
        .lower = lower,
        .op = lower_scratch(lower, steps, sizeof *pass.op),
        .form = lower_scratch(lower, vregs, sizeof *pass.form),
        .vector = lower_scratch(lower, vregs, sizeof *pass.vector),
        .writer = lower_scratch(lower, vregs, sizeof *pass.writer),
        .fixed = lower_scratch(lower, vregs, sizeof *pass.fixed),
        .team_at = lower_scratch(lower, steps, sizeof *pass.team_at),
    };
    const struct lower_region region = {.lower = lower};

    if (lower->status != PTX_OK)
        return;
    index_refs(&pass);
    if (solve_forms(&pass) &&
        (!lower_region_counters(&region, pass.form, pass.op) || solve_forms(&pass)) &&
        !make_team(&pass))
        lower->status = PTX_NO_MEMORY;
}
