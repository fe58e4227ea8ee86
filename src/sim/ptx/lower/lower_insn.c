/* SPDX-License-Identifier: MIT */
/* One instruction: to its family, or to the run function that select_run knows. */
#include "ptx/lower/lower.h"

#include <assert.h>

struct flat { /* the operands of a step, in order */
    uint32_t values[LOWER_MAX_PARTS];
    uint32_t count;
};

static void flat_add(struct flat *flat, uint32_t value)
{
    assert(flat->count < LOWER_MAX_PARTS);
    flat->values[flat->count++] = value;
}

static bool is_texture(unsigned op)
{
    return op == IR_TEX || op == IR_TLD4 || op == IR_TXQ || op == IR_SULD || op == IR_SUST ||
           op == IR_SURED || op == IR_SUQ || op == IR_ISTYPEP;
}

/* Must operand `index`, where it is a constant, be a predicate? */
static bool wants_predicate(const struct ir_insn *insn, uint32_t index)
{
    switch (insn->op) {
    case IR_SELP:
        return index == 3;
    case IR_VOTE:
        return index == 1;
    case IR_SETP:
    case IR_SET:
        return index == insn->destinations + 2u;
    default:
        return insn->type_count && insn->types[0] == IR_PRED;
    }
}

static bool is_predicate(const struct lower *lower, const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_REG && lower->fn->registers[operand->index].type == IR_PRED;
}

static bool is_list(const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_VECTOR || operand->kind == IR_OPERAND_GROUP ||
           operand->kind == IR_OPERAND_ADDRESS;
}

static void flat_source(struct lower *lower, struct flat *flat, const struct ir_insn *insn,
                        const struct ir_operand *operand, uint32_t index)
{
    enum value_place place = operand_place_at(insn, index);

    if (is_list(operand)) {
        for (uint32_t i = 0; i < operand->count; i++)
            flat_source(lower, flat, insn, &operand->parts[i], index);
        return;
    }
    if (is_predicate(lower, operand) ||
        (operand->kind == IR_OPERAND_IMM && wants_predicate(insn, index))) {
        flat_add(flat, operand_predicate(lower, operand));
        return;
    }
    if (is_texture(insn->op)) {
        if (operand->kind == IR_OPERAND_REG)
            place = operand_place(lower, operand, place);
        else
            place = operand->kind == IR_OPERAND_IMM ? PLACE_32 : PLACE_64;
    }
    flat_add(flat, operand_source(lower, operand, place));
}

static enum ir_type dest_type(const struct ir_insn *insn)
{
    /* Only cvt may write a register that is wider than its type. */
    return insn->op == IR_CVT ? (enum ir_type)insn->types[0] : IR_NONE;
}

static void flat_dest(struct lower *lower, struct flat *flat, const struct ir_insn *insn,
                      const struct ir_operand *operand, uint32_t index)
{
    enum value_place place = operand_place_at(insn, index);

    if (operand->kind == IR_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < operand->count; i++)
            flat_dest(lower, flat, insn, &operand->parts[i], index);
        return;
    }
    if (is_predicate(lower, operand))
        place = PLACE_PREDICATE;
    else if (is_texture(insn->op))
        place = operand_place(lower, operand, place);
    flat_add(flat, operand_dest(lower, operand, place, dest_type(insn)));
}

static bool has_list(const struct ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->count; i++)
        if (is_list(&insn->operands[i]))
            return true;
    return false;
}

/* All lanes of the warp take part in it. */
static bool is_matrix(unsigned op)
{
    return op == IR_MMA || op == IR_WMMA || op == IR_MOVMATRIX;
}

static enum step_control control_of(const struct ir_insn *insn)
{
    if (is_texture(insn->op))
        return CONTROL_MEMORY;
    if (is_matrix(insn->op))
        return CONTROL_SYNC;
    if (insn->sync && (insn->op == IR_SHFL || insn->op == IR_VOTE || insn->op == IR_MATCH ||
                       insn->op == IR_REDUX))
        return CONTROL_SYNC;
    return CONTROL_RUN;
}

/* An instruction on registers alone. */
static void lower_selected(struct lower *lower, const struct ir_insn *insn)
{
    const char *reason = NULL;
    union ptx_how how = {0};
    struct flat flat = {.count = 0};
    ptx_run *run = select_run(insn, &how, &reason);
    bool list = has_list(insn);

    if (!run) {
        lower_refuse(lower, "%s", reason ? reason : "this form is not supported");
        return;
    }
    for (uint32_t i = insn->destinations; i < insn->count; i++)
        flat_source(lower, &flat, insn, &insn->operands[i], i);
    if (is_matrix(insn->op))
        flat_add(&flat, lower_pool(lower, POOL_IMMEDIATE, PLACE_32, 0, PTX_FULL));
    /* Destinations come first in the step and last here: temporaries are made in this order. */
    struct flat dests = {.count = 0};
    for (uint32_t i = 0; i < insn->destinations; i++)
        flat_dest(lower, &dests, insn, &insn->operands[i], i);
    uint32_t step = lower_step(lower, run, control_of(insn));
    lower_note_op(lower, step, affine_op_insn(insn));
    if (insn->op == IR_SETP)
        how.compare.compare = insn->compare;
    lower->steps[step].how = how;
    if (list || dests.count + flat.count > STEP_OPERANDS)
        lower_list(lower, step, dests.count + flat.count);
    lower_defs(lower, step, 0, dests.values, dests.count);
    lower_uses(lower, step, dests.count, flat.values, flat.count);
}

/* Nothing is ever pending, nobody waits for it, and nothing is fetched: on real devices, too, a
 * wild address is no fault there. */
static void lower_nothing(struct lower *lower, const struct ir_insn *insn)
{
    (void)lower;
    (void)insn;
}

static lower_one *const lowered[IR_OP_COUNT] = {
#define LOWERED(op, function) [IR_##op] = function,
#include "ptx/lower/lower_insn.def"
#undef LOWERED
};

void lower_insn(struct lower *lower)
{
    lower_one *const one = lowered[lower->insn->op];

    switch (lower->insn->op) {
    case IR_EXIT:
        lower_step(lower, NULL, CONTROL_EXIT);
        break;
    case IR_TRAP:
    case IR_BRKPT:
        lower_step(lower, NULL, CONTROL_TRAP);
        break;
    case IR_MEMBAR:
    case IR_FENCE:
        lower_step(lower, special_fence, CONTROL_RUN);
        break;
    default:
        (one ? one : lower_selected)(lower, lower->insn);
    }
    operand_finish(lower);
}
