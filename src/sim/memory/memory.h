/* SPDX-License-Identifier: MIT */
/* Memory: where it is, and all ways to get it. */
#ifndef CUSHIM_SIM_MEMORY_MEMORY_H
#define CUSHIM_SIM_MEMORY_MEMORY_H

#include "queue/queue.h"

/* --- range.c --- Live memory by address. */
enum sim_memory {
    SIM_MEMORY_DEVICE,
    SIM_MEMORY_HOST, /* cuMemHostAlloc, cuMemAllocHost */
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
    SIM_MEMORY_POOL,       /* cuMemAllocAsync */
    SIM_MEMORY_POOL_HOST,  /* of a pool on the host; devices need access to it */
    SIM_MEMORY_POOL_MANAGED,
    SIM_MEMORY_VIRTUAL, /* a mapping of cuMemMap */
    SIM_MEMORY_MODULE,  /* a module's variable */
    SIM_MEMORY_OPENED,  /* another process's, by cuIpcOpenMemHandle */
    SIM_MEMORY_ARRAY,   /* an array's elements: no kernel and no plain copy may touch them */
};
static inline bool sim_range_is_pooled(enum sim_memory kind)
{
    return kind >= SIM_MEMORY_POOL && kind <= SIM_MEMORY_POOL_MANAGED;
}
struct sim_allocation {
    uint64_t address;
    size_t size;
    size_t usable; /* by kernels and copies: size, or more, up to the grain */
    char *host;    /* where the bytes are; the address itself for host and managed memory */
    enum sim_memory kind;
    unsigned flags;
    bool readable, writable;
    uint64_t id;
    struct sim_context *context;
    struct sim_device *device; /* NULL: host memory */
    void *owner;               /* pool, physical block, module, array */
    size_t room;               /* address space taken; 0: none, the address is the host's */
    void *advice;              /* of managed memory (managed.c) */
    bool mapped;               /* the bytes are mmap's, not malloc's */
    bool ending;               /* being freed: for callers it is gone */
    bool foreign;              /* another process's: not counted */
    unsigned opened;           /* how many times, of SIM_MEMORY_OPENED */
    struct sim_shared *shared; /* the file that the bytes are in; NULL: they are this process's */
    char *origin, *freed;      /* what made it, and what frees it, if wanted (core/callers.c) */
    bool synchronous;          /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
};
/* Make `allocation` known to kernels and copies, or unknown. */
CUresult sim_range_add(struct sim_allocation *allocation);
void sim_range_remove(struct sim_allocation *allocation);
struct sim_allocation *sim_range_find(uint64_t address); /* the one that contains it, or NULL */
/* A copy of it, for threads that do not hold the driver's lock: address, size, host, kind, flags,
 * access, id, context, device and room, and nothing of the rest. */
bool sim_range_copy(uint64_t address, struct sim_allocation *copy);
/* Host pointer of `size` device bytes; NULL: not all in one live allocation. */
char *sim_range_host(uint64_t address, size_t size, bool write);
bool sim_range_overlaps(uint64_t address, size_t size);
/* Size of the last range that had the address and went, if that was one of the last few hundred; 0:
 * none. In the log a line has what freed it, if that is wanted (core/callers.c). */
size_t sim_range_freed(uint64_t address);
/* Copies of the live ranges next to an address: false where there is none on that side. */
void sim_range_neighbours(uint64_t address, struct sim_allocation *below, bool *has_below,
                          struct sim_allocation *above, bool *has_above);
/* The live range with the highest address below `address`, or NULL: to go through all. */
struct sim_allocation *sim_range_before(uint64_t address);
/* Its bytes are elsewhere from now on. No work may be running. */
void sim_range_move(struct sim_allocation *allocation, char *host);
void sim_range_protect(struct sim_allocation *allocation, bool readable, bool writable);
/* What a mapping (SIM_MEMORY_VIRTUAL) shows, and keeps alive. */
struct sim_physical *sim_range_behind(const struct sim_allocation *mapping);

/* --- memory.c --- What the files about memory share. */
/* --- What rooms and files above do with memory; NULL: nothing --- */
struct sim_memory_hooks {
    bool (*refuses)(size_t bytes); /* whether a rule refuses an allocation; else it is counted */
    /* Memory that a graph allocated and did not free is released here; false: it is no graph's. */
    bool (*frees)(CUdeviceptr address);
    /* The bytes of the block with this id are at `to`, and no longer at `from`. */
    void (*moved)(uint64_t id, const char *from, char *to);
    void (*unmapped)(const char *bytes, size_t size); /* they end */
};
extern struct sim_memory_hooks sim_memory_hooks;
bool sim_memory_refused(size_t bytes);
bool sim_memory_freed_by_graph(CUdeviceptr address);

