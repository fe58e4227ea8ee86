/* SPDX-License-Identifier: MIT */
/* One open library, or what a caller gives instead: a function that finds its symbols. */
#ifndef CUSHIM_LOADER_LIBRARY_H
#define CUSHIM_LOADER_LIBRARY_H

#include "loader/platform.h"

struct cushim_shared_library {
    void *handle; /* NULL: `resolver` finds the symbols */
    cushim_resolver_fn *resolver;
    void *user;
    char *path; /* as the system's loader has it; NULL if it is not known */
    const void *base;
};

/* As cushim_platform_open. *library is written on success alone; its path is not. */
enum cushim_status cushim_library_open(struct cushim_shared_library *library,
                                       const struct cushim_candidate *candidate, char *message,
                                       size_t size);

/* Fill path and base. Returns false for want of memory. */
bool cushim_library_describe(struct cushim_shared_library *library);

/* What dlsym returns for an exported name; NULL if there is none. */
void *cushim_library_symbol(const struct cushim_shared_library *library, const char *symbol);

/* Whether a symbol's address can be called. Functions of a caller's resolver may be anywhere. */
bool cushim_library_is_function(const struct cushim_shared_library *library, const void *address);

/* As cushim_library_symbol for every entry of the registry: CUSHIM_ENTRY_COUNT addresses, which are
 * NULL before. */
void cushim_library_exports(const struct cushim_shared_library *library, void **addresses);

/* A string from malloc; NULL for want of memory. */
char *cushim_library_copy(const char *text);

/* Free the path; drop the hold on the library if `unload`. */
void cushim_library_close(struct cushim_shared_library *library, bool unload);

#endif
