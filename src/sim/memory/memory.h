/* SPDX-License-Identifier: MIT */
/* What the files about memory share. */
#ifndef CUSHIM_SIM_MEMORY_MEMORY_H
#define CUSHIM_SIM_MEMORY_MEMORY_H

#include "memory/range.h"

struct sim_context;
struct sim_device;

/* --- What the rooms above do with memory; NULL: nothing --- */
struct sim_memory_hooks {
    bool (*refuses)(size_t bytes); /* whether a rule refuses an allocation; else it is counted */
    /* Memory that a graph allocated and did not free is released here; false: it is no graph's. */
    bool (*frees)(CUdeviceptr address);
    /* The bytes of the block with this id are at `to`, and no longer at `from`. */
    void (*moved)(uint64_t id, const char *from, char *to);
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
/* Take the description of memory whose bytes exist (made with malloc) into the ranges. */
CUresult sim_memory_adopt(struct sim_allocation *allocation);
/* The allocation that begins at the address and is not being freed, or NULL. */
struct sim_allocation *sim_memory_at(uint64_t address);
/* Free after the work that may use it, as cuMemFree does. */
CUresult sim_memory_free_after_work(struct sim_allocation *allocation);
/* Count bytes against the device's memory. */
CUresult sim_memory_take(struct sim_device *device, size_t size);
void sim_memory_give(struct sim_device *device, size_t size);
size_t sim_memory_left(const struct sim_device *device);
/* Whether all of `size` bytes are live memory that a copy may touch so; neighbouring mappings count
 * as one. */
bool sim_memory_covers(uint64_t address, size_t size, bool write);
/* At its end, all memory of the context. */
void sim_memory_end(struct sim_context *context);

#endif
