/* SPDX-License-Identifier: MIT */
/* Events. */
#include "conform.h"

static void create(void)
{
    for (unsigned flags = 0; flags < 10; flags++) {
        CUevent event = NULL;
        EACH(cu->cuEventCreate(&event, flags), "cuEventCreate flags %u", flags);
        if (event)
            MUST(cu->cuEventDestroy(event));
    }
    CUevent event = NULL;
    CALL(cu->cuEventCreate(NULL, 0));
    CALL(cu->cuEventCreate(&event, 0x100));
    CALL(cu->cuEventDestroy(NULL));
    CALL(cu->cuEventDestroy_v1(NULL));
}

static void query(void)
{
    CUevent event = conform_event();
    CUstream stream = conform_stream();
    struct gate gate;
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventSynchronize(event));
    gate_close(&gate, stream);
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventQuery(event));
    gate.open = 1;
    CALL(cu->cuEventSynchronize(event));
    VALUE("passed=%d", gate.passed);
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventQuery(NULL));
    CALL(cu->cuEventSynchronize(NULL));
    CALL(cu->cuEventRecord(NULL, stream));
    CALL(cu->cuEventDestroy(event));
}

static void elapsed(void)
{
    CUevent a = conform_event(), b = conform_event();
    float time = -5;
    CALL(cu->cuEventElapsedTime(&time, a, b));
    VALUE("time=%g", (double)time);
    CALL(cu->cuEventRecord(a, NULL));
    CALL(cu->cuEventElapsedTime(&time, a, b));
    CALL(cu->cuEventRecord(b, NULL));
    CALL(cu->cuEventSynchronize(b));
    CALL(cu->cuEventElapsedTime(&time, a, b));
    VALUE("forward=%d", time >= 0);
    CALL(cu->cuEventElapsedTime(&time, b, a));
    VALUE("backward=%d", time <= 0);
    CALL(cu->cuEventElapsedTime(&time, a, a));
    VALUE("time=%g", (double)time);
    CALL(cu->cuEventElapsedTime(NULL, a, b));
    CALL(cu->cuEventElapsedTime(&time, NULL, b));
    CALL(cu->cuEventElapsedTime(&time, a, NULL));
    CALL(cu->cuEventElapsedTime_v1(&time, a, b));
    CALL(cu->cuEventElapsedTime_v2(&time, a, b));
}

static void elapsed_pending(void)
{
    CUevent a = conform_event(), b = conform_event();
    CUstream stream = conform_stream();
    struct gate gate;
    float time = -5;
    CALL(cu->cuEventRecord(a, stream));
    gate_close(&gate, stream);
    CALL(cu->cuEventRecord(b, stream));
    CALL(cu->cuEventElapsedTime(&time, a, b));
    VALUE("time=%g", (double)time);
    gate.open = 1;
    CALL(cu->cuEventSynchronize(b));
    CALL(cu->cuEventElapsedTime(&time, a, b));
    VALUE("forward=%d", time > 0);
}

static void elapsed_without_timing(void)
{
    CUevent a = conform_event(), b = NULL;
    float time = -5;
    MUST(cu->cuEventCreate(&b, CU_EVENT_DISABLE_TIMING));
    MUST(cu->cuEventRecord(a, NULL));
    MUST(cu->cuEventRecord(b, NULL));
    MUST(cu->cuCtxSynchronize());
    CALL(cu->cuEventElapsedTime(&time, a, b));
    CALL(cu->cuEventElapsedTime(&time, b, a));
    CALL(cu->cuEventElapsedTime(&time, b, b));
}

static void record_flags(void)
{
    CUevent event = conform_event();
    CUstream stream = conform_stream();
    for (unsigned flags = 0; flags < 4; flags++)
        EACH(cu->cuEventRecordWithFlags(event, stream, flags), "cuEventRecordWithFlags %u", flags);
    CALL(cu->cuEventRecordWithFlags(NULL, stream, 0));
    CALL(cu->cuEventRecord(event, CU_STREAM_LEGACY));
    CALL(cu->cuEventRecord(event, CU_STREAM_PER_THREAD));
    CALL(cu->cuEventSynchronize(event));
}

static void record_twice(void)
{
    CUevent event = conform_event();
    CUstream a = conform_stream(), b = conform_stream();
    struct gate gate;
    gate_close(&gate, a);
    CALL(cu->cuEventRecord(event, a));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventRecord(event, b));
    CALL(cu->cuEventSynchronize(event));
    VALUE("passed=%d", gate.passed);
    gate.open = 1;
    CALL(cu->cuCtxSynchronize());
}

static void destroy_pending(void)
{
    CUevent event = conform_event();
    CUstream stream = conform_stream();
    struct gate gate;
    gate_close(&gate, stream);
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventDestroy(event));
    VALUE("passed=%d", gate.passed);
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
}

static void interprocess(void)
{
    CUevent plain = conform_event(), shared = NULL, got = NULL;
    CUipcEventHandle handle;
    memset(&handle, 0, sizeof handle);
    CALL(cu->cuEventCreate(&shared, CU_EVENT_INTERPROCESS));
    CALL(cu->cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    CALL(cu->cuIpcGetEventHandle(&handle, plain));
    CALL(cu->cuIpcGetEventHandle(NULL, plain));
    CALL(cu->cuIpcGetEventHandle(&handle, NULL));
    CALL(cu->cuIpcGetEventHandle(NULL, shared));
    CALL(cu->cuIpcOpenEventHandle(NULL, handle));
    memset(&handle, 0, sizeof handle);
    CALL(cu->cuIpcOpenEventHandle(&got, handle));
}

static void ipc_memory(void)
{
    CUdeviceptr a = conform_memory(4096), got = 0;
    CUipcMemHandle handle;
    void *host = NULL;
    memset(&handle, 0, sizeof handle);
    MUST(cu->cuMemAllocHost(&host, 64));
    CALL(cu->cuIpcOpenMemHandle(&got, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CALL(cu->cuIpcOpenMemHandle(&got, handle, 0));
    CALL(cu->cuIpcOpenMemHandle(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CALL(cu->cuIpcGetMemHandle(NULL, a));
    CALL(cu->cuIpcGetMemHandle(&handle, 0));
    CALL(cu->cuIpcGetMemHandle(&handle, 12345));
    CALL(cu->cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)host));
    CALL(cu->cuIpcCloseMemHandle(a));
    CALL(cu->cuIpcCloseMemHandle(0));
    CALL(cu->cuIpcGetMemHandle(&handle, a));
    CALL(cu->cuIpcGetMemHandle(&handle, a + 8));
    CALL(cu->cuIpcOpenMemHandle(&got, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

static const struct sequence sequences[] = {S(create, PRIMARY),
                                            S(query, PRIMARY),
                                            S(elapsed, PRIMARY),
                                            S(elapsed_pending, PRIMARY),
                                            S(elapsed_without_timing, PRIMARY),
                                            S(record_flags, PRIMARY),
                                            S(record_twice, PRIMARY),
                                            S(destroy_pending, PRIMARY),
                                            S(interprocess, PRIMARY),
                                            S(ipc_memory, PRIMARY),
                                            {0}};
const struct family event_family = {"event", sequences};
