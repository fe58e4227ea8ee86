/* SPDX-License-Identifier: MIT */
/* Look functions up by name with the cuGetProcAddress of CUDA 11, which has four arguments, and
 * with cushim_proc beside it. This source is written for CUDA 11.8: plain names such as
 * PFN_cuMemAlloc are the types of that release. Headers from 13.0 on have no plain names.
 *
 * The traps of the driver's own:
 * - What it does not find is an error, CUDA_ERROR_NOT_FOUND, and the pointer stays as it was. The
 *   form of 12.0 returns success and NULL.
 * - By name and 12000 it finds a cuGetProcAddress of five arguments.
 * - With other headers a plain name is another type. In those of 12.0 PFN_cuStreamWaitValue32 is
 * the type of 8.0, and the name and CUDA_VERSION lead to the function of 11.7. cushim_proc has one
 * form, and returns the function of that version or NULL with a reason. */
#define CUSHIM_CUDA_VERSION 11080
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/cudaTypedefs.h>
#include <cushim/error.h>

#define COUNT 1000

/* The driver's own cuGetProcAddress; others find it in the library, or link to it. */
static PFN_cuGetProcAddress get_proc_address;

/* Store a function's address in `pfn`, which is a pointer to a function of any type. */
static bool look_up(const struct cushim_api *cu, const char *name, void *pfn)
{
    enum cushim_proc_status why;
    void *address = NULL;
    if (!CUSHIM_CHECK(get_proc_address(name, &address, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT)))
        return false;
    memcpy(pfn, &address, sizeof address);
    return cushim_proc(cu, name, CUDA_VERSION, CUSHIM_STREAM_LEGACY, &why) == address &&
           why == CUSHIM_PROC_EXACT;
}

static bool use_memory(const struct cushim_api *cu)
{
    PFN_cuMemAlloc allocate;
    PFN_cuMemsetD32 fill;
    PFN_cuMemcpyDtoH copy;
    PFN_cuMemFree release;
    unsigned numbers[COUNT] = {0};
    CUdeviceptr memory = 0;

    if (!look_up(cu, "cuMemAlloc", &allocate) || !look_up(cu, "cuMemsetD32", &fill) ||
        !look_up(cu, "cuMemcpyDtoH", &copy) || !look_up(cu, "cuMemFree", &release))
        return false;
    if (!CUSHIM_CHECK(allocate(&memory, sizeof numbers)))
        return false;
    bool good = CUSHIM_CHECK(fill(memory, 7, COUNT)) &&
                CUSHIM_CHECK(copy(numbers, memory, sizeof numbers)) && numbers[0] == 7 &&
                numbers[COUNT - 1] == 7;
    return CUSHIM_CHECK(release(memory)) && good;
}

/* What came with 12.0 is an error for 11080, on a driver that has it too. */
static bool look_up_newer(const struct cushim_api *cu)
{
    enum cushim_proc_status why;
    void *address = &why; /* stays */
    CUresult code =
        get_proc_address("cuCtxGetId", &address, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT);
    return code == CUDA_ERROR_NOT_FOUND && address == &why &&
           !cushim_proc(cu, "cuCtxGetId", CUDA_VERSION, CUSHIM_STREAM_LEGACY, &why);
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context = NULL;

    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    if (cushim_require(cu, 11030, NULL) != CUSHIM_OK) {
        puts("skipped: cuGetProcAddress came with 11.3, and this driver is older");
        return 77;
    }
    get_proc_address = cu->cuGetProcAddress;
    if (!CUSHIM_CHECK(cu->cuDevicePrimaryCtxRetain(&context, 0)))
        return 1;
    bool good = CUSHIM_CHECK(cu->cuCtxSetCurrent(context)) && use_memory(cu) && look_up_newer(cu);
    good &= CUSHIM_CHECK(cu->cuDevicePrimaryCtxRelease(0));
    puts(good ? "four functions of CUDA 11.8 by name did their work" : "not so");
    return good ? 0 : 1;
}
