/* SPDX-License-Identifier: MIT */
/* Memory mapped to reserved addresses, and who may use it. */
#include <stdlib.h>

#include "core/config.h"
#include "device/device.h"
#include "memory/memory.h"

CUresult sim_cuMemMap(CUdeviceptr_v2 ptr, size_t size, size_t offset,
                      CUmemGenericAllocationHandle_v1 handle, unsigned long long flags)
{
    struct sim_physical *physical = sim_virtual_physical(handle);
    if (!ptr || size == 0 || flags || !physical || ptr % SIM_VIRTUAL_GRAIN ||
        !sim_virtual_is_reserved(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0 || size != physical->size) /* a part of it: as on a desktop's driver */
        return CUDA_ERROR_NOT_SUPPORTED;
    if (sim_range_overlaps(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_allocation *made = malloc(sizeof *made);
    struct sim_mapping *mapping = calloc(1, sizeof *mapping);
    CUresult result = made && mapping ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        *made = (struct sim_allocation){.address = ptr,
                                        .size = size,
                                        .host = physical->bytes,
                                        .kind = SIM_MEMORY_VIRTUAL,
                                        .device = physical->device ? physical->device
                                                                   : &sim_device_all[0],
                                        .owner = physical,
                                        .advice = mapping,
                                        .synchronous = true};
        result = sim_memory_adopt(made);
    }
    if (result != CUDA_SUCCESS) {
        free(made);
        free(mapping);
        return result;
    }
    physical->places++;
    return CUDA_SUCCESS;
}

/* Every mapping that the range touches, in turn; NULL after the last. */
static struct sim_allocation *next_mapping(uint64_t *at, uint64_t end)
{
    while (*at < end) {
        struct sim_allocation *found = sim_range_find(*at);
        *at += SIM_VIRTUAL_GRAIN;
        if (!found)
            continue;
        *at = found->address + found->size;
        return found;
    }
    return NULL;
}

/* Whether the range is made of whole mappings, with or without gaps between them. */
static bool is_whole(uint64_t address, size_t size, bool gaps)
{
    uint64_t at = address, end = address + size;
    size_t covered = 0;
    struct sim_allocation *found;
    if (!address || size == 0 || size % SIM_VIRTUAL_GRAIN || address % SIM_VIRTUAL_GRAIN ||
        !sim_virtual_is_reserved(address, size))
        return false;
    while ((found = next_mapping(&at, end))) {
        if (found->address < address || found->address + found->size > end)
            return false;
        covered += found->size;
    }
    return gaps || covered == size;
}

CUresult sim_cuMemUnmap(CUdeviceptr_v2 ptr, size_t size)
{
    uint64_t at = ptr;
    struct sim_allocation *found;
    if (!is_whole(ptr, size, true))
        return CUDA_ERROR_INVALID_VALUE;
    while ((found = next_mapping(&at, ptr + size))) {
        struct sim_physical *physical = sim_virtual_behind(found);
        sim_memory_free(found);
        physical->places--;
        sim_virtual_physical_release(physical);
    }
    return CUDA_SUCCESS;
}

static bool is_access(CUmemAccess_flags flags)
{
    return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
           flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static void apply(struct sim_allocation *allocation, const CUmemAccessDesc_v1 *desc, size_t count)
{
    struct sim_mapping *mapping = allocation->advice;
    unsigned all = 0;
    for (size_t i = 0; i < count; i++)
        if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            mapping->access[desc[i].location.id] = (uint8_t)desc[i].flags;
    for (int device = 0; device < SIM_MAX_DEVICES; device++)
        all |= mapping->access[device];
    sim_range_protect(allocation, (all & CU_MEM_ACCESS_FLAGS_PROT_READ) != 0,
                      all == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CUresult sim_cuMemSetAccess(CUdeviceptr_v2 ptr, size_t size, const CUmemAccessDesc_v1 *desc,
                            size_t count)
{
    uint64_t at = ptr;
    struct sim_allocation *found;
    if (!desc || count == 0 || !is_whole(ptr, size, false))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        bool host = desc[i].location.type == CU_MEM_LOCATION_TYPE_HOST ||
                    desc[i].location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
        bool device =
            desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && sim_device(desc[i].location.id);
        if (!is_access(desc[i].flags) || (!host && !device))
            return CUDA_ERROR_INVALID_VALUE;
    }
    while ((found = next_mapping(&at, ptr + size)))
        apply(found, desc, count);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAccess(unsigned long long *flags, const CUmemLocation_v1 *location,
                            CUdeviceptr_v2 ptr)
{
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!sim_device(location->id))
        return CUDA_ERROR_INVALID_DEVICE;
    const struct sim_allocation *found = sim_range_find(ptr);
    if (!found || found->ending)
        return CUDA_ERROR_INVALID_VALUE;
    if (found->kind == SIM_MEMORY_VIRTUAL)
        *flags = ((const struct sim_mapping *)found->advice)->access[location->id];
    return CUDA_SUCCESS;
}
