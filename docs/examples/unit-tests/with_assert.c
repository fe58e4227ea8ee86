/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/sim.h>

/* The code under test: copies through the device. False: the CPU has to serve. */
static bool round_trip(const struct cushim_api *cu, int *numbers, size_t count)
{
    struct cushim_device_scope gpu = {.size = sizeof gpu};
    CUdeviceptr memory = 0;
    size_t bytes = count * sizeof *numbers;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS)
        return false;
    if (CUSHIM_KEEP(&gpu.outcome, cushim_memory_alloc(cu, bytes, &memory)) &&
        CUSHIM_KEEP(&gpu.outcome, cushim_copy_to_device(cu, memory, numbers, bytes)))
        CUSHIM_KEEP(&gpu.outcome, cushim_copy_to_host(cu, numbers, memory, bytes));
    CUSHIM_KEEP(&gpu.outcome, cushim_memory_free(cu, memory));
    return cushim_device_leave(&gpu) == CUDA_SUCCESS;
}

static void test(int cuda, const char *faults, bool expected)
{
    struct cushim_sim_options options = {.size = sizeof options, .cuda = cuda, .faults = faults};
    const struct cushim_api *cu = cushim_sim_open(&options);
    CUcontext held = NULL; /* its end would release what the code forgets */
    int numbers[] = {1, 2, 3};
    if (!cu)
        fprintf(stderr, "%s\n", cushim_last_error());
    assert(cu && cushim_driver_version(cu) == cuda);
    cushim_primary_retain(cu, 0, &held);
    size_t before = cushim_sim_live(NULL);
    assert(round_trip(cu, numbers, 3) == expected);
    assert(numbers[0] == 1 && numbers[2] == 3);
    assert(!cushim_sim_unfired());           /* every rule had its effect */
    assert(cushim_sim_live(NULL) == before); /* everything was released */
    if (held)
        cushim_primary_release(cu, 0);
    cushim_close(cu);
    assert(cushim_sim_reset());
}

int main(void)
{
    test(9000, NULL, true);
    test(12020, NULL, true);
    test(13000, "cuInit:error=NO_DEVICE", false);
    test(12020, "cuMemAlloc:error=OUT_OF_MEMORY", false);
    test(12020, "cuMemcpyDtoH:error=ILLEGAL_ADDRESS", false);
    return 0;
}
