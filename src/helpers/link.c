/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "jit.h"
#include "link.h"

/* One input that was read and recognised. */
struct link_input {
    const void *data;
    size_t bytes;
    struct cushim_image image;
    char name[256];
    struct cushim_image_bytes owned; /* what to free */
};

/* ---- the driver's linker */

static CUjitInputType link_input_type(enum cushim_image_kind kind)
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

static CUresult link_create(struct cushim_jit *jit, CUlinkState *link, const char **call)
{
    const bool first =
        !CUSHIM_HAS(jit->cu, cuLinkCreate_v2) && CUSHIM_HAS(jit->cu, cuLinkCreate_v1);
    *call = first ? "cuLinkCreate" : "cuLinkCreate_v2";
    return first ? jit->cu->cuLinkCreate_v1(jit->count, jit->options, jit->values, link)
                 : jit->cu->cuLinkCreate_v2(jit->count, jit->options, jit->values, link);
}

/* The driver does not write into the data: its parameter lacks a const. */
static void *link_unconst(const void *data)
{
    void *same;
    memcpy(&same, &data, sizeof same);
    return same;
}

static CUresult link_add(struct cushim_jit *jit, CUlinkState link, const struct link_input *input,
                         const char **call)
{
    const CUjitInputType type = link_input_type(input->image.kind);
    const bool first =
        !CUSHIM_HAS(jit->cu, cuLinkAddData_v2) && CUSHIM_HAS(jit->cu, cuLinkAddData_v1);
    void *data = link_unconst(input->data);
    *call = first ? "cuLinkAddData" : "cuLinkAddData_v2";
    return first ? jit->cu->cuLinkAddData_v1(link, type, data, input->bytes, input->name, 0, NULL,
                                             NULL)
                 : jit->cu->cuLinkAddData_v2(link, type, data, input->bytes, input->name, 0, NULL,
                                             NULL);
}

static CUresult link_finish(struct cushim_jit *jit, CUlinkState link, struct cushim_cubin *cubin)
{
    void *data = NULL;
    size_t bytes = 0;
    const struct cushim_image all = {.kind = CUSHIM_IMAGE_CUBIN};
    CUresult code = jit->cu->cuLinkComplete(link, &data, &bytes);
    code = cushim_jit_check(jit, code, "cuLinkComplete", "inputs", &all);
    if (code != CUDA_SUCCESS)
        return code;
    /* The driver's copy goes with the state. */
    cubin->data = malloc(bytes ? bytes : 1);
    if (!cubin->data)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                                   "cubin: no memory for %zu bytes", bytes);
    memcpy(cubin->data, data, bytes);
    cubin->bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult link_by_driver(struct cushim_jit *jit, const struct link_input *inputs,
                               size_t count, struct cushim_cubin *cubin)
{
    const struct cushim_image none = {0};
    const char *call = NULL;
    CUlinkState link = NULL;
    cushim_jit_arrange(jit, true, true);
    CUresult code = link_create(jit, &link, &call);
    code = cushim_jit_check(jit, code, call, "options", &none);
    if (code != CUDA_SUCCESS)
        return code;
    for (size_t i = 0; code == CUDA_SUCCESS && i < count; i++) {
        code = link_add(jit, link, &inputs[i], &call);
        code = cushim_jit_check(jit, code, call, inputs[i].name, &inputs[i].image);
    }
    if (code == CUDA_SUCCESS)
        code = link_finish(jit, link, cubin);
    cushim_jit_note(jit);
    /* What was made is made, whatever this comes to. */
    jit->cu->cuLinkDestroy(link);
    return code;
}

/* ---- inputs */

