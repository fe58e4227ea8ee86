/* SPDX-License-Identifier: MIT */
/* What the files about memory share. */
#ifndef CUSHIM_SIM_MEMORY_H
#define CUSHIM_SIM_MEMORY_H

#include "sim.h"

/* --- Addresses (memory_address.c) --- */
#define SIM_ADDRESS_CHUNK ((size_t)2 << 20)
/* Whole chunks, at `wanted` where that is free; 0: none left. */
uint64_t sim_address_reserve_chunks(size_t size, size_t align, uint64_t wanted);
bool sim_address_is_device(uint64_t address); /* in the space of device addresses, live or not */

/* --- Ranges (range.c), beside those of sim.h --- */
bool sim_range_overlaps(uint64_t address, size_t size);
/* Copies of the live ranges next to an address: false where there is none on that side. */
void sim_range_neighbours(uint64_t address, struct sim_allocation *below, bool *has_below,
                          struct sim_allocation *above, bool *has_above);
/* The live range with the highest address below `address`, or NULL: to go through all. */
struct sim_allocation *sim_range_before(uint64_t address);
void sim_range_protect(struct sim_allocation *allocation, bool readable, bool writable);

/* --- Allocations (memory.c) --- */
/* Beginning of an entry that allocates or frees: a context, and no capture that forbids it. */
CUresult sim_memory_begin(struct sim_context **context);
/* The same of one that frees, which needs no context: addresses say whose they are. */
CUresult sim_memory_begin_free(void);
/* Zeroed bytes; much of it costs nothing until it is touched. */
void *sim_bytes_make(size_t size, bool *mapped);
void sim_bytes_free(void *bytes, size_t size, bool mapped);
/* Take the description of memory whose bytes exist (made with malloc) into the ranges. */
CUresult sim_memory_adopt(struct sim_allocation *allocation);
/* Call release(data) when nothing that is queued now can still use it; at once where possible
 * (memory_idle.c). */
void sim_when_idle(void (*release)(void *), void *data);
void sim_release_idle(void); /* what can be released by now */
/* What kernels may use of a block of device memory: its size, rounded up where that was asked for.
 * A grain is at most SIM_GRAIN_MOST, of which whole ones lie behind every block. */
#define SIM_GRAIN_MOST 512
size_t sim_memory_grain(size_t size);
/* The allocation that begins at the address and is not being freed, or NULL. */
struct sim_allocation *sim_memory_at(uint64_t address);
/* Free after the work that may use it, as cuMemFree does. */
CUresult sim_memory_free_after_work(struct sim_allocation *allocation);
/* Count bytes against the device's memory. */
CUresult sim_device_take(struct sim_device *device, size_t size);
void sim_device_give(struct sim_device *device, size_t size);
size_t sim_device_free_bytes(const struct sim_device *device);
/* Whether all of `size` bytes are live memory that a copy may touch so; neighbouring mappings count
 * as one. */
bool sim_memory_covers(uint64_t address, size_t size, bool write);
/* Each family's part of a context's end. */
void sim_arrays_clear(struct sim_context *context);
void sim_textures_clear(struct sim_context *context);

/* --- Host memory (host.c) --- */
bool sim_host_is_mapped(const void *start, size_t size); /* whether all its pages are there */

/* --- Pools (pool.c) --- */
#define SIM_POOL_GRAIN                                                                             \
    ((size_t)32 << 20) /* a pool takes a device's memory so many bytes at once                     \
                        */
/* From here on the memory counts as free, and no call accepts it. */
void sim_pool_forget(struct sim_allocation *allocation);
CUresult sim_pool_free_plain(struct sim_allocation *allocation); /* cuMemFree of pool memory */

#endif
