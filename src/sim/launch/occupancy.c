/* SPDX-License-Identifier: MIT */
/* Occupancy, from a device's limits and what a kernel needs. */
#include "launch/launch.h"

/* Registers are given out to warps, in units of 256; shared memory in units of 1 KiB (128 bytes
 * from Turing on, 256 before). CUDA C++ Programming Guide, "Compute Capabilities". */
int sim_occupancy(const struct sim_function *function, int threads, size_t dynamic)
{
    const struct ptx_function_info *info = sim_function_info(function);
    const struct sim_device *device = function->object.context->device;
    int warps = (threads + 31) / 32;
    int most = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    int by_threads =
        sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (32 * warps);
    size_t shared = info->static_shared + dynamic;
    size_t total =
        (size_t)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    shared +=
        (size_t)sim_device_value(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    size_t registers = sim_rounded_up((size_t)info->registers * 32, 256) * (size_t)warps;
    size_t register_file =
        (size_t)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    int blocks = most ? most : 16;
    if (by_threads < blocks)
        blocks = by_threads;
    if (shared && (int)(total / sim_rounded_up(shared, 128)) < blocks)
        blocks = (int)(total / sim_rounded_up(shared, 128));
    if (registers && (int)(register_file / registers) < blocks)
        blocks = (int)(register_file / registers);
    return blocks;
}

/* Dynamic shared memory that a launch of the function may have. */
size_t sim_occupancy_max_dynamic(const struct sim_function *function)
{
    int value = sim_function_max_dynamic(sim_function_info(function), function,
                                         function->object.context->device);
    return value > 0 ? (size_t)value : 0;
}

int sim_occupancy_max_threads(const struct sim_function *function)
{
    return sim_function_max_threads(sim_function_info(function), function->object.context->device);
}

CUresult sim_occupancy_function(CUfunction func, struct sim_function **function)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    return sim_function_of(context, func, function);
}

static CUresult blocks(int *numBlocks, CUfunction func, int blockSize, size_t dynamic)
{
    SIM_FIND(struct sim_function *, function, sim_occupancy_function(func, &function));
    SIM_REFUSE(!numBlocks || blockSize <= 0);
    int most = sim_device_value(function->object.context->device,
                                CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    *numBlocks = blockSize > most || dynamic > sim_occupancy_max_dynamic(function)
                     ? 0
                     : sim_occupancy(function, blockSize, dynamic);
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
              ? CUDA_ERROR_INVALID_VALUE
              : blocks(numBlocks, func, blockSize, dynamicSMemSize))

/* The largest block among those with the most threads per multiprocessor. */
static CUresult best(int *minGridSize, int *blockSize, CUfunction func,
                     CUoccupancyB2DSize size_of_block, size_t fixed, int limit)
{
    int most = 0;
    SIM_FIND(struct sim_function *, function, sim_occupancy_function(func, &function));
    SIM_REFUSE(!minGridSize || !blockSize || limit < 0);
    int largest = sim_occupancy_max_threads(function), top = (largest + 31) / 32 * 32;
    if (limit && limit < largest)
        largest = limit;
    for (int size = top; size > 0; size -= 32) {
        int threads = size < largest ? size : largest;
        size_t dynamic = fixed;
        if (size_of_block) {
            uint64_t serial = function->object.serial;
            sim_lock_leave(); /* the caller's code */
            dynamic = size_of_block(threads);
            sim_lock_enter();
            SIM_FAIL(INVALID_HANDLE, !sim_object_alive(SIM_FUNCTION, function, serial));
            sim_expire_renew(function->module); /* which owns it */
        }
        if (dynamic > sim_occupancy_max_dynamic(function))
            continue;
        int count = sim_occupancy(function, threads, dynamic);
        if (count * threads > most) {
            most = count * threads;
            *blockSize = threads;
            *minGridSize = count * sim_device_value(function->object.context->device,
                                                    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        }
    }
    if (most == 0)
        *blockSize = *minGridSize = 0;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags,
          flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
              ? CUDA_ERROR_INVALID_VALUE
              : best(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                     blockSizeLimit))

SIM_BEHAVIOUR(cuOccupancyAvailableDynamicSMemPerBlock)
{
    SIM_FIND(struct sim_function *, function, sim_occupancy_function(func, &function));
    SIM_REFUSE(!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 ||
               blockSize > sim_device_value(function->object.context->device,
                                            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    SIM_REFUSE(sim_occupancy(function, blockSize, 0) < numBlocks);
    const struct sim_device *device = function->object.context->device;
    size_t total =
        (size_t)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    size_t used = sim_function_info(function)->static_shared;
    size_t share = total / (size_t)numBlocks / 128 * 128;
    size_t most = sim_occupancy_max_dynamic(function);
    *dynamicSmemSize = share <= used ? 0 : share - used < most ? share - used : most;
    return CUDA_SUCCESS;
}

/* Clusters: 8 blocks, or 16 where the kernel allows what is not portable. */
SIM_BEHAVIOUR(cuOccupancyMaxPotentialClusterSize)
{
    SIM_FIND(struct sim_function *, function, sim_occupancy_function(func, &function));
    SIM_REFUSE(!clusterSize || !config);
    SIM_FAIL(NOT_SUPPORTED, sim_device_architecture(function->object.context->device) < 90);
    *clusterSize = function->non_portable_cluster ? 16 : 8;
    return CUDA_SUCCESS;
}
