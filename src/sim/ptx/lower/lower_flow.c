/* SPDX-License-Identifier: MIT */
/* Branches, calls and returns. */
#include "ptx/lower/lower.h"

void lower_flow_bra(struct lower *lower, const struct ir_insn *insn)
{
    const uint32_t index = (uint32_t)(insn - lower->fn->insns);
    uint32_t target = insn->operands[0].index, step;
    const struct ir_insn *next = &lower->fn->insns[index + 1];
    bool negate = insn->guard_negate;

    if (!insn->guarded && target == index + 1)
        return;
    /* "@p bra A; bra B; A:" is "@!p bra B". */
    if (insn->guarded && target == index + 2 && index + 1 < lower->fn->insn_count &&
        next->op == IR_BRA && !next->guarded && !lower->targeted[index + 1]) {
        target = next->operands[0].index;
        negate = !negate;
        lower->dropped[index + 1] = 1;
    }
    step = lower_step(lower, NULL, insn->guarded ? CONTROL_BRANCH : CONTROL_JUMP);
    lower->steps[step].guard_negate = negate;
    lower->steps[step].how.jump.index = target;
}

void lower_flow_brx(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_table *list = &lower->fn->tables[insn->operands[1].index];
    uint32_t value = operand_source(lower, &insn->operands[0], PLACE_32), step;
    struct jump_table *table =
        lower_lasting(lower, sizeof *table + list->count * sizeof table->targets[0]);

    if (!table)
        return;
    table->count = list->count;
    memcpy(table->targets, list->indices, list->count * sizeof table->targets[0]);
    step = lower_step(lower, NULL, CONTROL_INDEXED);
    lower->steps[step].how.table = table;
    lower_use(lower, step, 0, value);
}

/* An argument or result: memory of this frame, or a register that goes into the step's list. */
static bool call_place(struct lower *lower, const struct ir_operand *operand, bool def,
                       struct call_value *value, uint32_t *list, uint32_t *count)
{
    if (operand->kind == IR_OPERAND_LOCAL || operand->kind == IR_OPERAND_PARAM ||
        operand->kind == IR_OPERAND_RETURN) {
        if (operand->kind == IR_OPERAND_LOCAL) {
            value->offset = lower->variable_at[operand->index];
            value->size = (uint32_t)lower->fn->variables[operand->index].size;
        } else if (operand->kind == IR_OPERAND_PARAM && !lower->fn->entry) {
            value->offset = lower->params_at[operand->index];
            value->size = lower->fn->params[operand->index].size;
        } else if (!lower->fn->entry) {
            value->offset = lower->returns_at[operand->index];
            value->size = lower->fn->returns[operand->index].size;
        } else {
            lower_refuse(lower, "an entry's parameter cannot be an argument");
            return false;
        }
        value->place = PLACE_MEMORY;
        return true;
    }
    enum value_place place =
        operand_place(lower, operand, operand->bits >> 32 ? PLACE_64 : PLACE_32);
    value->place = (uint8_t)place;
    value->offset = *count;
    value->size = place == PLACE_128 ? 16 : place == PLACE_64 ? 8 : 4;
    if (operand->kind == IR_OPERAND_REG)
        value->size = opcodes_type_size(lower->fn->registers[operand->index].type);
    if (def)
        list[*count] = operand_dest(lower, operand, place, IR_NONE);
    else if (place == PLACE_PREDICATE)
        list[*count] = operand_predicate(lower, operand);
    else
        list[*count] = operand_source(lower, operand, place);
    (*count)++;
    return true;
}

#define MAX_CALL 256
/* call: (results), the function or its address, (arguments); the reader has checked that they are
 * what the function takes. */
void lower_flow_call(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *returns = &insn->operands[0], *target = &insn->operands[1];
    const struct ir_operand *arguments = &insn->operands[2];
    const struct ptx_builtin *builtin = NULL;
    uint32_t values[MAX_CALL] = {PTX_ABSENT}, count = 1, first_return, step;
    struct call_site *site = lower_lasting(
        lower, sizeof *site + (arguments->count + returns->count) * sizeof(struct call_value));

    if (!site)
        return;
    if (arguments->count + returns->count >= MAX_CALL) {
        lower_refuse(lower, "too many arguments");
        return;
    }
    *site = (struct call_site){.callee = UINT32_MAX,
                               .arguments = (struct call_value *)(site + 1),
                               .argument_count = arguments->count,
                               .return_count = returns->count};
    site->returns = site->arguments + arguments->count;
    if (target->kind == IR_OPERAND_FUNCTION) {
        const struct ir_function *function = &lower->module->ir->functions[target->index];

        site->callee = lower->module->code_of[target->index];
        builtin = site->callee == UINT32_MAX ? opcodes_builtin(function->name) : NULL;
        if (site->callee == UINT32_MAX ? !builtin : function->entry) {
            lower_refuse(lower,
                         function->entry ? "'%s' is an entry" : "the function '%s' has no body",
                         function->name);
            return;
        }
    } else {
        values[0] = operand_source(lower, target, PLACE_64);
    }
    for (uint32_t i = 0; i < arguments->count; i++)
        if (!call_place(lower, &arguments->parts[i], false, &site->arguments[i], values, &count))
            return;
    first_return = count;
    for (uint32_t i = 0; i < returns->count; i++)
        if (!call_place(lower, &returns->parts[i], true, &site->returns[i], values, &count))
            return;
    /* A result may be left where it is: some compilers declare vprintf without one. */
    if (builtin && (count > 1 || arguments->count != builtin->arguments ||
                    returns->count > builtin->returns)) {
        lower_refuse(lower, "'%s' takes other arguments", builtin->name);
        return;
    }
    step = lower_step(lower, builtin ? builtin_run(builtin) : NULL,
                      builtin ? CONTROL_MEMORY : CONTROL_CALL);
    lower->steps[step].how.call.site = site;
    lower_list(lower, step, count);
    lower_uses(lower, step, 0, values, first_return);
    lower_defs(lower, step, first_return, values + first_return, count - first_return);
}

