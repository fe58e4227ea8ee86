/* SPDX-License-Identifier: MIT */
/*
 * Preloaded, stands between a program and the C library's dlsym, as tools do that share or record a
 * GPU, and answers for one function of the driver with one of its own.
 */
#include <dlfcn.h>
#include <string.h>

#define HOOKED "cuDeviceGetCount"

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *symbol);

static int hooked(int *count)
{
    *count = 0;
    return 0;
}

void *dlsym(void *handle, const char *symbol)
{
    void *(*original)(void *, const char *);
    void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    memcpy(&original, &found, sizeof found);
    found = original(handle, symbol);
    if (found && strcmp(symbol, HOOKED) == 0) {
        int (*answer)(int *) = hooked;
        memcpy(&found, &answer, sizeof found);
    }
    return found;
}
