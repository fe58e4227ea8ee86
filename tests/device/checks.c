/* SPDX-License-Identifier: MIT */
/* checks list | NAME
 *
 * The kernels of the simulated driver's checks, for a device's own tools: checks.py runs them under
 * compute-sanitizer. `list` prints each kernel's name, what the checks find in it (or "-"), and the
 * memory that it is about. */
#include <cushim/cushim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/ptx/check_cases.h"

static void need(const char *what, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)code);
    exit(code == CUDA_ERROR_NO_DEVICE ? 77 : 1);
}

static void list(void)
{
    for (size_t i = 0; i < sizeof check_cases / sizeof *check_cases; i++) {
        const struct check_case *one = &check_cases[i];

        printf("%s\t%s\t%s\n", one->name, one->found ? one->found : "-",
               strstr(one->text, ".local")    ? "local"
               : strstr(one->text, ".shared") ? "shared"
                                              : "global");
    }
}

static void run(const struct cushim_api *cu, const struct check_case *one)
{
    static char log[4096];
    /* A compiler that leaves nothing out. */
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)sizeof log, NULL};
    void *const zeros = calloc(1, ALL);
    CUcontext context;
    CUdevice device;
    CUdeviceptr out;
    CUmodule module;
    CUfunction function;

    if (!zeros)
        exit(1);
    need("cuInit", cu->cuInit(0));
    need("cuDeviceGet", cu->cuDeviceGet(&device, 0));
    need("cuDevicePrimaryCtxRetain", cu->cuDevicePrimaryCtxRetain(&context, device));
    need("cuCtxSetCurrent", cu->cuCtxSetCurrent(context));
    CUresult code = cu->cuModuleLoadDataEx(&module, one->text, 3, options, values);
    if (code != CUDA_SUCCESS)
        fprintf(stderr, "%s\n", log);
    need("cuModuleLoadDataEx", code);
    need("cuModuleGetFunction", cu->cuModuleGetFunction(&function, module, "k"));
    need("cuMemAlloc", cu->cuMemAlloc_v2(&out, ALL));
    if (one->written)
        need("cuMemcpyHtoD", cu->cuMemcpyHtoD_v2(out, zeros, one->written));
    void *arguments[] = {&out};
    need("cuLaunchKernel", cu->cuLaunchKernel(function, one->blocks, 1, 1, one->threads, 1, 1, 0,
                                              NULL, arguments, NULL));
    need("cuCtxSynchronize", cu->cuCtxSynchronize());
    free(zeros);
    need("cuMemFree", cu->cuMemFree_v2(out));
    need("cuModuleUnload", cu->cuModuleUnload(module));
    need("cuDevicePrimaryCtxRelease", cu->cuDevicePrimaryCtxRelease_v2(device));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof check_cases / sizeof *check_cases; i++)
        if (strcmp(check_cases[i].name, argv[1]) == 0) {
            run(cushim_load(NULL), &check_cases[i]);
            return 0;
        }
    fprintf(stderr, "usage: %s list | NAME\n", argv[0]);
    return 2;
}
