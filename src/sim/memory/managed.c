/* SPDX-License-Identifier: MIT */
/* Managed memory: one address for host and devices. Nothing moves here, but what a program says
 * about where memory should be is remembered by page, and told when asked. */
#include "memory/memory.h"

/* Live managed memory, a pool's too, that holds all of the range, or NULL. */
static struct sim_allocation *sim_managed(uint64_t address, size_t size)
{
    struct sim_allocation *found = sim_range_find(address);
    if (!found || found->ending ||
        (found->kind != SIM_MEMORY_MANAGED && found->kind != SIM_MEMORY_POOL_MANAGED))
        return NULL;
    size_t room = (found->size + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE * SIM_MANAGED_PAGE;
    return size <= room - (size_t)(address - found->address) ? found : NULL;
}

/* Whether the location is one that managed memory can move to in this system. */
static bool sim_managed_location_is_valid(CUmemLocation location)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return sim_device(location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location.id == 0;
    default:
        return false;
    }
}

/* What is told of a page of which nothing was said: a pool's memory prefers the pool's place. */
static struct sim_managed_page sim_managed_untold(const struct sim_allocation *allocation)
{
    const struct sim_pool *pool =
        allocation->kind == SIM_MEMORY_POOL_MANAGED ? allocation->owner : NULL;
    return (struct sim_managed_page){.preferred = pool ? pool->location : (CUmemLocation){0}};
}

/* The pages of [address, address + size), or NULL: no memory for them. */
static struct sim_managed_page *sim_managed_pages(struct sim_allocation *allocation,
                                                  uint64_t address, size_t size, size_t *count)
{
    size_t first = (size_t)(address - allocation->address) / SIM_MANAGED_PAGE;
    size_t last =
        ((size_t)(address - allocation->address) + size + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE;
    size_t all = (allocation->size + SIM_MANAGED_PAGE - 1) / SIM_MANAGED_PAGE;
    struct sim_managed_page *page = allocation->advice;
    *count = last - first;
    if (!page) {
        allocation->advice = page = malloc(all * sizeof *page);
        for (size_t i = 0; page && i < all; i++)
            page[i] = sim_managed_untold(allocation);
    }
    return page ? page + first : NULL;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr_v2 *dptr, size_t bytesize, unsigned int flags)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_REFUSE(!dptr || bytesize == 0 ||
               (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST));
    SIM_FIND(struct sim_allocation *, allocation,
             sim_memory_allocate(context, SIM_MEMORY_MANAGED, bytesize, 0, flags, &allocation));
    *dptr = allocation->address;
    return CUDA_SUCCESS;
}

/* --- Advice --- */

static void mark(struct sim_managed_page *page, uint64_t device, bool host, bool on)
{
    page->accessed_by_host = host ? on : page->accessed_by_host;
    page->accessed_by = on ? page->accessed_by | device : page->accessed_by & ~device;
}

static void advise_page(struct sim_managed_page *page, CUmem_advise advice, CUmemLocation location)
{
    bool host = location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        page->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        page->preferred = location;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        page->preferred = (CUmemLocation){0};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        mark(page, host ? 0 : UINT64_C(1) << location.id, host,
             advice == CU_MEM_ADVISE_SET_ACCESSED_BY);
        break;
    }
}

static CUresult advise(uint64_t address, size_t size, CUmem_advise advice, CUmemLocation location,
                       CUresult bad_location)
{
    size_t count;
    SIM_TRY(sim_current_check());
    bool needs_location = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                          advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                          advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    struct sim_allocation *found = size ? sim_managed(address, 1) : NULL;
    SIM_REFUSE(advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
               !found);
    if (found->kind == SIM_MEMORY_POOL_MANAGED) /* as an H100 with driver 580 */
        return CUDA_ERROR_NOT_SUPPORTED;
    SIM_REFUSE(!sim_managed(address, size));
    if (needs_location && !sim_managed_location_is_valid(location))
        return bad_location;
    SIM_MADE(struct sim_managed_page *, page, sim_managed_pages(found, address, size, &count));
    for (size_t i = 0; i < count; i++)
        advise_page(page + i, advice, location);
    return CUDA_SUCCESS;
}

