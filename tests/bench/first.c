/* SPDX-License-Identifier: MIT */
/*
 * first PTX
 *
 * A whole program up to its first result from a device: a kernel of kernels/vecadd.ptx adds two
 * numbers. meson.build links it once to the driver and once to the drop-in; measure_start.py runs
 * both in turns.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result = (call);                                                                  \
        if (result != CUDA_SUCCESS) {                                                              \
            fprintf(stderr, "first: %s = %d\n", #call, (int)result);                               \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(int count, char **arguments)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add;
    CUdeviceptr a, b, sum;
    int n = 1;
    float one = 1, two = 2, found = 0;
    if (count != 2)
        return 2;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, arguments[1]));
    CHECK(cuModuleGetFunction(&add, module, "vecadd"));
    CHECK(cuMemAlloc(&a, sizeof one));
    CHECK(cuMemAlloc(&b, sizeof two));
    CHECK(cuMemAlloc(&sum, sizeof found));
    CHECK(cuMemcpyHtoD(a, &one, sizeof one));
    CHECK(cuMemcpyHtoD(b, &two, sizeof two));
    void *parameters[] = {&a, &b, &sum, &n};
    CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuMemcpyDtoH(&found, sum, sizeof found));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return found == one + two ? 0 : 1;
}
