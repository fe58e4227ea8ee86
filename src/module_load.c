/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <cushim/launch.h>

#include "module_internal.h"

int cushim_module_arch(const struct cushim_api *cu)
{
    CUdevice device = 0;
    int major = 0, minor = 0;
    if (cu->cuCtxGetDevice_v1(&device) != CUDA_SUCCESS ||
        cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
            CUDA_SUCCESS)
        return 0;
    return 10 * major + minor;
}

/* ---- images made ready */

/* PTX that the driver can read to its end: it stops at a NUL alone. */
static CUresult module_terminate(const char *helper, const char *what,
                                 struct cushim_loading *loading)
{
    const char *text = loading->data;
    if (text[loading->bytes - 1] == 0)
        return CUDA_SUCCESS;
    char *copy = malloc(loading->bytes + 1);
    if (!copy)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "%s: no memory for %zu bytes", what,
                             loading->bytes + 1);
    memcpy(copy, text, loading->bytes);
    copy[loading->bytes] = 0;
    loading->owned = (struct cushim_bytes){copy, loading->bytes + 1};
    loading->data = copy;
    loading->bytes++;
    return CUDA_SUCCESS;
}

/* PTX becomes a cubin, out of the cache or by way of it. */
static CUresult module_compile(struct cushim_jit *jit, const char *what,
                               struct cushim_loading *loading)
{
    struct cushim_linking input = {
        .data = loading->data, .bytes = loading->bytes, .image = loading->image};
    struct cushim_cubin cubin = {0};
    strncpy(input.name, what, sizeof input.name - 1);
    CUresult code = cushim_link_all(jit, &input, 1, &cubin);
    if (code != CUDA_SUCCESS)
        return code;
    free(loading->owned.data);
    loading->owned = (struct cushim_bytes){cubin.data, cubin.bytes};
    loading->data = cubin.data;
    loading->bytes = cubin.bytes;
    loading->image.kind = CUSHIM_IMAGE_CUBIN;
    return CUDA_SUCCESS;
}

CUresult cushim_loading_begin(struct cushim_jit *jit, const char *what, const void *data,
                              size_t bytes, bool cached, struct cushim_loading *loading)
{
    *loading = (struct cushim_loading){.data = data, .bytes = bytes};
    CUresult code = cushim_image_read(jit->helper, what, data, bytes, &loading->image);
    if (code != CUDA_SUCCESS)
        return code;
    const enum cushim_image_kind kind = loading->image.kind;
    if (kind == CUSHIM_IMAGE_OBJECT || kind == CUSHIM_IMAGE_LIBRARY)
        return cushim_refuse(CUDA_ERROR_INVALID_IMAGE, jit->helper,
                             "%s: %s %s of the host can be linked (cushim_module_link), not loaded",
                             what, kind == CUSHIM_IMAGE_OBJECT ? "an" : "a",
                             cushim_image_word(kind));
    if (kind != CUSHIM_IMAGE_PTX)
        return CUDA_SUCCESS;
    code = module_terminate(jit->helper, what, loading);
    if (code == CUDA_SUCCESS && cached && jit->wanted.cache && !jit->wanted.extra_count)
        code = module_compile(jit, what, loading);
    return code;
}

void cushim_loading_end(struct cushim_loading *loading)
{
    free(loading->owned.data);
    *loading = (struct cushim_loading){0};
}

CUresult cushim_loading_module(struct cushim_jit *jit, const char *what,
                               const struct cushim_loading *loading, CUmodule *module)
{
    struct cushim_names names[CUSHIM_NAMES_KINDS] = {{0}};
    CUmodule loaded = NULL;
    /* The log of compiling stays where loading adds nothing to it. */
    struct cushim_jit second = *jit;
    const bool compiled = loading->image.kind == CUSHIM_IMAGE_CUBIN;
    if (compiled) {
        second.error_log = calloc(1, jit->wanted.log_bytes);
        second.info_log = calloc(1, jit->wanted.log_bytes);
        if (!second.error_log || !second.info_log) {
            free(second.error_log);
            free(second.info_log);
            return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper, "no memory for logs");
        }
    }
    cushim_jit_arrange(&second, !compiled, true);
    CUresult code = jit->cu->cuModuleLoadDataEx(&loaded, loading->data, second.count,
                                                second.options, second.values);
    cushim_jit_note(&second);
    code = cushim_jit_checked(&second, code, "cuModuleLoadDataEx", what, &loading->image);
    jit->wall_ms = second.wall_ms;
    if (compiled && (second.error_log[0] || second.info_log[0])) {
        free(jit->error_log);
        free(jit->info_log);
        jit->error_log = second.error_log;
        jit->info_log = second.info_log;
    } else if (compiled) {
        free(second.error_log);
        free(second.info_log);
    }
    if (code != CUDA_SUCCESS)
        return code;
    cushim_image_names(loading->data, loading->bytes, &loading->image, names);
    cushim_names_remember(jit->cu, loaded, names);
    *module = loaded;
    return CUDA_SUCCESS;
}

/* ---- load and unload */

