/* SPDX-License-Identifier: MIT */
/* Small programs, by name: in some, one stream uses what another one writes, and nothing orders
 * them. Each ends with 0 if it found what it computed, and with 1 if not. In most of them the first
 * one is done by then, if the driver begins it at once. */
#include "queued.h"

static CUdeviceptr second; /* of device memory: zeros */

static void launch(const char *name, CUdeviceptr at, unsigned value, CUstream stream)
{
    CUfunction function;
    void *values[] = {&at, &value};
    unsigned threads = strcmp(name, "spin") == 0 ? 1 : COUNT;
    OK(cu->cuModuleGetFunction(&function, module, name));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, values, NULL));
}

static void times(CUdeviceptr at, unsigned value, CUstream stream)
{
    launch("times", at, value, stream);
}

static void set(CUdeviceptr at, unsigned value, CUstream stream)
{
    OK(cu->cuMemsetD32Async(at, value, COUNT, stream));
}

static void copy_out(CUdeviceptr from, CUstream stream)
{
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, from, BYTES, stream));
}

static void follow(CUstream later, CUstream earlier)
{
    CUevent event = recorded(earlier);
    OK(cu->cuStreamWaitEvent(later, event, 0));
    OK(cu->cuEventDestroy_v2(event));
}

static void wait_both(void)
{
    OK(cu->cuStreamSynchronize(one));
    OK(cu->cuStreamSynchronize(other));
}

static void make_second(void)
{
    OK(cu->cuMemAlloc_v2(&second, BYTES));
    set(second, 0, one);
    OK(cu->cuStreamSynchronize(one));
}

static int second_has(unsigned value)
{
    int result = has(second, value);
    OK(cu->cuMemFree_v2(second));
    return result;
}

static CUgraphExec executable(CUgraph graph)
{
    CUgraphExec made;
    OK(cu->cuGraphInstantiateWithFlags(&made, graph, 0));
    OK(cu->cuGraphDestroy(graph));
    return made;
}

static CUgraph captured_add(CUstream stream)
{
    CUgraph graph;
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    add(memory, 1, stream);
    OK(cu->cuStreamEndCapture(stream, &graph));
    return graph;
}

/* --- An order is missing --- */

static int bad_kernel_then_copy(void)
{
    add(memory, 1, one);
    compute();
    copy_out(memory, other);
    wait_both();
    return are(pinned, 1);
}

static int bad_copy_then_kernel(void)
{
    for (int i = 0; i < COUNT; i++)
        pinned[i] = 5;
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    compute();
    add(memory, 1, other);
    wait_both();
    return has(memory, 6);
}

static int bad_fill_then_kernel(void)
{
    set(memory, 5, one);
    compute();
    add(memory, 1, other);
    return has(memory, 6);
}

static int bad_kernels(void)
{
    add(memory, 1, one);
    compute();
    times(memory, 3, other);
    return has(memory, 3);
}

static int bad_read_then_fill(void)
{
    copy_out(memory, one);
    compute();
    set(memory, 9, other);
    wait_both();
    return are(pinned, 0);
}

static int bad_device_copies(void)
{
    make_second();
    set(memory, 4, one);
    follow(other, one);
    add(memory, 1, one);
    compute();
    OK(cu->cuMemcpyDtoDAsync_v2(second, memory, BYTES, other));
    wait_both();
    return second_has(5);
}

static void CUDA_CB sum(void *user)
{
    unsigned *total = user;
    *total = 0;
    for (int i = 0; i < COUNT; i++)
        *total += pinned[i];
}

static int bad_host_function(void)
{
    static unsigned total;
    add(memory, 1, one);
    copy_out(memory, one);
    compute();
    OK(cu->cuLaunchHostFunc(other, sum, &total));
    wait_both();
    return total != COUNT;
}

static int bad_graph(void)
{
    CUgraphExec graph = executable(captured_add(one));
    OK(cu->cuGraphLaunch(graph, one));
    compute();
    copy_out(memory, other);
    wait_both();
    OK(cu->cuGraphExecDestroy(graph));
    return are(pinned, 1);
}

