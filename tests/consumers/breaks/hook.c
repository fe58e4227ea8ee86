/* SPDX-License-Identifier: MIT */
/* Preloaded: a dlsym of its own, as some tools that share a GPU have it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

void *dlsym(void *handle, const char *symbol)
{
    static void *(*real)(void *, const char *);
    for (const char *version = "GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.34\0"; !real && *version;
         version += strlen(version) + 1)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", version);
    if (strcmp(symbol, "cuDeviceGet") == 0 && write(STDOUT_FILENO, "hooked\n", 7) != 7)
        return NULL;
    return real(handle, symbol);
}