static CUmemLocation of_device(CUdevice device)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    if (device == CU_DEVICE_CPU)
        location.type = CU_MEM_LOCATION_TYPE_HOST;
    else
        location.id = device;
    return location;
}

SIM_ENTRY(cuMemAdvise, advise(devPtr, count, advice, of_device(device), CUDA_ERROR_INVALID_DEVICE))
SIM_ENTRY(cuMemAdvise_v2, advise(devPtr, count, advice, location, CUDA_ERROR_INVALID_VALUE))

/* --- Prefetches --- */

static CUresult sim_managed_prefetch(uint64_t address, size_t size, CUmemLocation location)
{
    size_t count;
    struct sim_allocation *found = size ? sim_managed(address, size) : NULL;
    SIM_REFUSE(!found);
    if (!sim_managed_location_is_valid(location))
        return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                            : CUDA_ERROR_INVALID_VALUE;
    SIM_MADE(struct sim_managed_page *, page, sim_managed_pages(found, address, size, &count));
    for (size_t i = 0; i < count; i++)
        page[i].prefetched = location;
    return CUDA_SUCCESS;
}

static CUresult prefetch(uint64_t address, size_t size, CUmemLocation location, unsigned flags,
                         CUstream handle)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    SIM_REFUSE(flags);
    return sim_managed_prefetch(address, size, location);
}

SIM_ENTRY(cuMemPrefetchAsync, prefetch(devPtr, count, of_device(dstDevice), 0, hStream))
SIM_ENTRY(cuMemPrefetchAsync_v2, prefetch(devPtr, count, location, flags, hStream))

/* Managed memory here is the host's: there is nothing to move. */
SIM_BEHAVIOUR(cuStreamAttachMemAsync)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    struct sim_allocation *allocation = sim_range_find(dptr);
    bool one = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
               flags == CU_MEM_ATTACH_SINGLE;
    bool special = !hStream || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD;
    SIM_REFUSE(!one || (flags == CU_MEM_ATTACH_SINGLE && special));
    SIM_REFUSE(!allocation || allocation->kind != SIM_MEMORY_MANAGED ||
               (length != 0 && (dptr != allocation->address || length != allocation->size)));
    SIM_TRY(sim_capture_refuse(stream));
    return sim_stream_submit(stream, &(struct sim_item){.params.type = SIM_ITEM_NO_NODE});
}

/* --- What was said about managed memory, told; and lists of ranges --- */

static bool same(CUmemLocation a, CUmemLocation b)
{
    return a.type == b.type && a.id == b.id;
}

/* What all pages of the range have in common. */
static struct sim_managed_page common(struct sim_managed_page *page, size_t count)
{
    struct sim_managed_page all = *page;
    for (size_t i = 1; i < count; i++) {
        all.read_mostly = all.read_mostly && page[i].read_mostly;
        all.accessed_by &= page[i].accessed_by;
        all.accessed_by_host = all.accessed_by_host && page[i].accessed_by_host;
        if (!same(all.preferred, page[i].preferred))
            all.preferred = (CUmemLocation){0};
        if (!same(all.prefetched, page[i].prefetched))
            all.prefetched = (CUmemLocation){0};
    }
    return all;
}

/* A place as the older attributes say it: a device, the CPU, or none. */
static int as_device(CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_INVALID)
        return CU_DEVICE_INVALID;
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

static int id_of(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                   location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA
               ? location.id
               : CU_DEVICE_INVALID;
}

/* The devices by number, then the host. */
static void accessed_by(const struct sim_managed_page *all, int *list, size_t count)
{
    size_t used = 0;
    for (int device = 0; device < SIM_MAX_DEVICES && used < count; device++)
        if (all->accessed_by >> device & 1)
            list[used++] = device;
    if (all->accessed_by_host && used < count)
        list[used++] = CU_DEVICE_CPU;
    while (used < count)
        list[used++] = CU_DEVICE_INVALID;
}

