/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char *const names[LIVE_KINDS] = {"contexts",        "primary contexts",
                                              "pushed contexts", "memory",
                                              "host memory",     "registered",
                                              "arrays",          "pools",
                                              "addresses",       "handles",
                                              "mappings",        "modules",
                                              "libraries",       "links",
                                              "streams",         "events",
                                              "graphs",          "execs"};

static atomic_long counts[LIVE_KINDS];
static atomic_ulong calls;
static const struct cushim_api *driver;
static void *library;

static CUresult count(CUresult code, enum live_kind kind, long change)
{
    calls++;
    if (code == CUDA_SUCCESS)
        counts[kind] += change;
    if (code == CUDA_SUCCESS && kind == LIVE_CONTEXTS && change > 0)
        counts[LIVE_PUSHED]++; /* a new one is current */
    return code;
}

/* One function of the driver's that makes (1) or ends (-1) an object. */
#define COUNTED(symbol, kind, change, parameters, arguments)                                       \
    static CUresult CUDAAPI live_##symbol parameters                                               \
    {                                                                                              \
        return count(driver->symbol arguments, kind, change);                                      \
    }

COUNTED(cuCtxCreate_v2, LIVE_CONTEXTS, 1, (CUcontext * made, unsigned flags, CUdevice device),
        (made, flags, device))
COUNTED(cuCtxCreate_v3, LIVE_CONTEXTS, 1,
        (CUcontext * made, CUexecAffinityParam *params, int many, unsigned flags, CUdevice device),
        (made, params, many, flags, device))
COUNTED(cuCtxCreate_v4, LIVE_CONTEXTS, 1,
        (CUcontext * made, CUctxCreateParams *params, unsigned flags, CUdevice device),
        (made, params, flags, device))
COUNTED(cuCtxDestroy_v2, LIVE_CONTEXTS, -1, (CUcontext context), (context))
COUNTED(cuDevicePrimaryCtxRetain, LIVE_PRIMARIES, 1, (CUcontext * made, CUdevice device),
        (made, device))
COUNTED(cuDevicePrimaryCtxRelease_v2, LIVE_PRIMARIES, -1, (CUdevice device), (device))
COUNTED(cuCtxPushCurrent_v2, LIVE_PUSHED, 1, (CUcontext context), (context))
COUNTED(cuCtxPopCurrent_v2, LIVE_PUSHED, -1, (CUcontext * context), (context))

COUNTED(cuMemAlloc_v2, LIVE_MEMORY, 1, (CUdeviceptr * made, size_t bytes), (made, bytes))
COUNTED(cuMemAllocPitch_v2, LIVE_MEMORY, 1,
        (CUdeviceptr * made, size_t *pitch, size_t width, size_t height, unsigned element),
        (made, pitch, width, height, element))
COUNTED(cuMemAllocManaged, LIVE_MEMORY, 1, (CUdeviceptr * made, size_t bytes, unsigned flags),
        (made, bytes, flags))
COUNTED(cuMemAllocAsync, LIVE_MEMORY, 1, (CUdeviceptr * made, size_t bytes, CUstream stream),
        (made, bytes, stream))
COUNTED(cuMemAllocFromPoolAsync, LIVE_MEMORY, 1,
        (CUdeviceptr * made, size_t bytes, CUmemoryPool pool, CUstream stream),
        (made, bytes, pool, stream))
COUNTED(cuMemFree_v2, LIVE_MEMORY, -1, (CUdeviceptr address), (address))
COUNTED(cuMemFreeAsync, LIVE_MEMORY, -1, (CUdeviceptr address, CUstream stream), (address, stream))
COUNTED(cuMemHostAlloc, LIVE_HOST_MEMORY, 1, (void **made, size_t bytes, unsigned flags),
        (made, bytes, flags))
COUNTED(cuMemFreeHost, LIVE_HOST_MEMORY, -1, (void *address), (address))
COUNTED(cuMemHostRegister_v2, LIVE_REGISTERED, 1, (void *address, size_t bytes, unsigned flags),
        (address, bytes, flags))
