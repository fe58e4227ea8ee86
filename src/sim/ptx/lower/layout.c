/* SPDX-License-Identifier: MIT */
/* Where variables lie: shared memory of an entry with all that it can call, and the local memory of
 * a function's frame. */
#include "ptx/lower/lower.h"

#include <stdlib.h>

#define MAX_LOCAL UINT64_C(0x80000)
#define MAX_PARAMETERS UINT32_C(4352)
#define MAX_CONSTANTS UINT32_C(65536)

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return align > 1 ? (value + align - 1) / align * align : value;
}

struct visit { /* of a function that a walk along the calls has entered */
    uint32_t code, next_callee;
    uint64_t deepest, counted; /* stack of the callees that are done */
};

struct scan { /* of one function, or of all that an entry reaches */
    struct ptx_module *module;
    uint8_t *functions, *shared, *path; /* by code, shared variable, code */
    struct visit *visits; /* as many as there are functions: no chain of calls is longer */
    bool indirect, cycle, references;
    const char *lacks; /* of the first function that cannot run */
    uint32_t ratio;
};

static void scan_operand(struct scan *scan, const struct ir_insn *insn,
                         const struct ir_operand *operand, bool callee)
{
    struct ptx_module *module = scan->module;

    if (operand->kind == IR_OPERAND_VARIABLE && module->shared_of[operand->index] != UINT32_MAX)
        scan->shared[module->shared_of[operand->index]] = 1;
    if (operand->kind == IR_OPERAND_VARIABLE && module->variable_of[operand->index] != UINT32_MAX)
        scan->references |=
            module->variables[module->variable_of[operand->index]].kind == PTX_VARIABLE_TEXREF;
    if (operand->kind == IR_OPERAND_FUNCTION && module->code_of[operand->index] != UINT32_MAX &&
        callee)
        scan->functions[module->code_of[operand->index]] = 1;
    for (uint32_t i = 0; i < operand->count && operand->parts; i++)
        scan_operand(scan, insn, &operand->parts[i], callee);
}

/* Callees and shared variables of one function. */
static void scan_function(struct scan *scan, const struct ptx_code *code)
{
    const struct ir_function *fn = code->ir;

    for (uint32_t i = 0; i < fn->insn_count; i++) {
        const struct ir_insn *insn = &fn->insns[i];
        bool direct = false;

        for (uint32_t j = 0; j < insn->count && j < IR_MAX_OPERANDS; j++) {
            scan_operand(scan, insn, &insn->operands[j], insn->op == IR_CALL);
            direct |= insn->operands[j].kind == IR_OPERAND_FUNCTION;
        }
        if (insn->op == IR_CALL && !direct)
            scan->indirect = true;
    }
}

static uint32_t *collect(struct ptx_module *module, const uint8_t *set, uint32_t size,
                         uint32_t *count)
{
    uint32_t *list, found = 0;

    for (uint32_t i = 0; i < size; i++)
        found += set[i];
    list = lower_module_alloc(module, (found + 1) * sizeof *list);
    *count = !list ? 0 : found;
    for (uint32_t i = 0, at = 0; list && i < size; i++)
        if (set[i])
            list[at++] = i;
    return list;
}

/* Shared variables of the function's own scope get numbers after the module's. */
static bool number_shared(struct ptx_module *module)
{
    uint32_t count = 0, capacity = 0;

    for (uint32_t i = 0; i < module->ir->variable_count; i++)
        capacity += module->ir->variables[i].space == PTX_SPACE_SHARED;
    for (uint32_t i = 0; i < module->code_count; i++)
        for (uint32_t j = 0; j < module->codes[i].ir->variable_count; j++)
            capacity += module->codes[i].ir->variables[j].space == PTX_SPACE_SHARED;
    module->shared = lower_module_alloc(module, (capacity + 1) * sizeof *module->shared);
    if (!module->shared)
        return false;
    for (uint32_t i = 0; i < module->ir->variable_count; i++) {
        module->shared_of[i] = UINT32_MAX;
        if (module->ir->variables[i].space != PTX_SPACE_SHARED)
            continue;
        module->shared[count] = &module->ir->variables[i];
        module->shared_of[i] = count++;
    }
    for (uint32_t i = 0; i < module->code_count; i++)
        for (uint32_t j = 0; j < module->codes[i].ir->variable_count; j++)
            if (module->codes[i].ir->variables[j].space == PTX_SPACE_SHARED)
                module->shared[count++] = &module->codes[i].ir->variables[j];
    module->shared_count = count;
    return true;
}

