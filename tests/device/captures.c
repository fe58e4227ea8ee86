/* SPDX-License-Identifier: MIT */
/* Which calls spoil a capture, of the thread that captures and of another, in each mode; and that
 * none does from CU_STREAM_CAPTURE_MODE_RELAXED, but a wait for the whole context. */
#include <string.h>
#include <threads.h>

#include <cushim/device.h>
#include <cushim/stream.h>

#include "device.h"

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry k() { ret; }\n";
static const struct cushim_api *cu;
static CUcontext context;

/* What a call is made with, new for each. */
static struct {
    CUstream captured, other, unused;
    CUevent event;
    CUdeviceptr memory;
    void *host, *page;
    CUgraph graph;
    CUgraphExec exec;
    CUmodule module;
    CUarray array;
    CUmemoryPool pool;
} with;

static const CUDA_ARRAY_DESCRIPTOR form = {
    .Width = 4, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
static const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};

/* The arguments of each call, and whether it spoils captures. */
#define CALLS(_)                                                                                   \
    _(cuMemAlloc, true, &(CUdeviceptr){0}, 64)                                                     \
    _(cuMemFree, true, with.memory)                                                                \
    _(cuMemAllocHost, true, &(void *){NULL}, 64)                                                   \
    _(cuMemFreeHost, true, with.host)                                                              \
    _(cuMemHostRegister, true, with.page, 4096, 0)                                                 \
    _(cuMemHostUnregister, true, (char *)with.page + 4096)                                         \
    _(cuMemAllocManaged, true, &(CUdeviceptr){0}, 64, CU_MEM_ATTACH_GLOBAL)                        \
    _(cuMemAllocAsync, true, &(CUdeviceptr){0}, 64, with.other)                                    \
    _(cuMemFreeAsync, true, with.memory, with.other)                                               \
    _(cuMemPoolCreate, true, &(CUmemoryPool){NULL}, &properties)                                   \
    _(cuMemPoolDestroy, true, with.pool)                                                           \
    _(cuMemPoolTrimTo, true, with.pool, 0)                                                         \
    _(cuArrayCreate, true, &(CUarray){NULL}, &form)                                                \
    _(cuArrayDestroy, true, with.array)                                                            \
    _(cuModuleUnload, true, with.module)                                                           \
    _(cuGraphInstantiate, true, &(CUgraphExec){NULL}, with.graph, 0)                               \
    _(cuGraphExecDestroy, true, with.exec)                                                         \
    _(cuStreamSynchronize, true, with.other)                                                       \
    _(cuStreamQuery, true, with.other)                                                             \
    _(cuEventSynchronize, true, with.event)                                                        \
    _(cuEventQuery, true, with.event)                                                              \
    _(cuModuleLoadData, false, &(CUmodule){NULL}, ptx)                                             \
    _(cuMemcpyHtoDAsync, false, with.memory, with.host, 64, with.other)                            \
    _(cuMemcpyHtoD, false, with.memory, ptx, 64)                                                   \
    _(cuMemsetD8Async, false, with.memory, 1, 64, with.other)                                      \
    _(cuGraphLaunch, false, with.exec, with.other)                                                 \
    _(cuGraphDestroy, false, with.graph)                                                           \
    _(cuStreamCreate, false, &(CUstream){NULL}, CU_STREAM_NON_BLOCKING)                            \
    _(cuStreamDestroy, false, with.unused)                                                         \
    _(cuEventCreate, false, &(CUevent){NULL}, 0)                                                   \
    _(cuEventRecord, false, with.event, with.other)                                                \
    _(cuEventDestroy, false, with.event)

#define DO(name, spoils, ...)                                                                      \
    static CUresult do_##name(void)                                                                \
    {                                                                                              \
        return cu->name(__VA_ARGS__);                                                              \
    }
CALLS(DO)
static CUresult do_cuCtxSynchronize(void)
{
    return cu->cuCtxSynchronize();
}

#define ROW(name, spoils, ...) {#name, do_##name, spoils},
static const struct row {
    const char *name;
    CUresult (*call)(void);
    bool spoils;
} rows[] = {CALLS(ROW){"cuCtxSynchronize", do_cuCtxSynchronize, true}};

static struct {
    const struct row *row;
    bool relaxed;
    CUresult code;
} asked;