/* --- Allocations --- */
/* Memory of a device at an address where the CPU faults, as a real GPU's does. On success
 * *allocation is live until sim_memory_free. */
CUresult sim_memory_allocate(struct sim_context *context, enum sim_memory kind, size_t size,
                             size_t align, unsigned flags, struct sim_allocation **allocation);
/* Memory of another process, mapped at `bytes`; no owner yet. */
CUresult sim_memory_open(struct sim_context *context, struct sim_device *device,
                         enum sim_memory kind, void *bytes, size_t size,
                         struct sim_allocation **allocation);
void sim_memory_free(struct sim_allocation *allocation);
/* Beginning of an entry that allocates or frees: a context, and no capture that forbids it. */
CUresult sim_memory_begin(struct sim_context **context);
/* The same of one that frees, which needs no context: addresses say whose they are. */
CUresult sim_memory_begin_free(void);
/* Zeroed bytes; much of it costs nothing until it is touched. */
void *sim_memory_bytes_make(size_t size, bool *mapped);
void *sim_memory_pages_make(size_t size); /* mapped, whatever their size */
void sim_memory_bytes_free(void *bytes, size_t size, bool mapped);
/* The bytes of a block that malloc made are at `pages` from now on. No work may be running. */
void sim_memory_move(struct sim_allocation *allocation, char *pages);
/* Memory whose bytes exist is live from now on, as it is described. */
CUresult sim_memory_adopt(const struct sim_allocation *wanted, struct sim_allocation **allocation);
/* The allocation that begins at the address and is not being freed, or NULL. */
struct sim_allocation *sim_memory_at(uint64_t address);
/* Free that one, unless its context was destroyed meanwhile, with all that it owned. */
void sim_memory_free_if_there(uint64_t address, uint64_t id);
/* Free behind all work, as cuMemFree, FreeHost and HostUnregister do (H200, driver 580). */
CUresult sim_memory_free_after_work(struct sim_allocation *allocation);
/* Count bytes against the device's memory. */
CUresult sim_memory_take(struct sim_device *device, size_t size);
void sim_memory_give(struct sim_device *device, size_t size);
size_t sim_memory_left(const struct sim_device *device);
/* Whether all of `size` bytes are live memory that a copy may touch so; neighbouring mappings count
 * as one. */
bool sim_memory_covers(uint64_t address, size_t size, bool write);

/* --- memory_entry.c --- */
/* What entries of the first ABI of memory answer: drivers still export them, and refuse them in
 * every context that a later ABI made. */
CUresult sim_memory_entry_old(void);
/* At its end, all memory of the context. */
void sim_memory_entry_end(struct sim_context *context);

/* --- address.c --- */
/* Addresses of the device without memory behind them; 0: none left. */
uint64_t sim_address_reserve(size_t size, size_t align);
void sim_address_release(uint64_t address, size_t size);
#define SIM_ADDRESS_CHUNK ((size_t)2 << 20)
/* Whole chunks, at `wanted` where that is free; 0: none left. */
uint64_t sim_address_reserve_chunks(size_t size, size_t align, uint64_t wanted);
bool sim_address_is_device(uint64_t address); /* in the space of device addresses, live or not */

/* --- export.c --- Files of address ranges, for programs that know nothing of this driver. A
 * range's bytes move into a file of their own when they are first exported; the file begins where
 * the range begins. */
/* Is any of the bytes in such a file? */
bool sim_export_has(const char *bytes, size_t size);

/* --- host.c --- */
bool sim_host_is_mapped(const void *start, size_t size); /* whether all its pages are there */

/* --- idle.c --- */
/* Call release(data) when nothing that is queued now can still use it; at once where possible
 * (memory_idle.c). */
void sim_idle_call(void (*release)(void *), void *data);
void sim_idle_release(void); /* what can be released by now */

/* --- managed.c --- Managed memory: what was said about each part of it. */
#define SIM_MANAGED_PAGE ((size_t)4096)

struct sim_managed_page {
    bool read_mostly;
    CUmemLocation preferred, prefetched; /* type 0: none */
    uint64_t accessed_by;                /* devices */
    bool accessed_by_host;
};

/* --- pool.c --- Pools of stream-ordered memory. */
#define SIM_POOL_GRAIN ((size_t)32 << 20) /* it takes memory so many bytes at once */

