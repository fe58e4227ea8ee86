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

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *lower_module_alloc(struct ptx_module *module, size_t size)
{
    void *memory;

    if (module->block_count == module->block_capacity) {
        uint32_t capacity = module->block_capacity ? module->block_capacity * 2 : 64;
        void **blocks = realloc(module->blocks, capacity * sizeof *blocks);

        if (!blocks)
            return NULL;
        module->blocks = blocks;
        module->block_capacity = capacity;
    }
    memory = calloc(1, size ? size : 1);
    if (memory)
        module->blocks[module->block_count++] = memory;
    return memory;
}

void lower_refuse(struct lower *lower, const char *format, ...)
{
    char reason[256];
    va_list list;

    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    if (lower->errors)
        ptx_text_add(lower->errors, "ptxas application ptx input, line %u; error   : '%s': %s\n",
                     (unsigned)lower->insn->line, opcodes_text[lower->insn->op], reason);
    if (lower->status == PTX_OK || lower->status == PTX_UNSUPPORTED)
        lower->status = PTX_UNSUPPORTED;
}

/* Make room for one more than `count`; false and PTX_NO_MEMORY otherwise. */
static bool lower_grow(struct lower *lower, void **array, uint32_t *capacity, uint32_t count,
                       size_t size)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*array, wanted * size);
    if (!grown) {
        lower->status = PTX_NO_MEMORY;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

static void lower_reference(struct lower *lower, uint32_t step, uint32_t slot, uint32_t vreg,
                            bool def)
{
    if (!lower_grow(lower, (void **)&lower->refs, &lower->ref_capacity, lower->ref_count,
                    sizeof *lower->refs))
        return;
    lower->refs[lower->ref_count++] = (struct lower_ref){step, slot, vreg, def};
}

/* A new step with the current instruction's guard; its index. Out of memory: index 0 of an array
 * that always has room. */
uint32_t lower_step(struct lower *lower, ptx_run *run, enum step_control control)
{
    uint32_t capacity = lower->step_capacity, index = lower->step_count;
    struct ptx_step *step;
    bool guarded = lower->insn->guarded && !lower->unguarded;

    if (!lower_grow(lower, (void **)&lower->steps, &capacity, index, sizeof *lower->steps))
        return 0;
    if (!lower_grow(lower, (void **)&lower->sources, &lower->step_capacity, index,
                    sizeof *lower->sources))
        return 0;
    lower->step_count++;
    lower->sources[index] = (struct step_source){.line = lower->insn->line,
                                                 .source_line = lower->insn->source_line,
                                                 .source_file = lower->insn->source_file,
                                                 .op = lower->insn->op,
                                                 .affine = (uint8_t)affine_op_run(run)};
    step = &lower->steps[index];
    memset(step, 0, sizeof *step);
    for (size_t i = 0; i < sizeof step->operand / sizeof step->operand[0]; i++)
        step->operand[i] = PTX_ABSENT;
    step->run = run;
    step->guard = PTX_ABSENT;
    step->control = (uint8_t)control;
    if (guarded) {
        step->guard = lower->base[lower->insn->guard];
        step->guard_negate = lower->insn->guard_negate;
        lower_reference(lower, index, SLOT_GUARD, step->guard, false);
        if (control == CONTROL_RUN)
            step->control = CONTROL_GUARDED;
    }
    return index;
}

static void lower_set(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value, bool def)
{
    struct ptx_step *at = &lower->steps[step];

    if (lower->status == PTX_NO_MEMORY)
        return;
    if (at->list) {
        ((uint32_t *)(uintptr_t)at->list)[slot] = value;
    } else if (slot < STEP_OPERANDS) {
        at->operand[slot] = value;
        if (at->list_count <= slot)
            at->list_count = (uint16_t)(slot + 1);
    } else {
        lower_refuse(lower, "too many operands");
        return;
    }
    if (!(value & PTX_CONSTANT) && value != PTX_ABSENT)
        lower_reference(lower, step, slot, value, def);
}

void lower_use(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value)
{
    lower_set(lower, step, slot, value, false);
}

void lower_def(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value)
{
    lower_set(lower, step, slot, value, true);
}

/* Give the step a list of `count` operands, to be filled by lower_use and lower_def. */
void lower_list(struct lower *lower, uint32_t step, uint32_t count)
{
    uint32_t *list = lower_module_alloc(lower->module, (count + 1) * sizeof *list);

    if (!list) {
        lower->status = PTX_NO_MEMORY;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = PTX_ABSENT;
    lower->steps[step].list = list;
    lower->steps[step].list_count = (uint16_t)count;
}

uint32_t lower_temp(struct lower *lower, enum value_place place)
{
    if (!lower_grow(lower, (void **)&lower->places, &lower->vreg_capacity, lower->vreg_count,
                    sizeof *lower->places))
        return 0;
    lower->places[lower->vreg_count] = (uint8_t)place;
    return lower->vreg_count++;
}

/* What a step does on affine values, where its run function does not say it. */
void lower_note_op(struct lower *lower, uint32_t step, enum affine_op op)
{
    lower->sources[step].affine = (uint8_t)op;
}

static uint32_t pool_mix(uint32_t kind, uint32_t place, uint32_t index, uint64_t low)
{
    uint64_t hash = low * UINT64_C(0x9e3779b97f4a7c15) + index * UINT64_C(0xc2b2ae3d27d4eb4f) +
                    kind * 7 + place;

    return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static bool pool_rehash(struct ptx_module *module)
{
    uint32_t size = module->pool_hash_size ? module->pool_hash_size * 2 : 256;
    uint32_t *hash = calloc(size, sizeof *hash);

    if (!hash)
        return false;
    for (uint32_t i = 0; i < module->pool_count; i++) {
        const struct pool_entry *entry = &module->pool[i];
        uint32_t at = pool_mix(entry->kind, entry->place, entry->index, entry->low);

        while (hash[at & (size - 1)])
            at++;
        hash[at & (size - 1)] = i + 1;
    }
    free(module->pool_hash);
    module->pool_hash = hash;
    module->pool_hash_size = size;
    return true;
}

/* The place of a constant in the module's pool. */
uint32_t lower_pool(struct lower *lower, enum pool_kind kind, enum value_place place,
                    uint32_t index, uint64_t low, uint64_t high)
{
    struct ptx_module *module = lower->module;
    struct pool_entry *entry;
    uint32_t at;

    if (place == PLACE_32)
        low &= PTX_FULL;
    if (module->pool_count * 2 >= module->pool_hash_size && !pool_rehash(module)) {
        lower->status = PTX_NO_MEMORY;
        return PTX_CONSTANT;
    }
    at = pool_mix(kind, place, index, low);
    for (;; at++) {
        uint32_t found = module->pool_hash[at & (module->pool_hash_size - 1)];

        if (!found)
            break;
        entry = &module->pool[found - 1];
        if (entry->kind == kind && entry->place == place && entry->index == index &&
            entry->low == low && entry->high == high)
            return entry->offset | PTX_CONSTANT;
    }
    if (!lower_grow(lower, (void **)&module->pool, &module->pool_capacity, module->pool_count,
                    sizeof *module->pool))
        return PTX_CONSTANT;
    entry = &module->pool[module->pool_count++];
    *entry = (struct pool_entry){.kind = (uint8_t)kind,
                                 .place = (uint8_t)place,
                                 .index = index,
                                 .offset = module->pool_bytes,
                                 .low = low,
                                 .high = high};
    module->pool_bytes += place == PLACE_128    ? 512
                          : place == PLACE_64   ? 256
                          : place == PLACE_FORM ? 64 /* vectors begin with a line of the cache */
                                                : 128;
    module->pool_hash[at & (module->pool_hash_size - 1)] = module->pool_count;
    return entry->offset | PTX_CONSTANT;
}

/* Virtual registers of the function's own registers; a vector has one for each component. */
static bool lower_registers(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;

    lower->base = calloc(fn->register_count + 1, sizeof *lower->base);
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

static void mark_target(struct lower *lower, uint32_t index)
{
    if (index <= lower->fn->insn_count)
        lower->targeted[index] = 1;
}

static void mention(struct lower *lower, uint32_t reg)
{
    if (lower->mentions[reg] < 3)
        lower->mentions[reg]++;
}

static void mention_all(struct lower *lower, const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_REG)
        mention(lower, operand->index);
    for (uint32_t i = 0; operand->parts && i < operand->count; i++)
        mention_all(lower, &operand->parts[i]);
}

/* Which instructions do branches go to, and how often is each register named? */
static void lower_targets(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;

    for (uint32_t i = 0; i < fn->insn_count; i++) {
        const struct ir_insn *insn = &fn->insns[i];

        if (insn->guarded)
            mention(lower, insn->guard);
        for (uint32_t j = 0; j < insn->count && j < IR_MAX_OPERANDS; j++) {
            const struct ir_operand *operand = &insn->operands[j];

            mention_all(lower, operand);
            if (operand->kind == IR_OPERAND_LABEL)
                mark_target(lower, operand->index);
            if (operand->kind == IR_OPERAND_TABLE && insn->op == IR_BRX)
                for (uint32_t k = 0; k < fn->tables[operand->index].count; k++)
                    mark_target(lower, fn->tables[operand->index].indices[k]);
        }
    }
}

/* A step before a branch target that is reached from above too, where threads may meet again. */
static void lower_join(struct lower *lower, const struct ir_insn *insn)
{
    if (lower->step_count) {
        uint8_t control = lower->steps[lower->step_count - 1].control;
        bool guarded = lower->steps[lower->step_count - 1].guard != PTX_ABSENT;

        if (control == CONTROL_JUMP || control == CONTROL_BRANCH || control == CONTROL_INDEXED ||
            ((control == CONTROL_RETURN || control == CONTROL_EXIT) && !guarded))
            return;
    }
    lower->insn = insn;
    lower->unguarded = true;
    lower_step(lower, NULL, CONTROL_JOIN);
    lower->unguarded = false;
}

/* Targets become pointers to steps once the array has its final place. */
static void lower_resolve(struct lower *lower)
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
            struct jump_table *table = step->how.indexed.table;

            for (uint32_t k = 0; k < table->count; k++)
                table->targets[k] = lower->first_step[table->targets[k]];
        }
    }
}

