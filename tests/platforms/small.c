/* SPDX-License-Identifier: MIT */
/*
 * One kernel on one device, by the table and a helper, or with -DDROPIN by the driver's own names.
 * Prints "ran", or the status if there is no driver.
 */
#include <stdio.h>

#ifdef DROPIN
#include <cushim/cuda.h>
#define CALL(name) name
#else
#include <cushim/cushim.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#define CALL(name) cu->name
#endif

enum { COUNT = 64 };

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 at, .param .u32 more)\n{\n"
    " .reg .u64 a, b;\n .reg .u32 i, m, v;\n"
    " ld.param.u64 a, [at];\n ld.param.u32 m, [more];\n mov.u32 i, %tid.x;\n"
    " mul.wide.u32 b, i, 4;\n add.u64 a, a, b;\n"
    " ld.global.u32 v, [a];\n add.u32 v, v, m;\n st.global.u32 [a], v;\n ret;\n}\n";

#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult code_ = (call);                                                                   \
        if (code_ != CUDA_SUCCESS) {                                                               \
            printf("error %d: %s\n", (int)code_, #call);                                           \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    unsigned numbers[COUNT], more = 7;
#ifdef DROPIN
    CUresult code = cuInit(0);
    if (code == CUDA_ERROR_NO_DEVICE) {
        printf("not-found\n");
        return 0;
    }
    TRY(code);
#else
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_status(cu) != CUSHIM_OK) {
        printf("%s\n", cushim_status_name(cushim_status(cu)));
        return 0;
    }
    TRY(CALL(cuInit)(0));
#endif
    for (unsigned i = 0; i < COUNT; i++)
        numbers[i] = i;
    TRY(CALL(cuDeviceGet)(&device, 0));
    TRY(CALL(cuDevicePrimaryCtxRetain)(&context, device));
    TRY(CALL(cuCtxSetCurrent)(context));
    TRY(CALL(cuModuleLoadData)(&module, text));
    TRY(CALL(cuModuleGetFunction)(&function, module, "add"));
    TRY(CALL(cuMemAlloc)(&memory, sizeof numbers));
    TRY(CALL(cuMemcpyHtoD)(memory, numbers, sizeof numbers));
#ifdef DROPIN
    void *parameters[] = {&memory, &more};
    TRY(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, parameters, NULL));
#else
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {COUNT, 1, 1}};
    TRY(CUSHIM_LAUNCH(cu, function, &launch, memory, more));
#endif
    TRY(CALL(cuMemcpyDtoH)(numbers, memory, sizeof numbers));
    for (unsigned i = 0; i < COUNT; i++) {
        if (numbers[i] != i + more) {
            printf("number %u is %u\n", i, numbers[i]);
            return 1;
        }
    }
    printf("ran\n");
    return 0;
}