struct sim_pool {
    struct sim_object object;
    CUmemAllocationType type;
    CUmemLocation location;
    bool is_default;
    bool destroyed; /* it goes with the last of its memory */
    CUmemAllocationHandleType handle_types;
    int follow_events, opportunistic, internal; /* settings that change nothing here */
    int decompresses;                           /* never */
    uint64_t threshold;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t held;      /* bytes freed in streams that the program has not waited for since */
    uint64_t most;      /* bytes; 0: no limit */
    uint64_t readwrite; /* devices that were given access */
    bool host;          /* the host was given access */
    bool imported;      /* it is another process's: nothing is allocated from it */
    struct sim_shared *shared; /* the file that stands for it; NULL: none yet */
    size_t live;               /* allocations */
};

/* A new one. NULL: no memory. */
struct sim_pool *sim_pool_make(CUmemAllocationType type, CUmemLocation location);
/* The pool of a handle that is alive, or NULL. */
struct sim_pool *sim_pool(CUmemoryPool handle);
/* The same of one that is this process's own: another's can be imported from alone. */
struct sim_pool *sim_pool_own(CUmemoryPool handle);
struct sim_pool *sim_pool_current(struct sim_device *device); /* NULL: no memory */
/* Whether a device may use memory of the pool. */
bool sim_pool_reaches_device(const struct sim_pool *pool);
/* How much memory a pool has, and how much of it is in use. */
/* Account for memory that came from the pool, or goes back: at once, or when the program has waited
 * for the stream, if one is given. The pool may be gone afterwards. */
void sim_pool_usage_take(struct sim_pool *pool, size_t size);
void sim_pool_usage_give(struct sim_pool *pool, size_t size, struct sim_stream *stream);

/* --- pool_memory.c --- */
/* From here on the memory counts as free, and no call accepts it. A pool's is given back: in the
 * stream, or (NULL) at once. */
void sim_pool_memory_forget(struct sim_allocation *allocation, struct sim_stream *stream);
/* The pool's devices may use it from now on, or may not. */
void sim_pool_memory_protect(const struct sim_pool *pool);
CUresult sim_pool_memory_free(struct sim_allocation *allocation); /* cuMemFree of pool memory */

/* --- virtual.c --- Virtual memory: addresses and memory that come together by mapping. */
#define SIM_VIRTUAL_GRAIN SIM_ADDRESS_CHUNK

struct sim_physical {
    struct sim_object object;
    CUmemAllocationProp_v1 prop;
    struct sim_device *device; /* that it counts against; NULL: host memory */
    size_t size;
    char *bytes;
    bool foreign;              /* another process's: not counted */
    struct sim_shared *shared; /* the file that the bytes are in; NULL: they are this process's */
    bool mapped;               /* by mmap, as all allocations say it */
    unsigned handles;          /* references of the program's */
    unsigned places;           /* where it is mapped */
};
struct sim_mapping { /* what an allocation of kind SIM_MEMORY_VIRTUAL has in `advice` */
    uint8_t access[SIM_MAX_DEVICES]; /* CUmemAccess_flags of each device */
};

/* --- share.c --- Memory that other processes see. A block's bytes move into a file when it is
 * first exported, so that plain memory costs nothing for it. */
/* Let others open the block that begins at `address`, of the pool `owner` or of none (NULL). Waits
 * for all work of the process, if the block was not shared before. */
CUresult sim_share_block(uint64_t address, const struct sim_shared_id *owner,
                         struct sim_shared_token *token);
int32_t sim_share_number(const struct sim_device *device); /* as files tell devices; -1: the host */
/* The device that a file's memory is of; NULL: it is not visible here. */
struct sim_device *sim_share_device(const struct sim_shared *shared);
/* A file that is refused: the code. */
CUresult sim_share_refuse(struct sim_shared *shared, CUresult code);
/* Whether a file, which anybody may have made, is of a device that is visible here and says that it
 * lies there, or of the host. */
bool sim_share_lies(const struct sim_shared *shared, CUmemLocation location);
/* The block of that file that the process has already, or NULL. */
struct sim_allocation *sim_share_known(enum sim_memory kind, const struct sim_shared_id *file);
/* Another process's block: `shared` is used up. */
CUresult sim_share_open(struct sim_context *context, enum sim_memory kind,
                        struct sim_shared *shared, struct sim_allocation **allocation);

/* --- stream_value.c --- */
CUresult sim_stream_value_old(CUstream handle); /* of the first forms of these entries */
/* The operations, checked and copied. */
CUresult sim_stream_value_prepare(struct sim_context *context, unsigned count,
                                  const CUstreamBatchMemOpParams *params, unsigned flags,
                                  struct sim_item *item);

#endif