static uint32_t shared_number(const struct ptx_module *module, const struct ir_variable *variable)
{
    for (uint32_t i = 0; i < module->shared_count; i++)
        if (module->shared[i] == variable)
            return i;
    return UINT32_MAX;
}

static bool scan_codes(struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->code_count; i++) {
        struct ptx_code *code = &module->codes[i];
        struct scan scan = {.module = module};

        scan.functions = calloc(module->code_count + 1, 1);
        scan.shared = calloc(module->shared_count + 1, 1);
        if (!scan.functions || !scan.shared) {
            free(scan.functions);
            free(scan.shared);
            return false;
        }
        scan_function(&scan, code);
        for (uint32_t j = 0; j < code->ir->variable_count; j++)
            if (code->ir->variables[j].space == PTX_SPACE_SHARED)
                scan.shared[shared_number(module, &code->ir->variables[j])] = 1;
        code->indirect = scan.indirect;
        code->info.uses_references = scan.references;
        code->callees = collect(module, scan.functions, module->code_count, &code->callee_count);
        code->shared_used =
            collect(module, scan.shared, module->shared_count, &code->shared_used_count);
        free(scan.functions);
        free(scan.shared);
        if (!code->callees || !code->shared_used)
            return false;
    }
    return true;
}

struct frame_layout { /* of a function: the tables may be NULL */
    uint32_t *variables, *params, *returns;
    uint64_t size;    /* bytes of memory */
    uint64_t counted; /* bytes that a real device's stack would need: arguments go in registers
                         there */
};

static void frame_add(struct frame_layout *frame, uint32_t *place, uint64_t size, uint64_t align,
                      bool argument)
{
    frame->size = round_up(frame->size, align > 8 ? align : 8);
    if (place)
        *place = (uint32_t)frame->size;
    frame->size += size;
    if (!argument || size > 16)
        frame->counted = round_up(frame->counted, align) + size;
}

/* A frame: variables, then a device function's parameters and results. */
static void frame_place(const struct ptx_code *code, struct frame_layout *frame)
{
    const struct ir_function *fn = code->ir;

    frame->size = frame->counted = 0;
    for (uint32_t i = 0; i < fn->variable_count; i++)
        if (fn->variables[i].space != PTX_SPACE_SHARED)
            frame_add(frame, !frame->variables ? NULL : &frame->variables[i], fn->variables[i].size,
                      fn->variables[i].align, fn->variables[i].space == PTX_SPACE_PARAM);
    for (uint32_t i = 0; !fn->entry && i < fn->param_count; i++)
        frame_add(frame, !frame->params ? NULL : &frame->params[i],
                  fn->params[i].reg ? 0 : fn->params[i].size, fn->params[i].align, true);
    for (uint32_t i = 0; !fn->entry && i < fn->return_count; i++)
        frame_add(frame, !frame->returns ? NULL : &frame->returns[i],
                  fn->returns[i].reg ? 0 : fn->returns[i].size, fn->returns[i].align, true);
    frame->size = round_up(frame->size, 16);
    frame->counted = round_up(frame->counted, 8);
}

static uint32_t ratio_of(const struct ptx_code *code)
{
    uint32_t counted = code->counted + CALL_OVERHEAD;

    return (code->local_size + CALL_OVERHEAD + counted - 1) / counted;
}

static void enter(struct scan *scan, uint32_t depth, uint32_t index)
{
    const struct ptx_code *code = &scan->module->codes[index];

    for (uint32_t i = 0; i < code->shared_used_count; i++)
        scan->shared[code->shared_used[i]] = 1;
    scan->path[index] = 1;
    scan->indirect |= code->indirect;
    scan->references |= code->info.uses_references;
    if (!scan->lacks)
        scan->lacks = code->ir->lacks;
    scan->visits[depth] = (struct visit){.code = index};
}

