/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/sim.h>

/* The code under test: copies through the device. False: the CPU has to serve. */
static bool round_trip(const struct cushim_api *cu, int *numbers, size_t count)
{
    struct cushim_device_scope gpu;
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
    int numbers[] = {1, 2, 3};
    if (!cu)
        fprintf(stderr, "%s\n", cushim_last_error());
    assert(cu && cushim_driver_version(cu) == cuda);
    assert(round_trip(cu, numbers, 3) == expected);
    assert(numbers[0] == 1 && numbers[2] == 3);
    assert(!cushim_sim_unfired()); /* every rule had its effect */
    if (cushim_sim_leaks())
        fprintf(stderr, "not released: %s\n", cushim_sim_leaks());
    assert(!cushim_sim_leaks());
    cushim_close(cu);
    assert(cushim_sim_reset());
}

/* Each device of the program's choice is used, and its memory is its own. */
static void test_two_devices(void)
{
    struct cushim_sim_options options = {.size = sizeof options, .cuda = 12020, .devices = 2};
    const struct cushim_api *cu = cushim_sim_open(&options);
    int count = 0;
    assert(cu && cushim_init(cu) == CUSHIM_OK);
    assert(cu->cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 2);
    for (int device = 0; device < count; device++) {
        struct cushim_device_scope gpu;
        CUdeviceptr memory = 0;
        assert(cushim_device_enter(cu, device, &gpu) == CUDA_SUCCESS);
        assert(cushim_memory_alloc(cu, 64, &memory) == CUDA_SUCCESS);
        assert(cushim_memory_free(cu, memory) == CUDA_SUCCESS);
        assert(cushim_device_leave(&gpu) == CUDA_SUCCESS);
    }
    assert(!cushim_sim_leaks());
    cushim_close(cu);
    assert(cushim_sim_reset());
}

int main(void)
{
    test_two_devices();
    test(9000, NULL, true);
    test(12020, NULL, true);
    test(13000, "cuInit:error=NO_DEVICE", false);
    test(12020, "cuMemAlloc:error=OUT_OF_MEMORY", false);
    test(12020, "cuMemcpyDtoH:error=ILLEGAL_ADDRESS", false);
    return 0;
}
