/* SPDX-License-Identifier: MIT */
/* A driver in which one name has two versions, and so two addresses. */
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
FUNCTION(synchronize_default, 2)
FUNCTION(synchronize_old, 1)
FUNCTION(cuDeviceGet, 0)
FUNCTION(cuDeviceGetCount, 0)
FUNCTION(cuCtxGetDevice, 0)
FUNCTION(cuCtxSetCurrent, 0)
/* The old one comes last, so that it is also the one that a look without versions finds last. */
__asm__(".symver synchronize_default, cuCtxSynchronize@@NEW\n"
        ".symver synchronize_old, cuCtxSynchronize@OLD\n");
