/* SPDX-License-Identifier: MIT */
/* ptx_compile, the same in steps, and what a module tells of itself. */
#include <stdlib.h>

#include "ptx/lower/lower.h"

static void module_free(struct ptx_module *module)
{
    arena_destroy(module->arena);
    free(module->pool);
    free(module->pool_hash);
    if (module->ir)
        parse_module_free(module->ir);
    free(module);
}

/* The variables that the driver sees: those in global and constant memory, and references. */
static bool module_variables(struct ptx_module *module)
{
    const struct ir_module *ir = module->ir;
    uint32_t count = ir->variable_count;

    module->variables = lower_module_alloc(module, (count + 1) * sizeof *module->variables);
    module->variable_ir = lower_module_alloc(module, (count + 1) * sizeof *module->variable_ir);
    module->variable_of = lower_module_alloc(module, (count + 1) * sizeof *module->variable_of);
    module->shared_of = lower_module_alloc(module, (count + 1) * sizeof *module->shared_of);
    if (!module->variables || !module->variable_ir || !module->variable_of || !module->shared_of)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct ir_variable *from = &ir->variables[i];
        struct ptx_variable *to = &module->variables[module->variable_count];

        module->variable_of[i] = UINT32_MAX;
        if (from->space == PTX_SPACE_SHARED)
            continue;
        to->name = from->name;
        to->space = from->space == PTX_SPACE_CONST ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL;
        to->kind = from->type == IR_TEXREF       ? PTX_VARIABLE_TEXREF
                   : from->type == IR_SURFREF    ? PTX_VARIABLE_SURFREF
                   : from->type == IR_SAMPLERREF ? PTX_VARIABLE_SAMPLERREF
                                                 : PTX_VARIABLE_MEMORY;
        to->size = ir_is_reference(from) ? 8 : from->size;
        to->align = from->align ? from->align : 1;
        to->managed = from->managed;
        to->visible = from->linkage != IR_STATIC && from->linkage != IR_EXTERN;
        module->variable_ir[module->variable_count] = i;
        module->variable_of[i] = module->variable_count++;
    }
    return true;
}

static uint32_t product(const uint32_t *sizes)
{
    return sizes[0] ? sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1) : 0;
}

static bool module_info(struct ptx_module *module, struct ptx_code *code)
{
    const struct ir_function *fn = code->ir;
    struct ptx_function_info *info = &code->info;
    struct ptx_parameter *params =
        lower_module_alloc(module, (fn->param_count + 1) * sizeof *params);

    if (!params)
        return false;
    info->name = fn->name;
    info->entry = fn->entry;
    info->visible = fn->linkage != IR_STATIC;
    info->params = params;
    info->param_count = fn->param_count;
    for (uint32_t i = 0; i < fn->param_count; i++) {
        params[i].offset = fn->params[i].offset;
        params[i].size = fn->params[i].size;
        params[i].align = fn->params[i].align;
        if (params[i].offset + params[i].size > info->param_size)
            info->param_size = params[i].offset + params[i].size;
    }
    info->max_threads = product(fn->reqntid) ? product(fn->reqntid) : product(fn->maxntid);
    for (unsigned i = 0; i < 3; i++) {
        info->required[i] = fn->reqntid[i];
        info->cluster[i] = fn->cluster[i];
    }
    info->max_cluster = fn->max_cluster;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == PTX_SPACE_CONST)
            info->constants += (uint32_t)module->variables[i].size;
    return true;
}

static bool module_functions(struct ptx_module *module)
{
    const struct ir_module *ir = module->ir;

    module->codes = lower_module_alloc(module, (ir->function_count + 1) * sizeof *module->codes);
    module->code_of =
        lower_module_alloc(module, (ir->function_count + 1) * sizeof *module->code_of);
    if (!module->codes || !module->code_of)
        return false;
    for (uint32_t i = 0; i < ir->function_count; i++) {
        module->code_of[i] = UINT32_MAX;
        if (!ir->functions[i].body) {
            const struct ptx_builtin *builtin = opcodes_builtin(ir->functions[i].name);
            module->uses_heap |= builtin && builtin->heap;
            continue;
        }
        module->codes[module->code_count].ir = &ir->functions[i];
        if (!module_info(module, &module->codes[module->code_count]))
            return false;
        module->code_of[i] = module->code_count++;
    }
    return true;
}

/* The engine has registers enough; a compiler would spill what is beyond the limit. */
static void limit_registers(struct ptx_module *module, unsigned most)
{
    for (uint32_t i = 0; i < module->code_count; i++) {
        struct ptx_code *code = &module->codes[i];
        uint32_t limit = code->ir->maxnreg ? code->ir->maxnreg : most;

        if (limit && code->info.registers > limit)
            code->info.registers = limit;
    }
}

/* Whether a kernel can run, or there is none. */
static bool is_usable(const struct ptx_module *module)
{
    bool entries = false;

    for (uint32_t i = 0; i < module->code_count; i++) {
        if (!module->codes[i].ir->entry)
            continue;
        entries = true;
        if (!module->codes[i].info.lacks)
            return true;
    }
    return !entries;
}

/* What was said of kernels that cannot run is no error where others can. */
static void demote(struct ptx_text *errors, size_t from, struct ptx_text *info)
{
    if (!errors || errors->length == from)
        return;
    if (info)
        ptx_text_add(info, "%s", errors->data + from);
    errors->length = from;
    errors->data[from] = '\0';
}

