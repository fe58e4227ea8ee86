/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <cushim/launch.h>

#include "instance.h"
#include "lock.h"
#include "module_internal.h"
#include "scope.h"

struct cushim_library_state {
    struct cushim_lock lock; /* for the modules of the contexts */
    void *image;             /* what to load into further contexts */
    size_t bytes;
    struct cushim_jit_options options; /* without what is the caller's memory */
};

#define MODULE_HAS_LIBRARIES(cu) CUSHIM_HAS(cu, cuLibraryLoadData)

/* ---- load */

/*
 * Drivers compile at once, but say that all is well when they could not, and fail whoever first
 * asks for something. So where the log has errors, ask: in the current context, if there is one.
 */
static CUresult module_library_prove(struct cushim_jit *jit, const char *what,
                                     const struct cushim_image *image, CUlibrary library)
{
    const struct cushim_api *table = jit->cu;
    CUcontext context = NULL;
    CUmodule module = NULL;
    if (!jit->error_log[0] || table->cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return CUDA_SUCCESS;
    CUresult code = table->cuLibraryGetModule(&module, library);
    if (code != CUDA_SUCCESS)
        table->cuLibraryUnload(library);
    return cushim_jit_checked(jit, code, "cuLibraryGetModule", what, image);
}

static CUresult module_library_by_driver(struct cushim_jit *jit, const char *what,
                                         const struct cushim_loading *loading,
                                         struct cushim_library *library)
{
    struct cushim_names names[CUSHIM_NAMES_KINDS] = {{0}};
    cushim_jit_arrange(jit, loading->image.kind != CUSHIM_IMAGE_CUBIN, false);
    CUresult code = jit->cu->cuLibraryLoadData(&library->library, loading->data, jit->options,
                                               jit->values, jit->count, NULL, NULL, 0);
    cushim_jit_note(jit);
    code = cushim_jit_checked(jit, code, "cuLibraryLoadData", what, &loading->image);
    if (code == CUDA_SUCCESS)
        code = module_library_prove(jit, what, &loading->image, library->library);
    if (code != CUDA_SUCCESS)
        return code;
    cushim_image_names(loading->data, loading->bytes, &loading->image, names);
    cushim_names_remember(jit->cu, library->library, names);
    return CUDA_SUCCESS;
}

static CUresult module_library_add(struct cushim_library *library, CUcontext context,
                                   CUmodule module)
{
    struct cushim_context_module *modules =
        realloc(library->modules, (library->module_count + 1) * sizeof *modules);
    if (!modules)
        return CUDA_ERROR_OUT_OF_MEMORY;
    modules[library->module_count++] = (struct cushim_context_module){context, module};
    library->modules = modules;
    return CUDA_SUCCESS;
}

/* Load into the current context, for which the library has no module yet. */
static CUresult module_library_load_here(struct cushim_jit *jit, const char *what,
                                         const struct cushim_loading *loading, CUcontext context,
                                         struct cushim_library *library, CUmodule *module)
{
    CUmodule loaded = NULL;
    CUresult code = cushim_loading_module(jit, what, loading, &loaded);
    if (code == CUDA_SUCCESS && module_library_add(library, context, loaded) != CUDA_SUCCESS) {
        jit->cu->cuModuleUnload(loaded);
        cushim_names_forget(jit->cu, loaded);
        code = cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                             "library: no memory for a list of modules");
    }
    if (code == CUDA_SUCCESS)
        *module = loaded;
    return code;
}

static CUresult module_library_by_context(struct cushim_jit *jit, const char *what,
                                          const struct cushim_loading *loading,
                                          struct cushim_library *library)
{
    CUcontext context = NULL;
    CUmodule module;
    struct cushim_library_state *state = library->state;
    CUresult code = cushim_scope_current(jit->cu, jit->helper, &context);
    if (code != CUDA_SUCCESS)
        return code;
    state->image = malloc(loading->bytes);
    if (!state->image)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                             "%s: no memory for a copy of %zu bytes", what, loading->bytes);
    memcpy(state->image, loading->data, loading->bytes);
    state->bytes = loading->bytes;
    state->options = jit->wanted;
    state->options.size = sizeof state->options;
    state->options.cache = NULL;
    state->options.extra_count = 0;
    return module_library_load_here(jit, what, loading, context, library, &module);
}

static void module_library_clear(struct cushim_library *library)
{
    if (library->state)
        free(library->state->image);
    free(library->state);
    free(library->modules);
    *library = (struct cushim_library){0};
}

static CUresult module_library_try(struct cushim_jit *jit, const char *what, const void *data,
                                   size_t bytes, bool cached, struct cushim_library *library)
{
    struct cushim_loading loading;
    struct cushim_library made = {0};
    CUresult code = cushim_loading_begin(jit, what, data, bytes, cached, &loading);
    if (code == CUDA_SUCCESS) {
        made.state = calloc(1, sizeof *made.state);
        code = !made.state ? cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                                           "library: no memory for its record")
               : MODULE_HAS_LIBRARIES(jit->cu)
                   ? module_library_by_driver(jit, what, &loading, &made)
                   : module_library_by_context(jit, what, &loading, &made);
    }
    cushim_loading_end(&loading);
    if (code == CUDA_SUCCESS)
        *library = made;
    else
        module_library_clear(&made);
    return code;
}

