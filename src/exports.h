/* SPDX-License-Identifier: MIT */
/* Says cheaply that an open library does not export a symbol. */
#ifndef CUSHIM_SRC_EXPORTS_H
#define CUSHIM_SRC_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A failed dlsym costs 200 to 500 ns, a successful one 60 to 150, because a failure is worded for
 * dlerror; an older driver lacks some 250 entries, which then is most of a load. The library's own
 * hash table answers in about 20 ns. All NULL: nothing is known.
 */
struct cushim_exports {
    const uint32_t *gnu_hash, *sysv_hash;
    const void *symbols;
    const char *names;
};

/* For a library from dlopen. */
void cushim_exports_read(struct cushim_exports *exports, void *handle);

/* True only if the library surely does not export the symbol; then there is no need to look. */
bool cushim_exports_lack(const struct cushim_exports *exports, const char *symbol);

#endif
