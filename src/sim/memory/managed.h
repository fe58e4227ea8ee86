/* SPDX-License-Identifier: MIT */
/* Managed memory: what was said about each part of it. */
#ifndef CUSHIM_SIM_MEMORY_MANAGED_H
#define CUSHIM_SIM_MEMORY_MANAGED_H

#include "sim.h"

struct sim_allocation;

#define SIM_MANAGED_PAGE ((size_t)4096)

struct sim_managed_page {
    bool read_mostly;
    CUmemLocation preferred, prefetched; /* type 0: none */
    uint64_t accessed_by;                /* devices */
    bool accessed_by_host;
};

/* Live managed memory, a pool's too, that holds all of the range, or NULL. */
struct sim_allocation *sim_managed(uint64_t address, size_t size);
/* Whether the location is one that managed memory can move to in this system. */
bool sim_managed_location_is_valid(CUmemLocation location);
/* What is told of a page of which nothing was said: a pool's memory prefers the pool's place. */
struct sim_managed_page sim_managed_untold(const struct sim_allocation *allocation);
/* The pages of [address, address + size), or NULL: no memory for them. */
struct sim_managed_page *sim_managed_pages(struct sim_allocation *allocation, uint64_t address,
                                           size_t size, size_t *count);
CUresult sim_managed_prefetch(uint64_t address, size_t size, CUmemLocation location);

#endif