static CUresult module_library_load(struct cushim_jit *jit, const char *what, const void *data,
                                    size_t bytes, struct cushim_library *library)
{
    CUresult code = module_library_try(jit, what, data, bytes, true, library);
    if (code == CUDA_SUCCESS || !jit->outcome)
        return code;
    /* A cache is not what a load fails for. */
    if (jit->outcome == CUSHIM_CACHE_HIT)
        jit->outcome = CUSHIM_CACHE_FAILED;
    return module_library_try(jit, what, data, bytes, false, library);
}

CUresult cushim_library_load(const struct cushim_api *cu, const void *data, size_t bytes,
                             const struct cushim_jit_options *options,
                             struct cushim_jit_result *result, struct cushim_library *library)
{
    struct cushim_jit jit;
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !library)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "library: NULL");
    if (code == CUDA_SUCCESS)
        code = module_library_load(&jit, "data", data, bytes, library);
    return cushim_jit_end(&jit, result, code);
}

CUresult cushim_library_load_file(const struct cushim_api *cu, const char *path,
                                  const struct cushim_jit_options *options,
                                  struct cushim_jit_result *result, struct cushim_library *library)
{
    struct cushim_jit jit;
    struct cushim_bytes file = {0};
    char what[256];
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !library)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "library: NULL");
    if (code == CUDA_SUCCESS)
        code = cushim_file_load(__func__, "path", path, &file);
    if (code == CUDA_SUCCESS) {
        cushim_file_what(what, sizeof what, "path", path);
        code = module_library_load(&jit, what, file.data, file.bytes, library);
    }
    free(file.data);
    return cushim_jit_end(&jit, result, code);
}

/* ---- unload */

/* A context that is gone took its modules along. */
static CUresult module_library_unload_in(const struct cushim_api *cu, const char *helper,
                                         const struct cushim_context_module *module)
{
    struct cushim_scope scope;
    CUresult code = cushim_scope_begin(cu, module->context, helper, &scope);
    if (code == CUDA_ERROR_INVALID_CONTEXT || code == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return CUDA_SUCCESS;
    if (code != CUDA_SUCCESS)
        return cushim_gone_is_done(code);
    code = cushim_gone_is_done(cu->cuModuleUnload(module->module));
    code = cushim_checked(code, helper, "cuModuleUnload");
    return cushim_scope_end(&scope, helper, code);
}

CUresult cushim_library_unload(const struct cushim_api *cu, struct cushim_library *library)
{
    if (!library)
        return CUDA_SUCCESS;
    if (library->library) {
        CUresult code = cushim_gone_is_done(cu->cuLibraryUnload(library->library));
        if (code != CUDA_SUCCESS)
            return cushim_checked(code, __func__, "cuLibraryUnload");
        cushim_names_forget(cu, library->library);
    }
    cushim_launch_forget(); /* its functions' handles may come again for others */
    while (library->module_count) {
        const struct cushim_context_module *last = &library->modules[library->module_count - 1];
        CUresult code = module_library_unload_in(cu, __func__, last);
        if (code != CUDA_SUCCESS)
            return code;
        cushim_names_forget(cu, last->module);
        library->module_count--;
    }
    module_library_clear(library);
    return CUDA_SUCCESS;
}

/* ---- look up */

static CUresult module_library_check(const char *helper, const struct cushim_library *library,
                                     const char *name, const char *output, const void *where)
{
    if (!library)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "library: NULL");
    if (!library->library && !library->state)
        return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, helper, "library: not loaded");
    if (!name || !name[0])
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "name: %s",
                             name ? "an empty string" : "NULL");
    if (!where)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: NULL", output);
    return CUDA_SUCCESS;
}

/* The module of the current context, which is loaded where there is none yet. */
static CUresult module_library_here(const struct cushim_api *cu, const char *helper,
                                    struct cushim_library *library, CUmodule *module)
{
    CUcontext context = NULL;
    struct cushim_library_state *state = library->state;
    CUresult code = cushim_scope_current(cu, helper, &context);
    if (code != CUDA_SUCCESS)
        return code;
    cushim_lock_take(&state->lock);
    for (size_t i = 0; i < library->module_count; i++)
        if (library->modules[i].context == context) {
            *module = library->modules[i].module;
            cushim_lock_release(&state->lock);
            return CUDA_SUCCESS;
        }
    struct cushim_jit jit;
    struct cushim_loading loading = {0};
    code = cushim_jit_begin(&jit, cu, helper, &state->options);
    if (code == CUDA_SUCCESS)
        code = cushim_loading_begin(&jit, "library: its image", state->image, state->bytes, false,
                                    &loading);
    if (code == CUDA_SUCCESS)
        code = module_library_load_here(&jit, "library: its image", &loading, context, library,
                                        module);
    cushim_loading_end(&loading);
    cushim_jit_end(&jit, NULL, code);
    cushim_lock_release(&state->lock);
    return code;
}

