/* SPDX-License-Identifier: MIT */
/* The two halves of virtual memory: reserved addresses, and memory without one. */
#include "memory/memory.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/core.h"
#include "device/device.h"

struct reservation {
    uint64_t address;
    size_t size;
    struct reservation *next;
};
static struct reservation *reservations;

bool sim_virtual_is_reserved(uint64_t address, size_t size)
{
    for (const struct reservation *r = reservations; r; r = r->next)
        if (address >= r->address && address - r->address <= r->size &&
            size <= r->size - (size_t)(address - r->address))
            return true;
    return false;
}

CUresult sim_cuMemAddressReserve(CUdeviceptr_v2 *ptr, size_t size, size_t alignment,
                                 CUdeviceptr_v2 addr, unsigned long long flags)
{
    if (!ptr || size == 0 || size % SIM_VIRTUAL_GRAIN || flags ||
        (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *made = malloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made =
        (struct reservation){sim_address_reserve_chunks(size, alignment, addr), size, reservations};
    if (!made->address) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    reservations = made;
    *ptr = made->address;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAddressFree(CUdeviceptr_v2 ptr, size_t size)
{
    struct reservation **link = &reservations;
    while (*link && ((*link)->address != ptr || (*link)->size != size))
        link = &(*link)->next;
    struct reservation *found = *link;
    if (!found || sim_range_overlaps(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    *link = found->next;
    sim_address_release(ptr, size);
    free(found);
    return CUDA_SUCCESS;
}

/* --- Memory without an address --- */

static CUresult check(const CUmemAllocationProp_v1 *prop, struct sim_device **device)
{
    *device = NULL;
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
         prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return CUDA_ERROR_INVALID_VALUE;
    switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *device = sim_device(prop->location.id);
        return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return sim_config.cuda >= 12020 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle_v1 *handle, size_t size,
                         const CUmemAllocationProp_v1 *prop, unsigned long long flags)
{
    struct sim_device *device;
    if (!handle || !prop || size == 0 || size % SIM_VIRTUAL_GRAIN || flags)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check(prop, &device);
    if (result == CUDA_SUCCESS && sim_memory_refused(size))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && device)
        result = sim_memory_take(device, size);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_physical *made = calloc(1, sizeof *made);
    if (made)
        made->bytes = sim_memory_bytes_make(size, &made->mapped);
    if (!made || !made->bytes) {
        free(made);
        if (device)
            sim_memory_give(device, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->prop = *prop;
    made->device = device;
    made->size = size;
    made->handles = 1;
    sim_object_add(&made->object, SIM_PHYSICAL, NULL);
    *handle = (CUmemGenericAllocationHandle_v1)(uintptr_t)made;
    return CUDA_SUCCESS;
}

struct sim_physical *sim_virtual_behind(const struct sim_allocation *mapping)
{
    struct sim_physical *physical = mapping->owner;
    sim_expire_renew(physical);
    return physical;
}

struct sim_physical *sim_virtual_physical(CUmemGenericAllocationHandle_v1 handle)
{
    struct sim_physical *found = sim_object(SIM_PHYSICAL, (void *)(uintptr_t)handle);
    return found && found->handles ? found : NULL;
}

static void destroy(void *data)
{
    struct sim_physical *physical = data;
    sim_memory_bytes_free(physical->bytes, physical->size, physical->mapped);
    sim_shared_close(physical->shared);
    free(physical);
}

void sim_virtual_physical_release(struct sim_physical *physical)
{
    if (physical->handles || physical->places)
        return;
    sim_object_remove(&physical->object);
    if (physical->device && !physical->foreign)
        sim_memory_give(physical->device, physical->size);
    sim_idle_call(destroy, physical);
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle_v1 handle)
{
    struct sim_physical *physical = sim_virtual_physical(handle);
    if (!physical)
        return CUDA_ERROR_INVALID_VALUE;
    physical->handles--;
    sim_virtual_physical_release(physical);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle_v1 *handle, void *addr)
{
    const struct sim_allocation *found = sim_range_find((uint64_t)(uintptr_t)addr);
    if (!handle || !found || found->kind != SIM_MEMORY_VIRTUAL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_physical *physical = sim_virtual_behind(found);
    physical->handles++;
    *handle = (CUmemGenericAllocationHandle_v1)(uintptr_t)physical;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp_v1 *prop,
                                                    CUmemGenericAllocationHandle_v1 handle)
{
    const struct sim_physical *physical = sim_virtual_physical(handle);
    if (!prop || !physical)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->prop;
    return CUDA_SUCCESS;
}

/* Real drivers look at hardly anything of `prop`. */
CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp_v1 *prop,
                                           CUmemAllocationGranularity_flags option)
{
    if (!granularity || !prop ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = SIM_VIRTUAL_GRAIN;
    return CUDA_SUCCESS;
}
