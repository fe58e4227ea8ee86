/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module_internal.h"

/* ---- the driver's linker */

static CUjitInputType module_input_type(enum cushim_image_kind kind)
{
    switch (kind) {
    case CUSHIM_IMAGE_CUBIN:
        return CU_JIT_INPUT_CUBIN;
    case CUSHIM_IMAGE_FATBIN:
        return CU_JIT_INPUT_FATBINARY;
    case CUSHIM_IMAGE_OBJECT:
        return CU_JIT_INPUT_OBJECT;
    case CUSHIM_IMAGE_LIBRARY:
        return CU_JIT_INPUT_LIBRARY;
    case CUSHIM_IMAGE_PTX:
    case CUSHIM_IMAGE_UNKNOWN:
        break;
    }
    return CU_JIT_INPUT_PTX;
}

static CUresult module_link_create(struct cushim_jit *jit, CUlinkState *link, const char **call)
{
    const struct cushim_api *table = jit->cu;
    const bool first = !CUSHIM_HAS(jit->cu, cuLinkCreate_v2) && CUSHIM_HAS(jit->cu, cuLinkCreate);
    *call = first ? "cuLinkCreate" : "cuLinkCreate_v2";
    return first ? table->cuLinkCreate_v1(jit->count, jit->options, jit->values, link)
                 : table->cuLinkCreate_v2(jit->count, jit->options, jit->values, link);
}

/* The driver does not write into the data: its parameter lacks a const. */
static void *module_unconst(const void *data)
{
    void *same;
    memcpy(&same, &data, sizeof same);
    return same;
}

static CUresult module_link_add(struct cushim_jit *jit, CUlinkState link,
                                const struct cushim_linking *input, const char **call)
{
    const struct cushim_api *table = jit->cu;
    const CUjitInputType type = module_input_type(input->image.kind);
    const bool first = !CUSHIM_HAS(jit->cu, cuLinkAddData_v2) && CUSHIM_HAS(jit->cu, cuLinkAddData);
    void *data = module_unconst(input->data);
    *call = first ? "cuLinkAddData" : "cuLinkAddData_v2";
    return first
               ? table->cuLinkAddData_v1(link, type, data, input->bytes, input->name, 0, NULL, NULL)
               : table->cuLinkAddData_v2(link, type, data, input->bytes, input->name, 0, NULL,
                                         NULL);
}

static CUresult module_link_finish(struct cushim_jit *jit, CUlinkState link,
                                   struct cushim_cubin *cubin)
{
    void *data = NULL;
    size_t bytes = 0;
    const struct cushim_image all = {.kind = CUSHIM_IMAGE_CUBIN};
    CUresult code = jit->cu->cuLinkComplete(link, &data, &bytes);
    code = cushim_jit_checked(jit, code, "cuLinkComplete", "inputs", &all);
    if (code != CUDA_SUCCESS)
        return code;
    /* The driver's copy goes with the state. */
    cubin->data = malloc(bytes ? bytes : 1);
    if (!cubin->data)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                             "cubin: no memory for %zu bytes", bytes);
    memcpy(cubin->data, data, bytes);
    cubin->bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult module_link_by_driver(struct cushim_jit *jit, const struct cushim_linking *inputs,
                                      size_t count, struct cushim_cubin *cubin)
{
    const struct cushim_image none = {0};
    const char *call = NULL;
    CUlinkState link = NULL;
    cushim_jit_arrange(jit, true, true);
    CUresult code = module_link_create(jit, &link, &call);
    code = cushim_jit_checked(jit, code, call, "options", &none);
    if (code != CUDA_SUCCESS)
        return code;
    for (size_t i = 0; code == CUDA_SUCCESS && i < count; i++) {
        code = module_link_add(jit, link, &inputs[i], &call);
        code = cushim_jit_checked(jit, code, call, inputs[i].name, &inputs[i].image);
    }
    if (code == CUDA_SUCCESS)
        code = module_link_finish(jit, link, cubin);
    cushim_jit_note(jit);
    /* What was made is made, whatever this comes to. */
    jit->cu->cuLinkDestroy(link);
    return code;
}

CUresult cushim_link_all(struct cushim_jit *jit, const struct cushim_linking *inputs, size_t count,
                         struct cushim_cubin *cubin)
{
    /* Its path is long: not on the stack. */
    struct cushim_cache_entry *entry = NULL;
    if (jit->wanted.cache && !jit->wanted.extra_count)
        entry = calloc(1, sizeof *entry);
    if (entry && !cushim_cache_begin(jit, inputs, count, entry)) {
        free(entry);
        entry = NULL;
    }
    if (entry && cushim_cache_fetch(jit, entry, cubin)) {
        cushim_cache_end(entry);
        free(entry);
        return CUDA_SUCCESS;
    }
    CUresult code = module_link_by_driver(jit, inputs, count, cubin);
    if (entry && code == CUDA_SUCCESS)
        cushim_cache_store(jit, entry, cubin);
    if (entry)
        cushim_cache_end(entry);
    free(entry);
    return code;
}

