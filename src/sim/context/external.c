/* SPDX-License-Identifier: MIT */
/* Memory and semaphores of other APIs, and device memory for them: there are none to share with.
 * What is wrong with a request itself is told first. */
#include "core/current.h"
#include "memory/memory.h"

CUresult sim_cuImportExternalMemory(CUexternalMemory *extMem_out,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 *memHandleDesc)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!extMem_out || !memHandleDesc)
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuImportExternalMemory_any;
}

CUresult sim_cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 *semHandleDesc)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!extSem_out || !semHandleDesc)
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuImportExternalSemaphore_any;
}

CUresult sim_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
                                           CUmemRangeHandleType handleType,
                                           unsigned long long flags)
{
    (void)flags;
    const uint64_t page = 4096;
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || size == 0 || dptr % page ||
        size % page || !sim_memory_covers(dptr, size, false))
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuMemGetHandleForAddressRange_any;
}
