/* SPDX-License-Identifier: MIT */
/* Memory and semaphores of other APIs: there are none to share with. What is wrong with a request
 * itself is told first. */
#include "core/core.h"
#include "sim.h"

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
