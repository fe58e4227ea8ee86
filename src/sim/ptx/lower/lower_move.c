/* SPDX-License-Identifier: MIT */
/* Moves, address conversions and what else only places values. */
#include "ptx/lower/lower.h"

/* {a, b} from one register, or to one. */
static void lower_pack(struct lower *lower, const struct ir_insn *insn, bool pack)
{
    const struct ir_operand *parts = &insn->operands[pack], *one = &insn->operands[!pack];
    const enum ir_type type = (enum ir_type)insn->types[0];
    const enum value_place whole = operand_place_of(type);
    enum value_place part = opcodes_type_size(type) > 4U * parts->count ? PLACE_64 : PLACE_32;
    uint32_t values[LOWER_MAX_PARTS], count = parts->count, step;
    uint32_t value = pack ? PTX_ABSENT : operand_source(lower, one, whole);

    for (uint32_t i = 0; i < count; i++)
        values[i] = pack ? operand_source(lower, &parts->parts[i], part)
                         : operand_dest(lower, &parts->parts[i], part, IR_NONE);
    if (pack)
        value = operand_dest(lower, one, whole, type);
    step = lower_step(lower, pack ? move_pack : move_unpack, CONTROL_RUN);
    lower_list(lower, step, count + 1);
    if (pack) {
        lower_def(lower, step, 0, value);
        lower_uses(lower, step, 1, values, count);
    } else {
        lower_defs(lower, step, 0, values, count);
        lower_use(lower, step, count, value);
    }
}

static ptx_run *copy_run(enum value_place place)
{
    return place == PLACE_128  ? move_copy128
           : place == PLACE_64 ? move_copy64
           : place == PLACE_32 ? move_copy32
                               : move_predicate_copy;
}

/* A special register straight into the destination. */
static bool lower_special_mov(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *source = &insn->operands[1];
    enum value_place place = operand_place_of((enum ir_type)insn->types[0]);

    if (source->kind != IR_OPERAND_SPECIAL || source->index == IR_WARP_SZ)
        return false;
    uint32_t dest = operand_dest(lower, &insn->operands[0], place, (enum ir_type)insn->types[0]);
    uint32_t step = lower_step(lower, operand_special_run(lower, source, place), CONTROL_RUN);
    lower->steps[step].how = operand_special_how(source);
    lower_def(lower, step, 0, dest);
    return true;
}

/* mov.v2, mov.v4. All parts are read before the first is written: {a, b} may become {b, a}. */
static void lower_vector_mov(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *dest = &insn->operands[0], *source = &insn->operands[1];
    enum ir_type type = (enum ir_type)insn->types[0];
    enum value_place place = operand_place_of(type);
    uint32_t from[LOWER_MAX_PARTS], to[LOWER_MAX_PARTS];

    for (uint32_t i = 0; i < insn->vector; i++)
        from[i] = operand_source(lower, &source->parts[i], place);
    for (uint32_t i = 0; i < insn->vector; i++)
        to[i] = operand_dest(lower, &dest->parts[i], place, type);
    for (uint32_t i = 1; i < insn->vector; i++)
        for (uint32_t k = 0; k < i; k++)
            if (from[i] == to[k])
                from[i] = operand_temp_from(lower, copy_run(place), place, from[i]);
    for (uint32_t i = 0; i < insn->vector; i++)
        if (to[i] != PTX_ABSENT)
            operand_copy(lower, copy_run(place), to[i], from[i]);
}

void lower_move_mov(struct lower *lower, const struct ir_insn *insn)
{
    const struct ir_operand *dest = &insn->operands[0], *source = &insn->operands[1];
    enum ir_type type = (enum ir_type)insn->types[0];
    enum value_place place = operand_place_of(type);
    uint32_t to, from;

    if (type == IR_PRED) {
        from = operand_predicate(lower, source);
        to = operand_dest(lower, dest, PLACE_PREDICATE, type);
        operand_copy(lower, move_predicate_copy, to, from);
        return;
    }
    if (insn->vector > 1) {
        lower_vector_mov(lower, insn);
    } else if (dest->kind == IR_OPERAND_VECTOR || source->kind == IR_OPERAND_VECTOR) {
        lower_pack(lower, insn, source->kind == IR_OPERAND_VECTOR);
    } else if (!lower_special_mov(lower, insn)) {
        from = operand_source(lower, source, place);
        to = operand_dest(lower, dest, place, type);
        operand_copy(lower, copy_run(place), to, from);
    }
}

static uint64_t window_of(unsigned space)
{
    return space == PTX_SPACE_SHARED  ? PTX_SHARED_WINDOW
           : space == PTX_SPACE_LOCAL ? PTX_LOCAL_WINDOW
           : space == PTX_SPACE_PARAM ? PTX_PARAM_WINDOW
                                      : 0;
}

void lower_move_cvta(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t from = operand_source(lower, &insn->operands[1], PLACE_64), to, step;
    uint64_t window = window_of(insn->space);

    /* A device function's parameters are in its frame. */
    if (insn->space == PTX_SPACE_PARAM && !lower->fn->entry)
        window = PTX_LOCAL_WINDOW;
    to = operand_dest(lower, &insn->operands[0], PLACE_64, IR_U64);
    step = operand_copy(lower, window ? special_window : move_copy64, to, from);
    lower->steps[step].how.add = insn->to ? 0 - window : window;
}

void lower_move_isspacep(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t from = operand_source(lower, &insn->operands[1], PLACE_64);
    uint32_t to = operand_dest(lower, &insn->operands[0], PLACE_PREDICATE, IR_PRED);
    uint32_t step = operand_copy(lower, special_isspacep, to, from);
    unsigned space = insn->space;

    if (space == PTX_SPACE_PARAM && !lower->fn->entry)
        space = PTX_SPACE_LOCAL;
    lower->steps[step].how.space = (uint8_t)space;
}

void lower_move_mapa(struct lower *lower, const struct ir_insn *insn)
{
    bool rank_only = insn->op == IR_GETCTARANK;
    uint32_t from = operand_source(lower, &insn->operands[1], PLACE_64), to, rank = PTX_ABSENT;

    if (!rank_only)
        rank = operand_source(lower, &insn->operands[2], PLACE_32);
    to = operand_dest(lower, &insn->operands[0], rank_only ? PLACE_32 : PLACE_64,
                      rank_only ? IR_U32 : IR_U64);
    LOWER_STEP(lower, rank_only ? special_getctarank : special_mapa, CONTROL_RUN, to, from, rank);
}

void lower_move_stack(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t value = PTX_ABSENT, to;

    lower->code->dynamic_stack = true;
    if (insn->op == IR_STACKRESTORE) {
        value = operand_source(lower, &insn->operands[0], PLACE_64);
        LOWER_USES(lower, lower_step(lower, special_stackrestore, CONTROL_RUN), value);
        return;
    }
    if (insn->op == IR_ALLOCA)
        value = operand_source(lower, &insn->operands[1], PLACE_64);
    to = operand_dest(lower, &insn->operands[0], PLACE_64, IR_U64);
    LOWER_STEP(lower, insn->op == IR_ALLOCA ? special_alloca : special_stacksave, CONTROL_MEMORY,
               to, value);
}
