/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"

CUresult cushim_host_alloc(const struct cushim_api *cu, size_t bytes, unsigned int flags,
                           void **address)
{
    void *found = NULL;
    if (!bytes)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "bytes: 0");
    CUresult code = cushim_require(address, __func__, "address");
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_TRY(cu, __func__, cuMemHostAlloc, &found, bytes, flags);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, (uintptr_t)found, bytes, CUSHIM_MEMORY_HOST);
    *address = found;
    return CUDA_SUCCESS;
}

CUresult cushim_host_free(const struct cushim_api *cu, void *address)
{
    struct cushim_range taken;
    if (!address)
        return CUDA_SUCCESS;
    CUresult code =
        cushim_take(cu, __func__, "address", (uintptr_t)address, CUSHIM_MEMORY_HOST, &taken);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_taken(cu, &taken, CUSHIM_TRY(cu, __func__, cuMemFreeHost, address));
    return cushim_with(code, "address: %p", address);
}

CUresult cushim_host_register(const struct cushim_api *cu, void *address, size_t bytes,
                              unsigned int flags)
{
    if (!bytes)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "bytes: 0");
    CUresult code = cushim_check_range(cu, __func__, "address", (uintptr_t)address, bytes);
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_HAS(cu, cuMemHostRegister_v2)
               ? CUSHIM_TRY(cu, __func__, cuMemHostRegister_v2, address, bytes, flags)
               : CUSHIM_TRY(cu, __func__, cuMemHostRegister_v1, address, bytes, flags);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, (uintptr_t)address, bytes, CUSHIM_MEMORY_REGISTERED);
    return CUDA_SUCCESS;
}

CUresult cushim_host_unregister(const struct cushim_api *cu, void *address)
{
    struct cushim_range taken;
    if (!address)
        return CUDA_SUCCESS;
    CUresult code =
        cushim_take(cu, __func__, "address", (uintptr_t)address, CUSHIM_MEMORY_REGISTERED, &taken);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_taken(cu, &taken, CUSHIM_TRY(cu, __func__, cuMemHostUnregister, address));
    return cushim_with(code, "address: %p", address);
}

CUresult cushim_host_device_address(const struct cushim_api *cu, void *address, CUdeviceptr *device)
{
    CUdeviceptr found = 0;
    CUresult code = cushim_check_range(cu, __func__, "address", (uintptr_t)address, 1);
    if (code == CUDA_SUCCESS)
        code = cushim_require(device, __func__, "device");
    if (code == CUDA_SUCCESS)
        code =
            cushim_with(CUSHIM_TRY(cu, __func__, cuMemHostGetDevicePointer_v2, &found, address, 0),
                        "address: %p", address);
    if (code == CUDA_SUCCESS)
        *device = found;
    return code;
}
