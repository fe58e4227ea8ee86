/* SPDX-License-Identifier: MIT */
/* Streams and events of the simulated driver: what waits for what, and that nothing is lost. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "memory_test.h"

static CUstream stream_of(unsigned flags)
{
    CUstream stream = NULL;
    OK(cu->cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent event_of(void)
{
    CUevent event = NULL;
    OK(cu->cuEventCreate(&event, 0));
    return event;
}

/* --- A journal of host functions --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal[100000];
static int written;

static void CUDA_CB write_down(void *number)
{
    pthread_mutex_lock(&lock);
    journal[written++] = (int)(intptr_t)number;
    pthread_mutex_unlock(&lock);
}

static void note(CUstream stream, int number)
{
    OK(cu->cuLaunchHostFunc(stream, write_down, (void *)(intptr_t)number));
}

/* --- Order --- */

static void test_order(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    (void)state;
    written = 0;
    for (int i = 0; i < 1000; i++)
        note(stream, i);
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(written, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(journal[i], i);
    OK(cu->cuStreamDestroy_v2(stream));
}

static void test_legacy(void **state)
{
    CUstream blocking = stream_of(CU_STREAM_DEFAULT), apart = stream_of(CU_STREAM_NON_BLOCKING);
    struct memory_gate gate;
    (void)state;
    written = 0;
    memory_gate_close(&gate, blocking);
    note(NULL, 1);     /* after the blocking stream */
    note(blocking, 2); /* after the legacy stream */
    note(apart, 3);    /* after nothing */
    OK(cu->cuStreamSynchronize(apart));
    assert_int_equal(written, 1);
    assert_int_equal(journal[0], 3);
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(NULL));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(blocking));
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(blocking));
    assert_int_equal(written, 3);
    assert_int_equal(journal[1], 1);
    assert_int_equal(journal[2], 2);
    OK(cu->cuStreamDestroy_v2(blocking));
    OK(cu->cuStreamDestroy_v2(apart));
}

static void *per_thread(void *gate)
{
    OK(cu->cuCtxSetCurrent(memory_context));
    memory_gate_close(gate, CU_STREAM_PER_THREAD);
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(CU_STREAM_PER_THREAD));
    OK(cu->cuCtxSetCurrent(NULL));
    return NULL;
}

static void test_per_thread(void **state)
{
    struct memory_gate gate;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, per_thread, &gate), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    OK(cu->cuStreamQuery(CU_STREAM_PER_THREAD)); /* this thread's own */
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(NULL));
    memory_gate_open(&gate);
    OK(cu->cuCtxSynchronize());
}

static void test_event_order(void **state)
{
    CUstream first = stream_of(CU_STREAM_NON_BLOCKING), second = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = event_of();
    struct memory_gate gate;
    (void)state;
    written = 0;
    memory_gate_close(&gate, first);
    note(first, 1);
    OK(cu->cuEventRecord(event, first));
    note(first, 2); /* not waited for */
    OK(cu->cuStreamWaitEvent(second, event, 0));
    note(second, 3);
    GIVES(CUDA_ERROR_NOT_READY, cu->cuEventQuery(event));
    OK(cu->cuEventDestroy_v2(event)); /* the wait stays */
    memory_gate_open(&gate);
    OK(cu->cuCtxSynchronize());
    assert_int_equal(written, 3);
    assert_int_equal(journal[0], 1);
    OK(cu->cuStreamDestroy_v2(first));
    OK(cu->cuStreamDestroy_v2(second));
}

