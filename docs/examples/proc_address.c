/* SPDX-License-Identifier: MIT */
/* Look functions up by name with the driver's own cuGetProcAddress, in its form since CUDA 12.0,
 * and with cushim_proc beside it. The types are those of cudaTypedefs.h; no toolkit is needed.
 *
 * The traps of the driver's own:
 * - The version to ask for is the one in the name of the type. CUDA_VERSION is the release of the
 *   headers: with newer headers the same line may find a function with other parameters.
 * - A driver that is older than the version returns an older function of that name, and success.
 * - Headers before 12.0 have another cuGetProcAddress, of four arguments: proc_address_11.c.
 * cushim_proc has one form, and returns the function of that version or NULL with a reason. */
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/cudaTypedefs.h>
#include <cushim/error.h>

#define COUNT 1000

/* Store a function's address in `pfn`, which is a pointer to a function of any type. */
static bool look_up(const struct cushim_api *cu, const char *name, int version, void *pfn)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    void *address = NULL;

    if (!CUSHIM_CHECK(
            cu->cuGetProcAddress(name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &status)))
        return false;
    if (!address)
        printf("%s of %d: %s\n", name, version,
               status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT ? "came later" : "not found");
    memcpy(pfn, &address, sizeof address);
    return address;
}

static bool use_memory(const struct cushim_api *cu)
{
    PFN_cuMemAlloc_v3020 allocate;
    PFN_cuMemsetD32_v3020 fill;
    PFN_cuMemcpyDtoH_v3020 copy;
    PFN_cuMemFree_v3020 release;
    unsigned numbers[COUNT] = {0};
    CUdeviceptr memory = 0;

    if (!look_up(cu, "cuMemAlloc", 3020, &allocate) || !look_up(cu, "cuMemsetD32", 3020, &fill) ||
        !look_up(cu, "cuMemcpyDtoH", 3020, &copy) || !look_up(cu, "cuMemFree", 3020, &release))
        return false;
    if (!CUSHIM_CHECK(allocate(&memory, sizeof numbers)))
        return false;
    bool good = CUSHIM_CHECK(fill(memory, 7, COUNT)) &&
                CUSHIM_CHECK(copy(numbers, memory, sizeof numbers)) && numbers[0] == 7 &&
                numbers[COUNT - 1] == 7;
    return CUSHIM_CHECK(release(memory)) && good;
}

/* One name, two functions: a mode for the capture came with 10.1. */
static bool capture(const struct cushim_api *cu, CUstream stream)
{
    PFN_cuStreamBeginCapture_v10010 begin;
    PFN_cuStreamEndCapture_v10000 end;
    CUgraph graph = NULL;

    if (!look_up(cu, "cuStreamBeginCapture", 10010, &begin) ||
        !look_up(cu, "cuStreamEndCapture", 10000, &end))
        return false;
    return CUSHIM_CHECK(begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)) &&
           CUSHIM_CHECK(end(stream, &graph)) && CUSHIM_CHECK(cu->cuGraphDestroy(graph));
}

/* The context's parameters are a structure since 12.5. A 12.4 driver returns success for 12050, and
 * the function of 11.4, which takes an array: a call of `create` would corrupt memory. */
static bool compare(const struct cushim_api *cu)
{
    PFN_cuCtxCreate_v12050 create = NULL;
    enum cushim_proc_status why;
    int driver = 0;

    if (!look_up(cu, "cuCtxCreate", 12050, &create) ||
        !CUSHIM_CHECK(cu->cuDriverGetVersion(&driver)))
        return false;
    void *exact = cushim_proc(cu, "cuCtxCreate", 12050, CUSHIM_STREAM_LEGACY, &why);
    if (exact) {
        puts("cuCtxCreate of 12.5: the driver has it");
        return why == CUSHIM_PROC_EXACT && memcmp(&create, &exact, sizeof exact) == 0;
    }
    printf("cuCtxCreate of 12.5: the driver returned an older one; cushim_proc: %s\n",
           cushim_last_error());
    return why == CUSHIM_PROC_NEWER && driver < 12050 && create;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context = NULL;
    CUstream stream = NULL;

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
    bool good = CUSHIM_CHECK(cu->cuCtxSetCurrent(context)) &&
                CUSHIM_CHECK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) &&
                use_memory(cu) && capture(cu, stream) && compare(cu);
    if (stream)
        good &= CUSHIM_CHECK(cu->cuStreamDestroy(stream));
    good &= CUSHIM_CHECK(cu->cuDevicePrimaryCtxRelease(0));
    puts(good ? "six functions by name did their work" : "not so");
    return good ? 0 : 1;
}
