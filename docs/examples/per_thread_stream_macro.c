/* SPDX-License-Identifier: MIT */
/* A default stream for each thread, chosen in the source: with this macro before the header, names
 * mean their per-thread forms, as with the toolkit's cuda.h. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <pthread.h>
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>

#include "per_thread_stream.h"

#define COUNT 1000

static CUcontext context;
static struct hold hold;

/* NULL is this thread's own stream in all of these: api->cuMemsetD32Async is the table's
 * cuMemsetD32Async_ptsz. */
static void *second_thread(void *memory)
{
    const struct cushim_api *api = cushim_load(NULL);
    bool good = CUSHIM_CHECK(api->cuCtxSetCurrent(context)) &&
                CUSHIM_CHECK(api->cuMemsetD32Async(*(CUdeviceptr *)memory, 7, COUNT, NULL)) &&
                CUSHIM_CHECK(api->cuStreamSynchronize(NULL));
    atomic_store(&hold.release, true);
    return good ? memory : NULL;
}

static bool use_two_threads(const struct cushim_api *api)
{
    CUdeviceptr memory = 0;
    unsigned numbers[COUNT] = {0};
    pthread_t second;
    void *result = NULL;

    if (!CUSHIM_CHECK(api->cuMemAlloc(&memory, sizeof numbers)))
        return false;
    bool good = CUSHIM_CHECK(api->cuLaunchHostFunc(NULL, hold_up, &hold)) &&
                pthread_create(&second, NULL, second_thread, &memory) == 0 &&
                pthread_join(second, &result) == 0 && result;
    good &= CUSHIM_CHECK(api->cuStreamSynchronize(NULL));
    good = good && CUSHIM_CHECK(api->cuMemcpyDtoH(numbers, memory, sizeof numbers)) &&
           numbers[0] == 7 && numbers[COUNT - 1] == 7;
    return CUSHIM_CHECK(api->cuMemFree(memory)) && good && !atomic_load(&hold.gave_up);
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    if (!CUSHIM_HAS(cu, cuLaunchHostFunc)) {
        puts("skipped: this driver calls no functions of the host in a stream");
        cushim_device_leave(&gpu);
        return 77;
    }
    context = gpu.context;
    bool good = use_two_threads(cu);
    puts(good ? "each thread had a default stream of its own" : "not so");
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