/* What a context waits for, the next work of its streams waits for, and that of later streams. */
static void test_context_wait(void **state)
{
    CUstream first = stream_of(CU_STREAM_NON_BLOCKING), early = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent events[] = {event_of(), event_of()};
    CUdeviceptr word = memory_of(4);
    CUcontext context;
    struct memory_gate gate;
    (void)state;
    if (!CUSHIM_HAS(cu, cuCtxWaitEvent)) {
        skip();
        return;
    }
    OK(cu->cuCtxGetCurrent(&context));
    memory_gate_close(&gate, first);
    OK(cu->cuEventRecord(events[0], first));
    OK(cu->cuCtxWaitEvent(context, events[0]));
    OK(cu->cuEventRecord(events[1], early)); /* waits for the other, too */
    OK(cu->cuCtxWaitEvent(context, events[1]));
    CUstream late = stream_of(CU_STREAM_NON_BLOCKING);
    OK(cu->cuStreamQuery(late));
    OK(cu->cuMemsetD32Async(word, 1, 1, late));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(early));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(late));
    memory_gate_open(&gate);
    OK(cu->cuCtxSynchronize());
    OK(cu->cuStreamQuery(late));
    CUstream streams[] = {first, early, late};
    for (int i = 0; i < 3; i++)
        OK(cu->cuStreamDestroy_v2(streams[i]));
    for (int i = 0; i < 2; i++)
        OK(cu->cuEventDestroy_v2(events[i]));
    OK(cu->cuMemFree_v2(word));
}

static void test_elapsed(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent first = event_of(), last = event_of();
    struct memory_gate gate;
    float time = -1;
    (void)state;
    OK(cu->cuEventRecord(first, stream));
    memory_gate_close(&gate, stream);
    OK(cu->cuEventRecord(last, stream));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuEventElapsedTime(&time, first, last));
    usleep(30000);
    memory_gate_open(&gate);
    OK(cu->cuEventSynchronize(last));
    OK(cu->cuEventElapsedTime(&time, first, last));
    assert_true(time >= 30 && time < 20000);
    OK(cu->cuEventDestroy_v2(first));
    OK(cu->cuEventDestroy_v2(last));
    OK(cu->cuStreamDestroy_v2(stream));
}

