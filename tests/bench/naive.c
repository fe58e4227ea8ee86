/* SPDX-License-Identifier: MIT */
/*
 * naive PATH
 *
 * Fills a table as loaders do that trust one look-up, and prints where each slot then points:
 *
 *     METHOD  SYMBOL  OFFSET      SYMBOL: the ABI that the slot is named and typed after
 *
 *     cushim  the library's own table, for comparison
 *     newest  cuGetProcAddress(name, the newest CUDA version known), into the newest ABI's slot
 *     own     cuGetProcAddress(name, the ABI's own version), whatever the driver's version
 *     dlsym   dlsym(name without suffix), into the newest ABI's slot
 *
 * bench.py compares the offsets with what the driver's file says. Of cushim this takes the list of
 * entries only.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

typedef CUresult(CUDAAPI *proc_v1_fn)(const char *, void **, int, cuuint64_t);
typedef CUresult(CUDAAPI *proc_v2_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);

struct driver {
    void *library;
    uintptr_t base;
    proc_v1_fn v1;
    proc_v2_fn v2;
};

static bool open_driver(struct driver *driver, const char *path)
{
    struct link_map *map = NULL;
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver->library || dlinfo(driver->library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    void *v1 = dlsym(driver->library, "cuGetProcAddress");
    void *v2 = dlsym(driver->library, "cuGetProcAddress_v2");
    driver->base = map->l_addr;
    memcpy(&driver->v1, &v1, sizeof v1);
    memcpy(&driver->v2, &v2, sizeof v2);
    return true;
}

static void *ask(const struct driver *driver, const struct cushim_entry *entry, int version)
{
    void *found = NULL;
    cuuint64_t flags = entry->stream == CUSHIM_STREAM_LEGACY ? 1 : 2;
    CUdriverProcAddressQueryResult status;
    if (driver->v2 ? driver->v2(entry->name, &found, version, flags, &status)
                   : driver->v1(entry->name, &found, version, flags))
        return NULL;
    return found;
}

static void print(const struct driver *driver, const char *method, const char *symbol,
                  const void *found)
{
    if (found)
        printf("%s %s 0x%llx\n", method, symbol,
               (unsigned long long)((uintptr_t)found - driver->base));
}

/* Whether no later entry is of the same name and stream: the newest ABI. */
static bool is_newest(size_t index, const struct cushim_entry *entry)
{
    struct cushim_entry other;
    for (size_t i = 0; cushim_entry_at(i, &other); i++)
        if (i != index && other.stream == entry->stream && strcmp(other.name, entry->name) == 0 &&
            (other.since > entry->since || (other.since == entry->since && i > index)))
            return false;
    return true;
}

int main(int count, char **arguments)
{
    struct driver driver;
    if (count != 2 || !open_driver(&driver, arguments[1])) {
        fprintf(stderr, count == 2 ? "naive: cannot open it\n" : "usage: naive PATH\n");
        return 2;
    }
    struct cushim_options options = {.size = sizeof options, .path = arguments[1]};
    const struct cushim_api *cu = cushim_open(&options);
    if (!cu)
        return 1;
    struct cushim_entry entry;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        print(&driver, "cushim", entry.symbol, cushim_slot_at(cu, i).address);
        if (driver.v1)
            print(&driver, "own", entry.symbol, ask(&driver, &entry, entry.since));
        if (!is_newest(i, &entry))
            continue;
        if (driver.v1)
            print(&driver, "newest", entry.symbol, ask(&driver, &entry, cushim_registry_version()));
        if (entry.stream == CUSHIM_STREAM_LEGACY)
            print(&driver, "dlsym", entry.symbol, dlsym(driver.library, entry.name));
    }
    return 0;
}
