/* SPDX-License-Identifier: MIT */
/* What a fragment of the pages may use. test_docs.py puts the fragment into show(). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

/* A device and its context, if there are any. */
static struct cushim_device_scope prelude_device;

static int prelude_enter(const struct cushim_api *cu)
{
    return cushim_device_enter(cu, 0, &prelude_device) == CUDA_SUCCESS;
}

static void prelude_leave(void)
{
    cushim_device_leave(&prelude_device);
}

/* What fragments suppose. */
static CUdeviceptr p;
static size_t bytes = 4096;
static CUdevice device;

static void use_pools(void)
{
}

/* Three launches, and all is given back. */
static void test_of_mine(const struct cushim_api *cu)
{
    struct cushim_device_scope gpu;
    struct cushim_launch launch = cushim_launch_1d(16, 16, NULL);
    CUmodule module = NULL;
    CUfunction saxpy = NULL;
    CUdeviceptr numbers = 0;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS)
        return;
    CUSHIM_KEEP(&gpu.outcome, cushim_module_load_file(cu, SAXPY_PTX, NULL, NULL, &module));
    CUSHIM_KEEP(&gpu.outcome, cushim_module_function(cu, module, "saxpy", &saxpy));
    CUSHIM_KEEP(&gpu.outcome, cushim_memory_alloc(cu, bytes, &numbers));
    for (int i = 0; i < 3; i++)
        CUSHIM_KEEP(&gpu.outcome, CUSHIM_LAUNCH(cu, saxpy, &launch, 16u, 2.0f, numbers, numbers));
    CUSHIM_KEEP(&gpu.outcome, cushim_memory_free(cu, numbers));
    CUSHIM_KEEP(&gpu.outcome, cushim_module_unload(cu, module));
    if (cushim_device_leave(&gpu) != CUDA_SUCCESS) {
        puts(gpu.outcome.message);
        exit(1);
    }
}
