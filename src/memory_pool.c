/* SPDX-License-Identifier: MIT */
#include "device.h"
#include "memory_internal.h"

bool cushim_pool_supported(const struct cushim_api *cu, CUdevice device)
{
    int supported = 0;
    return CUSHIM_HAS(cu, cuMemPoolCreate) &&
           cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                    device) == CUDA_SUCCESS &&
           supported;
}

CUresult cushim_pool_create(const struct cushim_api *cu, CUdevice device, size_t keep,
                            CUmemoryPool *pool)
{
    CUmemoryPool found = NULL;
    CUmemPoolProps wanted = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
    };
    wanted.location.id = device;
    cuuint64_t threshold = keep == SIZE_MAX ? UINT64_MAX : keep;
    int supported = 0;
    CUresult code = cushim_require(pool, __func__, "pool");
    if (code != CUDA_SUCCESS)
        return code;
    if (CUSHIM_HAS(cu, cuMemPoolCreate))
        code = cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                        device);
    code = cushim_device_checked(cu, code, __func__, "cuDeviceGetAttribute", device);
    if (code != CUDA_SUCCESS)
        return code;
    if (supported)
        code = CUSHIM_TRY(cu, __func__, cuMemPoolCreate, &found, &wanted);
    if (code == CUDA_SUCCESS && found)
        code = CUSHIM_TRY(cu, __func__, cuMemPoolSetAttribute, found,
                          CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    if (code != CUDA_SUCCESS) {
        if (found)
            cu->cuMemPoolDestroy(found);
        return code;
    }
    *pool = found;
    return CUDA_SUCCESS;
}

CUresult cushim_pool_destroy(const struct cushim_api *cu, CUmemoryPool pool)
{
    if (!pool)
        return CUDA_SUCCESS;
    return cushim_gone_is_done(CUSHIM_TRY(cu, __func__, cuMemPoolDestroy, pool));
}

CUresult cushim_pool_trim(const struct cushim_api *cu, CUmemoryPool pool, size_t keep)
{
    CUresult code = cushim_require(pool, __func__, "pool");
    return code == CUDA_SUCCESS ? CUSHIM_TRY(cu, __func__, cuMemPoolTrimTo, pool, keep) : code;
}

CUresult cushim_pool_measure(const struct cushim_api *cu, CUmemoryPool pool,
                             struct cushim_pool_usage *usage)
{
    cuuint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    struct {
        CUmemPool_attribute attribute;
        cuuint64_t *value;
    } all[] = {
        {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used},
        {CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used_high},
        {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved},
        {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &reserved_high},
    };
    CUresult code = cushim_require(pool, __func__, "pool");
    if (code == CUDA_SUCCESS)
        code = cushim_require(usage, __func__, "usage");
    for (size_t i = 0; code == CUDA_SUCCESS && i < sizeof all / sizeof *all; i++)
        code =
            CUSHIM_TRY(cu, __func__, cuMemPoolGetAttribute, pool, all[i].attribute, all[i].value);
    if (code == CUDA_SUCCESS)
        *usage = (struct cushim_pool_usage){used, used_high, reserved, reserved_high};
    return code;
}
