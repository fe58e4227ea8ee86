/* SPDX-License-Identifier: MIT */
/* Two devices or more: a thread and a context for each, all at work at once. Every thread launches
 * kernels and checks what they wrote, hands its result to the next device, works on what the one
 * before handed over, and reads its neighbour's memory where the devices can. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <pthread.h>

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#include "device.h"
#include "saxpy_ptx.h"
#include "vecadd_ptx.h"

enum { COUNT = 1 << 20, BYTES = COUNT * sizeof(float), MOST = 16, BLOCK = 256 };

/* What one thread has; its neighbours read the first four while it waits. */
struct worker {
    CUdevice device;
    CUcontext context;
    CUdeviceptr sum, inbox; /* BYTES each */
    CUdeviceptr a, b;
    CUstream stream;
    CUfunction vecadd, saxpy;
    CUmodule module, second;
    float *host;
    struct worker *before, *after; /* of a ring */
    bool reads_after;              /* its kernels can read the memory of `after` */
};

static const struct cushim_api *cu;
static bool own_contexts; /* else the primary ones */
static CUlibrary shared;  /* one for all devices; NULL: drivers before 12.0 */
static pthread_barrier_t together;

static void wait_for_all(void)
{
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void is_current(CUcontext expected)
{
    CUcontext now = NULL;
    OK(cu->cuCtxGetCurrent(&now));
    CHECK(now == expected);
}

/* Other numbers on each device, all exact in a float. */
static float number_a(CUdevice device, int i)
{
    return (float)(i % 4099 + 100 * device);
}

static float number_b(CUdevice device, int i)
{
    return (float)(i % 131) / 4 - (float)device;
}

static float sum_of(CUdevice device, int i)
{
    return number_a(device, i) + number_b(device, i);
}

/* ---- what each thread does ---- */

static void set_up(struct worker *me)
{
    is_current(NULL); /* a new thread has none, whatever the others have */
    if (own_contexts)
        OK(cushim_context_create(cu, me->device, NULL, &me->context));
    else
        OK(cushim_primary_retain(cu, me->device, &me->context));
    is_current(NULL);
    OK(cu->cuCtxPushCurrent(me->context));
    OK(cu->cuStreamCreate(&me->stream, CU_STREAM_NON_BLOCKING));
    OK(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, &me->module));
    OK(cushim_module_function(cu, me->module, "vecadd", &me->vecadd));
    CUkernel kernel = NULL;
    if (shared) {
        OK(cushim_library_kernel(cu, shared, "saxpy", &kernel));
        me->saxpy = (CUfunction)(void *)kernel;
    } else {
        OK(cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &me->second));
        OK(cushim_module_function(cu, me->second, "saxpy", &me->saxpy));
    }
    CUdeviceptr *const memory[] = {&me->sum, &me->inbox, &me->a, &me->b};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        OK(cushim_memory_alloc(cu, BYTES, memory[i]));
    void *host = NULL;
    OK(cu->cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    me->host = host;
}

static void upload(struct worker *me, CUdeviceptr to, float (*number)(CUdevice, int))
{
    for (int i = 0; i < COUNT; i++)
        me->host[i] = number(me->device, i);
    OK(cushim_copy_to_device_async(cu, to, me->host, BYTES, me->stream));
    OK(cu->cuStreamSynchronize(me->stream));
}

static void download(struct worker *me, CUdeviceptr from)
{
    OK(cushim_copy_to_host_async(cu, me->host, from, BYTES, me->stream));
    OK(cu->cuStreamSynchronize(me->stream));
}

static void add(struct worker *me)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, BLOCK, me->stream);
    upload(me, me->a, number_a);
    upload(me, me->b, number_b);
    OK(CUSHIM_LAUNCH(cu, me->vecadd, &launch, me->a, me->b, me->sum, (unsigned)COUNT));
    download(me, me->sum);
    for (int i = 0; i < COUNT; i++)
        CHECK(me->host[i] == sum_of(me->device, i));
}

/* Into the next device's memory; then work on what the one before put into this device's. */
static void hand_over(struct worker *me)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, BLOCK, me->stream);
    OK(cu->cuMemcpyPeerAsync(me->after->inbox, me->after->context, me->sum, me->context, BYTES,
                             me->stream));
    OK(cu->cuStreamSynchronize(me->stream));
    wait_for_all();
    is_current(me->context);
    OK(CUSHIM_LAUNCH(cu, me->saxpy, &launch, (unsigned)COUNT, 2.0F, me->a, me->inbox));
    download(me, me->inbox);
    for (int i = 0; i < COUNT; i++)
        CHECK(me->host[i] == fmaf(2.0F, number_a(me->device, i), sum_of(me->before->device, i)));
    wait_for_all();
}

