/* SPDX-License-Identifier: MIT */
/* Fills a table from a library and the registry; no files, no lists, no other instance. */
#ifndef CUSHIM_LOADER_RESOLVE_H
#define CUSHIM_LOADER_RESOLVE_H

#include <stdint.h>

#include "loader/lookup.h"

struct cushim_resolution {
    struct cushim_api table;
    uint8_t via[CUSHIM_ENTRY_COUNT]; /* enum cushim_via */
    unsigned remarks;
};

/* `resolution` is all zero before. */
void cushim_resolve(struct cushim_resolution *resolution, const struct cushim_lookup *lookup,
                    bool per_thread_default_stream);

#endif
