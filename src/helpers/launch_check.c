/* SPDX-License-Identifier: MIT */
#include "launch_check.h"

#include <limits.h>
#include <stdio.h>

#include "error.h"

/* More parameters than any kernel has: ends the search in a driver that is not sane. */
#define LAUNCH_CHECK_MOST_PARAMETERS 32768

static const char launch_check_axes[] = "xyz";

/* ---- what the driver reports */

static size_t launch_check_device_attribute(const struct cushim_api *cu,
                                            CUdevice_attribute attribute, CUdevice device,
                                            size_t otherwise)
{
    int value = 0;
    CUresult code = cu->cuDeviceGetAttribute(&value, attribute, device);
    return code == CUDA_SUCCESS && value >= 0 ? (size_t)value : otherwise;
}

static size_t launch_check_function_attribute(const struct launch_what *what,
                                              CUfunction_attribute attribute, size_t otherwise)
{
    int value = 0;
    CUresult code = what->cu->cuFuncGetAttribute(&value, attribute, what->asked);
    return code == CUDA_SUCCESS && value >= 0 ? (size_t)value : otherwise;
}

/* Drivers launch a CUkernel in place of a function, but answer no question about it (measured:
 * CUDA_ERROR_INVALID_HANDLE). Its function in the current context answers. */
static CUfunction launch_check_asked(const struct launch_what *what)
{
    int value = 0;
    CUfunction function = NULL;
    if (what->cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, what->function) ==
            CUDA_ERROR_INVALID_HANDLE &&
        CUSHIM_HAS(what->cu, cuKernelGetFunction) &&
        what->cu->cuKernelGetFunction(&function, (CUkernel)(void *)what->function) == CUDA_SUCCESS)
        return function;
    return what->function;
}

CUresult cushim_launch_check_ask(struct launch_what *what, struct launch_check_limits *limits)
{
    const struct cushim_api *cu = what->cu;
    CUdevice device = 0;
    CUresult code = cu->cuCtxGetDevice_v1(&device);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        return cushim_error_refuse(code, what->helper, "no context is current on this thread");
    if (code != CUDA_SUCCESS)
        return cushim_error_check(code, what->helper, "cuCtxGetDevice");
    limits->device = device;
    what->asked = launch_check_asked(what);
    for (int i = 0; i < 3; i++) {
        limits->grid[i] = launch_check_device_attribute(
            cu, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i), device, UINT_MAX);
        limits->block[i] = launch_check_device_attribute(
            cu, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i), device, UINT_MAX);
    }
    limits->device_threads = launch_check_device_attribute(
        cu, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device, UINT_MAX);
    limits->function_threads = launch_check_function_attribute(
        what, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, limits->device_threads);
    limits->static_shared =
        launch_check_function_attribute(what, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0);

    size_t of_all = launch_check_device_attribute(
        cu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device, UINT_MAX);
    size_t opted = launch_check_device_attribute(
        cu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device, 0);
    size_t used = limits->static_shared;
    limits->dynamic_now = launch_check_function_attribute(
        what, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, of_all > used ? of_all - used : 0);
    limits->dynamic_most = opted > used ? opted - used : 0;
    if (limits->dynamic_most < limits->dynamic_now)
        limits->dynamic_most = limits->dynamic_now;
    return CUDA_SUCCESS;
}

const char *cushim_launch_check_name(const struct launch_what *what, char *buffer, size_t size)
{
    const char *name = NULL;
    if (CUSHIM_HAS(what->cu, cuFuncGetName) &&
        what->cu->cuFuncGetName(&name, what->asked) == CUDA_SUCCESS && name) {
        snprintf(buffer, size, "%s", name);
        return buffer;
    }
    return "the function";
}

/* ---- grid, block, shared memory */

static CUresult launch_check_dimensions(const struct launch_what *what, const char *argument,
                                        const char *advice, const size_t values[3],
                                        const size_t limits[3], CUdevice device)
{
    for (int i = 0; i < 3; i++) {
        if (!values[i])
            return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                       "%s: %c is 0; it is at least 1%s", argument,
                                       launch_check_axes[i], advice);
        if (values[i] > limits[i])
            return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                       "%s: %c is %zu; device %d has at most %zu", argument,
                                       launch_check_axes[i], values[i], (int)device, limits[i]);
    }
    return CUDA_SUCCESS;
}

/* The product, or SIZE_MAX if it is larger. */
static size_t launch_check_product(const size_t values[3])
{
    size_t product = values[0];
    for (int i = 1; i < 3; i++)
        product = values[i] && product > SIZE_MAX / values[i] ? SIZE_MAX : product * values[i];
    return product;
}

