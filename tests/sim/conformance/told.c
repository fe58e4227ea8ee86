/* SPDX-License-Identifier: MIT */
/* What the driver tells: atomics between processors, the profiler's file. */
#include "conform.h"

#include <cushim/cudaProfiler.h>

static void told_atomics(void)
{
    CUatomicOperation operations[16];
    unsigned masks[16];
    for (int i = 0; i < 16; i++)
        operations[i] = (CUatomicOperation)i;
    for (unsigned i = 0; i < 16; i++) {
        masks[i] = 77;
        EACH(cu->cuDeviceGetHostAtomicCapabilities(masks + i, operations + i, 1, dev),
             "host atomic %u", i);
        VALUE("%u", masks[i]);
    }
    CALL(cu->cuDeviceGetHostAtomicCapabilities(NULL, operations, 1, dev));
    CALL(cu->cuDeviceGetHostAtomicCapabilities(masks, NULL, 1, dev));
    CALL(cu->cuDeviceGetHostAtomicCapabilities(masks, operations, 0, dev));
    CALL(cu->cuDeviceGetHostAtomicCapabilities(masks, operations, 1, 99));
    CALL(cu->cuDeviceGetP2PAtomicCapabilities(masks, operations, 1, dev, dev));
    CALL(cu->cuDeviceGetP2PAtomicCapabilities(NULL, operations, 1, dev, dev));
    CALL(cu->cuDeviceGetP2PAtomicCapabilities(masks, operations, 1, dev, 99));
}

static void told_profiler(void)
{
    CALL(cu->cuProfilerInitialize("a", "b", (CUoutput_mode)0));
    CALL(cu->cuProfilerInitialize(NULL, NULL, (CUoutput_mode)1));
    CALL(cu->cuProfilerStart());
    CALL(cu->cuProfilerStop());
}

static const struct sequence sequences[] = {
    S(told_atomics, PRIMARY),
    S(told_profiler, PRIMARY),
    {NULL, NULL, BARE},
};
const struct family told_family = {"told", sequences};
