/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"

#define MEMORY_POOLS_SINCE 11020

/* What every allocation asks first. */
static CUresult memory_check_request(const char *helper, size_t bytes, const void *address)
{
    if (!bytes)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "bytes: 0");
    return cushim_require(address, helper, "address");
}

static CUresult memory_alloc_plain(const struct cushim_api *cu, const char *helper, size_t bytes,
                                   CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUresult code = CUSHIM_TRY(cu, helper, cuMemAlloc_v2, &found, bytes);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, found, bytes, CUSHIM_MEMORY_PLAIN);
    *address = found;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_alloc(const struct cushim_api *cu, size_t bytes, CUdeviceptr *address)
{
    CUresult code = memory_check_request(__func__, bytes, address);
    return code == CUDA_SUCCESS ? memory_alloc_plain(cu, __func__, bytes, address) : code;
}

/* Whether the current context's device has an attribute that is 0 or 1; true where none can say. */
static bool memory_device_has(const struct cushim_api *cu, CUdevice_attribute attribute)
{
    CUdevice device = 0;
    int value = 0;
    return cu->cuCtxGetDevice_v1(&device) != CUDA_SUCCESS ||
           cu->cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS || value != 0;
}

CUresult cushim_memory_alloc_managed(const struct cushim_api *cu, size_t bytes, unsigned int flags,
                                     CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUresult code = memory_check_request(__func__, bytes, address);
    if (code != CUDA_SUCCESS)
        return code;
    if (flags > CU_MEM_ATTACH_HOST)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "flags: %#x is neither CU_MEM_ATTACH_GLOBAL nor _HOST", flags);
    if (!memory_device_has(cu, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY))
        return cushim_refuse(CUDA_ERROR_NOT_SUPPORTED, __func__,
                             "the device has no managed memory "
                             "(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY is 0); bytes: %zu",
                             bytes);
    flags = flags ? flags : CU_MEM_ATTACH_GLOBAL;
    code = CUSHIM_TRY(cu, __func__, cuMemAllocManaged, &found, bytes, flags);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, found, bytes, CUSHIM_MEMORY_MANAGED);
    *address = found;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_alloc_pitched(const struct cushim_api *cu, size_t width, size_t height,
                                     unsigned int element, CUdeviceptr *address, size_t *pitch)
{
    CUdeviceptr found = 0;
    size_t bytes = 0, its_pitch = 0;
    if (!width || !height)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "%s: 0",
                             width ? "height" : "width");
    if (!cushim_multiply(width, height, &bytes))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "height: %zu rows of width %zu overflow", height, width);
    if (element != 4 && element != 8 && element != 16)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "element: %u is none of 4, 8 and 16", element);
    CUresult code = cushim_require(address, __func__, "address");
    if (code == CUDA_SUCCESS)
        code = cushim_require(pitch, __func__, "pitch");
    if (code != CUDA_SUCCESS)
        return code;
    code = CUSHIM_TRY(cu, __func__, cuMemAllocPitch_v2, &found, &its_pitch, width, height, element);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, found, its_pitch * height, CUSHIM_MEMORY_PLAIN);
    *address = found;
    *pitch = its_pitch;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_alloc_async(const struct cushim_api *cu, size_t bytes, CUmemoryPool pool,
                                   CUstream stream, CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUresult code = memory_check_request(__func__, bytes, address);
    if (code != CUDA_SUCCESS)
        return code;
    if (!pool && cushim_driver_version(cu) < MEMORY_POOLS_SINCE)
        return memory_alloc_plain(cu, __func__, bytes, address);
    code = pool ? CUSHIM_TRY(cu, __func__, cuMemAllocFromPoolAsync, &found, bytes, pool, stream)
                : CUSHIM_TRY(cu, __func__, cuMemAllocAsync, &found, bytes, stream);
    if (code == CUDA_ERROR_NOT_SUPPORTED && !pool &&
        (!CUSHIM_HAS(cu, cuMemAllocAsync) ||
         !memory_device_has(cu, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)))
        return memory_alloc_plain(cu, __func__, bytes, address);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, bytes);
    cushim_note_memory(cu, found, bytes, CUSHIM_MEMORY_POOLED);
    *address = found;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_free(const struct cushim_api *cu, CUdeviceptr address)
{
    struct cushim_range taken;
    if (!address)
        return CUDA_SUCCESS;
    CUresult code = cushim_take(cu, __func__, "address", address, CUSHIM_MEMORY_DEVICE, &taken);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_taken(cu, &taken, CUSHIM_TRY(cu, __func__, cuMemFree_v2, address));
    return cushim_with(code, "address: %#zx", (size_t)address);
}