/* The driver's own list of a library's kernels; empty where it has none to give. */
static void module_library_names(const struct cushim_api *cu, CUlibrary library,
                                 struct cushim_names *names)
{
    const struct cushim_api *table = cu;
    unsigned count = 0;
    if (!CUSHIM_HAS(cu, cuLibraryGetKernelCount) || !CUSHIM_HAS(cu, cuLibraryEnumerateKernels) ||
        !CUSHIM_HAS(cu, cuKernelGetName) ||
        table->cuLibraryGetKernelCount(&count, library) != CUDA_SUCCESS || !count)
        return;
    CUkernel *kernels = calloc(count, sizeof *kernels);
    if (kernels && table->cuLibraryEnumerateKernels(kernels, count, library) == CUDA_SUCCESS) {
        names->complete = true;
        for (unsigned i = 0; i < count; i++) {
            const char *name = NULL;
            if (table->cuKernelGetName(&name, kernels[i]) == CUDA_SUCCESS && name)
                cushim_names_add(names, name, strlen(name));
        }
    }
    free(kernels);
}

static CUresult module_library_kernel(const struct cushim_api *cu, const char *helper,
                                      CUlibrary library, const char *name, CUkernel *kernel)
{
    CUresult code = cu->cuLibraryGetKernel(kernel, library, name);
    if (code == CUDA_ERROR_NOT_FOUND) {
        struct cushim_names names = {0};
        module_library_names(cu, library, &names);
        code = cushim_names_missing(cu, library, helper, "cuLibraryGetKernel", CUSHIM_NAMES_KERNELS,
                                    name, &names);
        cushim_names_release(&names);
        return code;
    }
    return cushim_checked(code, helper, "cuLibraryGetKernel");
}

CUresult cushim_library_function(const struct cushim_api *cu, struct cushim_library *library,
                                 const char *name, CUfunction *function)
{
    CUmodule module;
    CUkernel kernel = NULL;
    CUfunction found = NULL;
    CUresult code = module_library_check(__func__, library, name, "function", function);
    if (code != CUDA_SUCCESS)
        return code;
    if (!library->library) {
        code = module_library_here(cu, __func__, library, &module);
        return code == CUDA_SUCCESS
                   ? cushim_module_find_function(cu, __func__, module, name, function)
                   : code;
    }
    code = module_library_kernel(cu, __func__, library->library, name, &kernel);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, __func__, cuKernelGetFunction, &found, kernel);
    if (code == CUDA_SUCCESS)
        *function = found;
    return code;
}

CUresult cushim_library_kernel(const struct cushim_api *cu, struct cushim_library *library,
                               const char *name, CUkernel *kernel)
{
    CUkernel found = NULL;
    CUresult code = module_library_check(__func__, library, name, "kernel", kernel);
    if (code != CUDA_SUCCESS)
        return code;
    if (!library->library) {
        enum cushim_state state = CUSHIM_STATE_UNKNOWN;
        const char *reason = old_reason(cu, "cuLibraryGetKernel", &state);
        return cushim_refuse(state == CUSHIM_STATE_NEWER ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                                                         : CUDA_ERROR_NOT_SUPPORTED,
                             __func__, "library: it has a module for each context: %s", reason);
    }
    code = module_library_kernel(cu, __func__, library->library, name, &found);
    if (code == CUDA_SUCCESS)
        *kernel = found;
    return code;
}

CUresult cushim_library_global(const struct cushim_api *cu, struct cushim_library *library,
                               const char *name, CUdeviceptr *address, size_t *bytes)
{
    CUmodule module;
    CUdeviceptr at = 0;
    size_t size = 0;
    CUresult code = module_library_check(__func__, library, name, "library", library);
    if (code != CUDA_SUCCESS)
        return code;
    if (!library->library) {
        code = module_library_here(cu, __func__, library, &module);
        return code == CUDA_SUCCESS
                   ? cushim_module_find_global(cu, __func__, module, name, address, bytes)
                   : code;
    }
    code = cu->cuLibraryGetGlobal(&at, &size, library->library, name);
    if (code == CUDA_ERROR_NOT_FOUND)
        return cushim_names_missing(cu, library->library, __func__, "cuLibraryGetGlobal",
                                    CUSHIM_NAMES_GLOBALS, name, NULL);
    code = cushim_checked(code, __func__, "cuLibraryGetGlobal");
    if (code == CUDA_SUCCESS && address)
        *address = at;
    if (code == CUDA_SUCCESS && bytes)
        *bytes = size;
    return code;
}

CUresult cushim_library_module(const struct cushim_api *cu, struct cushim_library *library,
                               CUmodule *module)
{
    CUmodule found = NULL;
    CUresult code = module_library_check(__func__, library, "-", "module", module);
    if (code != CUDA_SUCCESS)
        return code;
    code = library->library ? CUSHIM_TRY(cu, __func__, cuLibraryGetModule, &found, library->library)
                            : module_library_here(cu, __func__, library, &found);
    if (code == CUDA_SUCCESS)
        *module = found;
    return code;
}
