/* SPDX-License-Identifier: MIT */
/* A fake libnvidia-ml.so.1 of an old driver: a few entries, and of process lists the first ABI. */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <cushim/nvml.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int fake_nvml_initialised;

EXPORT nvmlReturn_t nvmlInit(void)
{
    fake_nvml_initialised += 100; /* nobody should come here */
    return NVML_SUCCESS;
}

#ifndef FAKE_NVML_FIRST_INIT
EXPORT nvmlReturn_t nvmlInit_v2(void)
{
    fake_nvml_initialised++;
    return NVML_SUCCESS;
}
#endif

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    *deviceCount = 7;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
                                                         unsigned int *infoCount,
                                                         nvmlProcessInfo_v1_t *infos)
{
    (void)device, (void)infos;
    *infoCount = 0;
    return NVML_SUCCESS;
}

EXPORT const char *nvmlErrorString(nvmlReturn_t result)
{
    return result == NVML_SUCCESS ? "the fake's success" : "the fake's error";
}
