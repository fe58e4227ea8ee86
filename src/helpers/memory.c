/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "error.h"

CUresult cushim_memory_check(const char *helper, const char *argument, uintptr_t address,
                             size_t bytes)
{
    if (!bytes)
        return CUDA_SUCCESS;
    if (!address)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s is 0; pass an address",
                                   argument);
    if (bytes - 1 > UINTPTR_MAX - address)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "%s: %zu bytes from %#zx pass the end of all addresses",
                                   argument, bytes, (size_t)address);
    return CUDA_SUCCESS;
}

/* ---- allocate and free */

/* A failed allocation: the last error also says how much was asked for and how much is free. */
static CUresult memory_not_allocated(const struct cushim_api *cu, CUresult code, size_t bytes)
{
    struct cushim_error_saved saved;
    size_t free_bytes = 0, total_bytes = 0;
    cushim_error_save(&saved);
    const bool known = code == CUDA_ERROR_OUT_OF_MEMORY && !cushim_error_is_ruled() &&
                       cu->cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS;
    cushim_error_restore(&saved);
    if (known)
        return cushim_error_add(code, "bytes: %zu, and %zu of %zu are free", bytes, free_bytes,
                                total_bytes);
    return cushim_error_add(code, "bytes: %zu", bytes);
}

/* Whether driver and current device have stream-ordered memory. Allocating and freeing decide by
 * the same rule. */
static bool memory_has_pools(const struct cushim_api *cu)
{
    CUdevice device = 0;
    int value = 0;
    return CUSHIM_HAS(cu, cuMemAllocAsync) && CUSHIM_HAS(cu, cuMemFreeAsync) &&
           cu->cuCtxGetDevice_v1(&device) == CUDA_SUCCESS &&
           cu->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device) ==
               CUDA_SUCCESS &&
           value != 0;
}

CUresult cushim_memory_alloc(const struct cushim_api *cu, size_t bytes, CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(address);
    if (!bytes)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "bytes is 0; ask for at least 1");
    CUresult code = CUSHIM_CALL(cu, __func__, cuMemAlloc_v2, &found, bytes);
    if (code != CUDA_SUCCESS)
        return memory_not_allocated(cu, code, bytes);
    *address = found;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_alloc_async(const struct cushim_api *cu, size_t bytes, CUstream stream,
                                   CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(address);
    if (!bytes)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "bytes is 0; ask for at least 1");
    CUresult code = memory_has_pools(cu)
                        ? CUSHIM_CALL(cu, __func__, cuMemAllocAsync, &found, bytes, stream)
                        : CUSHIM_CALL(cu, __func__, cuMemAlloc_v2, &found, bytes);
    if (code != CUDA_SUCCESS)
        return memory_not_allocated(cu, code, bytes);
    *address = found;
    return CUDA_SUCCESS;
}

/* Drivers refuse an address that was freed as one that never was. */
static CUresult memory_freed(CUresult code, CUdeviceptr address)
{
    return cushim_error_add(code,
                            code == CUDA_ERROR_INVALID_VALUE
                                ? "address: %#zx, which begins no block, or was freed before"
                                : "address: %#zx",
                            (size_t)address);
}

CUresult cushim_memory_free(const struct cushim_api *cu, CUdeviceptr address)
{
    CUSHIM_REQUIRE(cu);
    if (!address)
        return CUDA_SUCCESS;
    CUresult code = cushim_error_gone_is_done(cu->cuMemFree_v2(address));
    code = cushim_error_check(code, __func__, "cuMemFree_v2");
    return memory_freed(code, address);
}

CUresult cushim_memory_free_async(const struct cushim_api *cu, CUdeviceptr address, CUstream stream)
{
    CUSHIM_REQUIRE(cu);
    if (!address)
        return CUDA_SUCCESS;
    CUresult code;
    if (memory_has_pools(cu)) {
        code = cushim_error_gone_is_done(cu->cuMemFreeAsync(address, stream));
        code = cushim_error_check(code, __func__, "cuMemFreeAsync");
    } else {
        code = CUSHIM_CALL(cu, __func__, cuStreamSynchronize, stream);
        if (code == CUDA_SUCCESS)
            code = CUSHIM_CALL(cu, __func__, cuMemFree_v2, address);
        else
            cu->cuMemFree_v2(address); /* the caller has to know of the work that failed */
        code = cushim_error_gone_is_done(code);
    }
    return memory_freed(code, address);
}