/* The second node of the graph lacks an edge. */
static int bad_edge(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = memory, .elementSize = 4, .value = 1, .width = COUNT, .height = 1};
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill.value = 2;
    OK(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    CUgraphExec made = executable(graph);
    OK(cu->cuGraphLaunch(made, one));
    OK(cu->cuStreamSynchronize(one));
    OK(cu->cuGraphExecDestroy(made));
    return has(memory, 2);
}

/* The event by which the second stream joins the capture is recorded too early. */
static int bad_capture(void)
{
    CUgraph graph;
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    follow(other, one);
    add(memory, 1, one);
    copy_out(memory, other);
    follow(one, other);
    OK(cu->cuStreamEndCapture(one, &graph));
    CUgraphExec made = executable(graph);
    OK(cu->cuGraphLaunch(made, one));
    OK(cu->cuStreamSynchronize(one));
    OK(cu->cuGraphExecDestroy(made));
    return are(pinned, 1);
}

/* Given back in a stream that does not wait for what still reads it. */
static int bad_free(void)
{
    CUdeviceptr made, next;
    OK(cu->cuMemAllocAsync(&made, BYTES, one));
    set(made, 7, one);
    follow(other, one);
    copy_out(made, one);
    compute();
    OK(cu->cuMemFreeAsync(made, other));
    OK(cu->cuMemAllocAsync(&next, BYTES, other));
    set(next, 9, other);
    OK(cu->cuMemFreeAsync(next, other));
    wait_both();
    return are(pinned, 7);
}

static int bad_event(void)
{
    CUevent event = recorded(one);
    add(memory, 1, one);
    compute();
    OK(cu->cuStreamWaitEvent(other, event, 0));
    copy_out(memory, other);
    OK(cu->cuEventDestroy_v2(event));
    wait_both();
    return are(pinned, 1);
}

/* The legacy stream does not wait for a non-blocking one. */
static int bad_non_blocking(void)
{
    add(memory, 1, one);
    compute();
    times(memory, 3, NULL);
    return has(memory, 3);
}

static int bad_per_thread(void)
{
    CUstream stream;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    add(memory, 1, stream);
    compute();
    times(memory, 3, CU_STREAM_PER_THREAD);
    OK(cu->cuStreamDestroy_v2(stream));
    return has(memory, 3);
}

/* One event of twenty is forgotten. */
static int bad_loop(void)
{
    unsigned wanted = 1;
    set(memory, 1, one);
    for (unsigned i = 0; i < 20; i++) {
        CUstream stream = i % 2 ? one : other;
        if (i != 9)
            follow(stream, i % 2 ? other : one);
        add(memory, i, stream);
        times(memory, 3, stream);
        wanted = (wanted + i) * 3;
    }
    return has(memory, wanted);
}

static int bad_managed(void)
{
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    compute();
    times(shared, 3, other);
    OK(cu->cuCtxSynchronize());
    return managed_has(shared, 3);
}

/* The stream that does not wait has older work of its own. */
static int bad_pipeline(void)
{
    make_second();
    set(second, 2, other);
    add(memory, 1, one);
    times(second, 3, other);
    compute();
    copy_out(memory, other);
    wait_both();
    return are(pinned, 1) | second_has(6);
}

/* Two kernels that need no order use the same memory, too. */
static int bad_after_halves(void)
{
    for (int i = 0; i < 2; i++)
        add(memory, 1, i ? other : one);
    compute();
    copy_out(memory, other);
    wait_both();
    return are(pinned, 2);
}

/* And the one that it does not wait for has newer work. */
static int bad_newer_work(void)
{
    make_second();
    add(memory, 1, one);
    compute();
    copy_out(memory, other);
    add(second, 1, one);
    wait_both();
    return are(pinned, 1) | second_has(1);
}

/* --- None is missing --- */

static int good_events(void)
{
    unsigned wanted = 1;
    set(memory, 1, one);
    for (unsigned i = 0; i < 20; i++) {
        CUstream stream = i % 2 ? one : other;
        follow(stream, i % 2 ? other : one);
        add(memory, i, stream);
        times(memory, 3, stream);
        wanted = (wanted + i) * 3;
    }
    return has(memory, wanted);
}

