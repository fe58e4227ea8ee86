/* SPDX-License-Identifier: MIT */
/*
 * A driver whose symbols are of every kind that a library can have. What dlsym makes of each is
 * the C library's business; the table has to agree.
 */
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

#define PLAIN(name)                                                                                \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return 0;                                                                                  \
    }
PLAIN(cuDeviceGetCount)
PLAIN(cuDeviceGet)
PLAIN(cuLaunchKernel)
PLAIN(cuGetErrorName)

static int chosen(void)
{
    return 7;
}

typedef int function(void);
function *choose(void);
function *choose(void)
{
    return chosen;
}
EXPORT int cuCtxSynchronize(void) __attribute__((ifunc("choose")));
/* Newer than the driver says it is. */
EXPORT int cuCtxSynchronize_v2(void) __attribute__((ifunc("choose")));

EXPORT _Thread_local int cuMemAlloc_v2 = 1;
EXPORT int cuMemFree_v2 = 2;

EXPORT __attribute__((weak)) int cuMemAllocHost_v2(void);
EXPORT __attribute__((weak)) int cuMemAllocHost_v2(void)
{
    return 3;
}

__asm__(".globl cuStreamCreate\n.set cuStreamCreate, 0x1234567\n"                   /* absolute */
        ".globl cuStreamQuery\n.hidden cuStreamQuery\n.set cuStreamQuery, chosen\n" /* hidden */
        ".set cuStreamDestroy_v2, chosen\n"                                         /* local */
        ".globl cuEventCreate\n.type cuEventCreate, %notype\n.set cuEventCreate, chosen\n"
        ".weak cuEventQuery\n"); /* undefined */
EXPORT int cuEventQuery(void) __attribute__((weak));
EXPORT int fake_asks(void);
EXPORT int fake_asks(void)
{
    return cuEventQuery != 0;
}
