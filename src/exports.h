/* SPDX-License-Identifier: MIT */
/* Looks a symbol up in an open library's own hash table. */
#ifndef CUSHIM_SRC_EXPORTS_H
#define CUSHIM_SRC_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A failed dlsym costs 200 to 500 ns, because a failure is worded for dlerror, and a successful one
 * 60 to 150; for the hundreds of entries of a table that is most of a load. The library's own hash
 * table answers in 20 to 60 ns. All NULL: nothing is known.
 */
struct cushim_exports {
    const uint32_t *gnu_hash, *sysv_hash;
    const void *symbols;
    const char *names;
    uintptr_t base;
    bool same_as_dlsym; /* nothing between this process and its C library answers dlsym instead */
};

/* For a library from dlopen. */
void cushim_exports_read(struct cushim_exports *exports, void *handle);

/*
 * What the library itself exports by this name.
 *
 * @param address  written where the answer is true: what dlsym would give, or NULL where the
 *                 library surely does not export the symbol
 * @return false where dlsym must be asked
 */
bool cushim_exports_find(const struct cushim_exports *exports, const char *symbol, void **address);

#endif
