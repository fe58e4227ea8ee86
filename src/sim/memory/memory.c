/* SPDX-License-Identifier: MIT */
/* Allocations: made, counted against their device, released when no running work can see them. */
#include "memory/memory.h"

#include <sys/mman.h>

#include "ptx/ptx.h"

/* Real devices align to 512 bytes; between two allocations a gap catches what runs over the end. */
#define ALIGNMENT 512
#define GAP 512
#define PAGE ((size_t)4096)
#define HUGE_PAGES ((size_t)16 << 20) /* what is larger has them, where the system can */
#define HEAP_LIMIT ((size_t)64 << 10) /* smaller memory is malloc's */

static uint64_t next_id = 1;

struct sim_memory_hooks sim_memory_hooks;

bool sim_memory_refused(size_t bytes)
{
    return sim_memory_hooks.refuses && sim_memory_hooks.refuses(bytes);
}

bool sim_memory_freed_by_graph(CUdeviceptr address)
{
    return sim_memory_hooks.frees && sim_memory_hooks.frees(address);
}

void *sim_memory_pages_make(size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (size >= HUGE_PAGES)
        madvise(bytes, size, MADV_HUGEPAGE);
#endif
    return bytes;
}

void *sim_memory_bytes_make(size_t size, bool *mapped)
{
    *mapped = size >= HEAP_LIMIT;
    if (*mapped)
        return sim_memory_pages_make(size);
    size_t room = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    void *bytes = aligned_alloc(ALIGNMENT, room);
    return bytes ? memset(bytes, 0, room) : NULL;
}

/* What kernels and copies may use of a block of device memory. */
static size_t usable_of(size_t size)
{
    size_t grain = sim_config.grain ? sim_config.grain : 1;
    return (size + grain - 1) / grain * grain;
}

void sim_memory_bytes_free(void *bytes, size_t size, bool mapped)
{
    if (!mapped) {
        free(bytes);
        return;
    }
    if (sim_memory_hooks.unmapped)
        sim_memory_hooks.unmapped(bytes, size);
    munmap(bytes, size);
}

void sim_memory_move(struct sim_allocation *allocation, char *pages)
{
    if (sim_memory_hooks.moved)
        sim_memory_hooks.moved(allocation->id, allocation->host, pages);
    ptx_memory_end(allocation->host);
    sim_memory_bytes_free(allocation->host, allocation->usable, false);
    sim_range_move(allocation, pages);
    allocation->mapped = true;
}

/* What the driver itself occupies of a device's memory. */
static size_t system_bytes(const struct sim_device *device)
{
    size_t part = device->total / 256, most = (size_t)512 << 20;
    return part < most ? part : most;
}

size_t sim_memory_left(const struct sim_device *device)
{
    return device->total - system_bytes(device) - device->used;
}

CUresult sim_memory_take(struct sim_device *device, size_t size)
{
    SIM_FAIL(OUT_OF_MEMORY, size > sim_memory_left(device));
    device->used += size;
    return CUDA_SUCCESS;
}

void sim_memory_give(struct sim_device *device, size_t size)
{
    device->used -= size;
}

/* Memory that takes the device's: what the host shares with it does not, nor what is mapped; what
 * is freed in stream order was given back when that was asked for. */
static bool is_counted(const struct sim_allocation *allocation)
{
    return allocation->room && allocation->kind != SIM_MEMORY_VIRTUAL &&
           !(allocation->kind == SIM_MEMORY_POOL && allocation->ending) && !allocation->foreign;
}

CUresult sim_memory_adopt(const struct sim_allocation *wanted, struct sim_allocation **allocation)
{
    SIM_NEW(struct sim_allocation, made);
    *made = *wanted;
    made->id = next_id++;
    if (!made->usable)
        made->usable = made->size;
    SIM_TRY_OR(sim_range_add(made), free(made));
    made->origin = sim_callers_of_call();
    *allocation = made;
    return CUDA_SUCCESS;
}