static CUresult module_load(struct cushim_jit *jit, const char *what, const void *data,
                            size_t bytes, CUmodule *module)
{
    struct cushim_loading loading;
    CUresult code = cushim_loading_begin(jit, what, data, bytes, true, &loading);
    if (code == CUDA_SUCCESS)
        code = cushim_loading_module(jit, what, &loading, module);
    cushim_loading_end(&loading);
    if (code == CUDA_SUCCESS || !jit->outcome)
        return code;
    /* A cache is not what a load fails for. */
    if (jit->outcome == CUSHIM_CACHE_HIT)
        jit->outcome = CUSHIM_CACHE_FAILED;
    code = cushim_loading_begin(jit, what, data, bytes, false, &loading);
    if (code == CUDA_SUCCESS)
        code = cushim_loading_module(jit, what, &loading, module);
    cushim_loading_end(&loading);
    return code;
}

CUresult cushim_module_load(const struct cushim_api *cu, const void *data, size_t bytes,
                            const struct cushim_jit_options *options,
                            struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "module: NULL");
    if (code == CUDA_SUCCESS)
        code = module_load(&jit, "data", data, bytes, module);
    return cushim_jit_end(&jit, result, code);
}

CUresult cushim_module_load_file(const struct cushim_api *cu, const char *path,
                                 const struct cushim_jit_options *options,
                                 struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    struct cushim_bytes file = {0};
    char what[256];
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "module: NULL");
    if (code == CUDA_SUCCESS)
        code = cushim_file_load(__func__, "path", path, &file);
    if (code == CUDA_SUCCESS) {
        cushim_file_what(what, sizeof what, "path", path);
        code = module_load(&jit, what, file.data, file.bytes, module);
    }
    free(file.data);
    return cushim_jit_end(&jit, result, code);
}

CUresult cushim_module_unload(const struct cushim_api *cu, CUmodule module)
{
    if (!module)
        return CUDA_SUCCESS;
    CUresult code = cushim_gone_is_done(cu->cuModuleUnload(module));
    if (code == CUDA_SUCCESS) {
        cushim_names_forget(cu, module);
        cushim_launch_forget(); /* its functions' handles may come again for others */
    }
    return cushim_checked(code, __func__, "cuModuleUnload");
}

/* ---- look up */

/* The driver's own list of a module's kernels; empty where it has none to give. */
static void module_driver_names(const struct cushim_api *cu, CUmodule module,
                                struct cushim_names *names)
{
    unsigned count = 0;
    if (!CUSHIM_HAS(cu, cuModuleGetFunctionCount) || !CUSHIM_HAS(cu, cuModuleEnumerateFunctions) ||
        !CUSHIM_HAS(cu, cuFuncGetName) ||
        cu->cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS || !count)
        return;
    CUfunction *functions = calloc(count, sizeof *functions);
    if (functions && cu->cuModuleEnumerateFunctions(functions, count, module) == CUDA_SUCCESS) {
        names->complete = true;
        for (unsigned i = 0; i < count; i++) {
            const char *name = NULL;
            if (cu->cuFuncGetName(&name, functions[i]) == CUDA_SUCCESS && name)
                cushim_names_add(names, name, strlen(name));
        }
    }
    free(functions);
}

static CUresult module_check_name(const char *helper, const void *module, const char *name)
{
    if (!module)
        return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, helper, "module: NULL");
    if (!name)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "name: NULL");
    if (!name[0])
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "name: an empty string");
    return CUDA_SUCCESS;
}

CUresult cushim_module_find_function(const struct cushim_api *cu, const char *helper,
                                     CUmodule module, const char *name, CUfunction *function)
{
    CUfunction found = NULL;
    CUresult code = module_check_name(helper, module, name);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuModuleGetFunction(&found, module, name);
    if (code == CUDA_ERROR_NOT_FOUND) {
        struct cushim_names names = {0};
        module_driver_names(cu, module, &names);
        code = cushim_names_missing(cu, module, helper, "cuModuleGetFunction", CUSHIM_NAMES_KERNELS,
                                    name, &names);
        cushim_names_release(&names);
        return code;
    }
    code = cushim_checked(code, helper, "cuModuleGetFunction");
    if (code == CUDA_SUCCESS)
        *function = found;
    return code;
}

CUresult cushim_module_find_global(const struct cushim_api *cu, const char *helper, CUmodule module,
                                   const char *name, CUdeviceptr *address, size_t *bytes)
{
    CUdeviceptr at = 0;
    size_t size = 0;
    CUresult code = module_check_name(helper, module, name);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuModuleGetGlobal_v2(&at, &size, module, name);
    if (code == CUDA_ERROR_NOT_FOUND)
        return cushim_names_missing(cu, module, helper, "cuModuleGetGlobal_v2",
                                    CUSHIM_NAMES_GLOBALS, name, NULL);
    code = cushim_checked(code, helper, "cuModuleGetGlobal_v2");
    if (code == CUDA_SUCCESS && address)
        *address = at;
    if (code == CUDA_SUCCESS && bytes)
        *bytes = size;
    return code;
}

CUresult cushim_module_function(const struct cushim_api *cu, CUmodule module, const char *name,
                                CUfunction *function)
{
    if (!function)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "function: NULL");
    return cushim_module_find_function(cu, __func__, module, name, function);
}

CUresult cushim_module_global(const struct cushim_api *cu, CUmodule module, const char *name,
                              CUdeviceptr *address, size_t *bytes)
{
    return cushim_module_find_global(cu, __func__, module, name, address, bytes);
}