/* `ir` becomes a module. */
static enum ptx_status make(struct ir_module *ir, const struct ptx_options *options,
                            struct ptx_text *errors, struct ptx_module **module)
{
    struct ptx_module *made = calloc(1, sizeof *made);
    enum ptx_status status = PTX_OK;

    if (!made) {
        parse_module_free(ir);
        return PTX_NO_MEMORY;
    }
    atomic_init(&made->references, 1);
    made->ir = ir;
    made->arena = arena_create();
    if (!made->arena || !module_variables(made) || !module_functions(made))
        status = PTX_NO_MEMORY;
    else
        status = layout_module(made, options->max_shared ? options->max_shared : 0x38c00, errors);
    if (status == PTX_OK && !is_usable(made))
        status = PTX_UNSUPPORTED;
    if (status == PTX_OK)
        status = compile_module(made, errors);
    for (uint32_t i = 0; status == PTX_OK && i < made->code_count; i++) {
        made->dynamic_stack |= made->codes[i].dynamic_stack;
        made->reserved_shared |= made->codes[i].reserved_shared;
    }
    if (status != PTX_OK) {
        module_free(made);
        return status;
    }
    limit_registers(made, options->max_registers);
    *module = made;
    return PTX_OK;
}

enum ptx_status ptx_compile(const struct ptx_options *options, const struct ptx_source *sources,
                            size_t count, struct ptx_text *errors, struct ptx_text *info,
                            struct ptx_module **module)
{
    enum ptx_status status;
    size_t said = errors ? errors->length : 0;
    struct ir_module *ir = parse_module_read(options, sources, count, errors, info, &status);

    if (!ir)
        return status;
    status = make(ir, options, errors, module);
    if (status == PTX_OK)
        demote(errors, said, info);
    return status;
}

struct ptx_build {
    struct ptx_options options;
    struct reader *reader;
    uint32_t functions, variables; /* before the last source */
};

struct ptx_build *ptx_build_begin(const struct ptx_options *options)
{
    struct ptx_build *build = calloc(1, sizeof *build);

    if (!build)
        return NULL;
    build->options = *options;
    build->reader = parse_module_open(&build->options);
    if (build->reader)
        return build;
    free(build);
    return NULL;
}

/* Whether one of the last source's kernels can run, as far as it alone tells, or it has none. */
static bool has_usable(const struct ptx_build *build)
{
    const struct ir_function *functions = build->reader->functions.data;
    bool entries = false;

    for (uint32_t i = build->functions; i < build->reader->functions.count; i++) {
        if (!functions[i].entry)
            continue;
        entries = true;
        if (!functions[i].lacks)
            return true;
    }
    return !entries;
}

enum ptx_status ptx_build_add(struct ptx_build *build, const struct ptx_source *source,
                              struct ptx_text *errors, struct ptx_text *info)
{
    size_t said = errors ? errors->length : 0;

    build->functions = build->reader->functions.count;
    build->variables = build->reader->variables.count;
    enum ptx_status status = parse_module_add(build->reader, source, errors, info);
    if (status == PTX_OK && !has_usable(build))
        status = PTX_UNSUPPORTED;
    if (status == PTX_OK)
        demote(errors, said, info);
    return status;
}

size_t ptx_build_definitions(const struct ptx_build *build)
{
    return (size_t)build->reader->functions.count - build->functions +
           build->reader->variables.count - build->variables;
}

const char *ptx_build_definition(const struct ptx_build *build, size_t index)
{
    const struct ir_function *fn = build->reader->functions.data;
    const struct ir_variable *variable = build->reader->variables.data;

    if (index < build->reader->functions.count - build->functions) {
        fn += build->functions + index;
        return fn->body && fn->linkage == IR_VISIBLE ? fn->name : NULL;
    }
    variable += build->variables + index - (build->reader->functions.count - build->functions);
    return variable->linkage == IR_VISIBLE ? variable->name : NULL;
}

enum ptx_status ptx_build_end(struct ptx_build *build, struct ptx_text *errors,
                              struct ptx_text *info, struct ptx_module **module)
{
    enum ptx_status status;
    size_t said = errors ? errors->length : 0;
    struct ir_module *ir = parse_module_close(build->reader, errors, info, &status);

    if (ir)
        status = make(ir, &build->options, errors, module);
    if (status == PTX_OK)
        demote(errors, said, info);
    free(build);
    return status;
}

void ptx_build_cancel(struct ptx_build *build)
{
    if (build)
        parse_module_cancel(build->reader);
    free(build);
}

size_t ptx_sources_read(void)
{
    return parse_module_count();
}

struct ptx_module *ptx_module_retain(struct ptx_module *module)
{
    atomic_fetch_add(&module->references, 1);
    return module;
}

void ptx_module_release(struct ptx_module *module)
{
    if (module && atomic_fetch_sub(&module->references, 1) == 1)
        module_free(module);
}

unsigned ptx_module_target(const struct ptx_module *module)
{
    return module->ir->target;
}

bool ptx_module_uses_heap(const struct ptx_module *module)
{
    return module->uses_heap;
}

size_t ptx_module_variables(const struct ptx_module *module)
{
    return module->variable_count;
}

const struct ptx_variable *ptx_module_variable(const struct ptx_module *module, size_t index)
{
    return index < module->variable_count ? &module->variables[index] : NULL;
}

size_t ptx_module_functions(const struct ptx_module *module)
{
    return module->code_count;
}

const struct ptx_function_info *ptx_module_function(const struct ptx_module *module, size_t index)
{
    return index < module->code_count ? &module->codes[index].info : NULL;
}
