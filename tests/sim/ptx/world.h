/* SPDX-License-Identifier: MIT */
/* A small context for tests of the PTX engine: device memory as host allocations with addresses of
 * their own, and what kernels print. */
#ifndef CUSHIM_TEST_PTX_WORLD_H
#define CUSHIM_TEST_PTX_WORLD_H

#include "ptx/ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_RANGES 64
#define WORLD_BASE UINT64_C(0x7f0000000000)

struct world {
    struct ptx_range ranges[WORLD_RANGES];
    size_t count;
    uint64_t next;
    pthread_mutex_t lock;
    char *printed;
    size_t printed_size;
    struct ptx_world calls;
    struct ptx_module *module;
    struct ptx_image *image;
    struct ptx_machine machine;
    struct ptx_fault fault;
};

static inline bool world_find(void *user, uint64_t address, struct ptx_range *range)
{
    struct world *world = user;

    for (size_t i = 0; i < world->count; i++)
        if (address - world->ranges[i].base < world->ranges[i].size) {
            *range = world->ranges[i];
            return true;
        }
    return false;
}

static inline void world_print(void *user, const char *text, size_t length)
{
    struct world *world = user;

    pthread_mutex_lock(&world->lock);
    world->printed = realloc(world->printed, world->printed_size + length + 1);
    memcpy(world->printed + world->printed_size, text, length);
    world->printed_size += length;
    world->printed[world->printed_size] = '\0';
    pthread_mutex_unlock(&world->lock);
}

static inline void world_open(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->next = WORLD_BASE;
    pthread_mutex_init(&world->lock, NULL);
    world->calls.user = world;
    world->calls.find = world_find;
    world->calls.print = world_print;
    world->machine.sm_count = 4;
    world->machine.architecture = 90;
    world->machine.max_shared = 232448;
}

/* Zeroed memory; its device address. */
static inline uint64_t world_alloc(struct world *world, uint64_t size)
{
    struct ptx_range *range = &world->ranges[world->count++];

    range->base = world->next;
    range->size = size;
    range->flags = PTX_RANGE_READ | PTX_RANGE_WRITE;
    range->host = aligned_alloc(512, (size + 512) & ~(uint64_t)511);
    if (!range->host)
        abort();
    memset(range->host, 0, size);
    world->next += ((size + 511) & ~UINT64_C(511)) + 4096;
    return range->base;
}

static inline void *world_host(struct world *world, uint64_t address)
{
    struct ptx_range range;

    return world_find(world, address, &range) ? range.host + (address - range.base) : NULL;
}

/* Compile and place; false: `errors` says why. */
static inline bool world_load(struct world *world, const char *text, size_t size,
                              struct ptx_text *errors)
{
    struct ptx_options options = {.version = 900, .architecture = world->machine.architecture};
    struct ptx_source source = {.text = text, .size = size};
    uint64_t addresses[WORLD_RANGES];
    char *hosts[WORLD_RANGES];

    if (ptx_compile(&options, &source, 1, errors, NULL, &world->module) != PTX_OK)
        return false;
    for (size_t i = 0; i < ptx_module_variables(world->module); i++) {
        addresses[i] = world_alloc(world, ptx_module_variable(world->module, i)->size);
        hosts[i] = world_host(world, addresses[i]);
    }
    world->image = ptx_image_create(world->module, addresses, hosts);
    return world->image;
}

static inline size_t world_function(const struct world *world, const char *name)
{
    for (size_t i = 0; i < ptx_module_functions(world->module); i++)
        if (strcmp(ptx_module_function(world->module, i)->name, name) == 0)
            return i;
    return SIZE_MAX;
}

static inline void world_close(struct world *world)
{
    ptx_image_destroy(world->image);
    ptx_module_release(world->module);
    for (size_t i = 0; i < world->count; i++)
        free(world->ranges[i].host);
    free(world->printed);
    pthread_mutex_destroy(&world->lock);
}

#endif
