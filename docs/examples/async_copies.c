/* SPDX-License-Identifier: MIT */
/* Copy in, compute and copy out in several streams at once: the copies of one overlap the kernels
 * of another, which pinned host memory makes possible. */
#include <math.h>
#include <stdio.h>

#include <cushim/context.h>
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
};

/* Everything that is waited for or costs much comes first. */
static bool prepare(const struct cushim_api *cu, struct work *work)
{
    for (int i = 0; i < STREAMS; i++)
        if (!CUSHIM_CHECK(cushim_stream_create(cu, CU_STREAM_NON_BLOCKING, 0, &work->streams[i])))
            return false;
    return CUSHIM_CHECK(
               cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &work->module)) &&
           CUSHIM_CHECK(cushim_module_function(cu, work->module, "saxpy", &work->saxpy)) &&
           CUSHIM_CHECK(cushim_event_create(cu, CU_EVENT_DEFAULT, &work->start)) &&
           CUSHIM_CHECK(cushim_event_create(cu, CU_EVENT_DEFAULT, &work->stop)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->x)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->y)) &&
           CUSHIM_CHECK(cushim_host_alloc(cu, BYTES, 0, &work->host)) &&
           CUSHIM_CHECK(cushim_host_alloc(cu, BYTES, 0, &work->back));
}

/* One stream's part: nothing here waits. */
static bool enqueue(const struct cushim_api *cu, struct work *work, int part)
{
    CUstream stream = work->streams[part];
    struct cushim_launch launch = cushim_launch_1d(EACH, 256, stream);
    size_t at = (size_t)part * PART;
    CUdeviceptr x = work->x + at, y = work->y + at;
    const char *from = (const char *)work->host + at;
    char *to = (char *)work->back + at;

    return CUSHIM_CHECK(cushim_stream_wait(cu, stream, work->start)) &&
           CUSHIM_CHECK(cushim_copy_to_device_async(cu, x, from, PART, stream)) &&
           CUSHIM_CHECK(cushim_fill_32_async(cu, y, 0x3f800000, EACH, stream)) && /* 1.0f */
           CUSHIM_CHECK(CUSHIM_LAUNCH(cu, work->saxpy, &launch, (unsigned)EACH, 2.0F, x, y)) &&
           CUSHIM_CHECK(cushim_copy_to_host_async(cu, to, y, PART, stream));
}

static bool run(const struct cushim_api *cu, struct work *work)
{
    float milliseconds = 0;
    if (!prepare(cu, work))
        return false;
    for (int i = 0; i < COUNT; i++)
        ((float *)work->host)[i] = (float)i / 3;
    if (!CUSHIM_CHECK(cushim_event_record(cu, work->start, work->streams[0])))
        return false;
    for (int part = 0; part < STREAMS; part++)
        if (!enqueue(cu, work, part))
            return false;
    for (int part = 0; part < STREAMS; part++) /* any error of the work appears here */
        if (!CUSHIM_CHECK(cushim_stream_synchronize(cu, work->streams[part])))
            return false;
    if (!CUSHIM_CHECK(cushim_event_record(cu, work->stop, work->streams[0])) ||
        !CUSHIM_CHECK(cushim_event_synchronize(cu, work->stop)) ||
        !CUSHIM_CHECK(cushim_event_elapsed(cu, work->start, work->stop, &milliseconds)))
        return false;
    for (int i = 0; i < COUNT; i++)
        if (((float *)work->back)[i] != fmaf(2, (float)i / 3, 1))
            return false;
    printf("%d elements in %d streams: %.3f ms\n", COUNT, STREAMS, (double)milliseconds);
    return true;
}

/* After an error work may still be running that uses the memory: wait for it first. */
static bool release(const struct cushim_api *cu, const struct work *work)
{
    bool good = CUSHIM_CHECK(cushim_context_synchronize(cu, NULL));
    good &= CUSHIM_CHECK(cushim_host_free(cu, work->back));
    good &= CUSHIM_CHECK(cushim_host_free(cu, work->host));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->y));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->x));
    good &= CUSHIM_CHECK(cushim_event_destroy(cu, work->stop));
    good &= CUSHIM_CHECK(cushim_event_destroy(cu, work->start));
    for (int i = 0; i < STREAMS; i++)
        good &= CUSHIM_CHECK(cushim_stream_destroy(cu, work->streams[i]));
    return CUSHIM_CHECK(cushim_module_unload(cu, work->module)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct work work = {0};
    struct cushim_scope scope = {0};
    CUcontext context = NULL;
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    bool good = CUSHIM_CHECK(cushim_primary_retain(cu, 0, &context)) &&
                CUSHIM_CHECK(cushim_scope_enter(cu, context, &scope)) && run(cu, &work);
    if (scope.cu)
        good &= release(cu, &work);
    good &= CUSHIM_CHECK(cushim_scope_leave(&scope, CUDA_SUCCESS));
    if (context)
        good &= CUSHIM_CHECK(cushim_primary_release(cu, 0));
    return good ? 0 : 1;
}