COUNTED(cuMemHostUnregister, LIVE_REGISTERED, -1, (void *address), (address))
COUNTED(cuArray3DCreate_v2, LIVE_ARRAYS, 1, (CUarray * made, const CUDA_ARRAY3D_DESCRIPTOR *shape),
        (made, shape))
COUNTED(cuArrayDestroy, LIVE_ARRAYS, -1, (CUarray array), (array))
COUNTED(cuMemPoolCreate, LIVE_POOLS, 1, (CUmemoryPool * made, const CUmemPoolProps *properties),
        (made, properties))
COUNTED(cuMemPoolDestroy, LIVE_POOLS, -1, (CUmemoryPool pool), (pool))
COUNTED(cuMemAddressReserve, LIVE_ADDRESSES, 1,
        (CUdeviceptr * made, size_t bytes, size_t alignment, CUdeviceptr near,
         unsigned long long flags),
        (made, bytes, alignment, near, flags))
COUNTED(cuMemAddressFree, LIVE_ADDRESSES, -1, (CUdeviceptr address, size_t bytes), (address, bytes))
COUNTED(cuMemCreate, LIVE_HANDLES, 1,
        (CUmemGenericAllocationHandle * made, size_t bytes, const CUmemAllocationProp *properties,
         unsigned long long flags),
        (made, bytes, properties, flags))
COUNTED(cuMemRelease, LIVE_HANDLES, -1, (CUmemGenericAllocationHandle handle), (handle))
COUNTED(cuMemMap, LIVE_MAPPINGS, 1,
        (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
         unsigned long long flags),
        (address, bytes, offset, handle, flags))
COUNTED(cuMemUnmap, LIVE_MAPPINGS, -1, (CUdeviceptr address, size_t bytes), (address, bytes))

COUNTED(cuModuleLoadDataEx, LIVE_MODULES, 1,
        (CUmodule * made, const void *image, unsigned many, CUjit_option *options, void **values),
        (made, image, many, options, values))
COUNTED(cuModuleUnload, LIVE_MODULES, -1, (CUmodule module), (module))
COUNTED(cuLibraryLoadData, LIVE_LIBRARIES, 1,
        (CUlibrary * made, const void *code, CUjit_option *options, void **values, unsigned many,
         CUlibraryOption *library_options, void **library_values, unsigned library_many),
        (made, code, options, values, many, library_options, library_values, library_many))
COUNTED(cuLibraryUnload, LIVE_LIBRARIES, -1, (CUlibrary of), (of))
COUNTED(cuLinkCreate_v2, LIVE_LINKS, 1,
        (unsigned many, CUjit_option *options, void **values, CUlinkState *made),
        (many, options, values, made))
COUNTED(cuLinkDestroy, LIVE_LINKS, -1, (CUlinkState state), (state))

COUNTED(cuStreamCreate, LIVE_STREAMS, 1, (CUstream * made, unsigned flags), (made, flags))
COUNTED(cuStreamCreateWithPriority, LIVE_STREAMS, 1,
        (CUstream * made, unsigned flags, int priority), (made, flags, priority))