static CUresult answer(void *data, size_t size, CUmem_range_attribute attribute,
                       const struct sim_managed_page *all)
{
    const int values[] = {
        [CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY] = all->read_mostly,
        [CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION] = as_device(all->preferred),
        [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION] = as_device(all->prefetched),
        [CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE] = (int)all->preferred.type,
        [CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID] = id_of(all->preferred),
        [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE] = (int)all->prefetched.type,
        [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID] = id_of(all->prefetched),
    };
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && size && size % sizeof(int) == 0) {
        accessed_by(all, data, size / sizeof(int));
        return CUDA_SUCCESS;
    }
    SIM_REFUSE(attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY || (int)attribute < 1 ||
               (size_t)attribute >= sizeof values / sizeof *values || size != sizeof *values);
    memcpy(data, &values[attribute], size);
    return CUDA_SUCCESS;
}

static CUresult ask(uint64_t address, size_t size, struct sim_managed_page *all)
{
    struct sim_allocation *found = size ? sim_managed(address, size) : NULL;
    size_t count;
    SIM_REFUSE(!found);
    *all = sim_managed_untold(found);
    if (!found->advice)
        return CUDA_SUCCESS;
    struct sim_managed_page *page = sim_managed_pages(found, address, size, &count);
    *all = common(page, count);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemRangeGetAttribute)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!data);
    SIM_FIND(struct sim_managed_page, all, ask(devPtr, count, &all));
    return answer(data, dataSize, attribute, &all);
}

SIM_BEHAVIOUR(cuMemRangeGetAttributes)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!data || !dataSizes || !attributes || numAttributes == 0);
    SIM_FIND(struct sim_managed_page, all, ask(devPtr, count, &all));
    for (size_t i = 0; i < numAttributes; i++)
        SIM_TRY(data[i] ? answer(data[i], dataSizes[i], attributes[i], &all)
                        : CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* --- Lists of ranges --- */

struct list {
    const CUdeviceptr_v2 *addresses;
    const size_t *sizes;
    size_t count;
    const CUmemLocation_v1 *places;
    const size_t *indices; /* of the first range of each place */
    size_t place_count;
};

/* All is judged before anything is done. */
static CUresult judge(const struct list *list, unsigned long long flags)
{
    SIM_REFUSE(!list->addresses || !list->sizes || list->count == 0 || flags);
    for (size_t i = 0; i < list->count; i++)
        SIM_REFUSE(list->sizes[i] == 0 || !sim_managed(list->addresses[i], list->sizes[i]));
    if (!list->places)
        return CUDA_SUCCESS;
    SIM_REFUSE(!list->indices || list->place_count == 0 || list->place_count > list->count ||
               list->indices[0] != 0);
    for (size_t i = 0; i < list->place_count; i++)
        SIM_REFUSE(list->indices[i] >= list->count ||
                   !sim_managed_location_is_valid(list->places[i]));
    return CUDA_SUCCESS;
}

static CUresult each(CUstream handle, const struct list *list, unsigned long long flags)
{
    SIM_REFUSE(!handle || handle == CU_STREAM_LEGACY);
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    SIM_TRY(judge(list, flags));
    SIM_TRY(sim_capture_refuse(stream));
    size_t use = 0;
    for (size_t i = 0; list->places && i < list->count; i++) {
        if (use + 1 < list->place_count && list->indices[use + 1] <= i)
            use++;
        SIM_TRY(sim_managed_prefetch(list->addresses[i], list->sizes[i], list->places[use]));
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemPrefetchBatchAsync)
{
    struct list list = {dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
    SIM_REFUSE(!prefetchLocs);
    return each(hStream, &list, flags);
}

/* The contents of discarded memory are undefined: here they stay. */
SIM_ENTRY(cuMemDiscardBatchAsync,
          each(hStream, &(struct list){.addresses = dptrs, .sizes = sizes, .count = count}, flags))