static int ask(void *unused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)unused;
    CALL(cu->cuCtxSetCurrent(context));
    if (asked.relaxed)
        CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    asked.code = asked.row->call();
    if (asked.relaxed)
        CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    return 0;
}

static void make(bool pools)
{
    memset(&with, 0, sizeof with);
    CALL(cu->cuStreamCreate(&with.captured, CU_STREAM_NON_BLOCKING));
    CALL(cu->cuStreamCreate(&with.other, CU_STREAM_NON_BLOCKING));
    CALL(cu->cuStreamCreate(&with.unused, CU_STREAM_NON_BLOCKING));
    CALL(cu->cuEventCreate(&with.event, 0));
    CALL(cu->cuEventRecord(with.event, with.other));
    CALL(cu->cuMemAlloc(&with.memory, 4096));
    CALL(cu->cuMemAllocHost(&with.host, 4096));
    with.page = aligned_alloc(4096, 8192);
    CHECK(with.page);
    memset(with.page, 0, 8192);
    CALL(cu->cuMemHostRegister((char *)with.page + 4096, 4096, 0));
    CALL(cu->cuGraphCreate(&with.graph, 0));
    OK(cushim_graph_instantiate(cu, with.graph, 0, &with.exec));
    CALL(cu->cuModuleLoadData(&with.module, ptx));
    CALL(cu->cuArrayCreate(&with.array, &form));
    if (pools)
        CALL(cu->cuMemPoolCreate(&with.pool, &properties));
    CALL(cu->cuStreamSynchronize(with.other));
}

/* One of the two pages is registered, or both or none, by what the call did. */
static void free_pages(void)
{
    cu->cuMemHostUnregister(with.page);
    cu->cuMemHostUnregister((char *)with.page + 4096);
    free(with.page);
}

static void try(const struct row *row, CUstreamCaptureMode mode, bool relaxed, bool elsewhere)
{
    CUgraph graph = NULL;
    CUdeviceptr target;
    bool whole = row->call == do_cuCtxSynchronize;
    bool forbidden = !relaxed && (mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
                                  (mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && !elsewhere));
    CUresult wanted =
        whole || (row->spoils && forbidden) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;

    CALL(cu->cuMemAlloc(&target, 64));
    CALL(cu->cuStreamBeginCapture(with.captured, mode));
    CALL(cu->cuMemsetD8Async(target, 1, 64, with.captured));
    asked.row = row;
    asked.relaxed = relaxed;
    if (elsewhere) {
        thrd_t thread;
        CHECK(thrd_create(&thread, ask, NULL) == thrd_success &&
              thrd_join(thread, NULL) == thrd_success);
    } else
        ask(NULL);
    CUresult end = cu->cuStreamEndCapture(with.captured, &graph);
    if (asked.code != wanted ||
        end != (wanted ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS)) {
        fprintf(stderr, "%s, mode %d, of %s thread%s: %d, then %d\n", row->name, (int)mode,
                elsewhere ? "another" : "this", relaxed ? " that is relaxed" : "", (int)asked.code,
                (int)end);
        exit(1);
    }
    if (graph)
        CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuMemFree(target));
}

int main(void)
{
    struct cushim_device_scope scope;
    CUdevice device;
    int pools = 0;

    cu = device_or_skip();
    if (cushim_driver_version(cu) < 10010) {
        puts("skipped: captures have modes from CUDA 10.1 on");
        return 77;
    }
    CALL(cu->cuDeviceGet(&device, 0));
    OK(cushim_device_enter(cu, 0, &scope));
    CALL(cu->cuCtxGetCurrent(&context));
    if (cushim_driver_version(cu) >= 11020)
        CALL(cu->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int way = 0; way < 12; way++) {
            if (!pools && (strstr(rows[i].name, "Pool") || rows[i].call == do_cuMemAllocAsync ||
                           rows[i].call == do_cuMemFreeAsync))
                continue;
            if (rows[i].call == do_cuGraphInstantiate && !CUSHIM_HAS(cu, cuGraphInstantiate))
                continue;
            make(pools);
            try(&rows[i], (CUstreamCaptureMode)(way % 3), way / 3 % 2, way / 6);
            free_pages();
        }
    printf("%zu calls in 12 ways\n", sizeof rows / sizeof *rows);
    OK(cushim_device_leave(&scope));
    return 0;
}
