/* SPDX-License-Identifier: MIT */
/* Small programs, by name: some forget to wait for work that they queued. Each ends with 0 if it
 * found what it computed, and with 1 if not. What has to be done by then is done meanwhile, if the
 * driver begins it at once. */
#include "queued.h"

/* --- A wait is missing --- */

static int bad_pinned(void)
{
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    compute();
    return are(pinned, 1);
}

static int bad_managed(void)
{
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    compute();
    return managed_has(shared, 1);
}

static int bad_two_streams(void)
{
    add(memory, 1, one);
    compute();
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, other));
    OK(cu->cuStreamSynchronize(other));
    return are(pinned, 1);
}

static int bad_non_blocking(void)
{
    add(memory, 1, one);
    compute();
    OK(cu->cuMemcpyDtoH_v2(plain, memory, BYTES));
    return are(plain, 1);
}

static int bad_reuse(void)
{
    for (int i = 0; i < COUNT; i++)
        pinned[i] = 1;
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    compute();
    memset(pinned, 0, BYTES);
    return has(memory, 1);
}

/* The event is recorded before the work. */
static int bad_event(void)
{
    CUevent event = recorded(one);
    add(memory, 1, one);
    compute();
    OK(cu->cuStreamWaitEvent(other, event, 0));
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, other));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamSynchronize(other));
    return are(pinned, 1);
}

/* A fill without a stream returns before it is done. */
static int bad_fill(void)
{
    OK(cu->cuMemsetD32_v2(memory, 1, COUNT));
    compute();
    add(memory, 1, one);
    OK(cu->cuStreamSynchronize(one));
    return has(memory, 2);
}

static int bad_destruction(void)
{
    CUstream stream;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    add(memory, 1, stream);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, stream));
    OK(cu->cuStreamDestroy_v2(stream));
    compute();
    return are(pinned, 1);
}

/* It asks to make the work begin, and takes no notice of the answer. */
static int bad_question(void)
{
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    (void)cu->cuStreamQuery(one);
    compute();
    return managed_has(shared, 1);
}

/* The wait of the end comes too late. */
static int bad_later_wait(void)
{
    OK(cu->cuMemcpyDtoHAsync_v2(plain, memory, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    compute();
    int result = are(pinned, 1);
    add(memory, 1, one);
    OK(cu->cuStreamSynchronize(one));
    return result;
}

/* Callbacks in a stream that does not wait for the work. The host looks now and then. */

static void CUDA_CB raise_flag(void *user)
{
    *(volatile int *)user = 1;
}

static void CUDA_CB raise_flag_of_stream(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    *(volatile int *)user = status == CUDA_SUCCESS;
}

static void poll(const volatile int *flag)
{
    while (!*flag)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int bad_host_function(void)
{
    static volatile int flag;
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuLaunchHostFunc(other, raise_flag, (void *)&flag));
    poll(&flag);
    return are(pinned, 1);
}

static int bad_callback(void)
{
    static volatile int flag;
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    OK(cu->cuStreamAddCallback(other, raise_flag_of_stream, (void *)&flag, 0));
    poll(&flag);
    return managed_has(shared, 1);
}

/* In the right stream, and before the work. */
static int bad_early_host_function(void)
{
    static volatile int flag;
    OK(cu->cuLaunchHostFunc(one, raise_flag, (void *)&flag));
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    poll(&flag);
    return are(pinned, 1);
}

/* Host memory is written again before a copy has read it. */

static void fill_pinned(unsigned value)
{
    for (int i = 0; i < COUNT; i++)
        pinned[i] = value;
}

static int bad_reuse_then_copy(void)
{
    fill_pinned(1);
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    compute();
    fill_pinned(7);
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 2);
}

/* In a loop: the second copy reads what belongs to the third. */
static int bad_reuse_in_loop(void)
{
    CUdeviceptr places[3];
    int result = 0;
    for (unsigned i = 0; i < 3; i++) {
        OK(cu->cuMemAlloc_v2(&places[i], BYTES));
        fill_pinned(i + 1);
        OK(cu->cuMemcpyHtoDAsync_v2(places[i], pinned, BYTES, one));
        if (i == 0)
            OK(cu->cuStreamSynchronize(one));
        compute();
    }
    OK(cu->cuStreamSynchronize(one));
    for (unsigned i = 0; i < 3; i++) {
        result |= has(places[i], i + 1);
        OK(cu->cuMemFree_v2(places[i]));
    }
    return result;
}

/* --- None is missing --- */

static int good_host_function(void)
{
    static volatile int flag;
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuLaunchHostFunc(one, raise_flag, (void *)&flag));
    poll(&flag);
    return are(pinned, 1);
}