void lower_flow_ret(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_function *fn = lower->fn;
    uint32_t step, count = 0;

    (void)insn;

    if (fn->entry) {
        lower_step(lower, NULL, CONTROL_EXIT);
        return;
    }
    step = lower_step(lower, NULL, CONTROL_RETURN);
    lower_list(lower, step, fn->return_count);
    for (uint32_t i = 0; i < fn->return_count; i++)
        if (fn->returns[i].reg)
            lower_use(lower, step, count++, lower->base[fn->returns[i].index]);
}

/* --- Barriers, fences and what else concerns several threads --- */

void lower_flow_barrier(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t first = 0, last = insn->count;
    uint32_t dest = PTX_ABSENT, barrier, count = PTX_ABSENT, predicate = PTX_ABSENT;
    bool result = insn->mode == IR_BAR_RED_POPC || insn->mode == IR_BAR_RED_AND ||
                  insn->mode == IR_BAR_RED_OR;

    if (insn->mode == IR_BAR_CLUSTER_ARRIVE || insn->mode == IR_BAR_CLUSTER_WAIT) {
        lower_step(lower, NULL, CONTROL_CLUSTER);
        return;
    }
    if (insn->mode == IR_BAR_WARP_SYNC) {
        count = operand_source(lower, &insn->operands[0], PLACE_32);
        LOWER_USES(lower, lower_step(lower, move_nothing, CONTROL_SYNC), count);
        return;
    }
    if (result) {
        first = 1;
        predicate = operand_predicate(lower, &insn->operands[--last]);
    }
    barrier = operand_source(lower, &insn->operands[first], PLACE_32);
    if (first + 1 < last)
        count = operand_source(lower, &insn->operands[first + 1], PLACE_32);
    if (result)
        dest = operand_dest(lower, &insn->operands[0],
                            insn->mode == IR_BAR_RED_POPC ? PLACE_32 : PLACE_PREDICATE, IR_U32);
    LOWER_STEP(lower, NULL, CONTROL_BARRIER, dest, barrier, count, predicate);
}

/* mbarrier: result, address, and a count or a state. */
void lower_flow_mbarrier(struct lower *lower, const struct ir_insn *insn)
{
    bool predicate = insn->mode == IR_MB_TEST_WAIT || insn->mode == IR_MB_TRY_WAIT;
    uint32_t dest = PTX_ABSENT, address = PTX_ABSENT, value = PTX_ABSENT,
             first = insn->destinations;

    if (insn->mode == IR_MB_PENDING_COUNT) {
        value = operand_source(lower, &insn->operands[1], PLACE_64);
    } else {
        address = operand_sum(lower, &insn->operands[first]);
        if (insn->count > first + 1u) {
            const struct ir_operand *operand = &insn->operands[first + 1];

            value = operand_source(lower, operand, operand_place(lower, operand, PLACE_32));
            if (operand_place(lower, operand, PLACE_32) == PLACE_32)
                value = value & PTX_CONSTANT
                            ? operand_source(lower, operand, PLACE_64)
                            : operand_temp_from(lower, move_zero64, PLACE_64, value);
        }
    }
    if (first)
        dest = operand_dest(lower, &insn->operands[0],
                            predicate                           ? PLACE_PREDICATE
                            : insn->mode == IR_MB_PENDING_COUNT ? PLACE_32
                                                                : PLACE_64,
                            IR_NONE);
    LOWER_STEP(lower, memory_async_mbarrier, predicate ? CONTROL_SPIN : CONTROL_MEMORY, dest,
               address, value);
}

void lower_flow_nap(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t time = operand_source(lower, &insn->operands[0], PLACE_32);

    LOWER_USES(lower, lower_step(lower, NULL, CONTROL_NAP), time);
}
