/* SPDX-License-Identifier: MIT */
/* The simulated driver as nvcuda.dll of System32: the table, both ways to fill it, the stubs, and a
 * kernel. Without an argument there is no driver. */
#include <stdio.h>
#include <string.h>

#ifdef CUSHIM_TWO_FILES
#include "cushim.h"
#else
#include <cushim/cushim.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#endif

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s: %s\n", __LINE__, #condition, cushim_last_error());                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 data)\n{\n"
                          ".reg .u64 %rd<3>; .reg .u32 %r<3>;\n"
                          "ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
                          "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r2;\n"
                          "st.global.u32 [%rd1], %r2; ret;\n}\n";

static int check_table(const struct cushim_api *cu, enum cushim_order order)
{
    struct cushim_options options = {.size = sizeof options, .order = order};
    const struct cushim_api *other = cushim_open(&options);
    struct cushim_entry entry;
    unsigned available = 0, missing = 0;
    CHECK(cushim_status(other) == CUSHIM_OK);
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        struct cushim_slot slot = cushim_slot_at(cu, i), again = cushim_slot_at(other, i);
        char text[256];
        CHECK(slot.address == again.address && slot.state == again.state);
        available += slot.state == CUSHIM_STATE_AVAILABLE;
        /* Direct3D, WGL, and what is Linux's alone. */
        if (slot.state != CUSHIM_STATE_AVAILABLE) {
            missing++;
            CHECK(strstr(cushim_reason(cu, entry.symbol, NULL, text, sizeof text), entry.symbol));
        }
    }
    printf("order %d: %u available, %u not\n", (int)order, available, missing);
    CHECK(available > 700 && missing > 10 && available + missing == cushim_entry_count());
    cushim_close(other);
    return 0;
}

static int check_proc(const struct cushim_api *cu)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult result;
    CHECK(cu->cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 0, &result) == CUDA_SUCCESS);
    CHECK(found == (void *)(uintptr_t)cu->cuMemAlloc_v2);
    CHECK(cushim_proc(cu, "cuMemAlloc", 13000, CUSHIM_STREAM_LEGACY, NULL) == found);
    return 0;
}

static int check_kernel(const struct cushim_api *cu)
{
    enum { COUNT = 64 };
    unsigned data[COUNT];
    CUcontext context;
    CUdeviceptr address = 0;
    CUmodule module;
    CUfunction function;
    for (unsigned i = 0; i < COUNT; i++)
        data[i] = i;
    CHECK(cushim_init(cu) == CUSHIM_OK);
    CHECK(cu->cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    CHECK(cu->cuCtxSetCurrent(context) == CUDA_SUCCESS);
    CHECK(cushim_memory_alloc(cu, sizeof data, &address) == CUDA_SUCCESS);
    CHECK(cushim_copy_to_device(cu, address, data, sizeof data) == CUDA_SUCCESS);
    CHECK(cushim_module_load(cu, ptx, sizeof ptx, NULL, NULL, &module) == CUDA_SUCCESS);
    CHECK(cushim_module_function(cu, module, "twice", &function) == CUDA_SUCCESS);
    void *parameters[] = {&address};
    CHECK(cu->cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, parameters, NULL) ==
          CUDA_SUCCESS);
    CHECK(cushim_copy_to_host(cu, data, address, sizeof data) == CUDA_SUCCESS);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(data[i] == 2 * i);
    CHECK(cushim_memory_free(cu, address) == CUDA_SUCCESS);
    CHECK(cushim_module_unload(cu, module) == CUDA_SUCCESS);
    CHECK(cu->cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
    return 0;
}

int main(int count, char **arguments)
{
    const bool expected = count > 1 && strcmp(arguments[1], "driver") == 0;
    const struct cushim_api *cu = cushim_load(NULL);
    printf("%s\n", cushim_message(cu));
    if (!expected) {
        CHECK(cushim_status(cu) == CUSHIM_ERROR_NOT_FOUND);
        CHECK(cu->cuInit(0) == CUDA_ERROR_NO_DEVICE);
        CHECK(strstr(cushim_message(cu), "name its nvcuda.dll in CUSHIM_LIBCUDA"));
        return 0;
    }
    CHECK(cushim_status(cu) == CUSHIM_OK && cushim_driver_version(cu) == 13050);
    CHECK(strstr(cushim_path(cu), "system32") || strstr(cushim_path(cu), "System32"));
    CHECK(cu->cuD3D11GetDevice(NULL, NULL) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(strstr(cushim_last_error(), "cuD3D11GetDevice"));
    return check_table(cu, CUSHIM_ORDER_DEFAULT) || check_table(cu, CUSHIM_ORDER_SYMBOLS) ||
           check_proc(cu) || check_kernel(cu);
}
