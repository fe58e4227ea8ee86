/* SPDX-License-Identifier: MIT */
/* cuModule*: loading from memory and from files, and what is in a module. */
#include "module/module.h"

#include <stdio.h>

CUresult sim_module_compile(const struct sim_context *context, const void *data, size_t size,
                            struct sim_jit *jit, struct ptx_module **ptx)
{
    unsigned architecture = (unsigned)sim_device_architecture(context->device);
    CUresult result = CUDA_SUCCESS;
    SIM_FIND(struct sim_image, image,
             sim_image_read(data, size, architecture, &image, &jit->errors));
    if (!jit->max_registers)
        jit->max_registers = image.max_registers;
    *ptx = jit->target ? NULL : sim_link_module(data, size, architecture, jit->max_registers);
    if (*ptx)
        sim_jit_describe(jit, *ptx, architecture);
    else
        result = sim_jit_compile(jit, context, image.sources, image.count, ptx);
    sim_image_free(&image);
    return result;
}

static CUresult load(CUmodule *module, const void *data, size_t size, unsigned count,
                     const CUjit_option *options, void **values)
{
    struct sim_module *made;
    struct ptx_module *ptx;
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!module || !data);
    SIM_FIND(struct sim_jit, jit, sim_jit_begin(&jit, count, options, values));
    const struct sim_device *device = context->device;
    sim_context_retain(context);
    CUresult result = sim_module_compile(context, data, size, &jit, &ptx);
    if (result == CUDA_SUCCESS) {
        result = sim_object(SIM_CONTEXT, context) ? sim_place_make(context, ptx, &made)
                                                  : CUDA_ERROR_CONTEXT_IS_DESTROYED;
        ptx_module_release(ptx);
    }
    sim_context_release(context);
    sim_jit_tell(&jit, device, "module", result);
    sim_jit_free(&jit);
    if (result == CUDA_SUCCESS)
        *module = (CUmodule)made;
    return result;
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *fname)
{
    size_t size;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!module || !fname);
    SIM_FIND(char *, data, sim_image_read_file(fname, &data, &size));
    CUresult result = load(module, data, size, 0, NULL, NULL);
    free(data);
    return result;
}

SIM_ENTRY(cuModuleLoadDataEx, load(module, image, SIZE_MAX, numOptions, options, optionValues))
SIM_ENTRY(cuModuleLoadFatBinary, load(module, fatCubin, SIZE_MAX, 0, NULL, NULL))

static CUresult module_of(CUmodule handle, struct sim_module **module)
{
    *module = sim_object(SIM_MODULE, handle);
    return *module ? sim_current_check() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
    SIM_FIND(struct sim_module *, module, module_of(hmod, &module));
    SIM_TRY(sim_capture_unsafe());
    SIM_FAIL(NOT_PERMITTED, module->library); /* unloaded with its library */
    uint64_t serial = module->object.serial;
    CUresult result = sim_stream_wait_context(module->object.context);
    if (!sim_object_alive(SIM_MODULE, hmod, serial))
        return CUDA_ERROR_INVALID_HANDLE; /* another thread unloaded it meanwhile */
    sim_place_end(&module->object);
    return result;
}

bool sim_module_lacks(const struct sim_device *device, const struct ptx_module *ptx, size_t index)
{
    const struct ptx_function_info *info = ptx_module_function(ptx, index);
    char sentence[600];
    if (!info->lacks)
        return false;
    snprintf(sentence, sizeof sentence, "kernel '%.100s' cannot run: %s", info->name, info->lacks);
    sim_report_device(device->ordinal, sentence);
    return true;
}

size_t sim_module_entry(const struct ptx_module *ptx, const char *name)
{
    size_t count = ptx_module_functions(ptx), i = 0;
    for (; i < count; i++) {
        const struct ptx_function_info *info = ptx_module_function(ptx, i);
        if (info->entry && strcmp(info->name, name) == 0)
            break;
    }
    return i;
}

size_t sim_module_entries(const struct ptx_module *ptx)
{
    size_t entries = 0;
    for (size_t i = 0; i < ptx_module_functions(ptx); i++)
        entries += ptx_module_function(ptx, i)->entry;
    return entries;
}

