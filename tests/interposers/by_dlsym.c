/* SPDX-License-Identifier: MIT */
/* Stand-in, preloaded: a dlsym before the C library's, and with WITH_DLERROR a dlerror as well. */
#include <dlfcn.h>
#include <string.h>

#include "quota.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void *dlsym(void *handle, const char *symbol);

static void *by_dlsym_next(const char *symbol)
{
    return dlvsym(RTLD_NEXT, symbol, "GLIBC_2.2.5");
}

void *dlsym(void *handle, const char *symbol)
{
    void *(*original)(void *, const char *);
    void *next = by_dlsym_next("dlsym");
    memcpy(&original, &next, sizeof next);
    void *found = original(handle, symbol);
    return quota_is_driver(symbol) ? quota_symbol(symbol, found) : found;
}

#ifdef WITH_DLERROR
EXPORT char *dlerror(void);

char *dlerror(void)
{
    char *(*original)(void);
    void *next = by_dlsym_next("dlerror");
    memcpy(&original, &next, sizeof next);
    return original();
}
#endif
