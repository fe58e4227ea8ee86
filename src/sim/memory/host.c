/* SPDX-License-Identifier: MIT */
/* Host memory that the device can use: allocated here, or the program's own, registered. */
#include "memory/memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#define ALLOC_FLAGS                                                                                \
    (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)
/* Not IOMEMORY: the program's memory is never the registers of a device. */
#define REGISTER_FLAGS                                                                             \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY)

static CUresult allocate(void **pp, size_t size, unsigned flags)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_REFUSE(!pp || (flags & ~(unsigned)ALLOC_FLAGS));
    *pp = NULL;
    if (size == 0)
        return CUDA_SUCCESS;
    SIM_FIND(struct sim_allocation *, allocation,
             sim_memory_allocate(context, SIM_MEMORY_HOST, size, 0, flags, &allocation));
    *pp = allocation->host;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuMemHostAlloc, allocate(pp, bytesize, Flags))
SIM_ENTRY(cuMemAllocHost_v2, allocate(pp, bytesize, 0))

CUresult sim_cuMemFreeHost(void *p)
{
    CUresult result = sim_memory_begin_free();
    if (result != CUDA_SUCCESS || !p)
        return result;
    struct sim_allocation *allocation = sim_memory_at((uint64_t)(uintptr_t)p);
    SIM_REFUSE(!allocation || allocation->kind != SIM_MEMORY_HOST);
    return sim_memory_free_after_work(allocation);
}

/* The live host memory that holds the address, or NULL. */
static struct sim_allocation *find_host(const void *p)
{
    struct sim_allocation *found = sim_range_find((uint64_t)(uintptr_t)p);
    bool host = found && !found->ending &&
                (found->kind == SIM_MEMORY_HOST || found->kind == SIM_MEMORY_REGISTERED);
    return host ? found : NULL;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr_v2 *pdptr, void *p, unsigned int Flags)
{
    SIM_TRY(sim_current_check());
    SIM_PUT(pdptr, 0);
    SIM_REFUSE(!pdptr || !p || Flags != 0 || !find_host(p));
    *pdptr = (CUdeviceptr_v2)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    SIM_TRY(sim_current_check());
    const struct sim_allocation *found = sim_range_find((uint64_t)(uintptr_t)p);
    SIM_REFUSE(!pFlags || !found || found->ending || found->room ||
               sim_range_is_pooled(found->kind));
    unsigned told = found->kind == SIM_MEMORY_HOST         ? ALLOC_FLAGS
                    : found->kind == SIM_MEMORY_REGISTERED ? CU_MEMHOSTREGISTER_PORTABLE
                                                           : 0;
    *pFlags = (found->flags & told) | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

bool sim_host_is_mapped(const void *start, size_t size)
{
    unsigned char pages[4096];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)start / page * page, end;
    if (__builtin_add_overflow((uintptr_t)start, size, &end))
        return false;
    while (at < end) {
        size_t step = end - at;
        if (step > sizeof pages * page)
            step = sizeof pages * page;
        if (mincore((void *)at, step, pages) != 0 && errno != EAGAIN)
            return false;
        at += step;
    }
    return true;
}

/* What the process may do with all of the range, by /proc/self/maps; without that file, whatever is
 * mapped counts as readable and writable. */
static void rights_of(const void *start, size_t size, bool *readable, bool *writable)
{
    uintptr_t at = (uintptr_t)start, end = at + size;
    unsigned long from, to;
    char rights[8], line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    *readable = *writable = sim_host_is_mapped(start, size);
    while (maps && at < end && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || to <= at || from >= end)
            continue;
        *readable &= rights[0] == 'r';
        *writable &= rights[1] == 'w';
        at = to;
    }
    if (maps)
        fclose(maps);
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    bool readable, writable;
    SIM_REFUSE(!p || bytesize == 0 || (Flags & ~(unsigned)REGISTER_FLAGS));
    SIM_TRY(sim_capture_unsafe());
    SIM_REFUSE((uintptr_t)p > UINTPTR_MAX - bytesize);
    SIM_FAIL(OUT_OF_MEMORY,
             bytesize > (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    if (sim_range_overlaps((uint64_t)(uintptr_t)p, bytesize)) {
        const struct sim_allocation *found = sim_range_find((uint64_t)(uintptr_t)p);
        return found && found->kind != SIM_MEMORY_REGISTERED
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    rights_of(p, bytesize, &readable, &writable);
    SIM_REFUSE(!readable || (!writable && !(Flags & CU_MEMHOSTREGISTER_READ_ONLY)));
    struct sim_allocation *made;
    const struct sim_allocation wanted = {.address = (uint64_t)(uintptr_t)p,
                                          .size = bytesize,
                                          .host = p,
                                          .kind = SIM_MEMORY_REGISTERED,
                                          .flags = Flags,
                                          .readable = true,
                                          .writable = !(Flags & CU_MEMHOSTREGISTER_READ_ONLY),
                                          .context = context};
    return sim_memory_adopt(&wanted, &made);
}

CUresult sim_cuMemHostUnregister(void *p)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!p);
    struct sim_allocation *allocation = sim_range_find((uint64_t)(uintptr_t)p);
    SIM_FAIL(HOST_MEMORY_NOT_REGISTERED, !allocation || allocation->ending);
    SIM_REFUSE(allocation->kind != SIM_MEMORY_REGISTERED || allocation->host != p);
    SIM_TRY(sim_capture_unsafe());
    return sim_memory_free_after_work(allocation);
}
