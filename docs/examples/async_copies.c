/* SPDX-License-Identifier: MIT */
/* Copy in, compute and copy out in several streams at once: the copies of one overlap the kernels
 * of another. Pinned host memory makes that possible; the same copies of pageable memory make the
 * caller wait. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#include "saxpy_ptx.h"

#define STREAMS 4
#define EACH (1 << 18)
#define COUNT (STREAMS * EACH)
#define BYTES (COUNT * sizeof(float))
#define PART (EACH * sizeof(float))

struct work {
    CUmodule module;
    CUfunction saxpy;
    CUstream streams[STREAMS];
    CUevent start, stop;
    CUdeviceptr x, y;  /* on the device */
    void *host, *back; /* pinned: what goes there, and what comes back */
    void *pageable;    /* of malloc: what goes there */
};

/* Everything that is waited for or costs much comes first. */
static bool prepare(const struct cushim_api *cu, struct work *work)
{
    for (int i = 0; i < STREAMS; i++)
        if (!CUSHIM_CHECK(cu->cuStreamCreate(&work->streams[i], CU_STREAM_NON_BLOCKING)))
            return false;
    return CUSHIM_CHECK(
               cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &work->module)) &&
           CUSHIM_CHECK(cushim_module_function(cu, work->module, "saxpy", &work->saxpy)) &&
           CUSHIM_CHECK(cu->cuEventCreate(&work->start, CU_EVENT_DEFAULT)) &&
           CUSHIM_CHECK(cu->cuEventCreate(&work->stop, CU_EVENT_DEFAULT)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->x)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->y)) &&
           CUSHIM_CHECK(cu->cuMemHostAlloc(&work->host, BYTES, 0)) &&
           CUSHIM_CHECK(cu->cuMemHostAlloc(&work->back, BYTES, 0));
}

/* One stream's part: nothing here waits. */
static bool enqueue(const struct cushim_api *cu, struct work *work, const void *source, int part)
{
    CUstream stream = work->streams[part];
    struct cushim_launch launch = cushim_launch_1d(EACH, 256, stream);
    size_t at = (size_t)part * PART;
    CUdeviceptr x = work->x + at, y = work->y + at;
    const char *from = (const char *)source + at;
    char *to = (char *)work->back + at;

    return CUSHIM_CHECK(cu->cuStreamWaitEvent(stream, work->start, 0)) &&
           CUSHIM_CHECK(cushim_copy_to_device_async(cu, x, from, PART, stream)) &&
           CUSHIM_CHECK(cushim_fill_32_async(cu, y, 0x3f800000, EACH, stream)) && /* 1.0f */
           CUSHIM_CHECK(CUSHIM_LAUNCH(cu, work->saxpy, &launch, (unsigned)EACH, 2.0F, x, y)) &&
           CUSHIM_CHECK(cushim_copy_to_host_async(cu, to, y, PART, stream));
}

/* All parts, from pinned or from pageable memory: is every number right, and how long did it take?
 */
static bool measure(const struct cushim_api *cu, struct work *work, const void *source,
                    const char *kind)
{
    float milliseconds = 0;
    memset(work->back, 0, BYTES);
    if (!CUSHIM_CHECK(cu->cuEventRecord(work->start, work->streams[0])))
        return false;
    for (int part = 0; part < STREAMS; part++)
        if (!enqueue(cu, work, source, part))
            return false;
    for (int part = 0; part < STREAMS; part++) /* any error of the work appears here */
        if (!CUSHIM_CHECK(cu->cuStreamSynchronize(work->streams[part])))
            return false;
    if (!CUSHIM_CHECK(cu->cuEventRecord(work->stop, work->streams[0])) ||
        !CUSHIM_CHECK(cu->cuEventSynchronize(work->stop)) ||
        !CUSHIM_CHECK(cushim_event_elapsed(cu, work->start, work->stop, &milliseconds)))
        return false;
    for (int i = 0; i < COUNT; i++)
        if (((float *)work->back)[i] != fmaf(2, (float)i / 3, 1))
            return false;
    printf("%d elements in %d streams, from %s memory: %.3f ms\n", COUNT, STREAMS, kind,
           (double)milliseconds);
    return true;
}

static bool run(const struct cushim_api *cu, struct work *work)
{
    work->pageable = malloc(BYTES);
    if (!work->pageable || !prepare(cu, work))
        return false;
    for (int i = 0; i < COUNT; i++)
        ((float *)work->host)[i] = (float)i / 3;
    memcpy(work->pageable, work->host, BYTES);
    return measure(cu, work, work->host, "pinned") && measure(cu, work, work->pageable, "pageable");
}

/* After an error work may still be running that uses the memory: wait for it first. NULL is not for
 * the driver's own destroy calls. */
static bool release(const struct cushim_api *cu, const struct work *work)
{
    bool good = CUSHIM_CHECK(cushim_context_synchronize(cu, NULL));
    good &= !work->back || CUSHIM_CHECK(cu->cuMemFreeHost(work->back));
    good &= !work->host || CUSHIM_CHECK(cu->cuMemFreeHost(work->host));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->y));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->x));
    good &= !work->stop || CUSHIM_CHECK(cu->cuEventDestroy(work->stop));
    good &= !work->start || CUSHIM_CHECK(cu->cuEventDestroy(work->start));
    for (int i = 0; i < STREAMS; i++)
        good &= !work->streams[i] || CUSHIM_CHECK(cu->cuStreamDestroy(work->streams[i]));
    free(work->pageable);
    return CUSHIM_CHECK(cushim_module_unload(cu, work->module)) && good;
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
    bool good = run(cu, &work);
    good &= release(cu, &work);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