static int good_callback(void)
{
    static volatile int flag;
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuStreamAddCallback(one, raise_flag_of_stream, (void *)&flag, 0));
    poll(&flag);
    return are(pinned, 1);
}

static int good_host_function_behind(void)
{
    static volatile int flag;
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    CUevent event = recorded(one);
    OK(cu->cuStreamWaitEvent(other, event, 0));
    OK(cu->cuLaunchHostFunc(other, raise_flag, (void *)&flag));
    OK(cu->cuEventDestroy_v2(event));
    poll(&flag);
    return are(pinned, 1);
}

static int good_reuse(void)
{
    fill_pinned(1);
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    CUevent event = recorded(one);
    OK(cu->cuEventSynchronize(event));
    OK(cu->cuEventDestroy_v2(event));
    fill_pinned(7);
    return has(memory, 1);
}

/* Half of it is read, and the other half is written. */
static int good_halves(void)
{
    fill_pinned(1);
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES / 2, one));
    memset(pinned + COUNT / 2, 0, BYTES / 2);
    OK(cu->cuMemcpyDtoHAsync_v2(plain, memory, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    return plain[0] != 1 || plain[COUNT / 2 - 1] != 1 || plain[COUNT / 2] != 0;
}

/* The same work in the same stream: the host takes no part. */
static int good_stages(void)
{
    fill_pinned(3);
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    return has(memory, 4);
}

static int good_polls_stream(void)
{
    CUresult code;
    for (unsigned i = 1; i <= 50; i++) {
        add(memory, 1, one);
        OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
        while ((code = cu->cuStreamQuery(one)) == CUDA_ERROR_NOT_READY)
            ;
        OK(code);
        if (are(pinned, i) != 0)
            return 1;
    }
    return 0;
}

static int good_polls_event(void)
{
    CUresult code;
    add(memory, 1, one);
    CUevent event = recorded(one);
    while ((code = cu->cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
        compute();
    OK(code);
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, other));
    OK(cu->cuEventSynchronize(event = recorded(other)));
    OK(cu->cuEventDestroy_v2(event));
    return are(pinned, 1);
}

/* Nothing of the driver's tells that the work is done. */
static int good_polls_memory(void)
{
    volatile unsigned *flag = pinned;
    CUdeviceptr place;
    OK(cu->cuMemHostGetDevicePointer_v2(&place, pinned, 0));
    add(place, 1, one);
    while (*flag == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned called;

static void CUDA_CB count(void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
    called++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static int good_callbacks(void)
{
    for (unsigned i = 1; i <= 300; i++) {
        add(memory, 1, one);
        OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
        OK(cu->cuLaunchHostFunc(one, count, NULL));
        pthread_mutex_lock(&lock);
        while (called < i)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        if (are(pinned, i) != 0)
            return 1;
    }
    return 0;
}

static int good_events(void)
{
    for (unsigned i = 1; i <= 50; i++) {
        add(memory, 1, i % 2 ? one : other);
        CUevent event = recorded(i % 2 ? one : other);
        OK(cu->cuStreamWaitEvent(i % 2 ? other : one, event, 0));
        OK(cu->cuEventDestroy_v2(event));
    }
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 50);
}

static int good_graph(void)
{
    CUgraph graph;
    CUgraphExec executable;
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuStreamEndCapture(one, &graph));
    OK(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    for (unsigned i = 0; i < 10; i++)
        OK(cu->cuGraphLaunch(executable, one));
    OK(cu->cuStreamSynchronize(one));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    return are(pinned, 10);
}

static int good_managed(void)
{
    CUdeviceptr shared = managed();
    add(shared, 1, one);
    OK(cu->cuCtxSynchronize());
    return managed_has(shared, 1);
}

static int good_pool(void)
{
    CUdeviceptr made;
    for (unsigned i = 1; i <= 10; i++) {
        OK(cu->cuMemAllocAsync(&made, BYTES, one));
        OK(cu->cuMemsetD32Async(made, i, COUNT, one));
        add(made, 1, one);
        OK(cu->cuMemcpyDtoHAsync_v2(pinned, made, BYTES, one));
        OK(cu->cuMemFreeAsync(made, one));
    }
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 11);
}

/* The legacy stream waits for blocking streams, and a copy to pageable memory is done at once. */
static int good_legacy(void)
{
    CUstream stream;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    add(memory, 1, stream);
    add(memory, 1, NULL);
    add(memory, 1, stream);
    OK(cu->cuMemcpyDtoH_v2(plain, memory, BYTES));
    OK(cu->cuStreamDestroy_v2(stream));
    return are(plain, 3);
}

static int good_per_thread(void)
{
    add(memory, 1, CU_STREAM_PER_THREAD);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, CU_STREAM_PER_THREAD));
    OK(cu->cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return are(pinned, 1);
}

/* Pageable memory is read before the copy returns, and written, too. */
static int good_pageable(void)
{
    for (int i = 0; i < COUNT; i++)
        plain[i] = 1;
    OK(cu->cuMemcpyHtoDAsync_v2(memory, plain, BYTES, one));
    memset(plain, 0, BYTES);
    add(memory, 1, one);
    OK(cu->cuMemcpyDtoHAsync_v2(plain, memory, BYTES, one));
    return are(plain, 2);
}

/* --- The result is wrong for another reason --- */

static int wrong_value(void)
{
    add(memory, 2, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 1);
}

static int wrong_order(void)
{
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    add(memory, 1, one);
    OK(cu->cuStreamSynchronize(one));
    return are(pinned, 1);
}

/* It waits too late, besides. */
static int wrong_twice(void)
{
    add(memory, 2, one);
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, one));
    compute();
    int result = are(pinned, 1);
    OK(cu->cuCtxSynchronize());
    return result;
}

