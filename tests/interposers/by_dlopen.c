/* SPDX-License-Identifier: MIT */
/* Stand-in, preloaded: a dlopen that opens INTERPOSED_WRAPPER in place of the driver. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlopen(const char *path, int flags);

void *dlopen(const char *path, int flags)
{
    void *(*original)(const char *, int);
    void *next = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.2.5");
    memcpy(&original, &next, sizeof next);
    if (path && strcmp(path, "libcuda.so.1") == 0)
        path = getenv("INTERPOSED_WRAPPER");
    return original(path, flags);
}
