/* SPDX-License-Identifier: MIT */
/* What one device can do with the memory of another. */
#include "core/config.h"
#include "device/device.h"

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice_v1 dev, CUdevice_v1 peerDev)
{
    struct sim_device *from = sim_device(dev), *to = sim_device(peerDev);
    if (!canAccessPeer)
        return CUDA_ERROR_INVALID_VALUE;
    if (!from || !to)
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = sim_device_reaches(from, to);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                                     CUdevice_v1 srcDevice, CUdevice_v1 dstDevice)
{
    struct sim_device *from = sim_device(srcDevice), *to = sim_device(dstDevice);
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!from || !to || from == to)
        return CUDA_ERROR_INVALID_DEVICE;
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
        if (sim_config.cuda < 13000)
            return CUDA_ERROR_INVALID_VALUE;
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
    switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
        return CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |
               CU_ATOMIC_CAPABILITY_REDUCTION | sizes;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
        return CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |
               CU_ATOMIC_CAPABILITY_SCALAR_32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
        return CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION | sizes;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
        return CU_ATOMIC_CAPABILITY_UNSIGNED | sizes;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
        return CU_ATOMIC_CAPABILITY_REDUCTION | sizes;
    default:
        return 0;
    }
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

CUresult sim_cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
                                               const CUatomicOperation *operations,
                                               unsigned int count, CUdevice dev)
{
    if (!capabilities || !operations || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_device(dev) ? capabilities_of(capabilities, operations, count, false)
                           : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                              const CUatomicOperation *operations,
                                              unsigned int count, CUdevice srcDevice,
                                              CUdevice dstDevice)
{
    if (!capabilities || !operations || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(srcDevice) || !sim_device(dstDevice) || srcDevice == dstDevice)
        return CUDA_ERROR_INVALID_DEVICE;
    return capabilities_of(capabilities, operations, count, true);
}
