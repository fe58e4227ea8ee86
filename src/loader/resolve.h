/* SPDX-License-Identifier: MIT */
/* Fills a table from a library and the registry; no files, no lists, no other instance. */
#ifndef CUSHIM_LOADER_RESOLVE_H
#define CUSHIM_LOADER_RESOLVE_H

#include <stdint.h>

#include "loader/library.h"

struct cushim_resolution {
    struct cushim_api table;
    uint8_t state[CUSHIM_ENTRY_COUNT]; /* enum cushim_state */
    uint8_t via[CUSHIM_ENTRY_COUNT];   /* enum cushim_via */
    unsigned remarks;
    size_t denied; /* first entry that the driver's cuGetProcAddress was wrong about */
};

/* `resolution` is all zero before. Version 0: there is no driver. */
void cushim_resolve(struct cushim_resolution *resolution,
                    const struct cushim_shared_library *library, int version,
                    const struct cushim_options *options);

/* The answer of the driver's cuGetProcAddress, whichever form it has; NULL if it has none. */
void *cushim_resolve_ask(const struct cushim_shared_library *library, int driver_version,
                         const char *name, int version, bool per_thread);

#endif
