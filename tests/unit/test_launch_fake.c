/* SPDX-License-Identifier: MIT */
#include "test_launch_fake.h"

#include <string.h>

struct fake_launcher fake;
static int fake_version;
static const char *const *fake_missing;

static void fake_asked(void)
{
    if (!fake.quiet)
        fake.asked++;
}

static CUresult f_cuInit(unsigned flags)
{
    assert_int_equal(flags, 0);
    return CUDA_SUCCESS;
}

static CUresult f_cuDriverGetVersion(int *version)
{
    *version = fake_version;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxGetDevice(CUdevice *device)
{
    fake_asked();
    *device = 0;
    return fake.device_code;
}

static CUresult f_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    fake_asked();
    if (device != 0 || (unsigned)attribute >= COUNT(fake.attributes) ||
        fake.attributes[attribute] < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *value = fake.attributes[attribute];
    return CUDA_SUCCESS;
}

static struct fake_function *function_of(CUfunction function)
{
    return (struct fake_function *)(void *)function;
}

static CUresult f_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    const struct fake_function *function = function_of(handle);
    int found = -1;
    fake_asked();
    if (function->of_kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        found = function->threads;
    else if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
        found = function->registers;
    else if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        found = function->static_shared;
    else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        found = function->dynamic_now;
    if (found < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return CUDA_SUCCESS;
}

static CUresult f_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    assert_int_equal(attribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    fake.opt_ins++;
    function_of(handle)->dynamic_now = value;
    return CUDA_SUCCESS;
}

static CUresult f_cuFuncGetName(const char **name, CUfunction handle)
{
    (void)handle;
    *name = fake.name;
    return fake.name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuFuncGetParamCount(CUfunction handle, size_t *count)
{
    fake_asked();
    *count = function_of(handle)->count;
    return CUDA_SUCCESS;
}

/* A kernel is a function that answers no questions. */
static CUresult f_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct fake_function *stand_in = function_of((CUfunction)(void *)kernel);
    if (!stand_in->of_kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *function = handle_of(stand_in->of_kernel);
    return CUDA_SUCCESS;
}

static CUresult f_cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    const struct fake_function *function = function_of(handle);
    fake_asked();
    if (index >= function->count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->offsets[index];
    *size = function->sizes[index];
    return CUDA_SUCCESS;
}

/* ---- occupancy ---- */

static CUresult f_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                              int size, size_t shared)
{
    assert_null(function_of(function)->of_kernel);
    fake.block[0] = (unsigned)size;
    fake.shared = (unsigned)shared;
    *blocks = fake.active_blocks;
    return CUDA_SUCCESS;
}

static CUresult f_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                               const CUlaunchConfig *config)
{
    assert_null(function_of(function)->of_kernel);
    assert_int_equal(config->numAttrs, 1);
    assert_int_equal(config->attrs[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    *clusters = fake.active_clusters;
    return CUDA_SUCCESS;
}

static CUresult f_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit)
{
    assert_null(function_of(function)->of_kernel);
    fake.shared = (unsigned)(shared_of ? shared_of(96) : shared);
    *grid = 264;
    *block = limit && limit < 768 ? limit : 768;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static CUresult launched(const char *call, CUfunction handle, const unsigned shape[6],
                         unsigned shared, CUstream stream, void **pointers, void **extra)
{
    const struct fake_function *function = function_of(handle);
    if (function->of_kernel)
        function = function->of_kernel;
    if (fake.quiet)
        return CUDA_SUCCESS;
    CUresult code = fake.launches < COUNT(fake.next) ? fake.next[fake.launches] : CUDA_SUCCESS;
    fake.launches++;
    fake.call = call;
    for (int i = 0; i < 3; i++) {
        fake.grid[i] = shape[i];
        fake.block[i] = shape[3 + i];
    }
    fake.shared = shared;
    fake.stream = stream;
    if ((int)shared > function->dynamic_now && function->dynamic_now >= 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; pointers && i < function->count; i++)
        memcpy(fake.values[i], pointers[i], function->sizes[i]);
    if (extra) {
        assert_ptr_equal(extra[0], CU_LAUNCH_PARAM_BUFFER_POINTER);
        assert_ptr_equal(extra[2], CU_LAUNCH_PARAM_BUFFER_SIZE);
        assert_ptr_equal(extra[4], CU_LAUNCH_PARAM_END);
        memcpy(&fake.packed_size, extra[3], sizeof fake.packed_size);
        memcpy(fake.packed, extra[1], fake.packed_size);
    }
    return code;
}

static CUresult f_cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 CUstream stream, void **pointers, void **extra)
{
    return launched("cuLaunchKernel", function, (const unsigned[]){gx, gy, gz, bx, by, bz}, shared,
                    stream, pointers, extra);
}

static CUresult f_cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy,
                                            unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                            unsigned shared, CUstream stream, void **pointers)
{
    return launched("cuLaunchCooperativeKernel", function,
                    (const unsigned[]){gx, gy, gz, bx, by, bz}, shared, stream, pointers, NULL);
}

static CUresult f_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                   void **pointers, void **extra)
{
    fake.attribute_count = config->numAttrs;
    for (unsigned i = 0; i < config->numAttrs; i++)
        fake.launch_attributes[i] = config->attrs[i];
    return launched("cuLaunchKernelEx", function,
                    (const unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ,
                                       config->blockDimX, config->blockDimY, config->blockDimZ},
                    config->sharedMemBytes, config->hStream, pointers, extra);
}

