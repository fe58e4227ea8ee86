/* SPDX-License-Identifier: MIT */
/* The CUDA runtime and the driver API in one program: memory and a stream of the runtime's, a
 * kernel launched through cushim. Both work in the device's primary context. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <cushim/context.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/module.h>

#include "saxpy_ptx.h"

#define COUNT 10000

static float x[COUNT], y[COUNT];

static bool succeeded(const char *what, cudaError_t code)
{
    if (code != cudaSuccess)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    return code == cudaSuccess;
}
#define RUNTIME(call) succeeded(#call, call)

/* The runtime makes the primary context current at the first call that needs one: cudaFree(NULL).
 * From then on the driver API works in it, too. */
static bool same_context(const struct cushim_api *cu)
{
    CUcontext current = NULL, primary = NULL;
    if (!RUNTIME(cudaSetDevice(0)) || !RUNTIME(cudaFree(NULL)) ||
        !CUSHIM_CHECK(cushim_primary_retain(cu, 0, &primary)))
        return false;
    bool good = CUSHIM_CHECK(cu->cuCtxGetCurrent(&current)) && current == primary;
    return CUSHIM_CHECK(cushim_primary_release(cu, 0)) && good; /* the runtime holds it, too */
}

/* A cudaStream_t is a CUstream, and a pointer of cudaMalloc's is a CUdeviceptr. */
static bool launch(const struct cushim_api *cu, CUfunction saxpy, void *device_x, void *device_y,
                   cudaStream_t stream)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 256, stream);
    return RUNTIME(cudaMemcpyAsync(device_x, x, sizeof x, cudaMemcpyHostToDevice, stream)) &&
           RUNTIME(cudaMemcpyAsync(device_y, y, sizeof y, cudaMemcpyHostToDevice, stream)) &&
           CUSHIM_CHECK(
               CUSHIM_LAUNCH(cu, saxpy, &launch, (unsigned)COUNT, 2.0F, device_x, device_y)) &&
           RUNTIME(cudaMemcpyAsync(y, device_y, sizeof y, cudaMemcpyDeviceToHost, stream)) &&
           RUNTIME(cudaStreamSynchronize(stream));
}

static bool run(const struct cushim_api *cu)
{
    void *device_x = NULL, *device_y = NULL;
    cudaStream_t stream = NULL;
    CUmodule module = NULL;
    CUfunction saxpy = NULL;

    bool good =
        RUNTIME(cudaMalloc(&device_x, sizeof x)) && RUNTIME(cudaMalloc(&device_y, sizeof y)) &&
        RUNTIME(cudaStreamCreate(&stream)) &&
        CUSHIM_CHECK(cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &module)) &&
        CUSHIM_CHECK(cushim_module_function(cu, module, "saxpy", &saxpy)) &&
        launch(cu, saxpy, device_x, device_y, stream);
    good &= CUSHIM_CHECK(cushim_module_unload(cu, module));
    if (stream)
        good &= RUNTIME(cudaStreamDestroy(stream));
    good &= RUNTIME(cudaFree(device_y));
    return RUNTIME(cudaFree(device_x)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUresult code = cu->cuInit(0);
    if (code != CUDA_SUCCESS) {
        printf("skipped: cuInit: %s\n", cushim_error_string(code));
        return 77;
    }
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i / 3;
        y[i] = (float)i / 7;
    }
    if (!same_context(cu) || !run(cu))
        return 1;
    for (int i = 0; i < COUNT; i++)
        if (y[i] != fmaf(2, (float)i / 3, (float)i / 7))
            return 1;
    puts("runtime's memory, driver's kernel: every element correct");
    return 0;
}
