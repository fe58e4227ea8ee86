/* SPDX-License-Identifier: MIT */
/* The tests of a program with optional GPU support, on a simulated driver: what it does where a
 * call fails, where memory runs out, on an older driver, and whether it releases what it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/sim.h>

/* --- the program --- */

/* Copies `count` numbers to the device and back; the CPU's copy serves where that is impossible. */
static const char *round_trip(const struct cushim_api *cu, int *numbers, size_t count)
{
    const char *used = "the CPU";
    size_t bytes = count * sizeof *numbers;
    CUcontext context;
    CUdeviceptr memory;

    if (cu->cuInit(0) != CUDA_SUCCESS || cu->cuDevicePrimaryCtxRetain(&context, 0) != 0)
        return used;
    if (cu->cuCtxPushCurrent(context) == CUDA_SUCCESS) {
        if (cu->cuMemAlloc(&memory, bytes) == CUDA_SUCCESS) {
            if (cu->cuMemcpyHtoD(memory, numbers, bytes) == CUDA_SUCCESS &&
                cu->cuMemcpyDtoH(numbers, memory, bytes) == CUDA_SUCCESS)
                used = "the GPU";
            cu->cuMemFree(memory);
        }
        cu->cuCtxPopCurrent(&context);
    }
    cu->cuDevicePrimaryCtxRelease_v1(0);
    return used;
}

/* --- its tests --- */

/* True where the numbers came back from `expected`, and nothing was left behind. */
static bool check(const struct cushim_api *cu, const char *faults, const char *expected)
{
    int numbers[] = {1, 2, 3};
    const char *used;

    cushim_sim_clear_faults();
    if (faults && !cushim_sim_fault(faults)) {
        fprintf(stderr, "%s\n", cushim_last_error());
        return false;
    }
    used = round_trip(cu, numbers, 3);
    cushim_sim_clear_faults();
    printf("%-40s %s, %zu left\n", faults ? faults : "no fault", used, cushim_sim_leaked(NULL));
    return strcmp(used, expected) == 0 && numbers[2] == 3 && cushim_sim_leaked(NULL) == 0;
}

int main(void)
{
    struct cushim_sim_options options = {
        .size = sizeof options, .cuda = 11080, .profile = "turing", .memory = 1 << 30};
    const struct cushim_api *cu = cushim_sim_open(&options);
    bool good;

    if (!cu) {
        fprintf(stderr, "%s\n", cushim_last_error());
        return EXIT_FAILURE;
    }
    good = cushim_driver_version(cu) == 11080 && check(cu, NULL, "the GPU");
    good &= check(cu, "cuMemAlloc:error=OUT_OF_MEMORY", "the CPU");
    good &= check(cu, "out-of-memory:after=8", "the CPU");
    good &= check(cu, "cuMemcpyDtoH:call=1,error=ILLEGAL_ADDRESS", "the CPU");
    good &= check(cu, "cuInit:error=NO_DEVICE", "the CPU");
    good &= check(cu, "*:slow=1", "the GPU");
    good &= cushim_sim_calls("cuMemcpyHtoD") > 0 && !cushim_has(cu, "cuLibraryLoadData");
    cushim_close(cu);
    printf("%s\n", good ? "as expected" : "not as expected");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
