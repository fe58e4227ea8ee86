/* SPDX-License-Identifier: MIT */
#include "test_stream_fake.h"

#include <stdio.h>
#include <string.h>

struct fake_streams fake;
char marks[8];

static CUresult called(const char *name)
{
    size_t length = strlen(fake.calls);
    snprintf(fake.calls + length, sizeof fake.calls - length, " %s", name);
    return fake.fails && strcmp(fake.fails, name) == 0 ? fake.code : CUDA_SUCCESS;
}

/* A driver writes to its outputs on failure too. */
#define MAKE(name, type, handle, parameters)                                                       \
    static CUresult f_##name parameters                                                            \
    {                                                                                              \
        *made = (handle);                                                                          \
        return called(#name);                                                                      \
    }
#define TAKE(name, parameters)                                                                     \
    static CUresult f_##name parameters                                                            \
    {                                                                                              \
        return called(#name);                                                                      \
    }
#define UNUSED __attribute__((unused))

TAKE(cuInit, (UNUSED unsigned flags))
TAKE(cuStreamDestroy_v2, (UNUSED CUstream stream))
TAKE(cuStreamSynchronize, (UNUSED CUstream stream))
TAKE(cuStreamQuery, (UNUSED CUstream stream))
TAKE(cuStreamWaitEvent, (UNUSED CUstream stream, UNUSED CUevent event, UNUSED unsigned flags))
TAKE(cuEventDestroy_v2, (UNUSED CUevent event))
TAKE(cuEventRecord, (UNUSED CUevent event, UNUSED CUstream stream))
TAKE(cuEventSynchronize, (UNUSED CUevent event))
TAKE(cuEventQuery, (UNUSED CUevent event))
TAKE(cuStreamBeginCapture, (UNUSED CUstream stream))
TAKE(cuStreamBeginCapture_v2, (UNUSED CUstream stream, UNUSED CUstreamCaptureMode mode))
TAKE(cuGraphLaunch, (UNUSED CUgraphExec exec, UNUSED CUstream stream))
TAKE(cuGraphDestroy, (UNUSED CUgraph graph))
TAKE(cuGraphExecDestroy, (UNUSED CUgraphExec exec))
MAKE(cuEventElapsedTime, float, 2.5f, (float *made, UNUSED CUevent a, UNUSED CUevent b))
MAKE(cuEventElapsedTime_v2, float, 3.5f, (float *made, UNUSED CUevent a, UNUSED CUevent b))
MAKE(cuStreamEndCapture, CUgraph, A_GRAPH, (UNUSED CUstream stream, CUgraph *made))
MAKE(cuStreamIsCapturing, CUstreamCaptureStatus, fake.capture,
     (UNUSED CUstream stream, CUstreamCaptureStatus *made))

static CUresult f_cuDriverGetVersion(int *version)
{
    *version = fake.version;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return called("cuCtxGetStreamPriorityRange");
}

static CUresult f_cuStreamCreate(CUstream *made, unsigned flags)
{
    *made = A_STREAM;
    fake.flags = flags;
    return called("cuStreamCreate");
}

static CUresult f_cuStreamCreateWithPriority(CUstream *made, unsigned flags, int priority)
{
    *made = A_STREAM;
    fake.flags = flags;
    fake.priority = priority;
    return called("cuStreamCreateWithPriority");
}

static CUresult f_cuEventCreate(CUevent *made, unsigned flags)
{
    *made = AN_EVENT;
    fake.flags = flags;
    return called("cuEventCreate");
}

static CUresult f_cuLaunchHostFunc(UNUSED CUstream stream, CUhostFn function, void *user)
{
    fake.function = function;
    fake.user = user;
    return called("cuLaunchHostFunc");
}

static CUresult f_cuStreamAddCallback(UNUSED CUstream stream, CUstreamCallback callback, void *user,
                                      unsigned flags)
{
    assert_int_equal(flags, 0);
    fake.callback = callback;
    fake.user = user;
    return called("cuStreamAddCallback");
}

static CUresult instantiated(const char *name, CUgraphExec *made, CUgraphNode *node, char *log,
                             size_t size)
{
    *made = AN_EXEC;
    *node = NULL;
    if (fake.log && !*fake.log)
        memset(log, 'x', size); /* and no end */
    else if (fake.log)
        snprintf(log, size, "%s", fake.log);
    return called(name);
}

static CUresult f_cuGraphInstantiate(CUgraphExec *made, UNUSED CUgraph graph, CUgraphNode *node,
                                     char *log, size_t size)
{
    return instantiated("cuGraphInstantiate", made, node, log, size);
}

static CUresult f_cuGraphInstantiate_v2(CUgraphExec *made, UNUSED CUgraph graph, CUgraphNode *node,
                                        char *log, size_t size)
{
    return instantiated("cuGraphInstantiate_v2", made, node, log, size);
}

static CUresult f_cuGraphInstantiateWithFlags(CUgraphExec *made, UNUSED CUgraph graph,
                                              unsigned long long flags)
{
    *made = AN_EXEC;
    fake.graph_flags = flags;
    return called("cuGraphInstantiateWithFlags");
}

static CUresult f_cuGraphInstantiateWithParams(CUgraphExec *made, UNUSED CUgraph graph,
                                               CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    *made = AN_EXEC;
    fake.graph_flags = params->flags;
    params->result_out = fake.finding;
    return called("cuGraphInstantiateWithParams");
}

static void *resolve(void *user, const char *symbol)
{
#define ROW(name, since)                                                                           \
    {                                                                                              \
#name, (void (*)(void))f_##name, since                                                     \
    }
    static const struct {
        const char *symbol;
        void (*function)(void);
        int since;
    } symbols[] = {
        ROW(cuInit, 0),
        ROW(cuDriverGetVersion, 0),
        ROW(cuStreamCreate, 0),
        ROW(cuStreamDestroy_v2, 0),
        ROW(cuStreamSynchronize, 0),
        ROW(cuStreamQuery, 0),
        ROW(cuStreamWaitEvent, 0),
        ROW(cuStreamCreateWithPriority, 5050),
        ROW(cuCtxGetStreamPriorityRange, 5050),
        ROW(cuEventCreate, 0),
        ROW(cuEventDestroy_v2, 0),
        ROW(cuEventRecord, 0),
        ROW(cuEventSynchronize, 0),
        ROW(cuEventQuery, 0),
        ROW(cuEventElapsedTime, 0),
        ROW(cuEventElapsedTime_v2, 12080),
        ROW(cuStreamAddCallback, 5000),
        ROW(cuLaunchHostFunc, 10000),
        ROW(cuStreamBeginCapture, 10000),
        ROW(cuStreamBeginCapture_v2, 10010),
        ROW(cuStreamEndCapture, 10000),
        ROW(cuStreamIsCapturing, 10000),
        ROW(cuGraphInstantiate, 10000),
        ROW(cuGraphInstantiate_v2, 11000),
        ROW(cuGraphInstantiateWithFlags, 11040),
        ROW(cuGraphInstantiateWithParams, 12000),
        ROW(cuGraphLaunch, 10000),
        ROW(cuGraphDestroy, 10000),
        ROW(cuGraphExecDestroy, 10000),
    };
    (void)user;
    for (size_t i = 0; i < COUNT(symbols); i++)
        if (strcmp(symbols[i].symbol, symbol) == 0 && symbols[i].since <= fake.version) {
            void *address;
            memcpy(&address, &symbols[i].function, sizeof address);
            return address;
        }
    return NULL;
}

const struct cushim_api *open_version(int version)
{
    struct cushim_options options = defaults();
    memset(&fake, 0, sizeof fake);
    fake.version = version;
    options.resolver = resolve;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_last_error_clear();
    return cu;
}

void assert_calls(const char *names)
{
    assert_string_equal(fake.calls, names);
    fake.calls[0] = '\0';
}

void let_fail(const char *name, CUresult code)
{
    fake.fails = name;
    fake.code = code;
}
