/* SPDX-License-Identifier: MIT */
/* Virtual memory: addresses and memory that come together by mapping. */
#ifndef CUSHIM_SIM_MEMORY_VIRTUAL_H
#define CUSHIM_SIM_MEMORY_VIRTUAL_H

#include "core/config.h"
#include "core/object.h"
#include "memory/address.h"
#include "sim.h"

struct sim_allocation;
struct sim_device;
struct sim_shared;

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

/* The memory of a handle that the program still holds, or NULL. */
struct sim_physical *sim_virtual_physical(CUmemGenericAllocationHandle_v1 handle);
/* What a mapping (SIM_MEMORY_VIRTUAL) shows, and keeps alive. */
struct sim_physical *sim_virtual_behind(const struct sim_allocation *mapping);
void sim_virtual_physical_release(struct sim_physical *physical); /* if nothing refers to it */
/* Whether the range lies in one reservation. */
bool sim_virtual_is_reserved(uint64_t address, size_t size);

#endif
