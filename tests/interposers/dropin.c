/* SPDX-License-Identifier: MIT */
/* A program written for -lcuda, linked with the drop-in. */
#define CUSHIM_DROPIN
#include <stdio.h>
#include <stdlib.h>

#include "spend.h"

/* The macros of cuda.h decide which of the two a plain name is; both are called here. */
CUresult CUDAAPI cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream);

int main(void)
{
    int version = 0;
    cuDriverGetVersion(&version);
    printf("version %d\n", version);
    struct spend calls = {cuInit,
                          cuDeviceGet,
                          cuDevicePrimaryCtxRetain,
                          cuCtxSetCurrent,
                          cuMemAlloc,
                          version < 11020 ? NULL : cuMemAllocAsync,
                          version < 11020 ? NULL : cuMemAllocAsync_ptsz};
    spend(&calls);
    fflush(stdout);
    _Exit(0); /* some drivers do not survive the end of a process in which they were wrapped */
}
