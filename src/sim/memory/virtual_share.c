/* SPDX-License-Identifier: MIT */
/* Memory without an address, passed on to other processes as a file. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "device/device.h"
#include "memory/memory.h"

CUresult sim_cuMemExportToShareableHandle(void *shareableHandle,
                                          CUmemGenericAllocationHandle_v1 handle,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags)
{
    struct sim_shared *shared;
    const struct sim_physical *physical = sim_virtual_physical(handle);
    if (!shareableHandle || !physical || flags || handleType == CU_MEM_HANDLE_TYPE_NONE ||
        handleType != physical->prop.requestedHandleTypes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_share_physical(handle, &shared);
    if (result != CUDA_SUCCESS)
        return result;
    int file = sim_shared_give(shared, false);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    memcpy(shareableHandle, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* `shared` becomes the memory's. */
static struct sim_physical *make(struct sim_shared *shared)
{
    struct sim_physical *made = calloc(1, sizeof *made);
    if (!made || !(made->bytes = sim_shared_map(shared, NULL))) {
        free(made);
        return NULL;
    }
    memcpy(&made->prop, shared->head.more, sizeof made->prop);
    made->device = sim_share_device(shared);
    if (made->device)
        made->prop.location.id = made->device->ordinal;
    made->size = (size_t)shared->head.size;
    made->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE; /* it is not passed on */
    made->mapped = made->foreign = true;
    made->shared = shared;
    sim_object_add(&made->object, SIM_PHYSICAL, NULL);
    return made;
}

CUresult sim_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle_v1 *handle, void *osHandle,
                                            CUmemAllocationHandleType shHandleType)
{
    CUmemAllocationProp prop;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_shared *shared = sim_shared_take((int)(intptr_t)osHandle);
    if (!shared)
        return CUDA_ERROR_UNKNOWN;
    if (shared->head.kind == SIM_SHARED_POOL) {
        sim_shared_close(shared);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    memcpy(&prop, shared->head.more, sizeof prop);
    if (shared->head.kind != SIM_SHARED_PHYSICAL || shared->head.size == 0 ||
        shared->head.size % SIM_VIRTUAL_GRAIN || !sim_share_lies(shared, prop.location)) {
        sim_shared_close(shared);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_physical *physical = make(shared);
    if (!physical) {
        sim_shared_close(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->handles = 1;
    *handle = (CUmemGenericAllocationHandle_v1)(uintptr_t)physical;
    return CUDA_SUCCESS;
}
