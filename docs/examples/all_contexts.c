/* SPDX-License-Identifier: MIT */
/* Load code once for all contexts (a library of CUDA 12.0), and launch its kernel in two. */
#include <stdio.h>

#include <cushim/context.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "fill_ptx.h"

#define COUNT 1000

/* The kernel goes where a function goes. */
static bool fill_in(const struct cushim_api *cu, CUcontext context, CUkernel kernel, unsigned value)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 128, NULL);
    struct cushim_scope scope;
    unsigned numbers[COUNT] = {0};
    CUdeviceptr memory = 0;
    if (!CUSHIM_CHECK(cushim_scope_enter(cu, context, &scope)))
        return false;
    bool good = CUSHIM_CHECK(cushim_memory_alloc(cu, sizeof numbers, &memory)) &&
                CUSHIM_CHECK(CUSHIM_LAUNCH(cu, (CUfunction)(void *)kernel, &launch, memory, value,
                                           (unsigned long long)COUNT)) &&
                CUSHIM_CHECK(cushim_copy_to_host(cu, numbers, memory, sizeof numbers));
    for (int i = 0; good && i < COUNT; i++)
        good = numbers[i] == value;
    good &= CUSHIM_CHECK(cushim_memory_free(cu, memory));
    return CUSHIM_CHECK(cushim_scope_leave(&scope, CUDA_SUCCESS)) && good;
}

static bool run(const struct cushim_api *cu, CUlibrary library)
{
    CUcontext one = NULL, other = NULL;
    CUkernel kernel = NULL;
    bool good = CUSHIM_CHECK(cushim_library_kernel(cu, library, "fill", &kernel)) &&
                CUSHIM_CHECK(cushim_context_create(cu, 0, NULL, &one)) &&
                CUSHIM_CHECK(cushim_context_create(cu, 0, NULL, &other)) &&
                fill_in(cu, one, kernel, 1) && fill_in(cu, other, kernel, 2);
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, other));
    return CUSHIM_CHECK(cushim_context_destroy(cu, one)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUlibrary library = NULL;
    CUresult code = cu->cuInit(0);
    if (code != CUDA_SUCCESS) {
        printf("skipped: cuInit: %s\n", cushim_error_string(code));
        return 77;
    }
    code = cushim_library_load(cu, fill_ptx, sizeof fill_ptx, NULL, NULL, &library);
    if (code == CUDA_ERROR_NOT_SUPPORTED) {
        printf("skipped: %s\n", cushim_last_error());
        return 77;
    }
    bool good = CUSHIM_CHECK(code) && run(cu, library);
    good &= CUSHIM_CHECK(cushim_library_unload(cu, library));
    puts(good ? "one library, two contexts: every element correct" : "not so");
    return good ? 0 : 1;
}
