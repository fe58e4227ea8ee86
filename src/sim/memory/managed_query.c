/* SPDX-License-Identifier: MIT */
/* What was said about managed memory, told; and lists of ranges. */
#include <string.h>

#include "core/config.h"
#include "core/core.h"
#include "memory/memory.h"
#include "queue/queue.h"

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
    int value;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = all->read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = as_device(all->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = as_device(all->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        value = (int)all->preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        value = id_of(all->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = (int)all->prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = id_of(all->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        if (size == 0 || size % sizeof(int))
            return CUDA_ERROR_INVALID_VALUE;
        accessed_by(all, data, size / sizeof(int));
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size != sizeof value)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

static CUresult ask(uint64_t address, size_t size, struct sim_managed_page *all)
{
    struct sim_allocation *found = size ? sim_managed(address, size) : NULL;
    size_t count;
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    *all = sim_managed_untold(found);
    if (!found->advice)
        return CUDA_SUCCESS;
    struct sim_managed_page *page = sim_managed_pages(found, address, size, &count);
    *all = common(page, count);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                    CUdeviceptr_v2 devPtr, size_t count)
{
    struct sim_context *context;
    struct sim_managed_page all;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    result = ask(devPtr, count, &all);
    return result == CUDA_SUCCESS ? answer(data, dataSize, attribute, &all) : result;
}

CUresult sim_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                     CUmem_range_attribute *attributes, size_t numAttributes,
                                     CUdeviceptr_v2 devPtr, size_t count)
{
    struct sim_context *context;
    struct sim_managed_page all;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!data || !dataSizes || !attributes || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = ask(devPtr, count, &all);
    for (size_t i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result =
            data[i] ? answer(data[i], dataSizes[i], attributes[i], &all) : CUDA_ERROR_INVALID_VALUE;
    return result;
}

/* --- Lists of ranges --- */

static CUresult each(CUstream handle, CUdeviceptr_v2 *addresses, const size_t *sizes, size_t count,
                     CUmemLocation_v1 *locations, const size_t *indices, size_t location_count,
                     unsigned long long flags)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!addresses || !sizes || count == 0 || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (locations && (!indices || location_count == 0 || location_count > count || indices[0] != 0))
        return CUDA_ERROR_INVALID_VALUE;
    size_t use = 0;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0 || !sim_managed(addresses[i], sizes[i]))
            return CUDA_ERROR_INVALID_VALUE;
        if (!locations)
            continue;
        while (use + 1 < location_count && indices[use + 1] <= i)
            use++;
        result = sim_managed_prefetch(addresses[i], sizes[i], locations[use]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPrefetchBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count,
                                     CUmemLocation_v1 *prefetchLocs, size_t *prefetchLocIdxs,
                                     size_t numPrefetchLocs, unsigned long long flags,
                                     CUstream hStream)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result == CUDA_SUCCESS && !prefetchLocs)
        result = CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? each(hStream, dptrs, sizes, count, prefetchLocs,
                                         prefetchLocIdxs, numPrefetchLocs, flags)
                                  : result;
}

/* The contents of discarded memory are undefined: here they stay. */
CUresult sim_cuMemDiscardBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count,
                                    unsigned long long flags, CUstream hStream)
{
    return each(hStream, dptrs, sizes, count, NULL, NULL, 0, flags);
}

CUresult sim_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count,
                                               CUmemLocation_v1 *prefetchLocs,
                                               size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                               unsigned long long flags, CUstream hStream)
{
    return sim_cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                       numPrefetchLocs, flags, hStream);
}