static void leave(struct scan *scan, const struct visit *visit)
{
    struct ptx_code *code = &scan->module->codes[visit->code];
    uint64_t deepest = visit->deepest + code->local_size + CALL_OVERHEAD;
    uint64_t counted = visit->counted + code->counted + CALL_OVERHEAD;

    scan->path[visit->code] = 0;
    scan->functions[visit->code] = 1;
    code->stack_size = deepest > UINT32_MAX ? UINT32_MAX : (uint32_t)deepest;
    code->stack_counted = counted > UINT32_MAX ? UINT32_MAX : (uint32_t)counted;
    scan->ratio = ratio_of(code) > scan->ratio ? ratio_of(code) : scan->ratio;
}

/* Follow the calls of a function: what it reaches, the deepest stack, and whether there is an end.
 * Without recursion: a chain of calls may be longer than the stack of a thread allows. */
static uint32_t walk(struct scan *scan, uint32_t index)
{
    uint32_t depth = 0;

    if (scan->functions[index])
        return scan->module->codes[index].stack_size;
    enter(scan, depth++, index);
    while (depth > 0) {
        struct visit *visit = &scan->visits[depth - 1];
        const struct ptx_code *code = &scan->module->codes[visit->code], *callee;

        if (visit->next_callee == code->callee_count) {
            leave(scan, visit);
            depth--;
            continue;
        }
        index = code->callees[visit->next_callee];
        callee = &scan->module->codes[index];
        if (!scan->functions[index] && !scan->path[index]) {
            enter(scan, depth++, index);
            continue;
        }
        visit->next_callee++;
        if (scan->path[index]) {
            scan->cycle = true;
            continue;
        }
        if (callee->stack_size > visit->deepest)
            visit->deepest = callee->stack_size;
        if (callee->stack_counted > visit->counted)
            visit->counted = callee->stack_counted;
    }
    return scan->module->codes[scan->visits[0].code].stack_size;
}

static void place_shared(struct scan *scan, struct ptx_code *entry)
{
    struct ptx_module *module = scan->module;
    uint64_t at = 0;

    for (uint32_t i = 0; i < module->shared_count; i++) {
        const struct ir_variable *variable = module->shared[i];

        entry->shared_offsets[i] = 0;
        if (!scan->shared[i] || variable->unsized)
            continue;
        at = round_up(at, variable->align);
        entry->shared_offsets[i] = (uint32_t)at;
        at += variable->size;
    }
    at = at > UINT32_MAX / 2 ? UINT32_MAX / 2 : at;
    entry->shared_static = (uint32_t)at;
    entry->info.static_shared = (uint32_t)at;
    /* Dynamic shared memory follows; all its names are one address. */
    for (uint32_t i = 0; i < module->shared_count; i++)
        if (scan->shared[i] && module->shared[i]->unsized)
            entry->shared_offsets[i] = (uint32_t)round_up(at, 16);
}

static bool layout_entry(struct ptx_module *module, uint32_t index)
{
    struct ptx_code *entry = &module->codes[index];
    struct scan scan = {.module = module};
    uint64_t stack = 0;

    scan.functions = calloc(module->code_count + 1, 1);
    scan.path = calloc(module->code_count + 1, 1);
    scan.visits = calloc(module->code_count + 1, sizeof *scan.visits);
    scan.shared = calloc(module->shared_count + 1, 1);
    entry->shared_offsets =
        lower_module_alloc(module, (module->shared_count + 1) * sizeof *entry->shared_offsets);
    if (scan.functions && scan.path && scan.visits && scan.shared && entry->shared_offsets) {
        stack = walk(&scan, index);
        entry->info.uses_references = scan.references;
        entry->info.lacks = scan.lacks; /* what only a pointer may lead to is a trap */
        /* A pointer may lead to any function. */
        for (uint32_t i = 0; scan.indirect && i < module->code_count; i++)
            if (!module->codes[i].ir->entry)
                walk(&scan, i);
        entry->unbounded = scan.cycle || scan.indirect;
        entry->stack_ratio = scan.ratio;
        place_shared(&scan, entry);
    }
    free(scan.functions);
    free(scan.path);
    free(scan.visits);
    free(scan.shared);
    return stack != 0;
}