static CUresult launch_check_threads(const struct launch_what *what,
                                     const struct launch_check_limits *limits)
{
    const size_t *block = what->launch->block;
    size_t threads = launch_check_product(block);
    if (threads > limits->device_threads)
        return cushim_error_refuse(
            CUDA_ERROR_INVALID_VALUE, what->helper,
            "block: %zu x %zu x %zu are %zu threads; device %d has at most %zu "
            "in a block",
            block[0], block[1], block[2], threads, (int)limits->device, limits->device_threads);
    if (threads <= limits->function_threads)
        return CUDA_SUCCESS;
    char name[128];
    return cushim_error_refuse(
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, what->helper,
        "block: %zu x %zu x %zu are %zu threads; %s can have %zu in a block (it uses %zu registers "
        "a thread)",
        block[0], block[1], block[2], threads, cushim_launch_check_name(what, name, sizeof name),
        limits->function_threads,
        launch_check_function_attribute(what, CU_FUNC_ATTRIBUTE_NUM_REGS, 0));
}

static CUresult launch_check_shared(const struct launch_what *what,
                                    const struct launch_check_limits *limits)
{
    size_t shared = what->launch->shared;
    if (shared <= limits->dynamic_most)
        return CUDA_SUCCESS;
    char name[128];
    return cushim_error_refuse(
        CUDA_ERROR_INVALID_VALUE, what->helper,
        "shared: %zu bytes; device %d has at most %zu for a block of %s, which "
        "itself uses %zu",
        shared, (int)limits->device, limits->dynamic_most,
        cushim_launch_check_name(what, name, sizeof name), limits->static_shared);
}

CUresult cushim_launch_check_shape(const struct launch_what *what,
                                   const struct launch_check_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    /* The block first: cushim_launch_1d makes a grid of 0 of a block of 0. */
    CUresult code =
        launch_check_dimensions(what, "block", "", launch->block, limits->block, limits->device);
    if (code == CUDA_SUCCESS)
        code = launch_check_dimensions(what, "grid", ": if there is nothing to do, skip the launch",
                                       launch->grid, limits->grid, limits->device);
    if (code == CUDA_SUCCESS)
        code = launch_check_threads(what, limits);
    return code == CUDA_SUCCESS ? launch_check_shared(what, limits) : code;
}

/* The most there is, not what one launch needs: two threads that need different sizes then
 * set the same. */
CUresult cushim_launch_check_raise(const struct launch_what *what,
                                   const struct launch_check_limits *limits)
{
    if (what->launch->shared <= limits->dynamic_now)
        return CUDA_SUCCESS;
    if (!CUSHIM_HAS(what->cu, cuFuncSetAttribute))
        return cushim_error_lacks(what->cu, what->helper, "shared", "cuFuncSetAttribute");
    return CUSHIM_CALL(what->cu, what->helper, cuFuncSetAttribute, what->asked,
                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)limits->dynamic_most);
}

void cushim_launch_check_restore(const struct launch_what *what,
                                 const struct launch_check_limits *limits)
{
    if (what->launch->shared > limits->dynamic_now)
        what->cu->cuFuncSetAttribute(what->asked, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     (int)limits->dynamic_now);
}

/* ---- clusters and cooperative launches */

/* How many clusters of this launch the device holds at once; 0: none. SIZE_MAX: it cannot tell. */
static size_t launch_check_active_clusters(const struct launch_what *what)
{
    const struct cushim_launch *launch = what->launch;
    CUlaunchAttribute attribute = cushim_launch_check_cluster(launch);
    CUlaunchConfig config = cushim_launch_check_config(launch, &attribute, 1);
    int clusters = 0;
    if (!CUSHIM_HAS(what->cu, cuOccupancyMaxActiveClusters))
        return SIZE_MAX;
    CUresult code = what->cu->cuOccupancyMaxActiveClusters(&clusters, what->asked, &config);
    if (code == CUDA_ERROR_INVALID_CLUSTER_SIZE)
        return 0;
    return code == CUDA_SUCCESS && clusters >= 0 ? (size_t)clusters : SIZE_MAX;
}

static CUresult launch_check_cluster(const struct launch_what *what,
                                     const struct launch_check_limits *limits)
{
    const size_t *cluster = what->launch->cluster, *grid = what->launch->grid;
    CUdevice device = limits->device;
    if (!(cluster[0] | cluster[1] | cluster[2]))
        return CUDA_SUCCESS;
    if (!CUSHIM_HAS(what->cu, cuLaunchKernelEx))
        return cushim_error_lacks(what->cu, what->helper, "cluster", "cuLaunchKernelEx");
    if (!launch_check_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device, 1))
        return cushim_error_refuse(
            CUDA_ERROR_NOT_SUPPORTED, what->helper,
            "cluster: device %d has compute capability %zu.%zu, clusters begin with 9.0",
            (int)device,
            launch_check_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                          device, 0),
            launch_check_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                          device, 0));
    for (int i = 0; i < 3; i++) {
        if (!cluster[i])
            return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                       "cluster: %c is 0 and others are not", launch_check_axes[i]);
        if (grid[i] % cluster[i])
            return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                       "cluster: %c is %zu, which does not divide the grid's %zu",
                                       launch_check_axes[i], cluster[i], grid[i]);
    }
    if (what->launch->shared <= limits->dynamic_now && !launch_check_active_clusters(what)) {
        char name[128];
        return cushim_error_refuse(
            CUDA_ERROR_INVALID_CLUSTER_SIZE, what->helper,
            "cluster: %zu x %zu x %zu blocks of %s do not fit device %d (more "
            "than 8 need CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
            cluster[0], cluster[1], cluster[2], cushim_launch_check_name(what, name, sizeof name),
            (int)device);
    }
    return CUDA_SUCCESS;
}