/* ---- the instance ---- */

static void *resolve(void *user, const char *symbol)
{
    static const struct {
        const char *symbol;
        void (*function)(void);
        int since;
    } symbols[] = {
        {"cuInit", (void (*)(void))f_cuInit, 0},
        {"cuDriverGetVersion", (void (*)(void))f_cuDriverGetVersion, 0},
        {"cuCtxGetDevice", (void (*)(void))f_cuCtxGetDevice, 0},
        {"cuDeviceGetAttribute", (void (*)(void))f_cuDeviceGetAttribute, 0},
        {"cuFuncGetAttribute", (void (*)(void))f_cuFuncGetAttribute, 0},
        {"cuFuncSetAttribute", (void (*)(void))f_cuFuncSetAttribute, 9000},
        {"cuFuncGetName", (void (*)(void))f_cuFuncGetName, 12030},
        {"cuKernelGetFunction", (void (*)(void))f_cuKernelGetFunction, 12000},
        {"cuFuncGetParamInfo", (void (*)(void))f_cuFuncGetParamInfo, 12040},
        {"cuFuncGetParamCount", (void (*)(void))f_cuFuncGetParamCount, 13020},
        {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
         (void (*)(void))f_cuOccupancyMaxActiveBlocksPerMultiprocessor, 0},
        {"cuOccupancyMaxActiveClusters", (void (*)(void))f_cuOccupancyMaxActiveClusters, 11060},
        {"cuOccupancyMaxPotentialBlockSize", (void (*)(void))f_cuOccupancyMaxPotentialBlockSize, 0},
        {"cuLaunchKernel", (void (*)(void))f_cuLaunchKernel, 0},
        {"cuLaunchCooperativeKernel", (void (*)(void))f_cuLaunchCooperativeKernel, 9000},
        {"cuLaunchKernelEx", (void (*)(void))f_cuLaunchKernelEx, 11060},
    };
    (void)user;
    for (const char *const *missing = fake_missing; missing && *missing; missing++)
        if (strcmp(*missing, symbol) == 0)
            return NULL;
    for (size_t i = 0; i < COUNT(symbols); i++)
        if (strcmp(symbols[i].symbol, symbol) == 0 && symbols[i].since <= fake_version) {
            void *address;
            memcpy(&address, &symbols[i].function, sizeof address);
            return address;
        }
    return NULL;
}

const struct cushim_api *open_fake(int version, const char *const *missing)
{
    struct cushim_options options = defaults();
    memset(&fake, 0, sizeof fake);
    for (size_t i = 0; i < COUNT(fake.attributes); i++)
        fake.attributes[i] = -1;
    for (int i = 0; i < 3; i++) {
        fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i] = i ? 65535 : 0x7fffffff;
        fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i] = i < 2 ? 1024 : 64;
    }
    fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 49152;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 232448;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 132;
    fake.attributes[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1;
    fake.attributes[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] = 1;
    fake.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9;
    fake.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 0;
    fake.active_blocks = 2;
    fake.active_clusters = 10;
    fake.name = "saxpy";
    fake_version = version;
    fake_missing = missing;
    options.resolver = resolve;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    /* A former test's functions may have had the addresses of this one's. */
    cushim_last_error_clear();
    return cu;
}

struct fake_function fake_function_of(size_t count, const size_t *sizes)
{
    struct fake_function function = {
        .count = count, .threads = 1024, .registers = 32, .static_shared = 0, .dynamic_now = 49152};
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at = (at + sizes[i] - 1) / sizes[i] * sizes[i];
        function.offsets[i] = at;
        function.sizes[i] = sizes[i];
        at += sizes[i];
    }
    return function;
}

void assert_error_says(const char *const *words)
{
    for (; *words; words++)
        assert_contains(cushim_last_error(), *words);
}
