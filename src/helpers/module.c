/* SPDX-License-Identifier: MIT */
#include <cushim/module.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "jit.h"
#include "link.h"

#define MODULE_FEW 6 /* so many names are all named */

/* ---- load and unload */

/* An image that is ready for the driver. */
struct module_image {
    const void *data;
    size_t bytes;
    struct cushim_image image;
    struct cushim_image_bytes owned; /* what to free */
};

static CUresult module_open_image(struct cushim_jit *jit, const char *what, const void *data,
                                  size_t bytes, struct module_image *ready)
{
    *ready = (struct module_image){.data = data, .bytes = bytes};
    CUresult code = cushim_image_read(jit->helper, what, data, bytes, &ready->image);
    if (code != CUDA_SUCCESS)
        return code;
    const enum cushim_image_kind kind = ready->image.kind;
    if (kind == CUSHIM_IMAGE_OBJECT || kind == CUSHIM_IMAGE_LIBRARY)
        return cushim_error_refuse(
            CUDA_ERROR_INVALID_IMAGE, jit->helper,
            "%s: %s %s of the host can be linked (cushim_module_link), not loaded", what,
            kind == CUSHIM_IMAGE_OBJECT ? "an" : "a", cushim_image_word(kind));
    return cushim_image_terminate(jit->helper, what, &ready->image, &ready->data, &ready->bytes,
                                  &ready->owned);
}

static CUresult module_load(struct cushim_jit *jit, const char *what, const void *data,
                            size_t bytes, CUmodule *module)
{
    struct module_image ready;
    CUmodule loaded = NULL;
    CUresult code = module_open_image(jit, what, data, bytes, &ready);
    if (code == CUDA_SUCCESS) {
        cushim_jit_arrange(jit, ready.image.kind != CUSHIM_IMAGE_CUBIN, true);
        code =
            jit->cu->cuModuleLoadDataEx(&loaded, ready.data, jit->count, jit->options, jit->values);
        cushim_jit_note(jit);
        code = cushim_jit_check(jit, code, "cuModuleLoadDataEx", what, &ready.image);
    }
    free(ready.owned.data);
    if (code == CUDA_SUCCESS)
        *module = loaded;
    return code;
}

CUresult cushim_module_load(const struct cushim_api *cu, const void *data, size_t bytes,
                            const struct cushim_jit_options *options,
                            struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options, result);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_error_null(__func__, "module");
    if (code == CUDA_SUCCESS)
        code = module_load(&jit, "data", data, bytes, module);
    return cushim_jit_end(&jit, code);
}

CUresult cushim_module_load_file(const struct cushim_api *cu, const char *path,
                                 const struct cushim_jit_options *options,
                                 struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    struct cushim_image_bytes file = {NULL, 0};
    char what[256];
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options, result);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_error_null(__func__, "module");
    if (code == CUDA_SUCCESS)
        code = cushim_image_load_file(__func__, "path", path, &file);
    if (code == CUDA_SUCCESS) {
        cushim_image_file_name(what, sizeof what, "path", path);
        code = module_load(&jit, what, file.data, file.bytes, module);
    }
    free(file.data);
    return cushim_jit_end(&jit, code);
}

/* The logs are those of linking. */
static CUresult module_load_linked(struct cushim_jit *jit, const struct cushim_cubin *cubin,
                                   CUmodule *module)
{
    const struct cushim_image image = {.kind = CUSHIM_IMAGE_CUBIN};
    CUmodule loaded = NULL;
    CUresult code = jit->cu->cuModuleLoadDataEx(&loaded, cubin->data, 0, NULL, NULL);
    code = cushim_jit_check(jit, code, "cuModuleLoadDataEx", "the linked cubin", &image);
    if (code == CUDA_SUCCESS)
        *module = loaded;
    return code;
}

CUresult cushim_module_link(const struct cushim_api *cu, const struct cushim_link_input *inputs,
                            size_t count, const struct cushim_jit_options *options,
                            struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    struct cushim_cubin cubin = {0};
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options, result);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_error_null(__func__, "module");
    if (code == CUDA_SUCCESS)
        code = cushim_link_all(&jit, inputs, count, &cubin);
    if (code == CUDA_SUCCESS)
        code = module_load_linked(&jit, &cubin, module);
    cushim_cubin_release(&cubin);
    return cushim_jit_end(&jit, code);
}

