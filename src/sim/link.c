/* SPDX-License-Identifier: MIT */
/* cuLink*: several inputs into one image, which cuModuleLoadData takes. */
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "module.h"

struct link {
    struct sim_object object;
    struct sim_jit jit;
    struct sim_image inputs;
    void *output;    /* NULL: not complete */
    CUresult failed; /* code of the first input that could not be taken */
};

CUresult sim_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                             CUlinkState *stateOut)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stateOut)
        return CUDA_ERROR_INVALID_VALUE;
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = sim_jit_begin(&link->jit, numOptions, options, optionValues);
    if (result != CUDA_SUCCESS) {
        free(link);
        return result;
    }
    sim_object_add(&link->object, SIM_LINK, context);
    *stateOut = (CUlinkState)link;
    return CUDA_SUCCESS;
}

/* Compile the input with those before it, for its errors. What it lacks, others may have. */
static CUresult check(struct link *link, const struct sim_image *image, unsigned architecture)
{
    struct ptx_options options = {.version = sim_ptx_version(), .architecture = architecture};
    struct ptx_module *module;
    size_t count = link->inputs.count + image->count;
    struct ptx_source *sources = malloc((count + 1) * sizeof *sources);
    if (!sources)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (link->inputs.count)
        memcpy(sources, link->inputs.sources, link->inputs.count * sizeof *sources);
    memcpy(sources + link->inputs.count, image->sources, image->count * sizeof *sources);
    enum ptx_status status =
        ptx_compile(&options, sources, count, &link->jit.errors, NULL, &module);
    free(sources);
    switch (status) {
    case PTX_OK:
        ptx_module_release(module);
        return CUDA_SUCCESS;
    case PTX_UNRESOLVED:
        ptx_text_free(&link->jit.errors);
        return CUDA_SUCCESS;
    case PTX_DUPLICATE:
        return CUDA_ERROR_INVALID_SOURCE;
    case PTX_UNSUPPORTED_VERSION:
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_INVALID_PTX;
    }
}

static CUresult add(struct link *link, CUjitInputType type, const void *data, size_t size)
{
    struct sim_image image;
    struct sim_context *context = link->object.context;
    unsigned architecture = (unsigned)sim_architecture(context->device);
    if ((unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (link->output)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_NVVM)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = sim_image_read(data, size, architecture, &image, &link->jit.errors);
    if (result == CUDA_SUCCESS && (type == CU_JIT_INPUT_PTX) == sim_image_is_binary(data, size)) {
        sim_image_free(&image);
        result = CUDA_ERROR_INVALID_IMAGE;
    }
    if (result == CUDA_SUCCESS) {
        result = check(link, &image, architecture);
        if (result == CUDA_SUCCESS)
            result = sim_image_append(&link->inputs, &image);
        sim_image_free(&image);
    }
    sim_jit_write(&link->jit);
    if (result == CUDA_SUCCESS)
        return link->failed;
    if (link->failed == CUDA_SUCCESS)
        link->failed = result;
    return result;
}

CUresult sim_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned int numOptions, CUjit_option *options,
                              void **optionValues)
{
    struct sim_context *context;
    struct link *link = sim_object(SIM_LINK, state);
    CUresult result = sim_current(&context);
    (void)name;
    if (result != CUDA_SUCCESS)
        return result;
    if (!data || !size || (numOptions && (!options || !optionValues)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    return add(link, type, data, size);
}

CUresult sim_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct sim_context *context;
    struct link *link = sim_object(SIM_LINK, state);
    char *data;
    size_t size;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!path || (numOptions && (!options || !optionValues)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    result = sim_file_read(path, &data, &size);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(link, type, data, size);
    free(data);
    return result;
}

/* The first ABIs differ in the width of their sizes alone, which on 64 bits is the same. */
CUresult sim_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                          CUlinkState *stateOut)
{
    return sim_cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                           const char *name, unsigned int numOptions, CUjit_option *options,
                           void **optionValues)
{
    return sim_cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult sim_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                           unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    return sim_cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}

CUresult sim_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct sim_context *context;
    struct link *link = sim_object(SIM_LINK, state);
    struct ptx_module *module;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!cubinOut)
        return CUDA_ERROR_INVALID_VALUE;
    if (!link || link->output)
        return CUDA_ERROR_INVALID_HANDLE;
    if (link->failed != CUDA_SUCCESS)
        return link->failed;
    result =
        sim_jit_compile(&link->jit, context, link->inputs.sources, link->inputs.count, &module);
    size_t size = 0;
    if (result == CUDA_ERROR_INVALID_PTX)
        result = CUDA_ERROR_INVALID_SOURCE; /* each input was good by itself: a symbol is missing */
    if (result == CUDA_SUCCESS) {
        ptx_module_release(module);
        link->output =
            sim_image_write(&link->inputs, (unsigned)sim_architecture(context->device), &size);
        if (!link->output)
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_jit_write(&link->jit);
    if (result != CUDA_SUCCESS)
        return result;
    *cubinOut = link->output;
    if (sizeOut)
        *sizeOut = size;
    return CUDA_SUCCESS;
}

static void destroy(struct link *link)
{
    sim_jit_free(&link->jit);
    sim_object_remove(&link->object);
    sim_image_free(&link->inputs);
    free(link->output);
    free(link);
}

CUresult sim_cuLinkDestroy(CUlinkState state)
{
    struct link *link = sim_object(SIM_LINK, state);
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    destroy(link);
    return CUDA_SUCCESS;
}

void sim_links_clear(const struct sim_context *context)
{
    struct sim_object *next;
    for (struct sim_object *object = sim_objects(SIM_LINK); object; object = next) {
        next = object->next;
        if (object->context == context)
            destroy((struct link *)object);
    }
}
