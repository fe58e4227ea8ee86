/* SPDX-License-Identifier: MIT */
/* Steps, their operands and the constants that they name, as the functions of a module are
 * compiled. */
#include "ptx/lower/lower.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *lower_module_alloc(struct ptx_module *module, size_t size)
{
    return arena_alloc(module->arena, size);
}

void *lower_scratch(struct lower *lower, size_t count, size_t size)
{
    void *made = arena_alloc(lower->scratch, (count + 1) * size);

    if (!made)
        lower->status = PTX_NO_MEMORY;
    return made;
}

void *lower_lasting(struct lower *lower, size_t size)
{
    void *made = lower_module_alloc(lower->module, size);

    if (!made)
        lower->status = PTX_NO_MEMORY;
    return made;
}

uint32_t lower_refuse(struct lower *lower, const char *format, ...)
{
    char reason[256];
    va_list list;

    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    if (lower->errors)
        ptx_text_add(lower->errors, "ptxas application ptx input, line %u; error   : '%s': %s\n",
                     (unsigned)lower->insn->line, opcodes_text[lower->insn->op], reason);
    if (lower->status == PTX_OK)
        lower->status = PTX_UNSUPPORTED;
    return PTX_ABSENT;
}

/* Make room for one more than `count`; false and PTX_NO_MEMORY otherwise. */
static bool lower_grow(struct lower *lower, void **array, uint32_t *capacity, uint32_t count,
                       size_t size)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 64;

    if (count < *capacity)
        return true;
    void *grown = realloc(*array, wanted * size);
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
    bool guarded = lower->insn->guarded && !lower->unguarded;

    if (!lower_grow(lower, (void **)&lower->steps, &capacity, index, sizeof *lower->steps))
        return 0;
    if (!lower_grow(lower, (void **)&lower->sources, &lower->step_capacity, index,
                    sizeof *lower->sources))
        return 0;
    lower->step_count++;
    lower->sources[index] = (struct step_source){lower->insn, (uint8_t)affine_op_run(run)};
    struct ptx_step *step = &lower->steps[index];
    memset(step, 0, sizeof *step);
    for (size_t i = 0; i < sizeof step->operand / sizeof step->operand[0]; i++)
        step->operand[i] = PTX_ABSENT;
    step->run = run;
    step->how.insn = (struct how_insn){memory_slot(index), lower->insn};
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
    } else {
        assert(slot < STEP_OPERANDS);
        at->operand[slot] = value;
        if (at->list_count <= slot)
            at->list_count = (uint16_t)(slot + 1);
    }
    if (!(value & PTX_CONSTANT) && value != PTX_ABSENT)
        lower_reference(lower, step, slot, value, def);
}

void lower_use(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value)
{
    lower_set(lower, step, slot, value, false);
}

void lower_uses(struct lower *lower, uint32_t step, uint32_t slot, const uint32_t *values,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lower_use(lower, step, slot + i, values[i]);
}

void lower_def(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value)
{
    lower_set(lower, step, slot, value, true);
}

void lower_defs(struct lower *lower, uint32_t step, uint32_t slot, const uint32_t *values,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lower_def(lower, step, slot + i, values[i]);
}

uint32_t lower_step_of(struct lower *lower, ptx_run *run, enum step_control control, uint32_t dest,
                       const uint32_t *sources, uint32_t count)
{
    const uint32_t step = lower_step(lower, run, control);

    lower_def(lower, step, 0, dest);
    lower_uses(lower, step, 1, sources, count);
    return step;
}

/* Give the step a list of `count` operands, to be filled by lower_use and lower_def. */
void lower_list(struct lower *lower, uint32_t step, uint32_t count)
{
    uint32_t *list = lower_lasting(lower, (count + 1) * sizeof *list);

    if (!list)
        return;
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

static uint32_t pool_mix(uint32_t kind, uint32_t place, uint32_t index, uint64_t value)
{
    uint64_t hash = value * UINT64_C(0x9e3779b97f4a7c15) + index * UINT64_C(0xc2b2ae3d27d4eb4f) +
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
        uint32_t at = pool_mix(entry->kind, entry->place, entry->index, entry->value);

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
                    uint32_t index, uint64_t value)
{
    struct ptx_module *module = lower->module;
    struct pool_entry *entry;

    if (place == PLACE_32)
        value &= PTX_FULL;
    if (module->pool_count * 2 >= module->pool_hash_size && !pool_rehash(module)) {
        lower->status = PTX_NO_MEMORY;
        return PTX_CONSTANT;
    }
    uint32_t at = pool_mix(kind, place, index, value);
    for (;; at++) {
        uint32_t found = module->pool_hash[at & (module->pool_hash_size - 1)];

        if (!found)
            break;
        entry = &module->pool[found - 1];
        if (entry->kind == kind && entry->place == place && entry->index == index &&
            entry->value == value)
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
                                 .value = value};
    module->pool_bytes += place == PLACE_128    ? 512
                          : place == PLACE_64   ? 256
                          : place == PLACE_FORM ? 64 /* vectors begin with a line of the cache */
                                                : 128;
    module->pool_hash[at & (module->pool_hash_size - 1)] = module->pool_count;
    return entry->offset | PTX_CONSTANT;
}