COUNTED(cuStreamDestroy_v2, LIVE_STREAMS, -1, (CUstream stream), (stream))
COUNTED(cuEventCreate, LIVE_EVENTS, 1, (CUevent * made, unsigned flags), (made, flags))
COUNTED(cuEventDestroy_v2, LIVE_EVENTS, -1, (CUevent event), (event))
COUNTED(cuStreamEndCapture, LIVE_GRAPHS, 1, (CUstream stream, CUgraph *made), (stream, made))
COUNTED(cuGraphDestroy, LIVE_GRAPHS, -1, (CUgraph graph), (graph))
COUNTED(cuGraphInstantiateWithParams, LIVE_EXECS, 1,
        (CUgraphExec * made, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
        (made, graph, params))
COUNTED(cuGraphInstantiateWithFlags, LIVE_EXECS, 1,
        (CUgraphExec * made, CUgraph graph, unsigned long long flags), (made, graph, flags))
COUNTED(cuGraphExecDestroy, LIVE_EXECS, -1, (CUgraphExec exec), (exec))

typedef void any_fn(void);

#define ENTRY(symbol)                                                                              \
    {                                                                                              \
#symbol, (any_fn *)live_##symbol                                                           \
    }
static const struct {
    const char *symbol;
    any_fn *function;
} entries[] = {
    ENTRY(cuCtxCreate_v2),
    ENTRY(cuCtxCreate_v3),
    ENTRY(cuCtxCreate_v4),
    ENTRY(cuCtxDestroy_v2),
    ENTRY(cuDevicePrimaryCtxRetain),
    ENTRY(cuDevicePrimaryCtxRelease_v2),
    ENTRY(cuCtxPushCurrent_v2),
    ENTRY(cuCtxPopCurrent_v2),
    ENTRY(cuMemAlloc_v2),
    ENTRY(cuMemAllocPitch_v2),
    ENTRY(cuMemAllocManaged),
    ENTRY(cuMemAllocAsync),
    ENTRY(cuMemAllocFromPoolAsync),
    ENTRY(cuMemFree_v2),
    ENTRY(cuMemFreeAsync),
    ENTRY(cuMemHostAlloc),
    ENTRY(cuMemFreeHost),
    ENTRY(cuMemHostRegister_v2),
    ENTRY(cuMemHostUnregister),
    ENTRY(cuArray3DCreate_v2),
    ENTRY(cuArrayDestroy),
    ENTRY(cuMemPoolCreate),
    ENTRY(cuMemPoolDestroy),
    ENTRY(cuMemAddressReserve),
    ENTRY(cuMemAddressFree),
    ENTRY(cuMemCreate),
    ENTRY(cuMemRelease),
    ENTRY(cuMemMap),
    ENTRY(cuMemUnmap),
    ENTRY(cuModuleLoadDataEx),
    ENTRY(cuModuleUnload),
    ENTRY(cuLibraryLoadData),
    ENTRY(cuLibraryUnload),
    ENTRY(cuLinkCreate_v2),
    ENTRY(cuLinkDestroy),
    ENTRY(cuStreamCreate),
    ENTRY(cuStreamCreateWithPriority),
    ENTRY(cuStreamDestroy_v2),
    ENTRY(cuEventCreate),
    ENTRY(cuEventDestroy_v2),
    ENTRY(cuStreamEndCapture),
    ENTRY(cuGraphDestroy),
    ENTRY(cuGraphInstantiateWithParams),
    ENTRY(cuGraphInstantiateWithFlags),
    ENTRY(cuGraphExecDestroy),
};

/* What is not counted is the driver's own; without cuGetProcAddress all of it is found here. */
static void *resolve(void *user, const char *symbol)
{
    void *address = dlsym(library, symbol);
    (void)user;
    if (!address || strncmp(symbol, "cuGetProcAddress", 16) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(symbol, entries[i].symbol) == 0)
            memcpy(&address, &entries[i].function, sizeof address);
    return address;
}

const struct cushim_api *live_open(void)
{
    struct cushim_options options = {.size = sizeof options, .resolver = resolve};
    driver = cushim_load(NULL);
    library = dlopen(cushim_path(cushim_load(NULL)), RTLD_NOW | RTLD_NOLOAD);
    calls = 0;
    for (int kind = 0; kind < LIVE_KINDS; kind++)
        counts[kind] = 0;
    return library ? cushim_open(&options) : NULL;
}

struct live live_now(void)
{
    struct live now;
    for (int kind = 0; kind < LIVE_KINDS; kind++)
        now.count[kind] = counts[kind];
    return now;
}

unsigned long live_calls(void)
{
    return calls;
}

void live_gone(enum live_kind kind, long many)
{
    counts[kind] -= many;
}

bool live_same(const struct live *expected)
{
    const struct live now = live_now();
    for (int kind = 0; kind < LIVE_KINDS; kind++)
        if (now.count[kind] != expected->count[kind])
            fprintf(stderr, "live %s: %ld, and before %ld\n", names[kind], now.count[kind],
                    expected->count[kind]);
    return memcmp(&now, expected, sizeof now) == 0;
}
