/* SPDX-License-Identifier: MIT */
#include "spend.h"

#include <stdio.h>

static void spend_async(const char *name, CUresult(CUDAAPI *async)(CUdeviceptr *, size_t, CUstream))
{
    CUdeviceptr address = 0;
    if (async) {
        int little = (int)async(&address, SPEND_LITTLE, NULL);
        printf("spend %s %d %d\n", name, little, (int)async(&address, SPEND_MUCH, NULL));
    }
}

void spend(const struct spend *calls)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    CUdeviceptr address = 0;
    int code = (int)calls->init(0);
    printf("init %d\n", code);
    if (code)
        return;
    calls->device_get(&device, 0);
    calls->primary_retain(&context, device);
    calls->context_set(context);
    int little = (int)calls->alloc(&address, SPEND_LITTLE);
    printf("spend alloc %d %d\n", little, (int)calls->alloc(&address, SPEND_MUCH));
    spend_async("async", calls->async);
    spend_async("async_ptsz", calls->async_ptsz);
}
