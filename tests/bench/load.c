/* SPDX-License-Identifier: MIT */
/*
 * load KIND PATH
 *
 * Opens a driver once, in this fresh process, and prints the nanoseconds that it took (0 if this
 * kind cannot load this driver) and the private memory written until then, in KiB. measure_load.py
 * says what the kinds are and runs all in turns. The functions keep their names for callgrind.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cushim/cushim.h>

#include "clock.h"
#include "load_nv.h"

typedef int load_fn(const char *path);

KEEP int load_bare(const char *path);
KEEP int load_cushim(const char *path);
KEEP int load_symbols(const char *path);
KEEP int load_every(const char *path);
KEEP int load_cuew(const char *path);

KEEP int load_cushim(const char *path)
{
    struct cushim_options options = {.size = sizeof options, .path = path};
    const struct cushim_api *cu = cushim_open(&options);
    return cu ? cushim_driver_version(cu) : 0;
}

KEEP int load_symbols(const char *path)
{
    struct cushim_options options = {
        .size = sizeof options, .path = path, .order = CUSHIM_ORDER_SYMBOLS};
    const struct cushim_api *cu = cushim_open(&options);
    return cu ? cushim_driver_version(cu) : 0;
}

static int version_of(void *library)
{
    void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
    CUresult(CUDAAPI * get_version)(int *);
    int version = 0;
    memcpy(&get_version, &symbol, sizeof symbol);
    return get_version && get_version(&version) == CUDA_SUCCESS ? version : 0;
}

KEEP int load_bare(const char *path)
{
    return version_of(dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* The entries up to a release, looked up by name alone. */
static int look_up(const char *path, int release)
{
    size_t found = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct cushim_entry entry;
    for (size_t i = 0; library && cushim_entry_at(i, &entry); i++)
        if (entry.since <= release)
            found += !!dlsym(library, entry.symbol);
    return found ? version_of(library) : 0;
}

KEEP int load_every(const char *path)
{
    return look_up(path, cushim_registry_version());
}

KEEP int load_cuew(const char *path)
{
    return look_up(path, 8000);
}

/* Of the whole process, in KiB. */
static long private_memory(void)
{
    char line[256];
    long found = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Private_Dirty: %ld kB", &found);
    if (file)
        fclose(file);
    return found;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        load_fn *load;
    } kinds[] = {
        {"bare", load_bare},   {"cushim", load_cushim}, {"symbols", load_symbols},
        {"every", load_every}, {"cuew", load_cuew},     {"nv", load_nv},
    };
    load_fn *load = NULL;
    for (size_t i = 0; count == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(arguments[1], kinds[i].name) == 0)
            load = kinds[i].load;
    if (!load) {
        fprintf(stderr, "usage: load bare|cushim|symbols|every|cuew|nv PATH\n");
        return 2;
    }
    long long start = clock_now();
    int loaded = load(arguments[2]);
    long long end = clock_now();
    printf("%lld %ld\n", loaded ? end - start : 0, private_memory());
    fflush(stdout);
    _exit(loaded || load == load_nv ? 0 : 1); /* the driver's own exit handlers are no part */
}
