/* SPDX-License-Identifier: MIT */
#include "instance.h"
#include "launch_check.h"

#include <limits.h>
#include <stdio.h>

static const char axes[] = "xyz";

/* ---- what the driver says */

static size_t launch_device_attribute(const struct cushim_api *cu, CUdevice_attribute attribute,
                                      CUdevice device, size_t otherwise)
{
    int value = 0;
    CUresult code = cu->cuDeviceGetAttribute(&value, attribute, device);
    return code == CUDA_SUCCESS && value >= 0 ? (size_t)value : otherwise;
}

static size_t launch_function_attribute(const struct cushim_launching *what,
                                        CUfunction_attribute attribute, size_t otherwise)
{
    int value = 0;
    const struct cushim_api *table = what->cu;
    CUresult code = table->cuFuncGetAttribute(&value, attribute, what->asked);
    return code == CUDA_SUCCESS && value >= 0 ? (size_t)value : otherwise;
}

/* Drivers launch a CUkernel in place of a function, but answer no question about it (measured:
 * CUDA_ERROR_INVALID_HANDLE). Its function in the current context answers. */
static CUfunction launch_asked(const struct cushim_launching *what)
{
    int value = 0;
    const struct cushim_api *table = what->cu;
    CUfunction function = NULL;
    if (table->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, what->function) ==
            CUDA_ERROR_INVALID_HANDLE &&
        table->cuKernelGetFunction(&function, (CUkernel)(void *)what->function) == CUDA_SUCCESS)
        return function;
    return what->function;
}

CUresult cushim_launch_ask(struct cushim_launching *what, struct cushim_launch_limits *limits)
{
    const struct cushim_api *cu = what->cu;
    CUdevice device = 0;
    CUresult code = cu->cuCtxGetDevice_v1(&device);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        return cushim_refuse(code, what->helper, "no context is current on this thread");
    if (code != CUDA_SUCCESS)
        return cushim_checked(code, what->helper, "cuCtxGetDevice");
    limits->device = device;
    what->asked = launch_asked(what);
    for (int i = 0; i < 3; i++) {
        limits->grid[i] = launch_device_attribute(
            cu, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i), device, UINT_MAX);
        limits->block[i] = launch_device_attribute(
            cu, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i), device, UINT_MAX);
    }
    limits->device_threads =
        launch_device_attribute(cu, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device, UINT_MAX);
    limits->function_threads = launch_function_attribute(
        what, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, limits->device_threads);
    limits->static_shared = launch_function_attribute(what, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0);

    size_t of_all = launch_device_attribute(cu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
                                            device, UINT_MAX);
    size_t opted = launch_device_attribute(
        cu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device, 0);
    size_t used = limits->static_shared;
    limits->dynamic_now = launch_function_attribute(
        what, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, of_all > used ? of_all - used : 0);
    limits->dynamic_most = opted > used ? opted - used : 0;
    if (limits->dynamic_most < limits->dynamic_now)
        limits->dynamic_most = limits->dynamic_now;
    return CUDA_SUCCESS;
}

const char *cushim_launch_name(const struct cushim_launching *what, char *buffer, size_t size)
{
    const char *name = NULL;
    if (CUSHIM_HAS(what->cu, cuFuncGetName) &&
        what->cu->cuFuncGetName(&name, what->asked) == CUDA_SUCCESS && name) {
        snprintf(buffer, size, "%s", name);
        return buffer;
    }
    return "the function";
}

CUresult cushim_launch_lacks(const struct cushim_launching *what, const char *argument,
                             const char *symbol)
{
    enum cushim_state state;
    const char *reason = old_reason(what->cu, symbol, &state);
    CUresult code = state == CUSHIM_STATE_NEWER       ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                    : state == CUSHIM_STATE_NO_DRIVER ? CUDA_ERROR_NOT_INITIALIZED
                                                      : CUDA_ERROR_NOT_SUPPORTED;
    return cushim_refuse(code, what->helper, "%s: %s", argument, reason);
}

