/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "instance.h"
#include "launch_check.h"

/* ---- checks */

/* What needs no driver. */
static CUresult launch_check_given(const struct cushim_launching *what)
{
    const struct cushim_launch *launch = what->launch;
    const char *null = !what->function ? "function" : !launch ? "launch" : NULL;
    if (!null && launch->attribute_count && !launch->attributes)
        null = "attributes";
    if (null)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper, "%s: NULL", null);
    if (launch->attribute_count > CUSHIM_MAX_ATTRIBUTES)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                             "attribute_count: %u; at most %d", launch->attribute_count,
                             CUSHIM_MAX_ATTRIBUTES);
    return CUDA_SUCCESS;
}

static CUresult launch_check_pointers(const struct cushim_launching *what, void **pointers)
{
    if (what->count && !pointers)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper, "pointers: NULL");
    for (size_t i = 0; i < what->count; i++)
        if (!pointers[i])
            return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                 "pointers: number %zu is NULL", i + 1);
    return CUDA_SUCCESS;
}

/* What of cluster, cooperative and attributes must be the same again to be in order again. */
static uint64_t launch_key_extras(uint64_t key, const struct cushim_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        key = cushim_launch_key_add(key, launch->grid[i]);
        key = cushim_launch_key_add(key, launch->cluster[i]);
    }
    key = cushim_launch_key_add(key, launch->cooperative);
    key = cushim_launch_key_add(key, launch->attribute_count);
    return cushim_launch_key_add(key, launch->shared);
}

/* Check a launch against what the driver says now, and remember that it is in order. */
static CUresult launch_admit(struct cushim_launching *what, bool *raised)
{
    struct cushim_launch_limits limits;
    CUresult code = cushim_launch_ask(what, &limits);
    *raised = false;
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(what);
    if (code == CUDA_SUCCESS && what->launch->shared > limits.dynamic_now) {
        code = cushim_launch_opt_in(what, &limits, what->launch->shared);
        limits.dynamic_now = limits.dynamic_most;
        *raised = true;
    }
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_extras(what, &limits);
    if (code == CUDA_SUCCESS)
        cushim_launch_remember(what->key, limits.grid, limits.dynamic_now);
    return code;
}

/* ---- the driver's calls */

static CUresult launch_call_ex(const struct cushim_launching *what, void **pointers, void **extra)
{
    const struct cushim_launch *launch = what->launch;
    CUlaunchAttribute attributes[CUSHIM_MAX_ATTRIBUTES + 2];
    unsigned count = 0;
    for (; count < launch->attribute_count; count++)
        attributes[count] = launch->attributes[count];
    if (launch->cluster[0])
        attributes[count++] = cushim_launch_cluster_attribute(launch);
    if (launch->cooperative) {
        CUlaunchAttribute *cooperative = &attributes[count++];
        cooperative->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative->value.cooperative = 1;
    }
    CUlaunchConfig config = cushim_launch_config(launch, attributes, count);
    return what->cu->cuLaunchKernelEx(&config, what->function, pointers, extra);
}

static CUresult launch_call_plain(const struct cushim_api *cu, CUfunction function,
                                  const struct cushim_launch *launch, void **pointers, void **extra)
{
    return cu->cuLaunchKernel(function, (unsigned)launch->grid[0], (unsigned)launch->grid[1],
                              (unsigned)launch->grid[2], (unsigned)launch->block[0],
                              (unsigned)launch->block[1], (unsigned)launch->block[2],
                              (unsigned)launch->shared, launch->stream, pointers, extra);
}

static CUresult launch_call(const struct cushim_launching *what, void **pointers, void **extra,
                            const char **call)
{
    const struct cushim_launch *launch = what->launch;
    if (!cushim_launch_has_extras(launch)) {
        *call = "cuLaunchKernel";
        return launch_call_plain(what->cu, what->function, launch, pointers, extra);
    }
    if (launch->cluster[0] || launch->attribute_count || extra ||
        !CUSHIM_HAS(what->cu, cuLaunchCooperativeKernel)) {
        *call = "cuLaunchKernelEx";
        return launch_call_ex(what, pointers, extra);
    }
    *call = "cuLaunchCooperativeKernel";
    return what->cu->cuLaunchCooperativeKernel(
        what->function, (unsigned)launch->grid[0], (unsigned)launch->grid[1],
        (unsigned)launch->grid[2], (unsigned)launch->block[0], (unsigned)launch->block[1],
        (unsigned)launch->block[2], (unsigned)launch->shared, launch->stream, pointers);
}

