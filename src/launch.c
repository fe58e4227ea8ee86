/* SPDX-License-Identifier: MIT */
#include <stdio.h>

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

/* Names a launch with a cluster or cooperative; 0 for all others, which need no name. */
static uint64_t launch_shape(const struct cushim_launch *launch)
{
    if (!cushim_launch_has_extras(launch))
        return 0;
    uint64_t hash = cushim_hash(CUSHIM_HASH_START, launch->cooperative);
    for (int i = 0; i < 3; i++) {
        hash = cushim_hash(hash, launch->grid[i]);
        hash = cushim_hash(hash, launch->block[i]);
        hash = cushim_hash(hash, launch->cluster[i]);
    }
    return cushim_hash(cushim_hash(hash, launch->shared), launch->attribute_count);
}

/* Whether the arguments are those that the function is known to take. */
static bool launch_arguments_known(const struct cushim_launching *what,
                                   const struct cushim_launch_known *known)
{
    if (known->count == CUSHIM_COUNT_UNKNOWN)
        return true;
    if (what->packed)
        return what->packed->count == known->count &&
               (!known->count || what->packed->layout == known->layout);
    if (what->count != known->count)
        return false;
    uint64_t hash = CUSHIM_HASH_START;
    for (size_t i = 0; what->sizes && i < what->count; i++)
        hash = cushim_hash(hash, what->sizes[i]);
    return !what->sizes || hash == known->sizes;
}

/* Whether all of the launch lies within what is known to be in order. */
static bool launch_is_known(const struct cushim_launching *what, uint64_t shape)
{
    struct cushim_launch_known known;
    const struct cushim_launch *launch = what->launch;
    const size_t *grid = launch->grid, *block = launch->block;
    if (!cushim_launch_recall(what->cu, what->function, &known))
        return false;
    /* Less one, so that 0 is too large. */
    for (int i = 0; i < 3; i++)
        if (grid[i] - 1 >= known.grid[i] || block[i] - 1 >= known.block[i])
            return false;
    return (uint64_t)block[0] * block[1] * block[2] <= known.threads &&
           launch->shared <= known.dynamic && (!shape || shape == known.shape) &&
           launch_arguments_known(what, &known);
}

/* Check a launch against what the driver says now, and remember that it is in order. */
static CUresult launch_admit(const struct cushim_launching *what, uint64_t shape, bool *raised)
{
    struct cushim_launch_limits limits;
    struct cushim_launch_known known = {.shape = shape};
    CUresult code = cushim_launch_ask(what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(what, &known);
    *raised = code == CUDA_SUCCESS && what->launch->shared > limits.dynamic_now;
    if (*raised) {
        code = cushim_launch_opt_in(what, &limits, what->launch->shared);
        limits.dynamic_now = limits.dynamic_most;
    }
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_extras(what, &limits);
    if (code != CUDA_SUCCESS)
        return code;
    for (int i = 0; i < 3; i++) {
        known.grid[i] = limits.grid[i];
        known.block[i] = limits.block[i];
    }
    known.threads = limits.function_threads < limits.device_threads ? limits.function_threads
                                                                    : limits.device_threads;
    known.dynamic = limits.dynamic_now;
    cushim_launch_remember(what->cu, what->function, &known);
    return CUDA_SUCCESS;
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
    return cushim_table(what->cu)->cuLaunchKernelEx(&config, what->function, pointers, extra);
}

static CUresult launch_call(const struct cushim_launching *what, void **pointers, void **extra,
                            const char **call)
{
    const struct cushim_launch *launch = what->launch;
    const struct cushim_api *table = cushim_table(what->cu);
    unsigned gx = (unsigned)launch->grid[0], gy = (unsigned)launch->grid[1],
             gz = (unsigned)launch->grid[2], bx = (unsigned)launch->block[0],
             by = (unsigned)launch->block[1], bz = (unsigned)launch->block[2],
             shared = (unsigned)launch->shared;
    if (!cushim_launch_has_extras(launch)) {
        *call = "cuLaunchKernel";
        return table->cuLaunchKernel(what->function, gx, gy, gz, bx, by, bz, shared, launch->stream,
                                     pointers, extra);
    }
    if (launch->cluster[0] || launch->attribute_count || extra ||
        !CUSHIM_HAS(what->cu, cuLaunchCooperativeKernel)) {
        *call = "cuLaunchKernelEx";
        return launch_call_ex(what, pointers, extra);
    }
    *call = "cuLaunchCooperativeKernel";
    return table->cuLaunchCooperativeKernel(what->function, gx, gy, gz, bx, by, bz, shared,
                                            launch->stream, pointers);
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
static CUresult launch_again(const struct cushim_launching *what, void **pointers, void **extra,
                             CUresult code, const char *call)
{
    const struct cushim_launch *launch = what->launch;
    bool raised = false;
    if (!launch_own_failure(code))
        return cushim_checked(code, what->helper, call);
    CUresult refused = launch_admit(what, launch_shape(launch), &raised);
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

static CUresult launch_checked(const struct cushim_launching *what, void **pointers, void **extra)
{
    const char *call;
    bool raised;
    CUresult code = launch_check_given(what);
    if (code == CUDA_SUCCESS)
        code = launch_check_pointers(what, pointers);
    if (code != CUDA_SUCCESS)
        return code;
    uint64_t shape = launch_shape(what->launch);
    if (!launch_is_known(what, shape)) {
        code = launch_admit(what, shape, &raised);
        if (code != CUDA_SUCCESS)
            return code;
    }
    code = launch_call(what, pointers, extra, &call);
    return code == CUDA_SUCCESS ? code : launch_again(what, pointers, extra, code, call);
}

CUresult cushim_launch_kernel(const struct cushim *cu, CUfunction function,
                              const struct cushim_launch *launch, void **pointers,
                              const size_t *sizes, size_t count)
{
    struct cushim_launching what = {.cu = cu,
                                    .helper = __func__,
                                    .function = function,
                                    .launch = launch,
                                    .sizes = sizes,
                                    .count = count};
    return launch_checked(&what, pointers, NULL);
}

CUresult cushim_launch_packed(const struct cushim *cu, CUfunction function,
                              const struct cushim_launch *launch,
                              const struct cushim_params *params)
{
    struct cushim_launching what = {
        .cu = cu, .helper = __func__, .function = function, .launch = launch, .packed = params};
    if (!params)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "params: NULL");
    if (params->code != CUDA_SUCCESS)
        return cushim_refuse(params->code, __func__, "params: parameter %zu could not be added",
                             params->count + 1);
    size_t size = params->size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END};
    return launch_checked(&what, NULL, size ? extra : NULL);
}

CUresult cushim_launch_check(const struct cushim *cu, CUfunction function,
                             const struct cushim_launch *launch, const size_t *sizes, size_t count)
{
    struct cushim_launching what = {.cu = cu,
                                    .helper = __func__,
                                    .function = function,
                                    .launch = launch,
                                    .sizes = sizes,
                                    .count = count};
    struct cushim_launch_limits limits;
    struct cushim_launch_known known;
    CUresult code = launch_check_given(&what);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_ask(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(&what, &known);
    return code == CUDA_SUCCESS ? cushim_launch_check_extras(&what, &limits) : code;
}