/* ---- grid, block, shared memory */

static CUresult launch_check_dimensions(const struct cushim_launching *what, const char *argument,
                                        const size_t values[3], const size_t limits[3],
                                        CUdevice device)
{
    for (int i = 0; i < 3; i++) {
        if (!values[i])
            return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                 "%s: %c is 0; it is at least 1", argument, axes[i]);
        if (values[i] > limits[i])
            return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                 "%s: %c is %zu; device %d has at most %zu", argument, axes[i],
                                 values[i], (int)device, limits[i]);
    }
    return CUDA_SUCCESS;
}

/* The product, or SIZE_MAX where it is larger. */
static size_t launch_product(const size_t values[3])
{
    size_t product = values[0];
    for (int i = 1; i < 3; i++)
        product = values[i] && product > SIZE_MAX / values[i] ? SIZE_MAX : product * values[i];
    return product;
}

static CUresult launch_check_threads(const struct cushim_launching *what,
                                     const struct cushim_launch_limits *limits)
{
    const size_t *block = what->launch->block;
    size_t threads = launch_product(block);
    if (threads > limits->device_threads)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                             "block: %zu x %zu x %zu are %zu threads; device %d has at most %zu "
                             "in a block",
                             block[0], block[1], block[2], threads, (int)limits->device,
                             limits->device_threads);
    if (threads <= limits->function_threads)
        return CUDA_SUCCESS;
    char name[128];
    return cushim_refuse(
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, what->helper,
        "block: %zu x %zu x %zu are %zu threads; %s can have %zu in a block (it uses %zu registers "
        "a thread)",
        block[0], block[1], block[2], threads, cushim_launch_name(what, name, sizeof name),
        limits->function_threads, launch_function_attribute(what, CU_FUNC_ATTRIBUTE_NUM_REGS, 0));
}

static CUresult launch_check_shared(const struct cushim_launching *what,
                                    const struct cushim_launch_limits *limits)
{
    size_t shared = what->launch->shared;
    if (shared <= limits->dynamic_most)
        return CUDA_SUCCESS;
    char name[128];
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                         "shared: %zu bytes; device %d has at most %zu for a block of %s, which "
                         "itself uses %zu",
                         shared, (int)limits->device, limits->dynamic_most,
                         cushim_launch_name(what, name, sizeof name), limits->static_shared);
}

CUresult cushim_launch_check_shape(const struct cushim_launching *what,
                                   const struct cushim_launch_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    CUresult code =
        launch_check_dimensions(what, "grid", launch->grid, limits->grid, limits->device);
    if (code == CUDA_SUCCESS)
        code = launch_check_dimensions(what, "block", launch->block, limits->block, limits->device);
    if (code == CUDA_SUCCESS)
        code = launch_check_threads(what, limits);
    return code == CUDA_SUCCESS ? launch_check_shared(what, limits) : code;
}

CUresult cushim_launch_opt_in(const struct cushim_launching *what,
                              const struct cushim_launch_limits *limits, size_t bytes)
{
    if (bytes <= limits->dynamic_now)
        return CUDA_SUCCESS;
    if (!CUSHIM_HAS(what->cu, cuFuncSetAttribute))
        return cushim_launch_lacks(what, "shared", "cuFuncSetAttribute");
    /* All there is, not `bytes`: two threads that ask for different sizes then set the same. */
    return CUSHIM_TRY(what->cu, what->helper, cuFuncSetAttribute, what->asked,
                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)limits->dynamic_most);
}

/* ---- clusters and cooperative launches */

