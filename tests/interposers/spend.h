/* SPDX-License-Identifier: MIT */
/* Whether a quota holds: what a program needs to spend device memory, by whatever route. */
#ifndef SPEND_H
#define SPEND_H

#include <cushim/cushim.h>

/** The driver's functions. `async` and `async_ptsz` may be NULL. */
struct spend {
    CUresult(CUDAAPI *init)(unsigned flags);
    CUresult(CUDAAPI *device_get)(CUdevice *device, int ordinal);
    CUresult(CUDAAPI *primary_retain)(CUcontext *context, CUdevice device);
    CUresult(CUDAAPI *context_set)(CUcontext context);
    CUresult(CUDAAPI *alloc)(CUdeviceptr *address, size_t bytes);
    CUresult(CUDAAPI *async)(CUdeviceptr *address, size_t bytes, CUstream stream);
    CUresult(CUDAAPI *async_ptsz)(CUdeviceptr *address, size_t bytes, CUstream stream);
};

#define SPEND_LITTLE ((size_t)1 << 20)
#define SPEND_MUCH ((size_t)3 << 30)

/** Print a line for each kind of allocation: "spend NAME LITTLE MUCH", the results of both sizes.
 * Without a device, "init CODE" alone. */
void spend(const struct spend *calls);

#endif
