/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "error.h"
#include "launch_check.h"

/* Dynamic shared memory that every function may have without being set to more. */
#define LAUNCH_USUAL_SHARED ((size_t)48 << 10)
#define LAUNCH_MOST_ALIGNMENT 128

/* ---- what needs no driver */

static CUresult launch_refuse_null(const struct launch_what *what)
{
    if (!what->cu || what->function)
        return cushim_error_null(what->helper, what->cu ? "launch" : "cu");
    return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, what->helper, "function", "a kernel");
}

static CUresult launch_require_given(struct launch_what *what)
{
    const struct cushim_launch *launch = what->launch;
    if (!what->cu || !what->function || !launch)
        return launch_refuse_null(what);
    if (launch->size != sizeof *launch) { /* of another release */
        CUresult code = cushim_error_read_sized(what->helper, "launch", launch,
                                                CUSHIM_LEAST(cushim_launch, attributes), &what->own,
                                                sizeof what->own);
        if (code != CUDA_SUCCESS)
            return code;
        launch = what->launch = &what->own;
    }
    if (launch->attribute_count && !launch->attributes)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, what->helper, "attributes",
                                   "an array");
    if (launch->attribute_count > CUSHIM_LAUNCH_MOST_ATTRIBUTES)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                   "attribute_count is %u; pass at most %d",
                                   launch->attribute_count, CUSHIM_LAUNCH_MOST_ATTRIBUTES);
    return CUDA_SUCCESS;
}

static CUresult launch_require_pointers(const struct launch_what *what, void **pointers)
{
    if (what->count && !pointers)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, what->helper, "pointers", "an array");
    for (size_t i = 0; i < what->count; i++)
        if (!pointers[i])
            return cushim_error_refuse(
                CUDA_ERROR_INVALID_VALUE, what->helper,
                "pointers: number %zu is NULL; pass the address of an argument", i + 1);
    return CUDA_SUCCESS;
}

/* Whether a launch has a number that the driver's types cannot hold, or a forbidden 0. */
static bool launch_is_off(const struct cushim_launch *launch)
{
    bool off = launch->shared > UINT_MAX;
    for (int i = 0; i < 3; i++)
        off = off || launch->grid[i] - 1 >= UINT_MAX || launch->block[i] - 1 >= UINT_MAX ||
              launch->cluster[i] > UINT_MAX;
    return off;
}

static bool launch_has_cluster(const struct cushim_launch *launch)
{
    return (launch->cluster[0] | launch->cluster[1] | launch->cluster[2]) != 0;
}

/* ---- the driver's calls */

/* CUSHIM_HAS(cu, cuLaunchKernelEx): launch_check.c asks before. */
static CUresult launch_call_ex(const struct launch_what *what, void **pointers, void **extra)
{
    const struct cushim_launch *launch = what->launch;
    CUlaunchAttribute attributes[CUSHIM_LAUNCH_MOST_ATTRIBUTES + 2];
    unsigned count = 0;
    for (; count < launch->attribute_count; count++)
        attributes[count] = launch->attributes[count];
    if (launch_has_cluster(launch))
        attributes[count++] = cushim_launch_check_cluster(launch);
    if (launch->cooperative) {
        CUlaunchAttribute *cooperative = &attributes[count++];
        cooperative->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative->value.cooperative = 1;
    }
    CUlaunchConfig config = cushim_launch_check_config(launch, attributes, count);
    return what->cu->cuLaunchKernelEx(&config, what->function, pointers, extra);
}

static CUresult launch_call(const struct launch_what *what, void **pointers, void **extra,
                            const char **call)
{
    const struct cushim_launch *launch = what->launch;
    const unsigned grid[] = {(unsigned)launch->grid[0], (unsigned)launch->grid[1],
                             (unsigned)launch->grid[2]};
    const unsigned block[] = {(unsigned)launch->block[0], (unsigned)launch->block[1],
                              (unsigned)launch->block[2]};
    const unsigned shared = (unsigned)launch->shared;
    const bool extended = launch_has_cluster(launch) || launch->attribute_count;
    if (!extended && !launch->cooperative) {
        *call = "cuLaunchKernel";
        return what->cu->cuLaunchKernel(what->function, grid[0], grid[1], grid[2], block[0],
                                        block[1], block[2], shared, launch->stream, pointers,
                                        extra);
    }
    if (extended || extra || !CUSHIM_HAS(what->cu, cuLaunchCooperativeKernel)) {
        *call = "cuLaunchKernelEx";
        return launch_call_ex(what, pointers, extra);
    }
    *call = "cuLaunchCooperativeKernel";
    return what->cu->cuLaunchCooperativeKernel(what->function, grid[0], grid[1], grid[2], block[0],
                                               block[1], block[2], shared, launch->stream,
                                               pointers);
}

/* ---- launch */

