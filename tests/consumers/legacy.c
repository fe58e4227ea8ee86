/* SPDX-License-Identifier: MIT */
/* Written for NVIDIA's cuda.h and -lcuda; nothing in it knows of cushim. */
#include <cuda.h>
#include <cudaProfiler.h>
#include <stdio.h>

#define TEXT(name) #name
#define SYMBOL(name) TEXT(name) /* which function the headers make of a name */

#ifdef __cplusplus
extern "C"
#endif
    int
    legacy_run(void);

int legacy_run(void)
{
    int version = -1, count = 0;
    const char *name = "none";
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    CUresult (*allocate)(CUdeviceptr *, size_t) = cuMemAlloc;

    printf("headers %d\n", CUDA_VERSION);
    printf("symbols %s %s %s %s\n", SYMBOL(cuMemAlloc), SYMBOL(cuLaunchKernel),
           SYMBOL(cuMemcpyHtoD), SYMBOL(cuCtxCreate));
    printf("version %d", cuDriverGetVersion(&version));
    printf(" %d\n", version);
    cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name);
    printf("error %s\n", name);
    printf("before %d %d %d %d\n", allocate(&memory, 1), cuCtxGetCurrent(&context),
           cuMemcpyHtoD(memory, &count, sizeof count), cuProfilerStart());
    printf("init %d\n", cuInit(0));
    printf("after %d\n", cuDeviceGetCount(&count));
    return 0;
}

#ifndef PLUGIN
int main(void)
{
    return legacy_run();
}
#endif