/* How many clusters of this launch the device holds at once; 0: none. SIZE_MAX: it does not say. */
static size_t launch_active_clusters(const struct cushim_launching *what)
{
    const struct cushim_launch *launch = what->launch;
    CUlaunchAttribute attribute = cushim_launch_cluster_attribute(launch);
    CUlaunchConfig config = cushim_launch_config(launch, &attribute, 1);
    int clusters = 0;
    CUresult code = what->cu->cuOccupancyMaxActiveClusters(&clusters, what->asked, &config);
    if (code == CUDA_ERROR_INVALID_CLUSTER_SIZE)
        return 0;
    return code == CUDA_SUCCESS && clusters >= 0 ? (size_t)clusters : SIZE_MAX;
}

static CUresult launch_check_cluster(const struct cushim_launching *what,
                                     const struct cushim_launch_limits *limits)
{
    const size_t *cluster = what->launch->cluster, *grid = what->launch->grid;
    CUdevice device = limits->device;
    if (!(cluster[0] | cluster[1] | cluster[2]))
        return CUDA_SUCCESS;
    if (!CUSHIM_HAS(what->cu, cuLaunchKernelEx))
        return cushim_launch_lacks(what, "cluster", "cuLaunchKernelEx");
    if (!launch_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device, 1))
        return cushim_refuse(
            CUDA_ERROR_NOT_SUPPORTED, what->helper,
            "cluster: device %d has compute capability %zu.%zu, clusters begin with 9.0",
            (int)device,
            launch_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device,
                                    0),
            launch_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device,
                                    0));
    for (int i = 0; i < 3; i++) {
        if (!cluster[i])
            return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                 "cluster: %c is 0 and others are not", axes[i]);
        if (grid[i] % cluster[i])
            return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper,
                                 "cluster: %c is %zu, which does not divide the grid's %zu",
                                 axes[i], cluster[i], grid[i]);
    }
    if (what->launch->shared <= limits->dynamic_now && !launch_active_clusters(what)) {
        char name[128];
        return cushim_refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE, what->helper,
                             "cluster: %zu x %zu x %zu blocks of %s do not fit device %d (more "
                             "than 8 need CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
                             cluster[0], cluster[1], cluster[2],
                             cushim_launch_name(what, name, sizeof name), (int)device);
    }
    return CUDA_SUCCESS;
}

static CUresult launch_check_cooperative(const struct cushim_launching *what,
                                         const struct cushim_launch_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    bool ex = CUSHIM_HAS(what->cu, cuLaunchKernelEx);
    if (!launch->cooperative)
        return CUDA_SUCCESS;
    if (!ex && what->packed)
        return cushim_launch_lacks(what, "cooperative, params", "cuLaunchKernelEx");
    if (!ex && !CUSHIM_HAS(what->cu, cuLaunchCooperativeKernel))
        return cushim_launch_lacks(what, "cooperative", "cuLaunchCooperativeKernel");
    if (!launch_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, limits->device,
                                 1))
        return cushim_refuse(CUDA_ERROR_NOT_SUPPORTED, what->helper,
                             "cooperative: device %d has no cooperative launches",
                             (int)limits->device);
    int each = 0;
    size_t blocks = launch_product(launch->grid);
    size_t processors = launch_device_attribute(what->cu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                                limits->device, 0);
    if (!processors || launch->shared > limits->dynamic_now || launch->cluster[0] ||
        what->cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, what->asked, (int)launch_product(launch->block), launch->shared) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    if (blocks <= processors * (size_t)each)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, what->helper,
                         "grid: %zu blocks cannot run at once, as cooperative ones do; device %d "
                         "holds %zu (%d on each of %zu multiprocessors)",
                         blocks, (int)limits->device, processors * (size_t)each, each, processors);
}

CUresult cushim_launch_check_extras(const struct cushim_launching *what,
                                    const struct cushim_launch_limits *limits)
{
    const struct cushim_launch *launch = what->launch;
    if (launch->attribute_count && !CUSHIM_HAS(what->cu, cuLaunchKernelEx))
        return cushim_launch_lacks(what, "attributes", "cuLaunchKernelEx");
    CUresult code = launch_check_cluster(what, limits);
    return code == CUDA_SUCCESS ? launch_check_cooperative(what, limits) : code;
}