static void lower_body(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;
    static const struct ir_insn end = {.op = IR_RET};

    for (uint32_t i = 0; i < fn->insn_count; i++) {
        if (lower->targeted[i])
            lower_join(lower, &fn->insns[i]);
        lower->first_step[i] = lower->step_count;
        lower->insn = &fn->insns[i];
        lower->fixup_count = 0;
        if (!lower->dropped[i])
            lower_insn(lower, i);
        if (lower->status == PTX_NO_MEMORY)
            return;
    }
    /* A function may end without ret; a label may stand at its end. */
    if (lower->targeted[fn->insn_count])
        lower_join(lower, &end);
    lower->first_step[fn->insn_count] = lower->step_count;
    lower->insn = &end;
    lower_insn(lower, fn->insn_count);
}

static void lower_done(struct lower *lower)
{
    free(lower->steps);
    free(lower->sources);
    free(lower->refs);
    free(lower->places);
    free(lower->place_at);
    free(lower->live_from);
    free(lower->live_to);
    free(lower->base);
    free(lower->first_step);
    free(lower->targeted);
    free(lower->dropped);
    free(lower->mentions);
    free(lower->variable_at);
    free(lower->params_at);
    free(lower->returns_at);
}

static enum ptx_status lower_function(struct ptx_module *module, struct ptx_code *code,
                                      struct ptx_text *errors)
{
    struct lower lower = {
        .module = module, .fn = code->ir, .code = code, .errors = errors, .status = PTX_OK};
    uint32_t insns = code->ir->insn_count;

    lower.first_step = calloc(insns + 2, sizeof *lower.first_step);
    lower.targeted = calloc(insns + 2, 1);
    lower.dropped = calloc(insns + 2, 1);
    lower.mentions = calloc(code->ir->register_count + 1, 1);
    if (!lower.first_step || !lower.targeted || !lower.dropped || !lower.mentions ||
        !lower_registers(&lower) || !layout_function(&lower)) {
        lower.status = PTX_NO_MEMORY;
    } else {
        lower_targets(&lower);
        lower_body(&lower);
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
            lower_resolve(&lower);
        }
    }
    lower_done(&lower);
    return lower.status;
}

enum ptx_status lower_module(struct ptx_module *module, struct ptx_text *errors)
{
    enum ptx_status status = PTX_OK;

    for (uint32_t i = 0; i < module->code_count; i++) {
        enum ptx_status one = lower_function(module, &module->codes[i], errors);

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
