/* SPDX-License-Identifier: MIT */
/* Adds with a kernel, or on the CPU; prints which, and whether the sum is right. */
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "add_ptx.h"

#define COUNT 1000
#define BYTES (COUNT * sizeof(float))

static float a[COUNT], b[COUNT];

static CUresult on_device(const struct cushim_api *cu)
{
    struct cushim_device_scope gpu;
    CUmodule module = NULL;
    CUfunction add = NULL;
    CUdeviceptr da = 0, db = 0;
    CUresult result = cushim_device_enter(cu, 0, &gpu);
    if (result != CUDA_SUCCESS)
        return result;
    struct cushim_launch launch = cushim_launch_1d(COUNT, 128, NULL);
    if (!(result = cushim_module_load(cu, add_ptx, sizeof add_ptx, NULL, NULL, &module)) &&
        !(result = cushim_module_function(cu, module, "add", &add)) &&
        !(result = cushim_memory_alloc(cu, BYTES, &da)) &&
        !(result = cushim_memory_alloc(cu, BYTES, &db)) &&
        !(result = cushim_copy_to_device(cu, da, a, BYTES)) &&
        !(result = cushim_copy_to_device(cu, db, b, BYTES)) &&
        !(result = CUSHIM_LAUNCH(cu, add, &launch, da, db, (unsigned)COUNT)))
        result = cushim_copy_to_host(cu, b, db, BYTES);
    if (result != CUDA_SUCCESS)
        printf("%s\n", cushim_last_error());
    cushim_memory_free(cu, da);
    cushim_memory_free(cu, db);
    cushim_module_unload(cu, module);
    cushim_device_leave(&gpu);
    return result;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 1.0f;
    }
    const char *where = "GPU";
    if (on_device(cu) != CUDA_SUCCESS) {
        where = "CPU";
        for (int i = 0; i < COUNT; i++)
            b[i] += a[i];
    }
    printf("%s %g\n", where, b[COUNT - 1]);
    return b[COUNT - 1] == 1000.0f ? 0 : 1;
}