/* Whether a size is too large, which is said. */
static bool exceeds(struct ptx_text *errors, const struct ptx_code *code, const char *what,
                    uint64_t size, uint64_t limit)
{
    if (size > limit && errors)
        ptx_text_add(errors, "ptxas error   : %s%s%s uses too much %s (0x%llx bytes, 0x%llx max)\n",
                     code ? "Entry function '" : "File", code ? code->ir->name : "",
                     code ? "'" : "", what, (unsigned long long)size, (unsigned long long)limit);
    return size > limit;
}

enum ptx_status layout_module(struct ptx_module *module, uint32_t most, struct ptx_text *errors)
{
    enum ptx_status status = PTX_OK;

    if (!number_shared(module) || !scan_codes(module))
        return PTX_NO_MEMORY;
    for (uint32_t i = 0; i < module->code_count; i++) {
        struct ptx_code *code = &module->codes[i];
        struct frame_layout frame = {.variables = NULL};

        frame_place(code, &frame);
        if (exceeds(errors, code, "local memory", frame.size, MAX_LOCAL))
            return PTX_INVALID;
        code->local_size = (uint32_t)frame.size;
        code->counted = (uint32_t)frame.counted;
        code->info.local = code->counted;
    }
    for (uint32_t i = 0; i < module->code_count; i++) {
        struct ptx_code *code = &module->codes[i];

        if (!code->ir->entry)
            continue;
        if (!layout_entry(module, i))
            return PTX_NO_MEMORY;
        const struct ptx_function_info *info = &code->info;
        bool shared = exceeds(errors, code, "shared data", info->static_shared, most);
        bool params = exceeds(errors, code, "parameter space", info->param_size, MAX_PARAMETERS);
        if (exceeds(errors, NULL, "global constant data", info->constants, MAX_CONSTANTS) ||
            shared || params)
            status = PTX_INVALID;
    }
    return status;
}

static bool place_values(struct lower *lower, const struct ir_parameter *params, uint32_t count,
                         const uint32_t *at, struct call_value **values)
{
    *values = lower_module_alloc(lower->module, (count + 1) * sizeof **values);
    if (!*values)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct call_value *value = &(*values)[i];

        value->offset = at[i];
        value->size = params[i].size;
        value->place = PLACE_MEMORY;
        if (params[i].reg)
            value->place =
                (uint8_t)operand_place_of((enum ir_type)lower->fn->registers[params[i].index].type);
        if (params[i].reg && value->place != PLACE_PREDICATE)
            value->size = opcodes_type_size(lower->fn->registers[params[i].index].type);
    }
    return true;
}

bool layout_function(struct lower *lower)
{
    const struct ir_function *fn = lower->fn;
    struct frame_layout frame;

    lower->variable_at = lower_scratch(lower, fn->variable_count, sizeof *lower->variable_at);
    lower->params_at = lower_scratch(lower, fn->param_count, sizeof *lower->params_at);
    lower->returns_at = lower_scratch(lower, fn->return_count, sizeof *lower->returns_at);
    if (lower->status != PTX_OK)
        return false;
    frame.variables = lower->variable_at;
    frame.params = lower->params_at;
    frame.returns = lower->returns_at;
    frame_place(lower->code, &frame);
    lower->code->locals =
        lower_module_alloc(lower->module, (fn->variable_count + 1) * sizeof *lower->code->locals);
    if (!lower->code->locals)
        return false;
    for (uint32_t i = 0; i < fn->variable_count; i++) {
        if (fn->variables[i].space == PTX_SPACE_SHARED)
            lower->variable_at[i] = shared_number(lower->module, &fn->variables[i]);
        if (fn->variables[i].space == PTX_SPACE_LOCAL)
            lower->code->locals[lower->code->local_count++] = (struct call_value){
                .offset = lower->variable_at[i], .size = (uint32_t)fn->variables[i].size};
    }
    return place_values(lower, fn->params, fn->param_count, lower->params_at,
                        &lower->code->params) &&
           place_values(lower, fn->returns, fn->return_count, lower->returns_at,
                        &lower->code->returns);
}
