/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of cushim, on the drop-in. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(int count, char **arguments)
{
    const CUresult expected =
        count > 1 && strcmp(arguments[1], "driver") == 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
    CUdevice device;
    CUcontext context;
    CUdeviceptr address;
    unsigned char byte = 0;
    CHECK(cuInit(0) == expected);
    if (expected != CUDA_SUCCESS)
        return 0;
    CHECK(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS);
    CHECK(cuCtxPushCurrent(context) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&address, 100) == CUDA_SUCCESS);
    CHECK(cuMemsetD8(address, 42, 100) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(&byte, address + 99, 1) == CUDA_SUCCESS);
    CHECK(byte == 42);
    CHECK(cuMemFree(address) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS);
    return 0;
}
