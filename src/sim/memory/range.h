/* SPDX-License-Identifier: MIT */
/* Live memory by address. */
#ifndef CUSHIM_SIM_MEMORY_RANGE_H
#define CUSHIM_SIM_MEMORY_RANGE_H

#include "sim.h"

struct sim_context;
struct sim_shared;
struct sim_device;

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
/* Copies of the live ranges next to an address: false where there is none on that side. */
void sim_range_neighbours(uint64_t address, struct sim_allocation *below, bool *has_below,
                          struct sim_allocation *above, bool *has_above);
/* The live range with the highest address below `address`, or NULL: to go through all. */
struct sim_allocation *sim_range_before(uint64_t address);
/* Its bytes are elsewhere from now on. No work may be running. */
void sim_range_move(struct sim_allocation *allocation, char *host);
void sim_range_protect(struct sim_allocation *allocation, bool readable, bool writable);
/* Blocks that the program allocated and did not free, and their bytes. */
size_t sim_range_live(size_t *bytes);

#endif