/* Check a launch against the device and the function; allow the function the shared memory. */
static CUresult launch_admit(struct launch_what *what, bool *raised)
{
    struct launch_check_limits limits;
    CUresult code = cushim_launch_check_ask(what, &limits);
    *raised = false;
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(what);
    if (code == CUDA_SUCCESS && what->launch->shared > limits.dynamic_now) {
        code = cushim_launch_check_raise(what, &limits);
        limits.dynamic_now = limits.dynamic_most;
        *raised = code == CUDA_SUCCESS;
    }
    return code == CUDA_SUCCESS ? cushim_launch_check_extras(what, &limits) : code;
}

/* Before a launch with much shared memory. It is not just tried, because a failed launch spoils a
 * capture. */
static CUresult launch_allow_shared(struct launch_what *what)
{
    bool raised = false;
    int now = 0;
    if (what->cu->cuFuncGetAttribute(&now, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     what->function) == CUDA_SUCCESS &&
        now >= 0 && (size_t)now >= what->launch->shared)
        return CUDA_SUCCESS;
    return launch_admit(what, &raised);
}

/* Whether a code can come from the launch itself, not from earlier work. */
static bool launch_is_own_failure(CUresult code)
{
    return code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
           code == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE || code == CUDA_ERROR_NOT_SUPPORTED ||
           code == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER || code == CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/* A launch that the driver refused: find out why. If only the function's shared memory was too
 * small, it is allowed more and launched. */
static CUresult launch_explain(struct launch_what *what, void **pointers, void **extra,
                               CUresult code, const char *call)
{
    const struct cushim_launch *launch = what->launch;
    bool raised = false;
    if (cushim_error_is_ruled())
        return cushim_error_check(code, what->helper, call);
    if (code == CUDA_ERROR_INVALID_HANDLE)
        return cushim_error_refuse(
            code, what->helper,
            "function " CUSHIM_HANDLE ", launch->stream " CUSHIM_HANDLE
            ": one does not belong to the current context, or was destroyed (%s: "
            "CUDA_ERROR_INVALID_HANDLE)",
            (void *)what->function, (void *)launch->stream, call);
    if (!launch_is_own_failure(code))
        return cushim_error_check(code, what->helper, call);
    CUresult refused = launch_admit(what, &raised);
    if (refused != CUDA_SUCCESS)
        return refused;
    if (raised)
        code = launch_call(what, pointers, extra, &call);
    if (!launch_is_own_failure(code))
        return cushim_error_check(code, what->helper, call);
    char name[128];
    const char *meaning = cushim_error_string(code);
    return cushim_error_refuse(
        code, what->helper,
        "%s: %s (%d), %s; %s, grid %zu x %zu x %zu, block %zu x %zu x %zu, %zu bytes of shared "
        "memory",
        call, cushim_error_name(code), (int)code, meaning ? meaning : "",
        cushim_launch_check_name(what, name, sizeof name), launch->grid[0], launch->grid[1],
        launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->shared);
}

static CUresult launch_go(struct launch_what *what, void **pointers, void **extra)
{
    const struct cushim_launch *launch = what->launch;
    const char *call = NULL;
    CUresult code = CUDA_SUCCESS;
    if (launch_is_off(launch))
        return launch_explain(what, pointers, extra, CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel");
    if (launch->shared > LAUNCH_USUAL_SHARED)
        code = launch_allow_shared(what);
    if (code != CUDA_SUCCESS)
        return code;
    code = launch_call(what, pointers, extra, &call);
    return code == CUDA_SUCCESS ? code : launch_explain(what, pointers, extra, code, call);
}

CUresult cushim_launch_kernel(const struct cushim_api *cu, CUfunction function,
                              const struct cushim_launch *launch, void **pointers,
                              const size_t *sizes, size_t count)
{
    struct launch_what what = {.cu = cu,
                               .helper = __func__,
                               .function = function,
                               .launch = launch,
                               .sizes = sizes,
                               .count = count};
    CUresult code = launch_require_given(&what);
    if (code == CUDA_SUCCESS)
        code = launch_require_pointers(&what, pointers);
    return code == CUDA_SUCCESS ? launch_go(&what, pointers, NULL) : code;
}

CUresult cushim_launch_packed(const struct cushim_api *cu, CUfunction function,
                              const struct cushim_launch *launch,
                              const struct cushim_params *params)
{
    struct launch_what what = {
        .cu = cu, .helper = __func__, .function = function, .launch = launch, .packed = params};
    CUSHIM_REQUIRE(params);
    if (params->code != CUDA_SUCCESS)
        return cushim_error_refuse(params->code, __func__,
                                   "params: parameter %zu could not be added", params->count + 1);
    size_t size = params->size;
    void *list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                    &size, CU_LAUNCH_PARAM_END};
    CUresult code = launch_require_given(&what);
    return code == CUDA_SUCCESS ? launch_go(&what, NULL, size ? list : NULL) : code;
}

CUresult cushim_launch_check(const struct cushim_api *cu, CUfunction function,
                             const struct cushim_launch *launch, const size_t *sizes, size_t count)
{
    struct launch_what what = {.cu = cu,
                               .helper = __func__,
                               .function = function,
                               .launch = launch,
                               .sizes = sizes,
                               .count = count};
    struct launch_check_limits limits;
    CUresult code = launch_require_given(&what);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_ask(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_arguments(&what);
    return code == CUDA_SUCCESS ? cushim_launch_check_extras(&what, &limits) : code;
}

/* ---- packed parameters */

static CUresult launch_refuse_params(struct cushim_params *params, CUresult code)
{
    params->code = code;
    return code;
}

CUresult cushim_params_add(struct cushim_params *params, const void *value, size_t size,
                           size_t alignment)
{
    CUSHIM_REQUIRE(params);
    if (params->code != CUDA_SUCCESS)
        return cushim_error_refuse(params->code, __func__,
                                   "params: parameter %zu could not be added before this one",
                                   params->count + 1);
    if (!value || !size)
        return launch_refuse_params(
            params, value ? cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                                "size is 0; pass the size of the value")
                          : cushim_error_null(__func__, "value"));
    if (!alignment || (alignment & (alignment - 1)) || alignment > LAUNCH_MOST_ALIGNMENT)
        return launch_refuse_params(params,
                                    cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                                        "alignment: %zu is no power of 2 up to %d",
                                                        alignment, LAUNCH_MOST_ALIGNMENT));
    size_t padding = (0 - params->size) & (alignment - 1);
    size_t room =
        params->buffer && params->size <= params->capacity ? params->capacity - params->size : 0;
    if (padding > room || size > room - padding)
        return launch_refuse_params(
            params, cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                        "size: %zu bytes at offset %zu pass the end of "
                                        "the buffer of %zu",
                                        size, params->size + padding, params->capacity));
    for (size_t i = 0; i < padding; i++)
        params->buffer[params->size + i] = 0;
    memcpy(params->buffer + params->size + padding, value, size);
    params->size += padding + size;
    params->count++;
    return CUDA_SUCCESS;
}