/* A kernel here reads memory there. */
static void reach_over(struct worker *me)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, BLOCK, me->stream);
    if (me->reads_after) {
        OK(cu->cuCtxEnablePeerAccess(me->after->context, 0));
        OK(CUSHIM_LAUNCH(cu, me->vecadd, &launch, me->a, me->after->sum, me->b, (unsigned)COUNT));
        download(me, me->b);
        for (int i = 0; i < COUNT; i++)
            CHECK(me->host[i] == number_a(me->device, i) + sum_of(me->after->device, i));
        OK(cu->cuCtxDisablePeerAccess(me->after->context));
        is_current(me->context);
    }
    wait_for_all();
}

static void take_down(struct worker *me)
{
    OK(cushim_memory_free(cu, me->sum));
    OK(cushim_memory_free(cu, me->inbox));
    OK(cushim_memory_free(cu, me->a));
    OK(cushim_memory_free(cu, me->b));
    OK(cu->cuMemFreeHost(me->host));
    OK(cushim_module_unload(cu, me->second));
    OK(cushim_module_unload(cu, me->module));
    OK(cu->cuStreamDestroy(me->stream));
    is_current(me->context);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    is_current(NULL);
    wait_for_all(); /* nobody ends a context whose memory another may still read */
    if (own_contexts)
        OK(cushim_context_destroy(cu, me->context));
    else
        OK(cushim_primary_release(cu, me->device));
}

static void *work(void *argument)
{
    struct worker *me = argument;
    set_up(me);
    wait_for_all();
    add(me);
    wait_for_all();
    hand_over(me);
    reach_over(me);
    take_down(me);
    return NULL;
}

/* ---- all of them ---- */

static void run(const CUdevice *devices, int count)
{
    struct worker workers[MOST] = {{0}};
    pthread_t threads[MOST];
    struct cushim_scope scope;
    CUcontext first = NULL;
    OK(cushim_primary_retain(cu, devices[0], &first));
    OK(cushim_scope_enter(cu, first, &scope));
    if (cushim_has(cu, "cuLibraryLoadData"))
        OK(cushim_library_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &shared));
    CHECK(!pthread_barrier_init(&together, NULL, (unsigned)count));
    for (int i = 0; i < count; i++) {
        struct worker *me = &workers[i];
        int can = 0;
        me->device = devices[i];
        me->before = &workers[(i + count - 1) % count];
        me->after = &workers[(i + 1) % count];
        CALL(cu->cuDeviceCanAccessPeer(&can, devices[i], devices[(i + 1) % count]));
        me->reads_after = can;
    }
    for (int i = 0; i < count; i++)
        CHECK(!pthread_create(&threads[i], NULL, work, &workers[i]));
    for (int i = 0; i < count; i++)
        CHECK(!pthread_join(threads[i], NULL));
    CHECK(!pthread_barrier_destroy(&together));
    is_current(first);
    OK(cushim_library_unload(cu, shared));
    OK(cushim_scope_leave(&scope, CUDA_SUCCESS));
    OK(cushim_primary_release(cu, devices[0]));
    is_current(NULL);
    for (int i = 0; i < count; i++) {
        struct cushim_primary state = {.size = sizeof state};
        OK(cushim_primary_describe(cu, devices[i], &state));
        CHECK(state.retained == 0);
        printf("  device %d: every number right; %s device %d's memory\n", devices[i],
               workers[i].reads_after ? "reads" : "cannot read", workers[i].after->device);
    }
}

int main(void)
{
    CUdevice devices[MOST];
    int count = 0;
    device_or_skip();
    cu = cushim_load(NULL);
    OK(cushim_device_list(cu, devices, MOST, &count));
    count = count < MOST ? count : MOST;
    if (count < 2) {
        printf("skipped: %d device, and this needs two\n", count);
        return 77;
    }
    for (int round = 0; round < 4; round++) {
        own_contexts = round % 2 == 0;
        printf("%d devices, %s contexts:\n", count, own_contexts ? "own" : "primary");
        run(devices, count);
    }
    return 0;
}
