/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "instance.h"
#include "device.h"
#include "memory_internal.h"

static CUmemAllocationProp growing_kind(CUdevice device)
{
    CUmemAllocationProp kind = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
    };
    kind.location.id = device;
    return kind;
}

/* Up to the next multiple; false where that overflows. */
static bool growing_round(size_t size, size_t granularity, size_t *rounded)
{
    size_t rest = size % granularity;
    return cushim_add(size, rest ? granularity - rest : 0, rounded);
}

static CUresult growing_supported(const struct cushim_api *cu, const char *helper, CUdevice device)
{
    int supported = 0;
    if (!CUSHIM_HAS(cu, cuMemAddressReserve))
        return cushim_refuse(CUDA_ERROR_NOT_SUPPORTED, helper, "%s",
                             old_reason(cu, "cuMemAddressReserve", NULL));
    CUresult code = cu->cuDeviceGetAttribute(
        &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    code = cushim_device_checked(cu, code, helper, "cuDeviceGetAttribute", device);
    if (code == CUDA_SUCCESS && !supported)
        return cushim_refuse(CUDA_ERROR_NOT_SUPPORTED, helper,
                             "device: %d cannot map memory (CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_"
                             "MANAGEMENT_SUPPORTED is 0)",
                             device);
    return code;
}

/* Memory behind the addresses from `address`, for its device to use; nothing on failure. */
static CUresult growing_add(const struct cushim_api *cu, const char *helper, CUdevice device,
                            CUdeviceptr address, struct cushim_growing_part *part)
{
    CUmemAllocationProp kind = growing_kind(device);
    CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult code = CUSHIM_TRY(cu, helper, cuMemCreate, &part->handle, part->bytes, &kind, 0);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, part->bytes);
    code = CUSHIM_TRY(cu, helper, cuMemMap, address, part->bytes, 0, part->handle, 0);
    if (code == CUDA_SUCCESS) {
        code = CUSHIM_TRY(cu, helper, cuMemSetAccess, address, part->bytes, &access, 1);
        if (code != CUDA_SUCCESS)
            cu->cuMemUnmap(address, part->bytes);
    }
    if (code != CUDA_SUCCESS)
        cu->cuMemRelease(part->handle);
    return code;
}

static CUresult growing_grow(const struct cushim_api *cu, const char *helper,
                             struct cushim_growing *growing, size_t size)
{
    struct cushim_growing_part part = {0, 0};
    size_t rounded;
    if (size <= growing->size)
        return CUDA_SUCCESS;
    if (size > growing->limit)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "size: %zu is more than the limit of %zu", size, growing->limit);
    growing_round(size, growing->granularity, &rounded); /* the limit is such a multiple */
    part.bytes = rounded - growing->size;
    struct cushim_growing_part *parts =
        realloc(growing->parts, (growing->part_count + 1) * sizeof *parts);
    if (!parts)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "size: %zu: no host memory is left",
                             size);
    growing->parts = parts;
    CUresult code =
        growing_add(cu, helper, growing->device, growing->address + growing->size, &part);
    if (code != CUDA_SUCCESS)
        return code;
    growing->parts[growing->part_count++] = part;
    if (growing->size)
        cushim_track_resize(cu, growing->address, rounded);
    else
        cushim_note_memory(cu, growing->address, rounded, CUSHIM_MEMORY_GROWING);
    growing->size = rounded;
    return CUDA_SUCCESS;
}

CUresult cushim_growing_create(const struct cushim_api *cu, CUdevice device, size_t size,
                               size_t limit, struct cushim_growing *growing)
{
    struct cushim_growing made = {.device = device};
    CUmemAllocationProp kind = growing_kind(device);
    CUresult code = cushim_require(growing, __func__, "growing");
    if (code != CUDA_SUCCESS)
        return code;
    if (!limit)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "limit: 0");
    if (size > limit)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "size: %zu is more than the limit of %zu", size, limit);
    code = growing_supported(cu, __func__, device);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, __func__, cuMemGetAllocationGranularity, &made.granularity, &kind,
                          CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (code != CUDA_SUCCESS)
        return code;
    if (!made.granularity || !growing_round(limit, made.granularity, &made.limit))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "limit: %zu overflows when rounded up to a multiple of %zu", limit,
                             made.granularity);
    code = CUSHIM_TRY(cu, __func__, cuMemAddressReserve, &made.address, made.limit, 0, 0, 0);
    if (code != CUDA_SUCCESS)
        return cushim_not_allocated(cu, code, made.limit);
    code = growing_grow(cu, __func__, &made, size);
    if (code != CUDA_SUCCESS) {
        cu->cuMemAddressFree(made.address, made.limit);
        free(made.parts);
        return code;
    }
    *growing = made;
    return CUDA_SUCCESS;
}

/* A buffer that was never created, or was released. */
static CUresult growing_require(const char *helper, const struct cushim_growing *growing)
{
    CUresult code = cushim_require(growing, helper, "growing");
    if (code == CUDA_SUCCESS && !growing->address)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "growing: its address is 0");
    return code;
}

CUresult cushim_growing_grow(const struct cushim_api *cu, struct cushim_growing *growing,
                             size_t size)
{
    CUresult code = growing_require(__func__, growing);
    return code == CUDA_SUCCESS ? growing_grow(cu, __func__, growing, size) : code;
}

/* The last part first, so that what is left is a smaller buffer. */
static CUresult growing_shrink(const struct cushim_api *cu, const char *helper,
                               struct cushim_growing *growing)
{
    const struct cushim_growing_part *part = &growing->parts[growing->part_count - 1];
    CUdeviceptr address = growing->address + growing->size - part->bytes;
    CUresult code = CUSHIM_TRY(cu, helper, cuMemUnmap, address, part->bytes);
    code = cushim_gone_is_done(code);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_gone_is_done(CUSHIM_TRY(cu, helper, cuMemRelease, part->handle));
    growing->size -= part->bytes;
    growing->part_count--;
    return code;
}

CUresult cushim_growing_release(const struct cushim_api *cu, struct cushim_growing *growing)
{
    CUresult code = CUDA_SUCCESS;
    if (!growing || !growing->address)
        return CUDA_SUCCESS;
    cushim_track_free(cu, growing->address);
    while (code == CUDA_SUCCESS && growing->part_count)
        code = growing_shrink(cu, __func__, growing);
    if (code == CUDA_SUCCESS)
        code = cushim_gone_is_done(
            CUSHIM_TRY(cu, __func__, cuMemAddressFree, growing->address, growing->limit));
    if (code != CUDA_SUCCESS) {
        if (growing->size) {
            cushim_track_restore(cu, growing->address);
            cushim_track_resize(cu, growing->address, growing->size);
        }
        return code;
    }
    free(growing->parts);
    *growing = (struct cushim_growing){0};
    return CUDA_SUCCESS;
}