static CUresult launch_check_cooperative(const struct launch_what *what,
                                         const struct launch_check_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    bool ex = CUSHIM_HAS(what->cu, cuLaunchKernelEx);
    if (!launch->cooperative)
        return CUDA_SUCCESS;
    if (!ex && what->packed)
        return cushim_error_lacks(what->cu, what->helper, "cooperative, params",
                                  "cuLaunchKernelEx");
    if (!ex && !CUSHIM_HAS(what->cu, cuLaunchCooperativeKernel))
        return cushim_error_lacks(what->cu, what->helper, "cooperative",
                                  "cuLaunchCooperativeKernel");
    if (!launch_check_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
                                       limits->device, 1))
        return cushim_error_refuse(CUDA_ERROR_NOT_SUPPORTED, what->helper,
                                   "cooperative: device %d has no cooperative launches",
                                   (int)limits->device);
    int each = 0;
    size_t blocks = launch_check_product(launch->grid);
    size_t processors = launch_check_device_attribute(
        what->cu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, limits->device, 0);
    if (!processors || launch->shared > limits->dynamic_now || launch->cluster[0] ||
        !CUSHIM_HAS(what->cu, cuOccupancyMaxActiveBlocksPerMultiprocessor) ||
        what->cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, what->asked, (int)launch_check_product(launch->block), launch->shared) !=
            CUDA_SUCCESS)
        return CUDA_SUCCESS;
    if (blocks <= processors * (size_t)each)
        return CUDA_SUCCESS;
    return cushim_error_refuse(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, what->helper,
        "grid: %zu blocks cannot run at once, as cooperative ones do; device %d "
        "holds %zu (%d on each of %zu multiprocessors)",
        blocks, (int)limits->device, processors * (size_t)each, each, processors);
}

CUresult cushim_launch_check_extras(const struct launch_what *what,
                                    const struct launch_check_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    if (launch->attribute_count && !CUSHIM_HAS(what->cu, cuLaunchKernelEx))
        return cushim_error_lacks(what->cu, what->helper, "attributes", "cuLaunchKernelEx");
    CUresult code = launch_check_cluster(what, limits);
    return code == CUDA_SUCCESS ? launch_check_cooperative(what, limits) : code;
}

/* ---- arguments */

/* Where and how large one parameter is; CUDA_ERROR_INVALID_VALUE behind the last one. */
static CUresult launch_check_parameter(const struct launch_what *what, size_t index, size_t *offset,
                                       size_t *size)
{
    return what->cu->cuFuncGetParamInfo(what->asked, index, offset, size);
}

/* Number of parameters. False if the driver cannot tell. */
static bool launch_check_count(const struct launch_what *what, size_t *count)
{
    size_t offset = 0, size = 0;
    CUresult code = CUDA_SUCCESS;
    if (CUSHIM_HAS(what->cu, cuFuncGetParamCount) &&
        what->cu->cuFuncGetParamCount(what->asked, count) == CUDA_SUCCESS)
        return true;
    for (*count = 0; *count < LAUNCH_CHECK_MOST_PARAMETERS; ++*count) {
        code = launch_check_parameter(what, *count, &offset, &size);
        if (code != CUDA_SUCCESS)
            break;
    }
    return code == CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch_check_refuse_count(const struct launch_what *what, size_t count,
                                          size_t takes)
{
    char name[128], list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < takes && used + 32 < sizeof list; i++) {
        size_t offset = 0, bytes = 0;
        launch_check_parameter(what, i, &offset, &bytes);
        const int length = snprintf(list + used, sizeof list - used, "%s%zu", i ? ", " : "", bytes);
        used += length > 0 ? (size_t)length : 0;
    }
    return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                               "%s: %zu given; %s takes %zu%s%s%s",
                               what->packed ? "params" : "arguments", count,
                               cushim_launch_check_name(what, name, sizeof name), takes,
                               takes ? ", of " : "", list, takes ? " bytes" : "");
}

CUresult cushim_launch_check_arguments(const struct launch_what *what)
{
    const size_t given = what->packed ? what->packed->count : what->count;
    size_t count = 0;
    if (!CUSHIM_HAS(what->cu, cuFuncGetParamInfo) || !launch_check_count(what, &count))
        return CUDA_SUCCESS;
    if (given != count)
        return launch_check_refuse_count(what, given, count);
    for (size_t i = 0; what->sizes && i < count; i++) {
        size_t offset = 0, size = what->sizes[i];
        launch_check_parameter(what, i, &offset, &size);
        if (size == what->sizes[i])
            continue;
        char name[128];
        return cushim_error_refuse(
            CUDA_ERROR_INVALID_VALUE, what->helper,
            "arguments: number %zu has %zu bytes; the parameter of %s has %zu", i + 1,
            what->sizes[i], cushim_launch_check_name(what, name, sizeof name), size);
    }
    return CUDA_SUCCESS;
}