static void test_destroy_pending(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    struct memory_gate gate;
    (void)state;
    written = 0;
    memory_gate_close(&gate, stream);
    note(stream, 7);
    OK(cu->cuStreamDestroy_v2(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuStreamQuery(stream));
    assert_int_equal(written, 0);
    memory_gate_open(&gate);
    OK(cu->cuCtxSynchronize());
    assert_int_equal(written, 1);
}

/* Every stream's work blocks: all of it still runs at the same time. */
static void test_many_blocked(void **state)
{
    enum { COUNT = 64 };
    CUstream streams[COUNT], last = stream_of(CU_STREAM_NON_BLOCKING);
    struct memory_gate gates[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        streams[i] = stream_of(CU_STREAM_NON_BLOCKING);
        memory_gate_close(&gates[i], streams[i]);
    }
    written = 0;
    note(last, 1);
    OK(cu->cuStreamSynchronize(last));
    for (int i = COUNT - 1; i >= 0; i--) {
        memory_gate_open(&gates[i]);
        OK(cu->cuStreamSynchronize(streams[i]));
        OK(cu->cuStreamDestroy_v2(streams[i]));
    }
    OK(cu->cuStreamDestroy_v2(last));
}

/* --- Callbacks --- */

static CUresult inside[3];

static void CUDA_CB call_inside(CUstream stream, CUresult status, void *data)
{
    CUdeviceptr address;
    int version;
    inside[0] = cu->cuMemAlloc_v2(&address, 16);
    inside[1] = cu->cuStreamSynchronize(stream);
    inside[2] = cu->cuDriverGetVersion(&version);
    *(CUresult *)data = status;
}

static void test_callback(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUresult status = CUDA_ERROR_UNKNOWN;
    (void)state;
    OK(cu->cuStreamAddCallback(stream, call_inside, &status, 0));
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(status, CUDA_SUCCESS);
    assert_int_equal(inside[0], CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(inside[1], CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(inside[2], CUDA_SUCCESS);
    OK(cu->cuStreamDestroy_v2(stream));
}

/* --- Values --- */

static void test_values(void **state)
{
    CUstream waiter = stream_of(CU_STREAM_NON_BLOCKING), writer = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = memory_of(64);
    uint64_t wide = 0;
    (void)state;
    OK(cu->cuMemsetD8_v2(words, 0, 64));
    OK(cu->cuCtxSynchronize()); /* no stream here waits for the legacy one */
    OK(cu->cuStreamWaitValue32_v2(waiter, words, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu->cuStreamWriteValue64_v2(waiter, words + 8, UINT64_C(0x123456789a), 0));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(waiter));
    OK(cu->cuStreamWriteValue32_v2(writer, words, 4, 0));
    OK(cu->cuStreamSynchronize(writer));
    usleep(5000);
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(waiter));
    OK(cu->cuStreamWriteValue32_v2(writer, words, 5, 0));
    OK(cu->cuStreamSynchronize(waiter));
    OK(cu->cuMemcpyDtoH_v2(&wide, words + 8, sizeof wide));
    assert_true(wide == UINT64_C(0x123456789a));
    /* cyclic: 0xfffffff0 is less than 3 */
    OK(cu->cuStreamWriteValue32_v2(writer, words, 0xfffffff0U, 0));
    OK(cu->cuStreamWaitValue32_v2(writer, words, 3, CU_STREAM_WAIT_VALUE_GEQ));
    usleep(5000);
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(writer));
    OK(cu->cuStreamWriteValue32_v2(waiter, words, 4, 0));
    OK(cu->cuStreamSynchronize(writer));
    OK(cu->cuStreamWaitValue64_v2(writer, words + 8, 2, CU_STREAM_WAIT_VALUE_AND));
    OK(cu->cuStreamWaitValue64_v2(writer, words + 8, 0, CU_STREAM_WAIT_VALUE_NOR));
    OK(cu->cuStreamSynchronize(writer));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuStreamWriteValue32_v2(writer, words + 2, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuStreamWriteValue64_v2(writer, words + 64, 0, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cu->cuStreamWriteValue32_v1(writer, words, 0, 0));
    OK(cu->cuMemFree_v2(words));
    OK(cu->cuStreamDestroy_v2(waiter));
    OK(cu->cuStreamDestroy_v2(writer));
}

/* --- All at once --- */

enum { STREAMS = 8, ROUNDS = 300 };
static struct {
    CUstream stream;
    int done; /* rounds, in order */
} lines[STREAMS];
static CUevent marks[STREAMS][ROUNDS];
static int wrong;

struct step {
    int line, round, other; /* the line whose same round must be done before; -1: none */
};
static struct step steps[STREAMS][ROUNDS];

static void CUDA_CB take_step(void *data)
{
    const struct step *step = data;
    pthread_mutex_lock(&lock);
    if (lines[step->line].done != step->round ||
        (step->other >= 0 && lines[step->other].done <= step->round))
        wrong++;
    lines[step->line].done++;
    pthread_mutex_unlock(&lock);
}

/* Streams that wait for each other in a random pattern without cycles. */
static void test_pattern(void **state)
{
    (void)state;
    wrong = 0;
    for (int i = 0; i < STREAMS; i++) {
        lines[i].stream = stream_of(CU_STREAM_NON_BLOCKING);
        lines[i].done = 0;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STREAMS; i++) {
            struct step *step = &steps[i][round];
            *step = (struct step){i, round, i ? (int)(memory_random() % (unsigned)i) : -1};
            if (memory_random() % 3 == 0)
                step->other = -1;
            if (step->other >= 0)
                OK(cu->cuStreamWaitEvent(lines[i].stream, marks[step->other][round], 0));
            OK(cu->cuLaunchHostFunc(lines[i].stream, take_step, step));
            OK(cu->cuEventCreate(&marks[i][round], CU_EVENT_DISABLE_TIMING));
            OK(cu->cuEventRecord(marks[i][round], lines[i].stream));
        }
    OK(cu->cuCtxSynchronize());
    assert_int_equal(wrong, 0);
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(lines[i].done, ROUNDS);
        OK(cu->cuStreamDestroy_v2(lines[i].stream));
        for (int round = 0; round < ROUNDS; round++)
            OK(cu->cuEventDestroy_v2(marks[i][round]));
    }
}

static void *copy_and_wait(void *unused)
{
    OK(cu->cuCtxSetCurrent(memory_context));
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = event_of();
    CUdeviceptr address = memory_of(256);
    for (unsigned i = 0; i < 500; i++) {
        unsigned word = i, back = 0;
        OK(cu->cuMemcpyHtoDAsync_v2(address, &word, sizeof word, stream));
        OK(cu->cuEventRecord(event, stream));
        if (i % 3 == 0)
            OK(cu->cuEventSynchronize(event));
        OK(cu->cuMemcpyDtoHAsync_v2(&back, address, sizeof back, stream));
        OK(cu->cuStreamSynchronize(stream));
        assert_int_equal(back, i);
    }
    OK(cu->cuMemFree_v2(address));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuCtxSetCurrent(NULL));
    return unused;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_and_wait, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* --- Without threads --- */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CAN_REFUSE 0 /* the sanitizer has taken the name */
#else
#define CAN_REFUSE 1
static int refuse_threads, refused;

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The driver's too: the program's symbols come first. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    static create_fn *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    refused += refuse_threads;
    return refuse_threads ? EAGAIN : real(thread, attributes, start, argument);
}
#endif