/* Whether a code can come from the launch itself, not from earlier work. */
static bool launch_own_failure(CUresult code)
{
    return code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
           code == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE || code == CUDA_ERROR_NOT_SUPPORTED ||
           code == CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/* ---- launch */

/* A launch that the driver refused: ask it anew, as what is remembered may have changed. */
static CUresult launch_again(struct cushim_launching *what, void **pointers, void **extra,
                             CUresult code, const char *call)
{
    const struct cushim_launch *launch = what->launch;
    bool raised = false;
    if (code == CUDA_ERROR_INVALID_HANDLE)
        return cushim_refuse(code, what->helper,
                             "function %p, launch->stream %p: one is not of the current context, "
                             "or no more (%s: CUDA_ERROR_INVALID_HANDLE)",
                             (void *)what->function, (void *)launch->stream, call);
    if (!launch_own_failure(code))
        return cushim_checked(code, what->helper, call);
    CUresult refused = launch_admit(what, &raised);
    if (refused != CUDA_SUCCESS)
        return refused;
    if (raised)
        code = launch_call(what, pointers, extra, &call);
    if (!launch_own_failure(code))
        return cushim_checked(code, what->helper, call);
    char name[128];
    const char *meaning = cushim_error_string(code);
    return cushim_refuse(
        code, what->helper,
        "%s: %s (%d), %s; %s, grid %zu x %zu x %zu, block %zu x %zu x %zu, %zu bytes of shared "
        "memory",
        call, cushim_error_name(code), (int)code, meaning ? meaning : "",
        cushim_launch_name(what, name, sizeof name), launch->grid[0], launch->grid[1],
        launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->shared);
}

/* A launch that is not a plain one known to be in order. */
static CUresult launch_first(struct cushim_launching *what, void **pointers, void **extra)
{
    const char *call;
    bool raised;
    CUresult code = launch_check_given(what);
    if (code == CUDA_SUCCESS)
        code = launch_check_pointers(what, pointers);
    if (code != CUDA_SUCCESS)
        return code;
    if (cushim_launch_has_extras(what->launch))
        what->key = launch_key_extras(what->key, what->launch);
    if (!cushim_launch_recall(what->key, what->launch)) {
        code = launch_admit(what, &raised);
        if (code != CUDA_SUCCESS)
            return code;
    }
    code = launch_call(what, pointers, extra, &call);
    return code == CUDA_SUCCESS ? code : launch_again(what, pointers, extra, code, call);
}

/* A plain launch that is known to be in order takes the short way: it must cost next to nothing. */
CUresult cushim_launch_kernel(const struct cushim_api *cu, CUfunction function,
                              const struct cushim_launch *launch, void **pointers,
                              const size_t *sizes, size_t count)
{
    uint64_t key = 0;
    bool known = launch && (pointers || !count);
    if (known) {
        key = cushim_launch_key(cu, function, launch,
                                sizes ? CUSHIM_LAUNCH_SIZES : CUSHIM_LAUNCH_POINTERS);
        for (size_t i = 0; sizes && i < count; i++)
            key = cushim_launch_key_add(key, sizes[i]);
        for (size_t i = 0; i < count; i++)
            known &= pointers[i] != NULL;
        key = cushim_launch_key_add(key, count);
        known = known && !cushim_launch_has_extras(launch) && cushim_launch_recall(key, launch);
    }
    CUresult code = CUDA_SUCCESS;
    if (known) {
        code = launch_call_plain(cu, function, launch, pointers, NULL);
        if (code == CUDA_SUCCESS)
            return code;
    }
    struct cushim_launching what = {.cu = cu,
                                    .helper = __func__,
                                    .function = function,
                                    .launch = launch,
                                    .sizes = sizes,
                                    .count = count,
                                    .key = key};
    return known ? launch_again(&what, pointers, NULL, code, "cuLaunchKernel")
                 : launch_first(&what, pointers, NULL);
}

CUresult cushim_launch_packed(const struct cushim_api *cu, CUfunction function,
                              const struct cushim_launch *launch,
                              const struct cushim_params *params)
{
    if (!params)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "params: NULL");
    if (params->code != CUDA_SUCCESS)
        return cushim_refuse(params->code, __func__, "params: parameter %zu could not be added",
                             params->count + 1);
    size_t size = params->size;
    void *list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                    &size, CU_LAUNCH_PARAM_END};
    void **extra = size ? list : NULL;
    uint64_t key = 0;
    bool known = launch;
    if (known) {
        key = cushim_launch_key(cu, function, launch, CUSHIM_LAUNCH_PACKED);
        key = cushim_launch_key_add(key, params->layout);
        key = cushim_launch_key_add(key, params->count);
        known = !cushim_launch_has_extras(launch) && cushim_launch_recall(key, launch);
    }
    CUresult code = CUDA_SUCCESS;
    if (known) {
        code = launch_call_plain(cu, function, launch, NULL, extra);
        if (code == CUDA_SUCCESS)
            return code;
    }
    struct cushim_launching what = {.cu = cu,
                                    .helper = __func__,
                                    .function = function,
                                    .launch = launch,
                                    .packed = params,
                                    .key = key};
    return known ? launch_again(&what, NULL, extra, code, "cuLaunchKernel")
                 : launch_first(&what, NULL, extra);
}

CUresult cushim_launch_check(const struct cushim_api *cu, CUfunction function,
                             const struct cushim_launch *launch, const size_t *sizes, size_t count)
{
    struct cushim_launching what = {.cu = cu,
                                    .helper = __func__,
                                    .function = function,
                                    .launch = launch,
                                    .sizes = sizes,
                                    .count = count};
    struct cushim_launch_limits limits;
    CUresult code = launch_check_given(&what);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_ask(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(&what);
    return code == CUDA_SUCCESS ? cushim_launch_check_extras(&what, &limits) : code;
}
