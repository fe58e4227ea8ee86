/* SPDX-License-Identifier: MIT */
/* Streams, events, callbacks and captured graphs on a real device, and what is refused there. */
#include <string.h>

#include <cushim/stream.h>

#include "device.h"

#define BYTES (64u << 20)

static const struct cushim_api *cu;
static CUcontext context;

/* Whatever a helper did, the context is the one of before. */
static void same_context(void)
{
    CUcontext now = NULL;
    CALL(cu->cuCtxGetCurrent(&now));
    CHECK(now == context);
}

#define REFUSED(call, code, words)                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != (code) || !strstr(cushim_last_error(), words)) {                            \
            fprintf(stderr, "%s:%d: %d: %s\n", __FILE__, __LINE__, (int)result_,                   \
                    cushim_last_error());                                                          \
            exit(1);                                                                               \
        }                                                                                          \
        printf("refused: %s\n", cushim_last_error());                                              \
        same_context();                                                                            \
    } while (0)

static void CUDA_CB set_flag(void *user)
{
    *(volatile int *)user = 1;
}

/* Work in one stream, waited for by another; times, answers, a callback between them. */
static void events(CUdeviceptr memory)
{
    const struct cushim_api *table = cu;
    CUstream first = NULL, second = NULL;
    CUevent start = NULL, end = NULL, plain = NULL;
    volatile int called = 0;
    unsigned value = 0;
    float milliseconds = -1;
    CALL(cu->cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CALL(cu->cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CALL(cu->cuEventCreate(&start, CU_EVENT_DEFAULT));
    CALL(cu->cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    CALL(cu->cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    REFUSED(cushim_event_elapsed(cu, start, end, &milliseconds), CUDA_ERROR_INVALID_HANDLE,
            "never recorded");

    CALL(cu->cuEventRecord(start, first));
    for (unsigned i = 0; i < 200; i++)
        CALL(table->cuMemsetD32Async(memory, i, BYTES / 4, first));
    CALL(cushim_stream_callback(cu, first, set_flag, (void *)&called));
    CALL(cu->cuEventRecord(end, first));
    const bool done = table->cuStreamQuery(first) == CUDA_SUCCESS;
    printf("right after 200 fills of 64 MiB the stream is %s\n", done ? "done" : "running");
    if (!done && table->cuEventQuery(end) == CUDA_ERROR_NOT_READY &&
        cushim_event_elapsed(cu, start, end, &milliseconds) != CUDA_SUCCESS) {
        CHECK(strstr(cushim_last_error(), "not done yet"));
        CHECK(milliseconds == -1);
    }
    CALL(cu->cuStreamWaitEvent(second, end, 0));
    CALL(table->cuMemcpyDtoHAsync(&value, memory + BYTES - 4, sizeof value, second));
    CALL(cu->cuStreamSynchronize(second));
    CHECK(value == 199 && called);
    CALL(cu->cuEventSynchronize(end));
    CALL(cushim_event_elapsed(cu, start, end, &milliseconds));
    CHECK(milliseconds > 0 && milliseconds < 100000);
    printf("they took %.3f ms\n", milliseconds);

    CALL(cu->cuEventRecord(plain, first));
    CALL(cu->cuEventSynchronize(plain));
    milliseconds = -1;
    REFUSED(cushim_event_elapsed(cu, start, plain, &milliseconds), CUDA_ERROR_INVALID_HANDLE,
            "CU_EVENT_DISABLE_TIMING");
    CHECK(milliseconds == -1);
    CALL(cu->cuEventDestroy(start));
    CALL(cu->cuEventDestroy(end));
    CALL(cu->cuEventDestroy(plain));
    CALL(cu->cuStreamDestroy(first));
    CALL(cu->cuStreamDestroy(second));
}

static unsigned read_word(CUdeviceptr memory)
{
    unsigned value = 0;
    CALL(cu->cuMemcpyDtoH(&value, memory, sizeof value));
    return value;
}

static void capture(CUdeviceptr memory)
{
    const struct cushim_api *table = cu;
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CALL(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(table->cuMemsetD32(memory, 1, 4));
    CALL(table->cuCtxSynchronize_v1());

    CALL(cushim_capture_begin(cu, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(table->cuMemsetD32Async(memory, 7, 4, stream));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    CHECK(graph && read_word(memory) == 1); /* collected, not done */
    CALL(cushim_graph_instantiate(cu, graph, 0, &exec));
    CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CHECK(read_word(memory) == 7);
    CALL(table->cuMemsetD32(memory, 1, 4));
    CALL(table->cuCtxSynchronize_v1());
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CHECK(read_word(memory) == 7);
    CALL(cu->cuGraphExecDestroy(exec));

    /* A capture that is given up, then one that goes wrong. */
    CALL(cushim_capture_cancel(cu, stream));
    CALL(cushim_capture_begin(cu, stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(table->cuMemsetD32Async(memory, 9, 4, stream));
    CALL(cushim_capture_cancel(cu, stream));
    CALL(cushim_capture_begin(cu, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(table->cuStreamSynchronize(stream) != CUDA_SUCCESS);
    CHECK(table->cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CALL(cushim_capture_begin(cu, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(table->cuStreamSynchronize(stream) != CUDA_SUCCESS);
    CALL(cushim_capture_cancel(cu, stream));
    REFUSED(cushim_capture_begin(cu, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "legacy default stream");
    CHECK(read_word(memory) == 7);

    CUgraph empty = NULL;
    CALL(table->cuGraphCreate(&empty, 0));
    CALL(cushim_graph_instantiate(cu, empty, 0, &exec));
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuGraphExecDestroy(exec));
    CALL(cu->cuGraphDestroy(empty));
    CALL(cu->cuStreamDestroy(stream));
    printf("captured, instantiated, launched twice; given up; spoiled\n");
}

int main(void)
{
    const struct cushim_api *table = device_or_skip();
    CUdeviceptr memory;
    cu = cushim_load(NULL);
    CALL(table->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(table->cuCtxSetCurrent(context));
    CALL(table->cuMemAlloc(&memory, BYTES));
    events(memory);
    capture(memory);
    same_context();
    CALL(table->cuMemFree(memory));
    CALL(table->cuDevicePrimaryCtxRelease(0));
    return 0;
}