static int good_legacy(void)
{
    CUstream first, later;
    OK(cu->cuStreamCreate(&first, CU_STREAM_DEFAULT));
    OK(cu->cuStreamCreate(&later, CU_STREAM_DEFAULT));
    add(memory, 1, first);
    times(memory, 3, NULL);
    add(memory, 1, later);
    times(memory, 3, NULL);
    OK(cu->cuMemcpyDtoH_v2(plain, memory, BYTES));
    OK(cu->cuStreamDestroy_v2(first));
    OK(cu->cuStreamDestroy_v2(later));
    return are(plain, 12);
}

static int good_per_thread(void)
{
    add(memory, 1, CU_STREAM_PER_THREAD);
    times(memory, 3, NULL);
    add(memory, 1, CU_STREAM_PER_THREAD);
    OK(cu->cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return has(memory, 4);
}

/* Two branches that join, many times. */
static int good_branches(void)
{
    CUgraph graph;
    make_second();
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    set(memory, 1, one);
    follow(other, one);
    add(memory, 4, one);
    set(second, 2, other);
    add(second, 1, other);
    follow(one, other);
    times(memory, 3, one);
    times(second, 5, one);
    OK(cu->cuStreamEndCapture(one, &graph));
    CUgraphExec made = executable(graph);
    for (int i = 0; i < 10; i++)
        OK(cu->cuGraphLaunch(made, i % 2 ? one : other));
    wait_both();
    OK(cu->cuGraphExecDestroy(made));
    return has(memory, 15) | second_has(15);
}

static int good_pool(void)
{
    CUdeviceptr made;
    for (unsigned i = 1; i <= 10; i++) {
        OK(cu->cuMemAllocAsync(&made, BYTES, one));
        set(made, i, one);
        follow(other, one);
        add(made, 1, other);
        copy_out(made, other);
        follow(one, other);
        OK(cu->cuMemFreeAsync(made, one));
    }
    wait_both();
    return are(pinned, 11);
}

static int good_host_function(void)
{
    static unsigned total;
    add(memory, 1, one);
    copy_out(memory, one);
    follow(other, one);
    OK(cu->cuLaunchHostFunc(other, sum, &total));
    wait_both();
    return total != COUNT;
}

static int good_two_contexts(void)
{
    CUcontext made;
    CUmodule loaded;
    CUstream stream;
    CUdeviceptr place;
    CUfunction function;
    OK(cu->cuCtxCreate_v2(&made, 0, 0));
    OK(cu->cuModuleLoadData(&loaded, ptx));
    OK(cu->cuModuleGetFunction(&function, loaded, "add"));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAlloc_v2(&place, BYTES));
    set(place, 3, stream);
    CUfunction before = kernel;
    kernel = function;
    add(place, 1, stream);
    kernel = before;
    OK(cu->cuCtxSetCurrent(context));
    add(memory, 1, one);
    OK(cu->cuCtxSetCurrent(made));
    int result = has(place, 4);
    OK(cu->cuMemFree_v2(place));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuModuleUnload(loaded));
    OK(cu->cuCtxDestroy_v2(made));
    OK(cu->cuCtxSetCurrent(context));
    return result | has(memory, 1);
}

/* Of another device, if there is one. */
static int good_peer_copies(void)
{
    CUcontext peer;
    CUstream stream;
    CUdeviceptr place;
    CUevent event;
    int devices;
    OK(cu->cuDeviceGetCount(&devices));
    OK(cu->cuDevicePrimaryCtxRetain(&peer, devices - 1));
    OK(cu->cuCtxSetCurrent(peer));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAlloc_v2(&place, BYTES));
    set(place, 8, stream);
    event = recorded(stream);
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuStreamWaitEvent(one, event, 0));
    OK(cu->cuMemcpyPeerAsync(memory, context, place, peer, BYTES, one));
    add(memory, 1, one);
    CUevent copied = recorded(one);
    OK(cu->cuCtxSetCurrent(peer));
    OK(cu->cuStreamWaitEvent(stream, copied, 0));
    set(place, 0, stream);
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuMemFree_v2(place));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuEventDestroy_v2(copied));
    int result = has(memory, 9);
    OK(cu->cuDevicePrimaryCtxRelease_v2(devices - 1));
    return result;
}

