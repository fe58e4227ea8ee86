/* SPDX-License-Identifier: MIT */
/* The two halves of virtual memory: reserved addresses, and memory without one. */
#include "memory/memory.h"

struct reservation {
    uint64_t address;
    size_t size;
    struct reservation *next;
};
static struct reservation *reservations;

/* Whether the range lies in one reservation. */
static bool sim_virtual_is_reserved(uint64_t address, size_t size)
{
    for (const struct reservation *r = reservations; r; r = r->next)
        if (address >= r->address && address - r->address <= r->size &&
            size <= r->size - (size_t)(address - r->address))
            return true;
    return false;
}

SIM_BEHAVIOUR(cuMemAddressReserve)
{
    SIM_REFUSE(!ptr || size == 0 || size % SIM_VIRTUAL_GRAIN || flags ||
               (alignment & (alignment - 1)) != 0);
    SIM_NEW(struct reservation, made);
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
    SIM_REFUSE(!found || sim_range_overlaps(ptr, size));
    *link = found->next;
    sim_address_release(ptr, size);
    free(found);
    return CUDA_SUCCESS;
}

/* --- Memory without an address --- */

static CUresult check(const CUmemAllocationProp_v1 *prop, struct sim_device **device)
{
    *device = NULL;
    SIM_REFUSE(prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
               (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
                prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return sim_device_of(prop->location.id, device);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return SIM_VALID(sim_config.cuda >= 12020);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SIM_BEHAVIOUR(cuMemCreate)
{
    SIM_REFUSE(!handle || !prop || size == 0 || size % SIM_VIRTUAL_GRAIN || flags);
    SIM_FIND(struct sim_device *, device, check(prop, &device));
    SIM_FAIL(OUT_OF_MEMORY, sim_memory_refused(size));
    if (device)
        SIM_TRY(sim_memory_take(device, size));
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

/* The memory of a handle that the program still holds, or NULL. */
static struct sim_physical *sim_virtual_physical(CUmemGenericAllocationHandle_v1 handle)
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

/* It ends here if nothing refers to it. */
static void sim_virtual_physical_release(struct sim_physical *physical)
{
    if (physical->handles || physical->places)
        return;
    sim_object_remove(&physical->object);
    if (physical->device && !physical->foreign)
        sim_memory_give(physical->device, physical->size);
    sim_idle_call(destroy, physical);
}

SIM_SET(cuMemRelease, struct sim_physical *, physical,
        SIM_VALID(physical = sim_virtual_physical(handle)), false, physical->handles--,
        sim_virtual_physical_release(physical))

CUresult sim_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle_v1 *handle, void *addr)
{
    const struct sim_allocation *found = sim_range_find((uint64_t)(uintptr_t)addr);
    SIM_REFUSE(!handle || !found || found->kind != SIM_MEMORY_VIRTUAL);
    struct sim_physical *physical = sim_range_behind(found);
    physical->handles++;
    *handle = (CUmemGenericAllocationHandle_v1)(uintptr_t)physical;
    return CUDA_SUCCESS;
}

SIM_TELL(cuMemGetAllocationPropertiesFromHandle, prop, const struct sim_physical *physical,
         SIM_VALID(physical = sim_virtual_physical(handle)), physical->prop)

/* Real drivers look at hardly anything of `prop`. */
SIM_BEHAVIOUR(cuMemGetAllocationGranularity)
{
    SIM_REFUSE(!granularity || !prop ||
               (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    *granularity = SIM_VIRTUAL_GRAIN;
    return CUDA_SUCCESS;
}

/* --- Memory mapped to reserved addresses, and who may use it --- */

SIM_BEHAVIOUR(cuMemMap)
{
    struct sim_physical *physical = sim_virtual_physical(handle);
    SIM_REFUSE(!ptr || size == 0 || flags || !physical || ptr % SIM_VIRTUAL_GRAIN ||
               !sim_virtual_is_reserved(ptr, size));
    if (offset != 0 || size != physical->size) /* a part of it: as on a desktop's driver */
        return CUDA_ERROR_NOT_SUPPORTED;
    SIM_REFUSE(sim_range_overlaps(ptr, size));
    struct sim_allocation *made;
    SIM_NEW(struct sim_mapping, mapping);
    const struct sim_allocation wanted = {.address = ptr,
                                          .size = size,
                                          .host = physical->bytes,
                                          .kind = SIM_MEMORY_VIRTUAL,
                                          .device = physical->device ? physical->device
                                                                     : &sim_device_all[0],
                                          .owner = physical,
                                          .advice = mapping,
                                          .synchronous = true};
    SIM_TRY_OR(sim_memory_adopt(&wanted, &made), free(mapping));
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
    SIM_REFUSE(!is_whole(ptr, size, true));
    while ((found = next_mapping(&at, ptr + size))) {
        struct sim_physical *physical = sim_range_behind(found);
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

SIM_BEHAVIOUR(cuMemSetAccess)
{
    uint64_t at = ptr;
    struct sim_allocation *found;
    SIM_REFUSE(!desc || count == 0 || !is_whole(ptr, size, false));
    for (size_t i = 0; i < count; i++) {
        bool host = desc[i].location.type == CU_MEM_LOCATION_TYPE_HOST ||
                    desc[i].location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
        bool device =
            desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && sim_device(desc[i].location.id);
        SIM_REFUSE(!is_access(desc[i].flags) || (!host && !device));
    }
    while ((found = next_mapping(&at, ptr + size)))
        apply(found, desc, count);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemGetAccess)
{
    SIM_REFUSE(!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    SIM_TRY(sim_device_of(location->id, NULL));
    const struct sim_allocation *found = sim_range_find(ptr);
    SIM_REFUSE(!found || found->ending);
    if (found->kind == SIM_MEMORY_VIRTUAL)
        *flags = ((const struct sim_mapping *)found->advice)->access[location->id];
    return CUDA_SUCCESS;
}

/* --- Memory without an address, passed on to other processes as a file --- */

/* Waits for all work of the process, if the memory was not shared before. */
static CUresult share(CUmemGenericAllocationHandle_v1 handle, struct sim_shared **shared)
{
    struct sim_physical *physical = sim_virtual_physical(handle);
    if (!physical->shared) {
        uint64_t serial = physical->object.serial;
        sim_ticket_wait_all(NULL);
        physical = sim_virtual_physical(handle);
        SIM_REFUSE(!physical || physical->object.serial != serial);
    }
    if (sim_export_has(physical->bytes, physical->size))
        return SIM_LACK_cuMemGetHandleForAddressRange_overlap;
    if (!physical->shared) {
        struct sim_shared_head head = {.kind = SIM_SHARED_PHYSICAL,
                                       .size = physical->size,
                                       .device = sim_share_number(physical->device)};
        memcpy(head.more, &physical->prop, sizeof physical->prop);
        struct sim_shared *made = sim_shared_make(&head, physical->bytes);
        if (!made || !sim_shared_map(made, physical->bytes))
            return sim_share_refuse(made, CUDA_ERROR_OUT_OF_MEMORY);
        physical->shared = made;
    }
    *shared = physical->shared;
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemExportToShareableHandle)
{
    struct sim_shared *shared = NULL;
    const struct sim_physical *physical = sim_virtual_physical(handle);
    SIM_REFUSE(!shareableHandle || !physical || flags || handleType == CU_MEM_HANDLE_TYPE_NONE ||
               handleType != physical->prop.requestedHandleTypes);
    SIM_TRY(share(handle, &shared));
    int file = sim_shared_give(shared, false);
    SIM_FAIL(OPERATING_SYSTEM, file < 0);
    memcpy(shareableHandle, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* `shared` becomes the memory's. */
static struct sim_physical *make(struct sim_shared *shared)
{
    struct sim_physical *made = calloc(1, sizeof *made);
    if (!made || !(made->bytes = sim_shared_map(shared, NULL))) {
        free(made);
        return NULL;
    }
    memcpy(&made->prop, shared->head.more, sizeof made->prop);
    made->device = sim_share_device(shared);
    if (made->device)
        made->prop.location.id = made->device->ordinal;
    made->size = (size_t)shared->head.size;
    made->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE; /* it is not passed on */
    made->mapped = made->foreign = true;
    made->shared = shared;
    sim_object_add(&made->object, SIM_PHYSICAL, NULL);
    return made;
}

SIM_BEHAVIOUR(cuMemImportFromShareableHandle)
{
    CUmemAllocationProp prop;
    SIM_REFUSE(!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    struct sim_shared *shared = sim_shared_take((int)(intptr_t)osHandle);
    SIM_FAIL(UNKNOWN, !shared);
    if (shared->head.kind == SIM_SHARED_POOL)
        return sim_share_refuse(shared, CUDA_ERROR_NOT_SUPPORTED);
    memcpy(&prop, shared->head.more, sizeof prop);
    if (shared->head.kind != SIM_SHARED_PHYSICAL || shared->head.size == 0 ||
        shared->head.size % SIM_VIRTUAL_GRAIN || !sim_share_lies(shared, prop.location))
        return sim_share_refuse(shared, CUDA_ERROR_INVALID_VALUE);
    struct sim_physical *physical = make(shared);
    if (!physical)
        return sim_share_refuse(shared, CUDA_ERROR_OUT_OF_MEMORY);
    physical->handles = 1;
    *handle = (CUmemGenericAllocationHandle_v1)(uintptr_t)physical;
    return CUDA_SUCCESS;
}