CUresult cushim_memory_free_async(const struct cushim_api *cu, CUdeviceptr address, CUstream stream)
{
    struct cushim_range taken;
    if (!address)
        return CUDA_SUCCESS;
    CUresult code = cushim_take(cu, __func__, "address", address, CUSHIM_MEMORY_DEVICE, &taken);
    if (code != CUDA_SUCCESS)
        return code;
    if (taken.kind == CUSHIM_MEMORY_POOLED || (!taken.kind && CUSHIM_HAS(cu, cuMemFreeAsync))) {
        code = CUSHIM_TRY(cu, __func__, cuMemFreeAsync, address, stream);
    } else {
        code = CUSHIM_TRY(cu, __func__, cuStreamSynchronize, stream);
        if (code == CUDA_SUCCESS)
            code = CUSHIM_TRY(cu, __func__, cuMemFree_v2, address);
    }
    return cushim_with(cushim_taken(cu, &taken, code), "address: %#zx", (size_t)address);
}

CUresult cushim_memory_info(const struct cushim_api *cu, size_t *free_bytes, size_t *total_bytes)
{
    size_t now_free = 0, total = 0;
    CUresult code = CUSHIM_TRY(cu, __func__, cuMemGetInfo_v2, &now_free, &total);
    if (code != CUDA_SUCCESS)
        return code;
    if (free_bytes)
        *free_bytes = now_free;
    if (total_bytes)
        *total_bytes = total;
    return CUDA_SUCCESS;
}

CUresult cushim_memory_prefetch(const struct cushim_api *cu, CUdeviceptr address, size_t bytes,
                                CUdevice device, CUstream stream)
{
    CUresult code = cushim_check_range(cu, __func__, "address", address, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    if (device < CU_DEVICE_CPU)
        return cushim_refuse(CUDA_ERROR_INVALID_DEVICE, __func__, "device: %d", device);
    if (!CUSHIM_HAS(cu, cuMemPrefetchAsync_v2))
        return CUSHIM_TRY(cu, __func__, cuMemPrefetchAsync_v1, address, bytes, device, stream);
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST};
    if (device != CU_DEVICE_CPU) {
        location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        location.id = device;
    }
    return CUSHIM_TRY(cu, __func__, cuMemPrefetchAsync_v2, address, bytes, location, 0, stream);
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

CUresult cushim_pointer_describe(const struct cushim_api *cu, CUdeviceptr address,
                                 struct cushim_pointer *pointer)
{
    struct memory_answers found = {.ordinal = -1};
    struct {
        CUpointer_attribute attribute;
        int since; /* an older driver would refuse the whole question */
        void *answer;
    } all[] = {
        {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0, &found.type},
        {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 0, &found.device},
        {CU_POINTER_ATTRIBUTE_HOST_POINTER, 0, &found.host},
        {CU_POINTER_ATTRIBUTE_CONTEXT, 0, &found.context},
        {CU_POINTER_ATTRIBUTE_BUFFER_ID, 0, &found.id},
        {CU_POINTER_ATTRIBUTE_IS_MANAGED, 0, &found.managed},
        {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9020, &found.ordinal},
        {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 10020, &found.base},
        {CU_POINTER_ATTRIBUTE_RANGE_SIZE, 10020, &found.size},
        {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 11030, &found.pool},
    };
    CUpointer_attribute attributes[sizeof all / sizeof *all];
    void *answers[sizeof all / sizeof *all];
    unsigned int count = 0;
    CUresult code = cushim_require(pointer, __func__, "pointer");
    if (code != CUDA_SUCCESS)
        return code;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (cushim_driver_version(cu) < all[i].since)
            continue;
        attributes[count] = all[i].attribute;
        answers[count++] = all[i].answer;
    }
    code = CUSHIM_TRY(cu, __func__, cuPointerGetAttributes, count, attributes, answers, address);
    if (code != CUDA_SUCCESS)
        return code;
    *pointer = (struct cushim_pointer){
        .type = found.type,
        .device = found.device,
        .host = found.host,
        .base = found.base,
        .size = found.size,
        .context = found.context,
        .ordinal = found.type ? found.ordinal : -1,
        .pool = found.pool,
        .id = found.id,
        .managed = found.managed != 0,
    };
    return CUDA_SUCCESS;
}
