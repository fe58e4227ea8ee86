/* SPDX-License-Identifier: MIT */
/* Memory of several devices at one address, and hardware that decompresses: no simulated device has
 * them, and a driver says so before it looks at anything else. */
#include "core/core.h"
#include "queue/queue.h"

CUresult sim_cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle,
                               const CUmulticastObjectProp *prop)
{
    (void)mcHandle, (void)prop;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
    (void)mcHandle, (void)dev;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                CUmemGenericAllocationHandle memHandle, size_t memOffset,
                                size_t size, unsigned long long flags)
{
    (void)mcHandle, (void)mcOffset, (void)memHandle, (void)memOffset, (void)size, (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastBindMem_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev,
                                   size_t mcOffset, CUmemGenericAllocationHandle memHandle,
                                   size_t memOffset, size_t size, unsigned long long flags)
{
    (void)mcHandle, (void)dev, (void)mcOffset, (void)memHandle, (void)memOffset, (void)size,
        (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                 CUdeviceptr memptr, size_t size, unsigned long long flags)
{
    (void)mcHandle, (void)mcOffset, (void)memptr, (void)size, (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastBindAddr_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev,
                                    size_t mcOffset, CUdeviceptr memptr, size_t size,
                                    unsigned long long flags)
{
    (void)mcHandle, (void)dev, (void)mcOffset, (void)memptr, (void)size, (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
                               size_t size)
{
    (void)mcHandle, (void)dev, (void)mcOffset, (void)size;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                       CUmulticastGranularity_flags option)
{
    (void)granularity, (void)prop, (void)option;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMemBatchDecompressAsync(CUmemDecompressParams *paramsArray, size_t count,
                                       unsigned int flags, size_t *errorIndex, CUstream stream)
{
    struct sim_stream *found;
    (void)paramsArray, (void)count, (void)flags, (void)errorIndex;
    CUresult result = sim_stream(stream, &found);
    if (result == CUDA_SUCCESS && sim_capture_active(found))
        result = sim_capture_refuse(found);
    return result == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : result;
}
