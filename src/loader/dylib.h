/* SPDX-License-Identifier: MIT */
/* One open library, or what a caller gives instead: a function that finds its symbols. */
#ifndef CUSHIM_LOADER_DYLIB_H
#define CUSHIM_LOADER_DYLIB_H

#include "loader/platform.h"

struct cushim_dylib {
    void *handle; /* NULL: `resolver` finds the symbols */
    cushim_resolver_fn *resolver;
    void *user;
    char *path; /* of the file that was opened, without links; NULL if it is not known */
    const void *base;
};

/* As cushim_platform_open. *library is written on success alone; its path is not. */
enum cushim_status cushim_dylib_open(struct cushim_dylib *library, const char *path, char *message,
                                     size_t size);

/* Fill path and base, without a handle by a symbol. Returns false for want of memory. */
bool cushim_dylib_describe(struct cushim_dylib *library, const char *symbol);

/* What dlsym returns for an exported name; NULL if there is none. */
void *cushim_dylib_symbol(const struct cushim_dylib *library, const char *symbol);

/* Whether another than the system finds the exported names: a tool, or the caller. */
bool cushim_dylib_is_hooked(const struct cushim_dylib *library);

/* Whether an address is in the library itself; true if that cannot be told of a resolver's. */
bool cushim_dylib_has(const struct cushim_dylib *library, const void *address);

/* Free the path; drop the hold on the library if `unload`. */
void cushim_dylib_close(struct cushim_dylib *library, bool unload);

#endif
