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
