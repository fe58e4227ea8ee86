/* SPDX-License-Identifier: MIT */
/* Events of another process: cuIpcGetEventHandle and cuIpcOpenEventHandle. */
#include "partner.h"

#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)

static CUevent shared_event(void)
{
    CUevent event = NULL;
    MUST(cu->cuEventCreate(&event, SHARED));
    return event;
}

/* Recorded by its owner behind work that waits, by the partner, and destroyed by either. */
static void event_partner(void)
{
    CUipcEventHandle handle, again;
    CUevent event = NULL, second = NULL;
    CUstream stream;
    struct gate gate;
    float time;
    partner_take(&handle, sizeof handle);
    stream = conform_stream();
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventSynchronize(event));
    partner_turn();
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuStreamWaitEvent(stream, event, 0));
    CALL(cu->cuStreamQuery(stream));
    partner_turn();
    CALL(cu->cuEventSynchronize(event));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuEventElapsedTime(&time, event, event));
    CALL(cu->cuIpcGetEventHandle(&again, event));
    VALUE("equal=%d", memcmp(&again, &handle, sizeof handle) == 0);
    CALL(cu->cuIpcOpenEventHandle(&second, handle));
    VALUE("same=%d", second == event);
    gate_close(&gate, stream);
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventQuery(second));
    partner_turn();
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    partner_turn();
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventSynchronize(event));
    CALL(cu->cuEventDestroy(event));
    CALL(cu->cuEventQuery(second));
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    CALL(cu->cuEventDestroy(second));
    CALL(cu->cuIpcOpenEventHandle(NULL, handle));
    partner_turn();
}

static void event_open(void)
{
    CUipcEventHandle handle, again;
    struct gate gate;
    partner_begin(event_partner);
    CUevent event = shared_event();
    CUstream stream = conform_stream();
    CALL(cu->cuIpcGetEventHandle(&handle, event));
    CALL(cu->cuIpcGetEventHandle(&again, event));
    VALUE("equal=%d", memcmp(&again, &handle, sizeof handle) == 0);
    partner_give(&handle, sizeof handle);
    partner_take(&again, 1);
    gate_close(&gate, stream);
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventQuery(event));
    partner_turn();
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    partner_turn();
    CALL(cu->cuEventQuery(event));
    partner_turn();
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventDestroy(event));
    partner_turn();
}

/* The owner is killed while its work waits; and after its event was done. */
static void owner_partner(void)
{
    CUipcEventHandle handle, unopened;
    CUevent event = shared_event(), other = shared_event();
    MUST(cu->cuIpcGetEventHandle(&handle, event));
    MUST(cu->cuIpcGetEventHandle(&unopened, other));
    MUST(cu->cuEventRecord(event, NULL));
    MUST(cu->cuCtxSynchronize());
    partner_give(&handle, sizeof handle);
    partner_give(&unopened, sizeof unopened);
    partner_turn();
}

static void event_orphan(void)
{
    CUipcEventHandle handle, unopened;
    CUevent event = NULL, other = NULL;
    CUstream stream;
    partner_begin(owner_partner);
    partner_take(&handle, sizeof handle);
    partner_take(&unopened, sizeof unopened);
    stream = conform_stream();
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    CALL(cu->cuEventQuery(event));
    partner_kill();
    NOTE("the owner is killed");
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuStreamWaitEvent(stream, event, 0));
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventSynchronize(event));
    CALL(cu->cuIpcOpenEventHandle(&other, handle));
    CALL(cu->cuIpcOpenEventHandle(&other, unopened));
    CALL(cu->cuEventDestroy(event));
    CALL(cu->cuCtxSynchronize());
}

/* What is no handle, and what an opened event is not for. */
static void wrong_event_partner(void)
{
    CUipcEventHandle handle, bad;
    CUevent event = NULL;
    CUcontext other = NULL;
    CUstream stream;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    partner_take(&handle, sizeof handle);
    memset(&bad, 0, sizeof bad);
    CALL(cu->cuIpcOpenEventHandle(&event, bad));
    memset(&bad, 0xff, sizeof bad);
    CALL(cu->cuIpcOpenEventHandle(&event, bad));
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    MUST(cu->cuCtxCreate_v2(&other, 0, dev));
    stream = conform_stream();
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuCtxDestroy(other));
    CALL(cu->cuCtxSetCurrent(ctx));
    stream = conform_stream();
    CALL(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    MUST(cu->cuGraphCreate(&graph, 0));
    CALL(cu->cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    CALL(cu->cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    CALL(cu->cuEventDestroy(event));
    CALL(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    partner_turn();
}

static void event_wrong(void)
{
    CUipcEventHandle handle;
    CUevent event, opened = NULL;
    partner_begin(wrong_event_partner);
    event = shared_event();
    MUST(cu->cuIpcGetEventHandle(&handle, event));
    CALL(cu->cuIpcOpenEventHandle(&opened, handle));
    partner_give(&handle, sizeof handle);
    partner_take(&handle, 1);
    CALL(cu->cuEventDestroy(event));
}

static void destroyed_partner(void)
{
    CUipcEventHandle handle;
    CUevent event = NULL;
    partner_take(&handle, sizeof handle);
    CALL(cu->cuIpcOpenEventHandle(&event, handle));
    partner_turn();
}

static void event_destroyed(void)
{
    CUipcEventHandle handle;
    partner_begin(destroyed_partner);
    CUevent event = shared_event();
    MUST(cu->cuIpcGetEventHandle(&handle, event));
    MUST(cu->cuEventDestroy(event));
    CALL(cu->cuIpcGetEventHandle(&handle, event));
    partner_give(&handle, sizeof handle);
    partner_take(&handle, 1);
}

static const struct sequence sequences[] = {
    S(event_open, BARE),      S(event_orphan, BARE), S(event_wrong, BARE),
    S(event_destroyed, BARE), {NULL, NULL, BARE},
};
const struct family share_event_family = {"share_event", sequences};
