/* SPDX-License-Identifier: MIT */
/* A default stream for each thread, chosen when the driver is opened: no macro, and the helpers
 * follow. For programs that decide at run time, and for languages that bind to the library. */
#include <pthread.h>
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/stream.h>

#include "per_thread_stream.h"

#define COUNT 1000

static const struct cushim_api *cu;
static CUcontext context;
static struct hold hold;

static void *second_thread(void *memory)
{
    bool good = CUSHIM_CHECK(cu->cuCtxSetCurrent(context)) &&
                CUSHIM_CHECK(cushim_fill_32_async(cu, *(CUdeviceptr *)memory, 7, COUNT, NULL)) &&
                CUSHIM_CHECK(cu->cuStreamSynchronize(NULL));
    atomic_store(&hold.release, true);
    return good ? memory : NULL;
}

static bool use_two_threads(void)
{
    CUdeviceptr memory = 0;
    unsigned numbers[COUNT] = {0};
    pthread_t second;
    void *result = NULL;

    if (!CUSHIM_CHECK(cushim_memory_alloc(cu, sizeof numbers, &memory)))
        return false;
    bool good = CUSHIM_CHECK(cushim_stream_callback(cu, NULL, hold_up, &hold)) &&
                pthread_create(&second, NULL, second_thread, &memory) == 0 &&
                pthread_join(second, &result) == 0 && result;
    good &= CUSHIM_CHECK(cu->cuStreamSynchronize(NULL));
    good = good && CUSHIM_CHECK(cushim_copy_to_host(cu, numbers, memory, sizeof numbers)) &&
           numbers[0] == 7 && numbers[COUNT - 1] == 7;
    return CUSHIM_CHECK(cushim_memory_free(cu, memory)) && good && !atomic_load(&hold.gave_up);
}

int main(void)
{
    struct cushim_options options = {.size = sizeof options, .per_thread_default_stream = true};
    struct cushim_device_scope gpu;

    /* The process-wide driver takes the options of its first opening. */
    cu = cushim_load(&options);
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    if (cushim_remarks(cu) & CUSHIM_REMARK_NO_PER_THREAD_STREAM) {
        printf("skipped: this driver, from before CUDA 7.0, has no such streams\n");
        cushim_device_leave(&gpu);
        return 77;
    }
    context = gpu.context;
    bool good = use_two_threads();
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    puts(good ? "each thread had a default stream of its own" : "not so");
    return good ? 0 : 1;
}
