/* SPDX-License-Identifier: MIT */
/* Compile the functions of a module: the parts common to all instructions.
 *
 * A function is lowered in one pass over its instructions. Each becomes one or more steps: a run
 * function, and operands that are virtual registers at first. Every use and definition of a
 * register is recorded in the order of the steps, so that lower_alloc.c, which gives registers
 * their places, does not look at instructions again. A step is inserted before each target of a
 * branch that is reached from above too: threads may meet again there. When all steps are made and
 * have their final addresses, targets become pointers to steps. What cannot be lowered refuses the
 * function with the line and the reason. */
#include "ptx/lower/lower.h"

#include <stdlib.h>

/* Virtual registers of the function's own registers; a vector has one for each component. */
static bool make_registers(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;

    lower->base = lower_scratch(lower, fn->register_count, sizeof *lower->base);
    if (!lower->base)
        return false;
    for (uint32_t i = 0; i < fn->register_count; i++) {
        const struct ir_register *reg = &fn->registers[i];
        uint32_t parts = reg->vector > 1 ? reg->vector : 1;

        lower->base[i] = lower->vreg_count;
        while (parts--)
            lower_temp(lower, reg->type == IR_PRED ? PLACE_PREDICATE : operand_place_of(reg->type));
    }
    lower->first_temp = lower->vreg_count;
    return lower->status == PTX_OK;
}

/* Which instructions do branches go to? */
static void find_targets(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;

    for (uint32_t i = 0; i < fn->insn_count; i++) {
        const struct ir_insn *insn = &fn->insns[i];

        for (uint32_t j = 0; j < insn->count && j < IR_MAX_OPERANDS; j++) {
            const struct ir_operand *operand = &insn->operands[j];

            if (operand->kind == IR_OPERAND_LABEL)
                lower->targeted[operand->index] = 1;
            if (operand->kind == IR_OPERAND_TABLE && insn->op == IR_BRX)
                for (uint32_t k = 0; k < fn->tables[operand->index].count; k++)
                    lower->targeted[fn->tables[operand->index].indices[k]] = 1;
        }
    }
}

/* A step before a branch target that is reached from above too, where threads may meet again. */
static void make_join(struct lower *lower)
{
    if (lower->step_count) {
        uint8_t control = lower->steps[lower->step_count - 1].control;
        bool guarded = lower->steps[lower->step_count - 1].guard != PTX_ABSENT;

        if (control == CONTROL_JUMP || control == CONTROL_BRANCH || control == CONTROL_INDEXED ||
            ((control == CONTROL_RETURN || control == CONTROL_EXIT) && !guarded))
            return;
    }
    lower->unguarded = true;
    lower_step(lower, NULL, CONTROL_JOIN);
    lower->unguarded = false;
}

/* Targets become pointers to steps once the array has its final place. */
static void resolve_targets(struct lower *lower)
{
    struct ptx_step *steps = lower->code->steps;

    for (uint32_t i = 0; i < lower->step_count; i++) {
        struct ptx_step *step = &steps[i];

        if (step->control == CONTROL_JUMP || step->control == CONTROL_LOOP ||
            step->control == CONTROL_BRANCH) {
            const struct ptx_step *target = &steps[lower->first_step[step->how.jump.index]];

            if (step->control == CONTROL_JUMP && target <= step)
                step->control = CONTROL_LOOP;
            step->how.jump.step = target;
        } else if (step->control == CONTROL_INDEXED) {
            struct jump_table *table = step->how.table;

            for (uint32_t k = 0; k < table->count; k++)
                table->targets[k] = lower->first_step[table->targets[k]];
        }
    }
}

static void make_body(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;

    for (uint32_t i = 0; i < fn->insn_count; i++) {
        lower->insn = &fn->insns[i];
        if (lower->targeted[i])
            make_join(lower);
        lower->first_step[i] = lower->step_count;
        lower->fixup_count = 0;
        if (!lower->dropped[i])
            lower_insn(lower);
        if (lower->status == PTX_NO_MEMORY)
            return;
    }
    lower->first_step[fn->insn_count] = lower->step_count;
}

static enum ptx_status compile_one(struct ptx_module *module, struct ptx_code *code,
                                   struct ptx_text *errors)
{
    struct lower lower = {.module = module,
                          .fn = code->ir,
                          .code = code,
                          .errors = errors,
                          .scratch = arena_create(),
                          .status = PTX_NO_MEMORY};
    uint32_t insns = code->ir->insn_count + 1;

    if (lower.scratch) {
        lower.status = PTX_OK;
        lower.first_step = lower_scratch(&lower, insns, sizeof *lower.first_step);
        lower.targeted = lower_scratch(&lower, insns, 1);
        lower.dropped = lower_scratch(&lower, insns, 1);
    }
    if (lower.status == PTX_OK && (!make_registers(&lower) || !layout_function(&lower)))
        lower.status = PTX_NO_MEMORY;
    if (lower.status == PTX_OK) {
        find_targets(&lower);
        make_body(&lower);
    }
    if (lower.status == PTX_OK)
        lower_alloc_registers(&lower);
    if (lower.status == PTX_OK && code->ir->entry)
        lower_affine(&lower);
    if (lower.status == PTX_OK) {
        code->steps = lower_module_alloc(module, lower.step_count * sizeof *code->steps);
        code->sources = lower_module_alloc(module, lower.step_count * sizeof *code->sources);
        if (!code->steps || !code->sources) {
            lower.status = PTX_NO_MEMORY;
        } else {
            memcpy(code->steps, lower.steps, lower.step_count * sizeof *code->steps);
            memcpy(code->sources, lower.sources, lower.step_count * sizeof *code->sources);
            code->step_count = lower.step_count;
            resolve_targets(&lower);
        }
    }
    free(lower.steps);
    free(lower.sources);
    free(lower.refs);
    free(lower.places);
    arena_destroy(lower.scratch);
    return lower.status;
}

enum ptx_status compile_module(struct ptx_module *module, struct ptx_text *errors)
{
    enum ptx_status status = PTX_OK;

    for (uint32_t i = 0; i < module->code_count; i++) {
        enum ptx_status one = compile_one(module, &module->codes[i], errors);

        if (one == PTX_NO_MEMORY)
            return one;
        if (one != PTX_OK)
            status = one;
    }
    free(module->pool_hash);
    module->pool_hash = NULL;
    module->pool_hash_size = 0;
    return status;
}
