/* SPDX-License-Identifier: MIT */
/* Source as it is written for cuda.h and -lcuda, linked with the drop-in. */
#include <cushim/cuda.h>
#include <stdio.h>
#include <string.h>

#define COUNT 4096

static int failed(const char *what, CUresult result)
{
    const char *name = NULL;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name ? name : "?");
    return 1;
}

int main(void)
{
    CUresult result = cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE) {
        printf("skipped: no device\n");
        return 77;
    }
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    unsigned sent[COUNT], received[COUNT];
    if (result || (result = cuDeviceGet(&device, 0)) ||
        (result = cuDevicePrimaryCtxRetain(&context, device)) ||
        (result = cuCtxSetCurrent(context)) || (result = cuMemAlloc(&memory, sizeof sent)))
        return failed("set-up", result);
    for (unsigned i = 0; i < COUNT; i++)
        sent[i] = i * i;
    if ((result = cuMemcpyHtoD(memory, sent, sizeof sent)) ||
        (result = cuMemsetD32(memory, 7, 16)) ||
        (result = cuMemcpyDtoH(received, memory, sizeof received)))
        return failed("copy", result);
    for (unsigned i = 0; i < COUNT; i++)
        if (received[i] != (i < 16 ? 7 : sent[i])) {
            fprintf(stderr, "element %u is %u\n", i, received[i]);
            return 1;
        }
    if ((result = cuMemFree(memory)) || (result = cuDevicePrimaryCtxRelease(device)))
        return failed("release", result);
    printf("cuda.h source on the drop-in: %d elements copied, filled and checked\n", COUNT);
    return 0;
}
