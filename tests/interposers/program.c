/* SPDX-License-Identifier: MIT */
/*
 * program ROUTE
 *
 * What one program gets of the driver, by one route:
 *
 *   dlsym    dlsym of each symbol
 *   proc     cuGetProcAddress as the CUDA runtime calls it: the five-argument form from driver 12.0
 *            on, each entry's own version and kind of stream; dlsym where there is none
 *   table, table-per-thread, symbols    cushim: both routes; with per-thread streams; symbols only
 *   helpers, helpers-per-thread         cushim's helpers
 *
 * It prints, a line each: "version NUMBER"; "entry SYMBOL SINCE OWNER" for each entry of the
 * registry that there is, where OWNER is the file that the function lies in, or "memory"; the lines
 * of spend.h. cushim also prints "status NAME" and "state SYMBOL NUMBER" of what is not there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/memory.h>

#include "spend.h"

#define PROC_SINCE 11030
#define PROC_V2_SINCE 12000

static void *library;
static const struct cushim_api *cu;
static int driver_version;

/* ---- the routes */

static void *by_dlsym(size_t index, const struct cushim_entry *entry)
{
    (void)index;
    return dlsym(library, entry->symbol);
}

static void *by_proc(size_t index, const struct cushim_entry *entry)
{
    static CUresult(CUDAAPI * v1)(const char *, void **, int, cuuint64_t);
    static CUresult(CUDAAPI * v2)(const char *, void **, int, cuuint64_t,
                                  CUdriverProcAddressQueryResult *);
    static void *proc;
    cuuint64_t flags = entry->stream == CUSHIM_STREAM_LEGACY
                           ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                           : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    void *found = NULL;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    bool five = driver_version >= PROC_V2_SINCE;
    if (driver_version < PROC_SINCE)
        return by_dlsym(index, entry);
    if (!proc) {
        proc = dlsym(library, five ? "cuGetProcAddress_v2" : "cuGetProcAddress");
        memcpy(&v1, &proc, sizeof proc);
        memcpy(&v2, &proc, sizeof proc);
    }
    CUresult result = five ? v2(entry->name, &found, entry->since, flags, &status)
                           : v1(entry->name, &found, entry->since, flags);
    return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? found : NULL;
}

static void *by_table(size_t index, const struct cushim_entry *entry)
{
    struct cushim_slot slot = cushim_slot_at(cu, index);
    if (!slot.address)
        printf("state %s %d\n", entry->symbol, (int)slot.state);
    return slot.address;
}

typedef void *route_fn(size_t index, const struct cushim_entry *entry);

/* ---- what it gives */

static const char *owner(void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "memory";
}

static void show_entries(route_fn *route)
{
    struct cushim_entry entry;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        cushim_entry_at(i, &entry);
        bool cushim = route == by_table;
        void *found = cushim || entry.since <= driver_version ? route(i, &entry) : NULL;
        if (found)
            printf("entry %s %d %s\n", entry.symbol, entry.since, owner(found));
    }
}

/* The function of one symbol, into a pointer to it. */
static void get(route_fn *route, const char *symbol, void *pointer)
{
    struct cushim_entry entry;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        cushim_entry_at(i, &entry);
        void *found = NULL;
        if (strcmp(entry.symbol, symbol) == 0 && entry.since <= driver_version)
            found = route(i, &entry);
        if (found)
            memcpy(pointer, &found, sizeof found);
    }
}

static void spend_by(route_fn *route)
{
    struct spend calls = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    get(route, "cuInit", &calls.init);
    get(route, "cuDeviceGet", &calls.device_get);
    get(route, "cuDevicePrimaryCtxRetain", &calls.primary_retain);
    get(route, "cuCtxSetCurrent", &calls.context_set);
    get(route, "cuMemAlloc_v2", &calls.alloc);
    get(route, "cuMemAllocAsync", &calls.async);
    get(route, "cuMemAllocAsync_ptsz", &calls.async_ptsz);
    if (calls.init && calls.device_get && calls.primary_retain && calls.context_set && calls.alloc)
        spend(&calls);
}

static void spend_by_table(void)
{
    bool async = CUSHIM_HAS(cu, cuMemAllocAsync);
    struct spend calls = {cu->cuInit,
                          cu->cuDeviceGet,
                          cu->cuDevicePrimaryCtxRetain,
                          cu->cuCtxSetCurrent,
                          cu->cuMemAlloc_v2,
                          async ? cu->cuMemAllocAsync : NULL,
                          async ? cu->cuMemAllocAsync_ptsz : NULL};
    spend(&calls);
}

static void spend_by_helpers(void)
{
    struct cushim_device_scope gpu;
    struct cushim_context_options options = {.size = sizeof options};
    CUcontext context = NULL;
    CUdeviceptr address = 0;
    int code = (int)cushim_device_enter(cu, 0, &gpu);
    printf("init %d\n", code);
    if (code)
        return;
    int little = (int)cushim_memory_alloc(cu, SPEND_LITTLE, &address);
    printf("spend alloc %d %d\n", little, (int)cushim_memory_alloc(cu, SPEND_MUCH, &address));
    little = (int)cushim_memory_alloc_async(cu, SPEND_LITTLE, NULL, &address);
    printf("spend async %d %d\n", little,
           (int)cushim_memory_alloc_async(cu, SPEND_MUCH, NULL, &address));
    printf("context %d\n", (int)cushim_context_create(cu, 0, &options, &context));
}

/* ---- a run */

static void run_reference(route_fn *route)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult(CUDAAPI * version)(int *) = NULL;
    if (!library) {
        printf("refused %s\n", dlerror());
        return;
    }
    driver_version = PROC_V2_SINCE; /* a library without the symbol is asked in the newest form */
    struct cushim_entry entry = {"cuDriverGetVersion", "cuDriverGetVersion", "", 2020,
                                 CUSHIM_STREAM_LEGACY};
    void *found = dlsym(library, entry.symbol);
    if (!found && route == by_proc)
        found = by_proc(0, &entry);
    memcpy(&version, &found, sizeof found);
    if (version)
        version(&driver_version);
    printf("version %d\n", driver_version);
    show_entries(route);
    spend_by(route);
}

static void run_cushim(const char *route)
{
    struct cushim_options options = {.size = sizeof options};
    options.per_thread_default_stream = strstr(route, "per-thread");
    if (strcmp(route, "symbols") == 0)
        options.order = CUSHIM_ORDER_SYMBOLS;
    cu = cushim_load(&options);
    driver_version = cushim_driver_version(cu);
    printf("status %s\nversion %d\n", cushim_status_name(cushim_status(cu)), driver_version);
    if (strncmp(route, "helpers", strlen("helpers")) == 0) {
        spend_by_helpers();
        return;
    }
    show_entries(by_table);
    spend_by_table();
}

int main(int count, char **arguments)
{
    const char *route = count > 1 ? arguments[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0); /* some drivers fork in cuInit */
    if (strcmp(route, "dlsym") == 0)
        run_reference(by_dlsym);
    else if (strcmp(route, "proc") == 0)
        run_reference(by_proc);
    else
        run_cushim(route);
    fflush(stdout);
    _Exit(0); /* some drivers do not survive the end of a process in which they were wrapped */
}