/* Of several with one name, in modules that were linked, the one that is visible. */
size_t sim_module_variable(const struct ptx_module *ptx, const char *name,
                           enum ptx_variable_kind kind)
{
    size_t count = ptx_module_variables(ptx), found = count;
    for (size_t i = 0; i < count; i++) {
        const struct ptx_variable *variable = ptx_module_variable(ptx, i);
        if (variable->kind != kind || strcmp(variable->name, name) != 0)
            continue;
        if (variable->visible)
            return i;
        if (found == count)
            found = i;
    }
    return found;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct sim_module *module;
    CUresult result = module_of(hmod, &module);
    SIM_REFUSE(module && (!hfunc || !name || !*name));
    SIM_TRY(result);
    size_t index = sim_module_entry(module->ptx, name);
    if (index == ptx_module_functions(module->ptx)) {
        *hfunc = NULL; /* as real drivers do */
        return CUDA_ERROR_NOT_FOUND;
    }
    if (sim_module_lacks(module->object.context->device, module->ptx, index)) {
        *hfunc = NULL;
        return SIM_LACK_cuModuleGetFunction_instruction;
    }
    SIM_MADE(struct sim_function *, function, sim_place_function(module, index));
    *hfunc = (CUfunction)function;
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuModuleGetGlobal_v2)
{
    SIM_REFUSE(!name || (!dptr && !bytes));
    SIM_FIND(struct sim_module *, module, module_of(hmod, &module));
    const size_t none = ptx_module_variables(module->ptx);
    size_t index = sim_module_variable(module->ptx, name, PTX_VARIABLE_MEMORY);
    if (index == none) {
        SIM_REFUSE(sim_module_entry(module->ptx, name) < ptx_module_functions(module->ptx));
        SIM_PUT(dptr, 0); /* as real drivers do */
        SIM_PUT(bytes, 0);
        bool reference = sim_module_variable(module->ptx, name, PTX_VARIABLE_TEXREF) != none ||
                         sim_module_variable(module->ptx, name, PTX_VARIABLE_SURFREF) != none;
        return reference ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
    }
    SIM_PUT(dptr, module->variables[index]->address);
    SIM_PUT(bytes, ptx_module_variable(module->ptx, index)->size);
    return CUDA_SUCCESS;
}

/* A texture or surface reference by name. */
static CUresult reference(void **handle, CUmodule hmod, const char *name,
                          enum ptx_variable_kind kind)
{
    SIM_REFUSE(!handle || !name);
    SIM_FIND(struct sim_module *, module, module_of(hmod, &module));
    size_t index = sim_module_variable(module->ptx, name, kind);
    SIM_FAIL(NOT_FOUND, index == ptx_module_variables(module->ptx));
    *handle = module->references[index];
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuModuleGetTexRef, reference((void **)pTexRef, hmod, name, PTX_VARIABLE_TEXREF))
SIM_ENTRY(cuModuleGetSurfRef, reference((void **)pSurfRef, hmod, name, PTX_VARIABLE_SURFREF))

SIM_TELL(cuModuleGetLoadingMode, mode, const char *asked = secure_getenv("CUDA_MODULE_LOADING"),
         CUDA_SUCCESS,
         (asked && strcmp(asked, "EAGER") == 0) ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING)

SIM_TELL(cuModuleGetFunctionCount, count, struct sim_module *module, module_of(hmod, &module),
         (unsigned)sim_module_entries(module->ptx))

SIM_BEHAVIOUR(cuModuleEnumerateFunctions)
{
    SIM_REFUSE(!functions);
    SIM_FIND(struct sim_module *, module, module_of(mod, &module));
    unsigned written = 0;
    for (size_t i = 0; i < ptx_module_functions(module->ptx) && written < numFunctions; i++) {
        if (!ptx_module_function(module->ptx, i)->entry)
            continue;
        functions[written] = (CUfunction)sim_place_function(module, i);
        SIM_FAIL(OUT_OF_MEMORY, !functions[written++]);
    }
    return CUDA_SUCCESS;
}