/* ---- inputs */

static CUresult module_input_read(const char *helper, const struct cushim_link_input *given,
                                  size_t index, struct cushim_linking *input)
{
    char what[256];
    snprintf(what, sizeof what, "inputs[%zu]", index);
    if (given->data && given->path)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: both data and path are given",
                             what);
    if (given->path) {
        CUresult code = cushim_file_load(helper, what, given->path, &input->owned);
        if (code != CUDA_SUCCESS)
            return code;
        cushim_file_what(what, sizeof what, what, given->path);
    } else if (given->name) {
        snprintf(what, sizeof what, "inputs[%zu]: %.200s", index, given->name);
    }
    input->data = given->path ? input->owned.data : given->data;
    input->bytes = given->path ? input->owned.bytes : given->bytes;
    CUresult code = cushim_image_read(helper, what, input->data, input->bytes, &input->image);
    if (code != CUDA_SUCCESS)
        return code;
    if (given->name || given->path)
        snprintf(input->name, sizeof input->name, "%.255s",
                 given->name ? given->name : given->path);
    else
        snprintf(input->name, sizeof input->name, "input %zu", index);
    const char *text = input->data;
    if (input->image.kind != CUSHIM_IMAGE_PTX || text[input->bytes - 1] == 0)
        return CUDA_SUCCESS;
    if (!given->path) {
        input->owned = (struct cushim_bytes){malloc(input->bytes + 1), input->bytes};
        if (!input->owned.data)
            return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "%s: no memory for %zu bytes",
                                 what, input->bytes);
        memcpy(input->owned.data, given->data, input->bytes);
        ((char *)input->owned.data)[input->bytes] = 0;
        input->data = input->owned.data;
    }
    input->bytes++;
    return CUDA_SUCCESS;
}

static CUresult module_link(struct cushim_jit *jit, const struct cushim_link_input *given,
                            size_t count, struct cushim_cubin *cubin)
{
    CUresult code = CUDA_SUCCESS;
    if (!given)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, jit->helper, "inputs: NULL");
    if (!count)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, jit->helper, "count: 0 inputs");
    struct cushim_linking *inputs = NULL;
    if (count <= SIZE_MAX / 2 / sizeof *inputs)
        inputs = calloc(count, sizeof *inputs);
    if (!inputs)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                             "count: no memory for %zu inputs", count);
    for (size_t i = 0; code == CUDA_SUCCESS && i < count; i++)
        code = module_input_read(jit->helper, &given[i], i, &inputs[i]);
    if (code == CUDA_SUCCESS)
        code = cushim_link_all(jit, inputs, count, cubin);
    for (size_t i = 0; i < count; i++)
        free(inputs[i].owned.data);
    free(inputs);
    return code;
}

/* ---- public */

CUresult cushim_link(const struct cushim_api *cu, const struct cushim_link_input *inputs,
                     size_t count, const struct cushim_jit_options *options,
                     struct cushim_jit_result *result, struct cushim_cubin *cubin)
{
    struct cushim_jit jit;
    struct cushim_cubin made = {0};
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !cubin)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "cubin: NULL");
    if (code == CUDA_SUCCESS)
        code = module_link(&jit, inputs, count, &made);
    if (code == CUDA_SUCCESS)
        *cubin = made;
    return cushim_jit_end(&jit, result, code);
}

void cushim_cubin_release(struct cushim_cubin *cubin)
{
    if (!cubin)
        return;
    free(cubin->data);
    *cubin = (struct cushim_cubin){0};
}

/* Link and load what that makes. */
static CUresult module_link_load(struct cushim_jit *jit, const struct cushim_link_input *inputs,
                                 size_t count, CUmodule *module)
{
    struct cushim_cubin cubin = {0};
    CUresult code = module_link(jit, inputs, count, &cubin);
    if (code == CUDA_SUCCESS) {
        struct cushim_loading loading = {
            .data = cubin.data, .bytes = cubin.bytes, .image = {.kind = CUSHIM_IMAGE_CUBIN}};
        code = cushim_loading_module(jit, "the linked cubin", &loading, module);
    }
    cushim_cubin_release(&cubin);
    return code;
}

CUresult cushim_module_link(const struct cushim_api *cu, const struct cushim_link_input *inputs,
                            size_t count, const struct cushim_jit_options *options,
                            struct cushim_jit_result *result, CUmodule *module)
{
    struct cushim_jit jit;
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options);
    if (code == CUDA_SUCCESS && !module)
        code = cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "module: NULL");
    if (code == CUDA_SUCCESS)
        code = module_link_load(&jit, inputs, count, module);
    if (code != CUDA_SUCCESS && jit.outcome == CUSHIM_CACHE_HIT) {
        /* A cache is not what a load fails for. */
        jit.wanted.cache = NULL;
        jit.outcome = CUSHIM_CACHE_FAILED;
        code = module_link_load(&jit, inputs, count, module);
    }
    return cushim_jit_end(&jit, result, code);
}
