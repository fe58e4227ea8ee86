/* SPDX-License-Identifier: MIT */
/*
 * A library in front of a driver that it needs, as tools that trace or share a GPU have it:
 *
 *   WRAPPER_DRIVER  it has cuInit and cuDriverGetVersion of its own
 *   WRAPPER_ONE     it has one other entry of its own
 */
#define EXPORT __attribute__((visibility("default")))

int cuCtxCreate_v3(void);
EXPORT int fake_wrapper_needs(void);
EXPORT int fake_wrapper_needs(void) /* makes the linker keep the dependency */
{
    return cuCtxCreate_v3();
}

#ifdef WRAPPER_DRIVER
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
#endif

#ifdef WRAPPER_ONE
EXPORT int cuMemAlloc_v2(void);
EXPORT int cuMemAlloc_v2(void)
{
    return 2;
}
#endif