/* ---- occupancy */

/* Query the limits, and allow the function for now the shared memory that the question is about. */
static CUresult launch_begin_occupancy(struct launch_what *what, struct launch_check_limits *limits)
{
    CUresult code = launch_require_given(what);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_ask(what, limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(what, limits);
    return code == CUDA_SUCCESS ? cushim_launch_check_raise(what, limits) : code;
}

CUresult cushim_launch_block_size(const struct cushim_api *cu, CUfunction function, size_t shared,
                                  CUoccupancyB2DSize shared_of, size_t limit, size_t *block,
                                  size_t *grid)
{
    const struct cushim_launch launch = {.size = sizeof launch,
                                         .grid = CUSHIM_DIM(1),
                                         .block = CUSHIM_DIM(1),
                                         .shared = shared_of ? 0 : shared};
    struct launch_what what = {
        .cu = cu, .helper = __func__, .function = function, .launch = &launch};
    struct launch_check_limits limits;
    int found_grid = 0, found_block = 0;
    CUSHIM_REQUIRE(block);
    if (limit > INT_MAX)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "limit is %zu; pass at most %d", limit, INT_MAX);
    CUresult code = launch_begin_occupancy(&what, &limits);
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_CALL(cu, __func__, cuOccupancyMaxPotentialBlockSize, &found_grid, &found_block,
                       what.asked, shared_of, launch.shared, (int)limit);
    cushim_launch_check_restore(&what, &limits);
    if (code != CUDA_SUCCESS)
        return code;
    if (found_block <= 0)
        return cushim_error_refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, __func__,
                                   "function: no block of it fits device %d", (int)limits.device);
    *block = (size_t)found_block;
    if (grid)
        *grid = (size_t)found_grid;
    return CUDA_SUCCESS;
}

CUresult cushim_launch_occupancy(const struct cushim_api *cu, CUfunction function,
                                 const struct cushim_launch *launch, size_t *each, size_t *all)
{
    CUSHIM_REQUIRE(launch);
    const struct cushim_launch one = {
        .size = launch->size,
        .grid = CUSHIM_DIM(1),
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared = launch->shared};
    struct launch_what what = {.cu = cu, .helper = __func__, .function = function, .launch = &one};
    struct launch_check_limits limits;
    int blocks = 0, processors = 0;
    CUresult code = launch_begin_occupancy(&what, &limits);
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_CALL(cu, __func__, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                       what.asked, (int)(one.block[0] * one.block[1] * one.block[2]), one.shared);
    cushim_launch_check_restore(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_CALL(cu, __func__, cuDeviceGetAttribute, &processors,
                           CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, limits.device);
    if (code != CUDA_SUCCESS)
        return code;
    if (each)
        *each = (size_t)blocks;
    if (all)
        *all = (size_t)blocks * (size_t)processors;
    return CUDA_SUCCESS;
}