/* A file's bytes end with a NUL that `bytes` does not count. */
static CUresult link_open_input(const char *helper, const struct cushim_link_input *given,
                                size_t index, char *what, size_t size, struct link_input *input)
{
    snprintf(what, size, "inputs[%zu]", index);
    if (given->data && given->path)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "%s: both data and path are given", what);
    input->data = given->data;
    input->bytes = given->bytes;
    if (given->path) {
        CUresult code = cushim_image_load_file(helper, what, given->path, &input->owned);
        if (code != CUDA_SUCCESS)
            return code;
        input->data = input->owned.data;
        input->bytes = input->owned.bytes;
        cushim_image_file_name(what, size, what, given->path);
    } else if (given->name) {
        snprintf(what, size, "inputs[%zu]: %.200s", index, given->name);
    }
    return CUDA_SUCCESS;
}

static CUresult link_read_input(const char *helper, const struct cushim_link_input *given,
                                size_t index, struct link_input *input)
{
    char what[256];
    CUresult code = link_open_input(helper, given, index, what, sizeof what, input);
    if (code == CUDA_SUCCESS)
        code = cushim_image_read(helper, what, input->data, input->bytes, &input->image);
    if (code != CUDA_SUCCESS)
        return code;
    if (given->name || given->path)
        snprintf(input->name, sizeof input->name, "%.255s",
                 given->name ? given->name : given->path);
    else
        snprintf(input->name, sizeof input->name, "input %zu", index);
    if (!given->path)
        return cushim_image_terminate(helper, what, &input->image, &input->data, &input->bytes,
                                      &input->owned);
    if (input->image.kind == CUSHIM_IMAGE_PTX)
        input->bytes++;
    return CUDA_SUCCESS;
}

/* The caller's structures lie as far apart as the first one is large. */
static CUresult link_read_inputs(const char *helper, const struct cushim_link_input *given,
                                 size_t count, struct link_input *inputs)
{
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; code == CUDA_SUCCESS && i < count; i++) {
        struct cushim_link_input one = {.size = 0};
        code = cushim_error_read_sized(helper, "inputs", (const char *)given + i * given->size,
                                       CUSHIM_LEAST(cushim_link_input, name), &one, sizeof one);
        if (code == CUDA_SUCCESS)
            code = link_read_input(helper, &one, i, &inputs[i]);
    }
    return code;
}

CUresult cushim_link_all(struct cushim_jit *jit, const struct cushim_link_input *given,
                         size_t count, struct cushim_cubin *cubin)
{
    if (!given)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, jit->helper, "inputs", "an array");
    if (!count)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, jit->helper,
                                   "count is 0; pass at least one input");
    struct link_input *inputs = NULL;
    if (count <= SIZE_MAX / 2 / sizeof *inputs)
        inputs = calloc(count, sizeof *inputs);
    if (!inputs)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, jit->helper,
                                   "count: no memory for %zu inputs", count);
    CUresult code = link_read_inputs(jit->helper, given, count, inputs);
    if (code == CUDA_SUCCESS)
        code = link_by_driver(jit, inputs, count, cubin);
    for (size_t i = 0; i < count; i++)
        free(inputs[i].owned.data);
    free(inputs);
    return code;
}

/* ---- public */

CUresult cushim_cubin_link(const struct cushim_api *cu, const struct cushim_link_input *inputs,
                           size_t count, const struct cushim_jit_options *options,
                           struct cushim_jit_result *result, struct cushim_cubin *cubin)
{
    struct cushim_jit jit;
    struct cushim_cubin made = {0};
    CUresult code = cushim_jit_begin(&jit, cu, __func__, options, result);
    if (code == CUDA_SUCCESS && !cubin)
        code = cushim_error_null(__func__, "cubin");
    if (code == CUDA_SUCCESS)
        code = cushim_link_all(&jit, inputs, count, &made);
    if (code == CUDA_SUCCESS)
        *cubin = made;
    return cushim_jit_end(&jit, code);
}

void cushim_cubin_release(struct cushim_cubin *cubin)
{
    if (!cubin)
        return;
    free(cubin->data);
    *cubin = (struct cushim_cubin){0};
}
