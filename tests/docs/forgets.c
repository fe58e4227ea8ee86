/* SPDX-License-Identifier: MIT */
/* Two mistakes: README.md shows how the gate tells them. */
#include <stdio.h>
#include <time.h>
#include <cushim/cushim.h>
#include <cushim/device.h>

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    unsigned *numbers = NULL;
    int wrong = 0;

    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        puts(gpu.outcome.message);
        return 77;
    }
    if (CUSHIM_KEEP(&gpu.outcome, cu->cuMemAllocHost((void **)&numbers, 1024))) {
        CUdeviceptr memory = 0;
        if (CUSHIM_KEEP(&gpu.outcome, cu->cuMemAlloc(&memory, 1024))) {
            cu->cuMemsetD32(memory, 7, 256); /* a failure is ignored */
            CUSHIM_KEEP(&gpu.outcome, cu->cuMemcpyDtoHAsync(numbers, memory, 1024, NULL));
            nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL); /* other work, and no wait */
            for (int i = 0; i < 256; i++)
                wrong += numbers[i] != 7;
            CUSHIM_KEEP(&gpu.outcome, cu->cuMemFree(memory));
        }
        CUSHIM_KEEP(&gpu.outcome, cu->cuMemFreeHost(numbers));
    }
    return cushim_device_leave(&gpu) != CUDA_SUCCESS || wrong > 0;
}
