/* SPDX-License-Identifier: MIT */
/* Look up a function that is newer than the headers with the driver's own cuGetProcAddress, and
 * with cushim_proc beside it. This source is written for CUDA 11.8, and cuCtxGetId came with 12.0.
 *
 * The traps of the driver's own:
 * - CUDA_VERSION finds nothing: 11.8 has no such function. The version is the one of the type.
 * - A version that is surely new enough, such as 99000, finds a function of unknown parameters; a
 *   driver from 13.0 on refuses a version newer than its own.
 * - cuGetProcAddress itself is another since 12.0. This source has the four arguments of its
 * headers. cushim_proc returns the function of 12.0 or NULL with a reason. */
#define CUSHIM_CUDA_VERSION 11080
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/cudaTypedefs.h>
#include <cushim/error.h>

/* With a toolkit's headers of 11.8 the type is the caller's own. cushim's have the types of all
 * releases at every level, and this one's name is PFN_cuCtxGetId_v12000. */
typedef CUresult(CUDAAPI *get_id_fn)(CUcontext context, unsigned long long *id);

static bool use_id(const struct cushim_api *cu, CUcontext context)
{
    unsigned long long id = 0, same = 0;
    enum cushim_proc_status why;
    void *address = NULL;
    get_id_fn get_id;
    PFN_cuCtxGetId_v12000 by_cushim;

    CUresult code =
        cu->cuGetProcAddress("cuCtxGetId", &address, 12000, CU_GET_PROC_ADDRESS_DEFAULT);
    void *exact = cushim_proc(cu, "cuCtxGetId", 12000, CUSHIM_STREAM_LEGACY, &why);
    if (!exact) {
        printf("%s\n", cushim_last_error());
        return code == CUDA_ERROR_NOT_FOUND && why == CUSHIM_PROC_NEWER;
    }
    if (code != CUDA_SUCCESS || address != exact)
        return false;
    memcpy(&get_id, &address, sizeof get_id);
    memcpy(&by_cushim, &exact, sizeof by_cushim);
    if (!CUSHIM_CHECK(get_id(context, &id)) || !CUSHIM_CHECK(by_cushim(context, &same)))
        return false;

    printf("the context's id is %llu, by a function of 12.0 in source for 11.8\n", id);
    code = cu->cuGetProcAddress("cuCtxGetId", &address, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT);
    return code == CUDA_ERROR_NOT_FOUND && id && id == same;
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
    if (!CUSHIM_CHECK(cu->cuDevicePrimaryCtxRetain(&context, 0)))
        return 1;
    bool good = use_id(cu, context);
    good &= CUSHIM_CHECK(cu->cuDevicePrimaryCtxRelease(0));
    if (!good)
        puts("not so");
    return good ? 0 : 1;
}