/* --- It is wrong without the rule, too --- */

static int plain_no_wait(void)
{
    static unsigned *large;
    enum { MANY = 1 << 22 };
    CUdeviceptr place;
    OK(cu->cuMemAlloc_v2(&place, MANY * 4));
    OK(cu->cuMemHostAlloc((void **)&large, MANY * 4, 0));
    memset(large, 0, MANY * 4);
    OK(cu->cuMemsetD32Async(place, 1, MANY, one));
    OK(cu->cuMemcpyDtoHAsync_v2(large, place, MANY * 4, one));
    unsigned last = large[MANY - 1];
    OK(cu->cuStreamSynchronize(one));
    OK(cu->cuMemFreeHost(large));
    OK(cu->cuMemFree_v2(place));
    return last != 1;
}

/* Threads that queue work at a time: one of them does not wait. */

static void *thread(void *user)
{
    unsigned *words = user;
    CUstream stream;
    CUdeviceptr place;
    unsigned wrong = 0;
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAlloc_v2(&place, BYTES));
    OK(cu->cuMemsetD32Async(place, 0, COUNT, stream));
    for (unsigned i = 1; i <= 10; i++) {
        add(place, 1, stream);
        OK(cu->cuMemcpyDtoHAsync_v2(words, place, BYTES, stream));
        if (words != pinned || i != 6)
            OK(cu->cuStreamSynchronize(stream));
        wrong |= (unsigned)are(words, i);
    }
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemFree_v2(place));
    OK(cu->cuStreamDestroy_v2(stream));
    words[0] = wrong;
    return NULL;
}

static int plain_threads(void)
{
    pthread_t made;
    unsigned *words;
    OK(cu->cuMemHostAlloc((void **)&words, BYTES, 0));
    if (pthread_create(&made, NULL, thread, words) != 0)
        return 2;
    thread(pinned);
    pthread_join(made, NULL);
    unsigned wrong = words[0] | pinned[0];
    OK(cu->cuMemFreeHost(words));
    return (int)wrong;
}

static const struct program programs[] = {PROGRAM(bad_pinned),
                                          PROGRAM(bad_managed),
                                          PROGRAM(bad_two_streams),
                                          PROGRAM(bad_non_blocking),
                                          PROGRAM(bad_reuse),
                                          PROGRAM(bad_event),
                                          PROGRAM(bad_fill),
                                          PROGRAM(bad_destruction),
                                          PROGRAM(bad_question),
                                          PROGRAM(bad_later_wait),
                                          PROGRAM(bad_host_function),
                                          PROGRAM(bad_callback),
                                          PROGRAM(bad_early_host_function),
                                          PROGRAM(bad_reuse_then_copy),
                                          PROGRAM(bad_reuse_in_loop),
                                          PROGRAM(good_host_function),
                                          PROGRAM(good_callback),
                                          PROGRAM(good_host_function_behind),
                                          PROGRAM(good_reuse),
                                          PROGRAM(good_halves),
                                          PROGRAM(good_stages),
                                          PROGRAM(good_polls_stream),
                                          PROGRAM(good_polls_event),
                                          PROGRAM(good_polls_memory),
                                          PROGRAM(good_callbacks),
                                          PROGRAM(good_events),
                                          PROGRAM(good_graph),
                                          PROGRAM(good_managed),
                                          PROGRAM(good_pool),
                                          PROGRAM(good_legacy),
                                          PROGRAM(good_per_thread),
                                          PROGRAM(good_pageable),
                                          PROGRAM(wrong_value),
                                          PROGRAM(wrong_order),
                                          PROGRAM(wrong_twice),
                                          PROGRAM(plain_no_wait),
                                          PROGRAM(plain_threads)};

int main(int count, char **words)
{
    return run_one(programs, sizeof programs / sizeof *programs, count, words);
}
