/* SPDX-License-Identifier: MIT */
/* What a device says of itself. */
#include <string.h>

#include "core/config.h"
#include "core/core.h"
#include "device/device.h"

CUresult sim_cuDeviceGetCount(int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim_device_count();
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice_v1 *device, int ordinal)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = device->total;
    return CUDA_SUCCESS;
}

/* For programs of the time when 4 GiB were more than any device had. */
CUresult sim_cuDeviceTotalMem(unsigned int *bytes, CUdevice_v1 dev)
{
    size_t all;
    CUresult result = sim_cuDeviceTotalMem_v2(bytes ? &all : NULL, dev);
    if (result == CUDA_SUCCESS)
        *bytes = all > UINT32_MAX ? UINT32_MAX : (unsigned)all;
    return result;
}

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    return sim_device_attribute(device, (int)attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int attribute(const struct sim_device *device, int number)
{
    int value = 0;
    sim_device_attribute(device, number, &value);
    return value;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetProperties(CUdevprop_v1 *prop, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!prop)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    prop->maxThreadsPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        prop->maxGridSize[i] = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    prop->sharedMemPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = attribute(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = attribute(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
}

/* 0: no such format. */
static size_t format_size(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/* At most 2^30 elements and at most 4 GiB. */
CUresult sim_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                                unsigned int numChannels, CUdevice_v1 dev)
{
    size_t size = format_size(format) * numChannels;
    if (!maxWidthInElements)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (size == 0 || (numChannels != 1 && numChannels != 2 && numChannels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    *maxWidthInElements = ((size_t)1 << 32) / (size < 4 ? 4 : size);
    return CUDA_SUCCESS;
}

/* Some of the multiprocessors for a context: the multi-process service alone can do it. */
CUresult sim_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    (void)type;
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *pi = 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetDevResource(CUdevice dev, CUdevResource *result, CUdevResourceType type)
{
    struct sim_device *device = sim_device(dev);
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memset(result, 0, sizeof *result);
    result->type = type;
    result->sm.smCount = (unsigned)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if (sim_config.cuda >= 13000) /* before that it says no more */
        result->sm.minSmPartitionSize = result->sm.smCoscheduledAlignment =
            sim_device_group(device);
    return CUDA_SUCCESS;
}

CUresult sim_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                        CUflushGPUDirectRDMAWritesScope scope)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
        (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
         scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
