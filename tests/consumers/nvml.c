/* SPDX-License-Identifier: MIT */
/* Source that was written for nvml.h and -lnvidia-ml. */
#include <nvml.h>
#include <stdio.h>

int main(void)
{
    unsigned int count = 0;
    nvmlReturn_t init = nvmlInit();
    nvmlReturn_t counted = nvmlDeviceGetCount(&count);
    nvmlProcessInfo_t infos[1];
    unsigned int room = 1;
    nvmlReturn_t listed = nvmlDeviceGetComputeRunningProcesses(NULL, &room, infos);
    printf("%d %d %u %d %s\n", init, counted, count, listed, nvmlErrorString(init));
    return 0;
}
