/* SPDX-License-Identifier: MIT */
/*
 * load KIND PATH
 *
 * Opens a driver once, by a path or a name that the system's search finds, in this fresh process,
 * and prints the nanoseconds that it took (0 if this kind cannot load this driver) and the private
 * memory written until then, in KiB. measure_load.py says what the kinds are and runs all in turns.
 * The functions keep their names for callgrind.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cushim/cushim.h>

#include "clock.h"
#include "load_nv.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef int load_fn(const char *path);

KEEP int load_bare(const char *path);
KEEP int load_cushim(const char *path);
KEEP int load_symbols(const char *path);
KEEP int load_every(const char *path);
KEEP int load_cuew(const char *path);
KEEP int load_lines(const char *path);
KEEP int load_asked(const char *path);

/* A name is what cushim looks for by itself. */
static const char *path_of(const char *path)
{
    return strchr(path, '/') ? path : NULL;
}

KEEP int load_cushim(const char *path)
{
    struct cushim_options options = {.size = sizeof options, .path = path_of(path)};
    const struct cushim_api *cu = cushim_open(&options);
    return cu ? cushim_driver_version(cu) : 0;
}

KEEP int load_symbols(const char *path)
{
    struct cushim_options options = {
        .size = sizeof options, .path = path_of(path), .order = CUSHIM_ORDER_SYMBOLS};
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

/* ---- the simple way: about thirty lines and a list of names, which a project would generate */

static struct cushim_entry entries[1024];
static void *slots[COUNT_OF(entries)];
static size_t entry_count;

static void read_entries(void)
{
    while (entry_count < COUNT_OF(entries) && cushim_entry_at(entry_count, &entries[entry_count]))
        entry_count++;
}

KEEP int load_lines(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int version = version_of(library);
    for (size_t i = 0; i < entry_count; i++)
        if (entries[i].since <= version)
            slots[i] = dlsym(library, entries[i].symbol);
    return version;
}

KEEP int load_asked(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int version = version_of(library);
    bool five = version >= 12000;
    CUresult(CUDAAPI * v1)(const char *, void **, int, cuuint64_t) = NULL;
    CUresult(CUDAAPI * v2)(const char *, void **, int, cuuint64_t,
                           CUdriverProcAddressQueryResult *) = NULL;
    void *proc =
        version >= 11030 ? dlsym(library, five ? "cuGetProcAddress_v2" : "cuGetProcAddress") : NULL;
    memcpy(five ? (void *)&v2 : (void *)&v1, &proc, sizeof proc);
    for (size_t i = 0; i < entry_count; i++) {
        const struct cushim_entry *entry = &entries[i];
        cuuint64_t flags = entry->stream == CUSHIM_STREAM_LEGACY ? 1 : 2;
        CUdriverProcAddressQueryResult status;
        if (entry->since > version)
            continue;
        CUresult code = !proc  ? CUDA_ERROR_NOT_FOUND
                        : five ? v2(entry->name, &slots[i], entry->since, flags, &status)
                               : v1(entry->name, &slots[i], entry->since, flags);
        if (code != CUDA_SUCCESS || !slots[i])
            slots[i] = dlsym(library, entry->symbol);
    }
    return version;
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
        {"lines", load_lines}, {"asked", load_asked},   {"every", load_every},
        {"cuew", load_cuew},   {"nv", load_nv},
    };
    load_fn *load = NULL;
    for (size_t i = 0; count == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(arguments[1], kinds[i].name) == 0)
            load = kinds[i].load;
    if (!load) {
        fprintf(stderr, "usage: load bare|cushim|symbols|lines|asked|every|cuew|nv PATH\n");
        return 2;
    }
    read_entries();
    long long start = clock_now();
    int loaded = load(arguments[2]);
    long long end = clock_now();
    printf("%lld %ld\n", loaded ? end - start : 0, private_memory());
    fflush(stdout);
    _exit(loaded || load == load_nv ? 0 : 1); /* the driver's own exit handlers are no part */
}