/* ---- managed memory */

CUresult cushim_memory_prefetch(const struct cushim_api *cu, CUdeviceptr address, size_t bytes,
                                CUdevice device, CUstream stream)
{
    CUSHIM_REQUIRE(cu);
    CUresult code = cushim_memory_check(__func__, "address", address, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    if (device < CU_DEVICE_CPU)
        return cushim_error_refuse(CUDA_ERROR_INVALID_DEVICE, __func__,
                                   "device is %d; pass a device, or CU_DEVICE_CPU", device);
    if (!CUSHIM_HAS(cu, cuMemPrefetchAsync_v2))
        return CUSHIM_CALL(cu, __func__, cuMemPrefetchAsync_v1, address, bytes, device, stream);
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST};
    if (device != CU_DEVICE_CPU) {
        location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        location.id = device;
    }
    return CUSHIM_CALL(cu, __func__, cuMemPrefetchAsync_v2, address, bytes, location, 0, stream);
}

/* ---- what the driver knows of an address */

/* As the driver writes them: booleans of one or four bytes in eight that are zero. */
struct memory_answers {
    CUmemorytype type;
    CUdeviceptr device, base;
    void *host;
    size_t size;
    CUcontext context;
    int ordinal;
    CUmemoryPool pool;
    unsigned long long id, managed;
};

static CUresult memory_ask(const struct cushim_api *cu, const char *helper, CUdeviceptr address,
                           struct memory_answers *found)
{
    const struct {
        CUpointer_attribute attribute;
        void *answer;
        int since; /* an older driver would refuse the whole question */
    } all[] = {
        {.attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE, .answer = &found->type},
        {.attribute = CU_POINTER_ATTRIBUTE_DEVICE_POINTER, .answer = &found->device},
        {.attribute = CU_POINTER_ATTRIBUTE_HOST_POINTER, .answer = &found->host},
        {.attribute = CU_POINTER_ATTRIBUTE_CONTEXT, .answer = &found->context},
        {.attribute = CU_POINTER_ATTRIBUTE_BUFFER_ID, .answer = &found->id},
        {.attribute = CU_POINTER_ATTRIBUTE_IS_MANAGED, .answer = &found->managed},
        {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &found->ordinal, 9020},
        {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, &found->base, 10020},
        {CU_POINTER_ATTRIBUTE_RANGE_SIZE, &found->size, 10020},
        {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, &found->pool, 11030},
    };
    CUpointer_attribute attributes[sizeof all / sizeof *all];
    void *answers[sizeof all / sizeof *all];
    unsigned int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (cushim_driver_version(cu) < all[i].since)
            continue;
        attributes[count] = all[i].attribute;
        answers[count++] = all[i].answer;
    }
    return CUSHIM_CALL(cu, helper, cuPointerGetAttributes, count, attributes, answers, address);
}

CUresult cushim_pointer_describe(const struct cushim_api *cu, CUdeviceptr address,
                                 struct cushim_pointer *pointer)
{
    struct memory_answers found = {.ordinal = -1};
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(pointer);
    CUresult code = cushim_error_check_sized(__func__, "pointer", pointer,
                                             CUSHIM_LEAST(cushim_pointer, reserved));
    if (code == CUDA_SUCCESS)
        code = memory_ask(cu, __func__, address, &found);
    if (code != CUDA_SUCCESS)
        return code;
    const struct cushim_pointer is = {
        .type = found.type,
        .device = found.device,
        .host = found.host,
        .base = found.base,
        .bytes = found.size,
        .context = found.context,
        .ordinal = found.type ? found.ordinal : -1,
        .pool = found.pool,
        .id = found.id,
        .managed = found.managed != 0,
    };
    cushim_text_write_sized(pointer, &is, sizeof is);
    return CUDA_SUCCESS;
}