static CUresult place(struct sim_allocation *wanted, size_t align,
                      struct sim_allocation **allocation)
{
    /* A block of a page and more begins at one, so that ranges of pages in it can be exported. */
    size_t least = wanted->size < PAGE ? ALIGNMENT : PAGE;
    wanted->room = (wanted->size + GAP + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    wanted->address = sim_address_reserve(wanted->room, align > least ? align : least);
    SIM_FAIL(OUT_OF_MEMORY, !wanted->address);
    SIM_TRY_OR(sim_memory_adopt(wanted, allocation),
               sim_address_release(wanted->address, wanted->room));
    return CUDA_SUCCESS;
}

CUresult sim_memory_allocate(struct sim_context *context, enum sim_memory kind, size_t size,
                             size_t align, unsigned flags, struct sim_allocation **allocation)
{
    struct sim_device *device = context->device;
    bool on_host = kind == SIM_MEMORY_HOST || kind == SIM_MEMORY_MANAGED ||
                   kind == SIM_MEMORY_POOL_HOST || kind == SIM_MEMORY_POOL_MANAGED;
    bool of_host = kind == SIM_MEMORY_HOST || kind == SIM_MEMORY_POOL_HOST;
    /* Memory of the host stays where it is, also when it is shared: it needs pages of its own. */
    bool mapped = kind == SIM_MEMORY_POOL_HOST;
    sim_idle_release();
    SIM_FAIL(OUT_OF_MEMORY, size > SIZE_MAX / 2 || sim_memory_refused(size));
    SIM_TRY(on_host ? CUDA_SUCCESS : sim_memory_take(device, size));
    size_t usable = on_host ? size : usable_of(size);
    void *bytes = mapped ? sim_memory_pages_make(usable) : sim_memory_bytes_make(usable, &mapped);
    struct sim_allocation wanted = {.address = (uint64_t)(uintptr_t)bytes,
                                    .size = size,
                                    .usable = usable,
                                    .host = bytes,
                                    .kind = kind,
                                    .flags = flags,
                                    .readable = kind != SIM_MEMORY_ARRAY,
                                    .writable = kind != SIM_MEMORY_ARRAY,
                                    .context = context,
                                    .device = of_host ? NULL : device,
                                    .mapped = mapped,
                                    .synchronous = !of_host};
    CUresult result = !bytes    ? CUDA_ERROR_OUT_OF_MEMORY
                      : on_host ? sim_memory_adopt(&wanted, allocation)
                                : place(&wanted, align, allocation);
    if (result == CUDA_SUCCESS && (kind == SIM_MEMORY_DEVICE || kind == SIM_MEMORY_POOL))
        ptx_memory_begin(bytes, usable);
    if (result != CUDA_SUCCESS && bytes)
        sim_memory_bytes_free(bytes, usable, mapped);
    if (result != CUDA_SUCCESS && !on_host)
        sim_memory_give(device, size);
    return result;
}

CUresult sim_memory_open(struct sim_context *context, struct sim_device *device,
                         enum sim_memory kind, void *bytes, size_t size,
                         struct sim_allocation **allocation)
{
    bool on_host = kind == SIM_MEMORY_POOL_HOST;
    struct sim_allocation wanted = {.address = (uint64_t)(uintptr_t)bytes,
                                    .size = size,
                                    .host = bytes,
                                    .kind = kind,
                                    .readable = true,
                                    .writable = true,
                                    .context = context,
                                    .device = device,
                                    .mapped = true,
                                    .foreign = true,
                                    .synchronous = !on_host};
    return on_host ? sim_memory_adopt(&wanted, allocation) : place(&wanted, 0, allocation);
}

static void release(void *data)
{
    struct sim_allocation *allocation = data;
    ptx_memory_end(allocation->host);
    if (allocation->kind != SIM_MEMORY_REGISTERED && allocation->kind != SIM_MEMORY_VIRTUAL)
        sim_memory_bytes_free(allocation->host, allocation->usable, allocation->mapped);
    sim_shared_close(allocation->shared);
    free(allocation->advice);
    free(allocation->origin);
    free(allocation);
}

void sim_memory_free(struct sim_allocation *allocation)
{
    sim_range_remove(allocation);
    if (is_counted(allocation))
        sim_memory_give(allocation->device, allocation->size);
    if (allocation->room)
        sim_address_release(allocation->address, allocation->room);
    sim_idle_call(release, allocation);
}

struct sim_allocation *sim_memory_at(uint64_t address)
{
    struct sim_allocation *found = sim_range_find(address);
    return found && found->address == address && !found->ending ? found : NULL;
}

void sim_memory_free_if_there(uint64_t address, uint64_t id)
{
    struct sim_allocation *now = sim_range_find(address);
    if (now && now->id == id)
        sim_memory_free(now);
}

CUresult sim_memory_free_after_work(struct sim_allocation *allocation)
{
    uint64_t address = allocation->address, id = allocation->id;
    allocation->ending = true; /* another thread that frees it now is too late */
    CUresult result = sim_stream_wait_context(allocation->context);
    sim_memory_free_if_there(address, id);
    return result;
}

CUresult sim_memory_begin(struct sim_context **context)
{
    SIM_TRY(sim_current(context));
    return sim_capture_unsafe();
}

CUresult sim_memory_begin_free(void)
{
    CUresult result = sim_current_check();
    return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_CONTEXT ? sim_capture_unsafe()
                                                                          : result;
}

bool sim_memory_covers(uint64_t address, size_t size, bool write)
{
    for (;;) {
        const struct sim_allocation *found = sim_range_find(address);
        if (!found || found->ending || !(write ? found->writable : found->readable))
            return false;
        size_t here = found->usable - (size_t)(address - found->address);
        if (here >= size)
            return true;
        if (found->kind != SIM_MEMORY_VIRTUAL)
            return false;
        address += here;
        size -= here;
    }
}
