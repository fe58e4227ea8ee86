/* SPDX-License-Identifier: MIT */
/* Look up the per-thread forms of functions, for which NULL is the calling thread's own stream,
 * with the driver's own cuGetProcAddress and with cushim_proc beside it.
 *
 * The traps of the driver's own:
 * - Without the flag it returns the other form. That has the same type, so no compiler notices, and
 *   NULL is then the one stream that all threads share.
 * - Per-thread forms came with 7.0. The function whose type is PFN_cuMemsetD32Async_v3020 has the
 *   per-thread type PFN_cuMemsetD32Async_v7000_ptsz, and 3020 with the flag finds nothing.
 * - Under CUDA_API_PER_THREAD_DEFAULT_STREAM the flag is the default, and plain names such as
 *   PFN_cuMemsetD32Async are the per-thread types; in another source file they are not.
 * cushim_proc takes the kind of stream by name. */
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/cudaTypedefs.h>
#include <cushim/error.h>

#define COUNT 1000

static const struct cushim_api *cu;

/* The address of a per-thread form, NULL for none. */
static void *look_up(const char *name, int version)
{
    CUdriverProcAddressQueryResult status;
    void *address = NULL;
    CUSHIM_CHECK(cu->cuGetProcAddress(name, &address, version,
                                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    return address;
}

static bool exactly(const char *name, const void *address)
{
    enum cushim_proc_status why;
    return address && cushim_proc(cu, name, 7000, CUSHIM_STREAM_PTSZ, &why) == address &&
           why == CUSHIM_PROC_EXACT;
}

static bool use_own_stream(void)
{
    PFN_cuMemsetD32Async_v7000_ptsz fill;
    PFN_cuStreamSynchronize_v7000_ptsz synchronize;
    PFN_cuLaunchKernel_v7000_ptsz launch = cu->cuLaunchKernel_ptsz; /* or by the table */
    void *addresses[] = {look_up("cuMemsetD32Async", 7000), look_up("cuStreamSynchronize", 7000),
                         look_up("cuLaunchKernel", 7000)};
    unsigned numbers[COUNT] = {0};
    CUdeviceptr memory = 0;

    if (!exactly("cuMemsetD32Async", addresses[0]) ||
        !exactly("cuStreamSynchronize", addresses[1]) || look_up("cuMemsetD32Async", 3020) ||
        memcmp(&launch, &addresses[2], sizeof launch) != 0)
        return false;
    memcpy(&fill, &addresses[0], sizeof fill);
    memcpy(&synchronize, &addresses[1], sizeof synchronize);

    if (!CUSHIM_CHECK(cu->cuMemAlloc(&memory, sizeof numbers)))
        return false;
    bool good = CUSHIM_CHECK(fill(memory, 7, COUNT, NULL)) && CUSHIM_CHECK(synchronize(NULL)) &&
                CUSHIM_CHECK(cu->cuMemcpyDtoH(numbers, memory, sizeof numbers)) &&
                numbers[0] == 7 && numbers[COUNT - 1] == 7;
    return CUSHIM_CHECK(cu->cuMemFree(memory)) && good;
}

int main(void)
{
    CUcontext context = NULL;

    cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    if (cushim_require(cu, 12000, NULL) != CUSHIM_OK) {
        puts("skipped: before 12.0 cuGetProcAddress has four arguments, and this driver is older");
        return 77;
    }
    if (!CUSHIM_CHECK(cu->cuDevicePrimaryCtxRetain(&context, 0)))
        return 1;
    bool good = CUSHIM_CHECK(cu->cuCtxSetCurrent(context)) && use_own_stream();
    good &= CUSHIM_CHECK(cu->cuDevicePrimaryCtxRelease(0));
    puts(good ? "the thread's own stream, by functions found by name" : "not so");
    return good ? 0 : 1;
}