/* First in the group, while the driver has no thread: all work is done all the same. */
#if CAN_REFUSE
static void test_no_threads(void **state)
{
    CUstream first = stream_of(CU_STREAM_NON_BLOCKING), second = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = event_of();
    CUdeviceptr address = memory_of(64);
    (void)state;
    refuse_threads = 1;
    written = 0;
    for (int i = 0; i < 10; i++) {
        note(i % 2 ? first : second, i);
        OK(cu->cuEventRecord(event, i % 2 ? first : second));
        OK(cu->cuStreamWaitEvent(i % 2 ? second : first, event, 0));
        OK(cu->cuMemsetD32Async(address, (unsigned)i, 16, first));
    }
    OK(cu->cuCtxSynchronize());
    refuse_threads = 0;
    assert_int_equal(written, 10);
    assert_true(refused > 0);
    OK(cu->cuMemFree_v2(address));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamDestroy_v2(first));
    OK(cu->cuStreamDestroy_v2(second));
}
#endif

static void test_no_growth(void **state)
{
    CUdeviceptr words = memory_of(400);
    size_t before = 0;
    (void)state;
    for (int i = 0; i < 30000; i++) {
        CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
        CUevent event = event_of();
        OK(cu->cuMemsetD32Async(words + 4 * (unsigned)(i % 100), 5, 1, stream));
        OK(cu->cuEventRecord(event, stream));
        OK(cu->cuStreamWaitEvent(NULL, event, 0));
        OK(cu->cuEventDestroy_v2(event));
        OK(cu->cuStreamDestroy_v2(stream));
        if (i % 100 == 99)
            OK(cu->cuCtxSynchronize());
        if (i == 10000)
            before = memory_resident();
    }
    OK(cu->cuCtxSynchronize());
    assert_true(memory_resident() < before + MIB);
    OK(cu->cuMemFree_v2(words));
}

static const struct CMUnitTest tests[] = {
#if CAN_REFUSE
    MEMORY_OWN(test_no_threads, "a real driver does not recover from having no threads"),
#endif
    MEMORY_TEST(test_order),
    MEMORY_OWN(test_legacy, "host functions of a real driver share a thread"),
    MEMORY_TEST(test_per_thread),
    MEMORY_TEST(test_event_order),
    MEMORY_TEST(test_context_wait),
    MEMORY_TEST(test_elapsed),
    MEMORY_OWN(test_destroy_pending, "driver 580 crashes"),
    MEMORY_OWN(test_many_blocked, "host functions of a real driver share a thread"),
    MEMORY_OWN(test_callback, "host functions of a real driver share a thread"),
    MEMORY_TEST(test_values),
    MEMORY_TEST(test_pattern),
    MEMORY_TEST(test_threads),
    MEMORY_TEST(test_no_growth),
};
MEMORY_MAIN("streams", tests)