CUresult cushim_module_unload(const struct cushim_api *cu, CUmodule module)
{
    CUSHIM_REQUIRE(cu);
    if (!module)
        return CUDA_SUCCESS;
    CUresult code = cushim_error_gone_is_done(cu->cuModuleUnload(module));
    return cushim_error_check(code, __func__, "cuModuleUnload");
}

/* ---- names of kernels, for the sentence that says which is missing */

struct module_names {
    const char *wanted;
    size_t count;
    char nearest[320], first[320]; /* lists, cut if they are long */
};

static bool module_same_letter(char a, char b)
{
    return a == b || (((a ^ b) == 0x20) && ((a | 0x20) >= 'a') && ((a | 0x20) <= 'z'));
}

/* Whether the names differ in case, or in two letters that lie together, or one is within the
 * other: C++'s names have their source's within them. */
static bool module_is_near(const char *wanted, const char *name)
{
    const size_t length = strlen(wanted), other = strlen(name);
    const size_t least = length < other ? length : other, most = length < other ? other : length;
    size_t begin = 0, end = 0;
    while (begin < least && module_same_letter(wanted[begin], name[begin]))
        begin++;
    while (end < least - begin &&
           module_same_letter(wanted[length - 1 - end], name[other - 1 - end]))
        end++;
    return (length >= 3 && strstr(name, wanted)) || (begin + end > 0 && begin + end + 2 >= most);
}

static void module_append(char *text, size_t size, const char *name)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%.200s", length ? ", " : "", name);
}

static void module_add_name(struct module_names *names, const char *name)
{
    if (module_is_near(names->wanted, name))
        module_append(names->nearest, sizeof names->nearest, name);
    if (names->count++ < MODULE_FEW)
        module_append(names->first, sizeof names->first, name);
}

static CUresult module_refuse_name(const char *helper, const char *call,
                                   const struct module_names *names)
{
    char nearby[400] = "";
    if (names->nearest[0])
        snprintf(nearby, sizeof nearby, "; nearest: %s", names->nearest);
    else if (names->count > MODULE_FEW)
        snprintf(nearby, sizeof nearby, "; none is near; the first of %zu: %s", names->count,
                 names->first);
    else if (names->count)
        snprintf(nearby, sizeof nearby, "; there is: %s", names->first);
    return cushim_error_refuse(CUDA_ERROR_NOT_FOUND, helper,
                               "name: %s: no kernel has that name (%s)%s", names->wanted, call,
                               nearby);
}

static CUresult module_require_name(const char *helper, const char *argument, const void *holder,
                                    const char *name)
{
    if (!holder)
        return cushim_error_absent(CUDA_ERROR_INVALID_HANDLE, helper, argument, "what was loaded");
    if (!name)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, helper, "name", "a kernel's name");
    if (!name[0])
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "name is an empty string; pass a kernel's name");
    return CUDA_SUCCESS;
}

/* The driver's own list of a module's kernels; empty if it has none to give, or lacks an entry for
 * it. */
static void module_list_functions(const struct cushim_api *cu, CUmodule module,
                                  struct module_names *names)
{
    unsigned count = 0;
    if (!CUSHIM_HAS(cu, cuModuleEnumerateFunctions) || !CUSHIM_HAS(cu, cuFuncGetName) ||
        !CUSHIM_HAS(cu, cuModuleGetFunctionCount) ||
        cu->cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS || !count)
        return;
    CUfunction *functions = calloc(count, sizeof *functions);
    if (functions && cu->cuModuleEnumerateFunctions(functions, count, module) == CUDA_SUCCESS)
        for (unsigned i = 0; i < count; i++) {
            const char *name = NULL;
            if (cu->cuFuncGetName(&name, functions[i]) == CUDA_SUCCESS && name)
                module_add_name(names, name);
        }
    free(functions);
}

CUresult cushim_module_function(const struct cushim_api *cu, CUmodule module, const char *name,
                                CUfunction *function)
{
    struct module_names names = {.wanted = name};
    CUfunction found = NULL;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(function);
    CUresult code = module_require_name(__func__, "module", module, name);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuModuleGetFunction(&found, module, name);
    if (code == CUDA_ERROR_NOT_FOUND) {
        module_list_functions(cu, module, &names);
        return module_refuse_name(__func__, "cuModuleGetFunction", &names);
    }
    code = cushim_error_check(code, __func__, "cuModuleGetFunction");
    if (code == CUDA_SUCCESS)
        *function = found;
    return code;
}

/* ---- libraries */

