/* SPDX-License-Identifier: MIT */
/* On a real device: a load wakes nothing, every slot is the driver's own symbol, both kinds of
 * default stream work, and what the driver lacks says so. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <string.h>

#include "device.h"

static void slots_are_symbols(const struct cushim_api *instance)
{
    void *driver = dlopen(cushim_path(instance), RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver);
    unsigned available = 0;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        CHECK(cushim_entry_at(i, &entry));
        struct cushim_slot slot = cushim_slot_at(instance, i);
        void *symbol = dlsym(driver, entry.symbol);
        CHECK(slot.address == symbol);
        CHECK((slot.state == CUSHIM_STATE_AVAILABLE) == !!symbol);
        available += !!symbol;
    }
    dlclose(driver);
    printf("%u of %zu slots hold the driver's own symbol, no other has one\n", available,
           cushim_entry_count());
}

static void not_yet_initialized(void)
{
    int count = 0;
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_status(cushim_load(NULL)) == CUSHIM_OK)
        CHECK(cu->cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

static void fill_and_check(const struct cushim_api *cu)
{
    CUdeviceptr memory;
    unsigned values[256];
    CALL(cu->cuMemAlloc(&memory, sizeof values));
    CALL(cu->cuMemsetD32Async(memory, 0x3f800000, 256, NULL));
    CALL(cu->cuStreamSynchronize(NULL));
    CALL(cu->cuMemcpyDtoH(values, memory, sizeof values));
    for (unsigned i = 0; i < 256; i++)
        CHECK(values[i] == 0x3f800000);
    CALL(cu->cuMemFree(memory));
}

int main(void)
{
    not_yet_initialized();
    const struct cushim_api *cu = device_or_skip();
    slots_are_symbols(cushim_load(NULL));
    CUcontext context;
    CALL(cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cu->cuCtxSetCurrent(context));
    fill_and_check(cu);

    struct cushim_options options = {.size = sizeof options, .per_thread_default_stream = true};
    const struct cushim_api *per_thread = cushim_open(&options);
    CHECK(per_thread && cushim_status(per_thread) == CUSHIM_OK);
    CHECK(per_thread->cuMemsetD32Async == cu->cuMemsetD32Async_ptsz);
    CHECK(per_thread->cuLaunchKernel == cu->cuLaunchKernel_ptsz);
    fill_and_check(per_thread);
    cushim_close(per_thread);
    printf("legacy and per-thread default streams work\n");

    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        enum cushim_state state;
        CHECK(cushim_entry_at(i, &entry));
        char text[512];
        const char *reason =
            cushim_reason(cushim_load(NULL), entry.symbol, &state, text, sizeof text);
        if (state == CUSHIM_STATE_NEWER || state == CUSHIM_STATE_ABSENT)
            printf("%s\n", reason);
    }
    CALL(cu->cuDevicePrimaryCtxRelease(0));
    return 0;
}