static int good_polls(void)
{
    CUresult code;
    for (unsigned i = 1; i <= 20; i++) {
        add(memory, 1, one);
        follow(other, one);
        copy_out(memory, other);
        CUevent event = recorded(other);
        while ((code = cu->cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
            ;
        OK(code);
        OK(cu->cuEventDestroy_v2(event));
        if (are(pinned, i) != 0)
            return 1;
    }
    return 0;
}

static int good_managed(void)
{
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    follow(other, one);
    times(shared, 3, other);
    OK(cu->cuStreamSynchronize(other));
    return managed_has(shared, 3);
}

/* A stream waits for a word that a later one writes. */
static int good_waits_for_value(void)
{
    CUdeviceptr flag;
    OK(cu->cuMemHostGetDevicePointer_v2(&flag, pinned, 0));
    for (unsigned i = 1; i <= 20; i++) {
        CUstream reader = i % 2 ? one : other;
        OK(cu->cuStreamWaitValue32_v2(reader, flag, i, CU_STREAM_WAIT_VALUE_EQ));
        add(memory, 1, reader);
        OK(cu->cuStreamWriteValue32_v2(i % 2 ? other : one, flag, i, 0));
        wait_both();
    }
    return has(memory, 20);
}

/* Kernels that wait for the work of another stream, queued before or after. */
static int good_spins(void)
{
    CUdeviceptr flag;
    OK(cu->cuMemHostGetDevicePointer_v2(&flag, pinned, 0));
    launch("spin", flag, 0, one);
    add(flag, 1, other);
    wait_both();
    memset(pinned, 0, BYTES);
    add(flag, 1, other);
    launch("spin", flag, 0, one);
    OK(cu->cuStreamSynchronize(one));
    return has(flag, 1);
}

/* A kernel waits for the host. */
static int good_spins_for_host(void)
{
    CUdeviceptr flag;
    OK(cu->cuMemHostGetDevicePointer_v2(&flag, pinned, 0));
    add(memory, 1, other);
    launch("spin", flag, 0, one);
    OK(cu->cuStreamSynchronize(other));
    *(volatile unsigned *)pinned = 1;
    OK(cu->cuStreamSynchronize(one));
    return has(memory, 1);
}

static void *thread(void *user)
{
    CUstream stream = user ? other : one;
    CUdeviceptr at = user ? second : memory;
    OK(cu->cuCtxSetCurrent(context));
    for (unsigned i = 0; i < 50; i++) {
        add(at, 1, stream);
        OK(cu->cuStreamSynchronize(stream));
    }
    return NULL;
}

static int good_threads(void)
{
    pthread_t made;
    make_second();
    if (pthread_create(&made, NULL, thread, NULL) != 0)
        return 2;
    thread(&made);
    pthread_join(made, NULL);
    return has(memory, 50) | second_has(50);
}

static const struct program programs[] = {PROGRAM(bad_kernel_then_copy),
                                          PROGRAM(bad_copy_then_kernel),
                                          PROGRAM(bad_fill_then_kernel),
                                          PROGRAM(bad_kernels),
                                          PROGRAM(bad_read_then_fill),
                                          PROGRAM(bad_device_copies),
                                          PROGRAM(bad_host_function),
                                          PROGRAM(bad_graph),
                                          PROGRAM(bad_edge),
                                          PROGRAM(bad_capture),
                                          PROGRAM(bad_free),
                                          PROGRAM(bad_event),
                                          PROGRAM(bad_non_blocking),
                                          PROGRAM(bad_per_thread),
                                          PROGRAM(bad_loop),
                                          PROGRAM(bad_managed),
                                          PROGRAM(bad_pipeline),
                                          PROGRAM(bad_after_halves),
                                          PROGRAM(bad_newer_work),
                                          PROGRAM(good_events),
                                          PROGRAM(good_legacy),
                                          PROGRAM(good_per_thread),
                                          PROGRAM(good_branches),
                                          PROGRAM(good_pool),
                                          PROGRAM(good_host_function),
                                          PROGRAM(good_two_contexts),
                                          PROGRAM(good_peer_copies),
                                          PROGRAM(good_polls),
                                          PROGRAM(good_managed),
                                          PROGRAM(good_waits_for_value),
                                          PROGRAM(good_spins),
                                          PROGRAM(good_spins_for_host),
                                          PROGRAM(good_threads)};

int main(int count, char **words)
{
    return run_one(programs, sizeof programs / sizeof *programs, count, words);
}
