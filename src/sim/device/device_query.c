/* SPDX-License-Identifier: MIT */
/* What a device says of itself. */
#include "device/device.h"

SIM_TELL(cuDriverGetVersion, driverVersion, , CUDA_SUCCESS, sim_config.cuda)

SIM_TELL(cuDeviceGetCount, count, , CUDA_SUCCESS, sim_device_count())

SIM_TELL(cuDeviceGet, device, struct sim_device *found, sim_device_of(ordinal, &found),
         found->ordinal)
SIM_TELL(cuDeviceTotalMem_v2, bytes, struct sim_device *device, sim_device_of(dev, &device),
         device->total)

/* For programs of the time when 4 GiB were more than any device had. */
SIM_SET(cuDeviceTotalMem, size_t, all, sim_cuDeviceTotalMem_v2(bytes ? &all : NULL, dev), false,
        *bytes = all > UINT32_MAX ? UINT32_MAX : (unsigned)all)

SIM_WITH(cuDeviceGetAttribute, struct sim_device *, device,
         pi ? sim_device_of(dev, &device) : CUDA_ERROR_INVALID_VALUE,
         sim_device_attribute(device, (int)attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)

SIM_SET(cuDeviceComputeCapability, struct sim_device *, device,
        (!major || !minor) ? CUDA_ERROR_INVALID_VALUE : sim_device_of(dev, &device), false,
        *major = sim_device_value(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        *minor = sim_device_value(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))

CUresult sim_cuDeviceGetProperties(CUdevprop_v1 *prop, CUdevice_v1 dev)
{
    SIM_REFUSE(!prop);
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    prop->maxThreadsPerBlock = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        prop->maxGridSize[i] = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    prop->sharedMemPerBlock =
        sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = sim_device_value(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = sim_device_value(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = sim_device_value(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = sim_device_value(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
}

/* Some of the multiprocessors for a context: the multi-process service alone can do it. */
SIM_TELL(cuDeviceGetExecAffinitySupport, pi, (void)type, sim_device_of(dev, NULL), 0)

CUresult sim_cuDeviceGetDevResource(CUdevice dev, CUdevResource *result, CUdevResourceType type)
{
    SIM_REFUSE(!result);
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_FAIL(INVALID_RESOURCE_TYPE, type != CU_DEV_RESOURCE_TYPE_SM);
    memset(result, 0, sizeof *result);
    result->type = type;
    result->sm.smCount =
        (unsigned)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if (sim_config.cuda >= 13000) /* before that it says no more */
        result->sm.minSmPartitionSize = result->sm.smCoscheduledAlignment =
            sim_device_group(device);
    return CUDA_SUCCESS;
}

SIM_SET(cuFlushGPUDirectRDMAWrites, struct sim_context *, context, sim_current(&context),
        target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
            (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
             scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES), )

/* --- What one device can do with the memory of another --- */

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice_v1 dev, CUdevice_v1 peerDev)
{
    SIM_REFUSE(!canAccessPeer);
    SIM_FIND(struct sim_device *, from, sim_device_of(dev, &from));
    SIM_FIND(struct sim_device *, to, sim_device_of(peerDev, &to));
    *canAccessPeer = sim_device_reaches(from, to);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuDeviceGetP2PAttribute)
{
    struct sim_device *from = sim_device(srcDevice), *to = sim_device(dstDevice);
    SIM_REFUSE(!value);
    SIM_FAIL(INVALID_DEVICE, !from || !to || from == to);
    switch ((int)attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = sim_device_reaches(from, to);
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        SIM_REFUSE(sim_config.cuda < 13000);
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* --- Atomics over the connections --- */

/* What works between devices here. To the host an H200 promises nothing, and so does this. */
static unsigned between_devices(CUatomicOperation operation)
{
    const unsigned sizes = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    const unsigned exchange = CU_ATOMIC_CAPABILITY_UNSIGNED | sizes;
    const unsigned bits = exchange | CU_ATOMIC_CAPABILITY_REDUCTION;
    const unsigned step = bits & ~(unsigned)CU_ATOMIC_CAPABILITY_SCALAR_64;
    const unsigned known[CU_ATOMIC_OPERATION_MAX] = {
#define ATOMIC(operation, capabilities) [CU_ATOMIC_OPERATION_##operation] = (capabilities),
#include "device/atomic.def"
    };
    return (unsigned)operation < CU_ATOMIC_OPERATION_MAX ? known[operation] : 0;
}

static CUresult capabilities_of(unsigned *capabilities, const CUatomicOperation *operations,
                                unsigned count, bool devices)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX)
            result = CUDA_ERROR_INVALID_VALUE;
        capabilities[i] = devices ? between_devices(operations[i]) : 0;
    }
    return result;
}

SIM_BEHAVIOUR(cuDeviceGetHostAtomicCapabilities)
{
    SIM_REFUSE(!capabilities || !operations || count == 0);
    return sim_device(dev) ? capabilities_of(capabilities, operations, count, false)
                           : CUDA_ERROR_INVALID_DEVICE;
}

SIM_BEHAVIOUR(cuDeviceGetP2PAtomicCapabilities)
{
    SIM_REFUSE(!capabilities || !operations || count == 0);
    SIM_FAIL(INVALID_DEVICE,
             !sim_device(srcDevice) || !sim_device(dstDevice) || srcDevice == dstDevice);
    return capabilities_of(capabilities, operations, count, true);
}

/* Who is to be told when a process has more of a device's memory than its share: none ever has
 * here, as processes do not share a simulated device's memory. */

SIM_BEHAVIOUR(cuDeviceRegisterAsyncNotification)
{
    SIM_REFUSE(!callbackFunc || !callback);
    SIM_TRY(sim_device_of(device, NULL));
    return sim_registration_make(SIM_REGISTERED_NOTIFICATION, (sim_any_function *)callbackFunc,
                                 userData, device, (void **)callback);
}

CUresult sim_cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback)
{
    SIM_REFUSE(!callback);
    SIM_TRY(sim_device_of(device, NULL));
    return sim_registration_end(SIM_REGISTERED_NOTIFICATION, device, callback);
}
