/* SPDX-License-Identifier: MIT */
/*
 * load cushim|dlsym|bare PATH
 *
 * Opens a driver once, in this fresh process, and prints the nanoseconds that it took: completely
 * with cushim, by its default order or by dlsym alone, or as a program does that only wants the
 * driver's version. bench.py runs all in turns. The functions keep their names for callgrind.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cushim/cushim.h>

#include "clock.h"

KEEP int load_cushim(const char *path);
KEEP int load_dlsym(const char *path);
KEEP int load_bare(const char *path);

KEEP int load_cushim(const char *path)
{
    struct cushim_options options = {.size = sizeof options, .path = path};
    const struct cushim_api *cu = cushim_open(&options);
    return cu ? cushim_driver_version(cu) : 0;
}

KEEP int load_dlsym(const char *path)
{
    struct cushim_options options = {
        .size = sizeof options, .path = path, .order = CUSHIM_ORDER_DLSYM_ONLY};
    const struct cushim_api *cu = cushim_open(&options);
    return cu ? cushim_driver_version(cu) : 0;
}

KEEP int load_bare(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
    CUresult(CUDAAPI * get_version)(int *);
    int version = 0;
    memcpy(&get_version, &symbol, sizeof symbol);
    return get_version && get_version(&version) == CUDA_SUCCESS ? version : 0;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: load cushim|dlsym|bare PATH\n");
        return 2;
    }
    int (*load)(const char *) = load_cushim;
    if (strcmp(arguments[1], "dlsym") == 0)
        load = load_dlsym;
    else if (strcmp(arguments[1], "bare") == 0)
        load = load_bare;
    long long start = clock_now();
    int version = load(arguments[2]);
    long long end = clock_now();
    printf("%lld\n", end - start);
    fflush(stdout);
    _exit(version ? 0 : 1); /* the driver's own exit handlers are no part of this */
}