/*
 * Drivers compile at once, but return success when they could not, and fail the first call that
 * needs the code. So if the log has errors, make such a call: in the current context, if there is
 * one.
 */
static CUresult module_prove_library(struct cushim_jit *jit, const char *what,
                                     const struct cushim_image *image, CUlibrary library)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    if (!jit->error_log[0] || jit->cu->cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return CUDA_SUCCESS;
    CUresult code = jit->cu->cuLibraryGetModule(&module, library);
    if (code != CUDA_SUCCESS)
        jit->cu->cuLibraryUnload(library);
    return cushim_jit_check(jit, code, "cuLibraryGetModule", what, image);
}

static CUresult module_load_library(struct cushim_jit *jit, const void *data, size_t bytes,
                                    CUlibrary *library)
{
    struct module_image ready;
    CUlibrary loaded = NULL;
    CUresult code = module_open_image(jit, "data", data, bytes, &ready);
    if (code == CUDA_SUCCESS) {
        cushim_jit_arrange(jit, ready.image.kind != CUSHIM_IMAGE_CUBIN, false);
        code = jit->cu->cuLibraryLoadData(&loaded, ready.data, jit->options, jit->values,
                                          jit->count, NULL, NULL, 0);
        cushim_jit_note(jit);
        code = cushim_jit_check(jit, code, "cuLibraryLoadData", "data", &ready.image);
    }
    if (code == CUDA_SUCCESS)
        code = module_prove_library(jit, "data", &ready.image, loaded);
    free(ready.owned.data);
    if (code == CUDA_SUCCESS)
        *library = loaded;
    return code;
}

CUresult cushim_library_load(const struct cushim_api *cu, const void *data, size_t bytes,
                             const struct cushim_jit_options *options,
                             struct cushim_jit_result *result, CUlibrary *library)
{
    struct cushim_jit jit;
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options, result);
    if (code == CUDA_SUCCESS && !library)
        code = cushim_error_null(__func__, "library");
    if (code == CUDA_SUCCESS && cushim_driver_version(cu) && !CUSHIM_HAS(cu, cuLibraryLoadData)) {
        cushim_error_lacks(cu, __func__, "library", "cuLibraryLoadData");
        code = cushim_error_add(CUDA_ERROR_NOT_SUPPORTED,
                                "load a module in each context (cushim_module_load)");
    }
    if (code == CUDA_SUCCESS)
        code = module_load_library(&jit, data, bytes, library);
    return cushim_jit_end(&jit, code);
}

CUresult cushim_library_unload(const struct cushim_api *cu, CUlibrary library)
{
    CUSHIM_REQUIRE(cu);
    if (!library)
        return CUDA_SUCCESS;
    CUresult code = cushim_error_gone_is_done(cu->cuLibraryUnload(library));
    return cushim_error_check(code, __func__, "cuLibraryUnload");
}

/* The driver's own list of a library's kernels; empty if it has none to give. */
static void module_list_kernels(const struct cushim_api *cu, CUlibrary library,
                                struct module_names *names)
{
    unsigned count = 0;
    if (!CUSHIM_HAS(cu, cuLibraryEnumerateKernels) || !CUSHIM_HAS(cu, cuKernelGetName) ||
        !CUSHIM_HAS(cu, cuLibraryGetKernelCount) ||
        cu->cuLibraryGetKernelCount(&count, library) != CUDA_SUCCESS || !count)
        return;
    CUkernel *kernels = calloc(count, sizeof *kernels);
    if (kernels && cu->cuLibraryEnumerateKernels(kernels, count, library) == CUDA_SUCCESS)
        for (unsigned i = 0; i < count; i++) {
            const char *name = NULL;
            if (cu->cuKernelGetName(&name, kernels[i]) == CUDA_SUCCESS && name)
                module_add_name(names, name);
        }
    free(kernels);
}

CUresult cushim_library_kernel(const struct cushim_api *cu, CUlibrary library, const char *name,
                               CUkernel *kernel)
{
    struct module_names names = {.wanted = name};
    CUkernel found = NULL;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(kernel);
    CUresult code = module_require_name(__func__, "library", library, name);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuLibraryGetKernel(&found, library, name);
    if (code == CUDA_ERROR_NOT_FOUND) {
        module_list_kernels(cu, library, &names);
        return module_refuse_name(__func__, "cuLibraryGetKernel", &names);
    }
    code = cushim_error_check(code, __func__, "cuLibraryGetKernel");
    if (code == CUDA_SUCCESS)
        *kernel = found;
    return code;
}
