/* SPDX-License-Identifier: MIT */
/* A driver in which two names have two versions, and so two addresses each. */
#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags)
{
    return (int)flags;
}

EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return 0;
}

#define FUNCTION(name, result)                                                                     \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return result;                                                                             \
    }
FUNCTION(synchronize_new, 2)
FUNCTION(synchronize_old, 1)
FUNCTION(device_new, 2)
FUNCTION(device_old, 1)
FUNCTION(cuDeviceGet, 0)
FUNCTION(cuDeviceGetCount, 0)
FUNCTION(cuCtxSetCurrent, 0)
FUNCTION(cuMemAlloc_v2, 0)
FUNCTION(cuLaunchKernel, 0)
FUNCTION(cuGetErrorName, 0)
__asm__(".symver synchronize_new, cuCtxSynchronize@@NEW\n"
        ".symver synchronize_old, cuCtxSynchronize@OLD\n"
        ".symver device_new, cuCtxGetDevice@@NEW\n"
        ".symver device_old, cuCtxGetDevice@OLD\n");
