/* SPDX-License-Identifier: MIT */
/* Capture a stream's work into a graph, and do that work many times with one call each. */
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#include "saxpy_ptx.h"

#define COUNT 1000
#define BYTES (COUNT * sizeof(float))
#define TIMES 10

struct work {
    CUstream stream;
    CUmodule module;
    CUfunction saxpy;
    CUdeviceptr x, y;
    CUgraph graph;
    CUgraphExec exec;
};

/* Between begin and end nothing is done: it is collected. */
static bool capture(const struct cushim_api *cu, struct work *work)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 256, work->stream);
    if (!CUSHIM_CHECK(cushim_capture_begin(cu, work->stream, CU_STREAM_CAPTURE_MODE_GLOBAL)))
        return false;
    if (!CUSHIM_CHECK(
            CUSHIM_LAUNCH(cu, work->saxpy, &launch, (unsigned)COUNT, 1.0F, work->x, work->y))) {
        CUSHIM_CHECK(cushim_capture_cancel(cu, work->stream));
        return false;
    }
    return CUSHIM_CHECK(cu->cuStreamEndCapture(work->stream, &work->graph));
}

static bool run(const struct cushim_api *cu, struct work *work)
{
    float numbers[COUNT];
    if (!CUSHIM_CHECK(cu->cuStreamCreate(&work->stream, CU_STREAM_NON_BLOCKING)) ||
        !CUSHIM_CHECK(
            cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &work->module)) ||
        !CUSHIM_CHECK(cushim_module_function(cu, work->module, "saxpy", &work->saxpy)) ||
        !CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->x)) ||
        !CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->y)) ||
        !CUSHIM_CHECK(cushim_fill_32_async(cu, work->x, 0x3f800000, COUNT, work->stream)) ||
        !CUSHIM_CHECK(cushim_fill_32_async(cu, work->y, 0, COUNT, work->stream)) ||
        !capture(cu, work) ||
        !CUSHIM_CHECK(cushim_graph_instantiate(cu, work->graph, 0, &work->exec)))
        return false;
    for (int i = 0; i < TIMES; i++)
        if (!CUSHIM_CHECK(cu->cuGraphLaunch(work->exec, work->stream)))
            return false;
    if (!CUSHIM_CHECK(cu->cuStreamSynchronize(work->stream)) ||
        !CUSHIM_CHECK(cushim_copy_to_host(cu, numbers, work->y, BYTES)))
        return false;
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != TIMES)
            return false;
    printf("a graph of one kernel, launched %d times: every element correct\n", TIMES);
    return true;
}

static bool release(const struct cushim_api *cu, const struct work *work)
{
    bool good = !work->exec || CUSHIM_CHECK(cu->cuGraphExecDestroy(work->exec));
    good &= !work->graph || CUSHIM_CHECK(cu->cuGraphDestroy(work->graph));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->y));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->x));
    good &= CUSHIM_CHECK(cushim_module_unload(cu, work->module));
    good &= !work->stream || CUSHIM_CHECK(cu->cuStreamDestroy(work->stream));
    return good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    struct work work = {0};
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    if (!CUSHIM_HAS(cu, cuStreamEndCapture)) {
        printf("skipped: this driver has no capture\n");
        cushim_device_leave(&gpu);
        return 77;
    }
    bool good = run(cu, &work);
    good &= release(cu, &work);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
