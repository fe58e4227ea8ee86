/* SPDX-License-Identifier: MIT */
/* The same program with and without a GPU, and the same numbers: it is not linked to the driver, so
 * that it starts everywhere. */
#include <math.h>
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "saxpy_ptx.h"

#define COUNT 10000
#define BYTES (COUNT * sizeof(float))

/* y = a * x + y in the current context. On failure y is as it was. What fails first is kept in the
 * outcome, whatever the cleaning up after it comes to. */
static void saxpy_in_context(const struct cushim_api *cu, float a, const float *x, float *y,
                             struct cushim_outcome *outcome)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 256, NULL);
    CUmodule module = NULL;
    CUfunction saxpy = NULL;
    CUdeviceptr device_x = 0, device_y = 0;

    if (CUSHIM_KEEP(outcome,
                    cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, NULL, NULL, &module)) &&
        CUSHIM_KEEP(outcome, cushim_module_function(cu, module, "saxpy", &saxpy)) &&
        CUSHIM_KEEP(outcome, cushim_memory_alloc(cu, BYTES, &device_x)) &&
        CUSHIM_KEEP(outcome, cushim_memory_alloc(cu, BYTES, &device_y)) &&
        CUSHIM_KEEP(outcome, cushim_copy_to_device(cu, device_x, x, BYTES)) &&
        CUSHIM_KEEP(outcome, cushim_copy_to_device(cu, device_y, y, BYTES)) &&
        CUSHIM_KEEP(outcome,
                    CUSHIM_LAUNCH(cu, saxpy, &launch, (unsigned)COUNT, a, device_x, device_y)) &&
        CUSHIM_KEEP(outcome, cushim_context_synchronize(cu, NULL)))
        CUSHIM_KEEP(outcome, cushim_copy_to_host(cu, y, device_y, BYTES));
    CUSHIM_KEEP(outcome, cushim_memory_free(cu, device_y));
    CUSHIM_KEEP(outcome, cushim_memory_free(cu, device_x));
    CUSHIM_KEEP(outcome, cushim_module_unload(cu, module));
}

static bool saxpy_on_gpu(const struct cushim_api *cu, float a, const float *x, float *y)
{
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, 0, &gpu) == CUDA_SUCCESS)
        saxpy_in_context(cu, a, x, y, &gpu.outcome);
    if (cushim_device_leave(&gpu) == CUDA_SUCCESS)
        return true;
    printf("on the CPU, because %s\n", gpu.outcome.message);
    return false;
}

static void saxpy_on_cpu(float a, const float *x, float *y)
{
    for (int i = 0; i < COUNT; i++)
        y[i] = fmaf(a, x[i], y[i]); /* rounded once, as on the GPU */
}

int main(void)
{
    static float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i / 3;
        y[i] = (float)i / 7;
    }
    const char *where = "GPU";
    if (!saxpy_on_gpu(cushim_load(NULL), 2, x, y)) {
        where = "CPU";
        saxpy_on_cpu(2, x, y);
    }
    for (int i = 0; i < COUNT; i++)
        if (y[i] != fmaf(2, x[i], (float)i / 7))
            return 1;
    printf("%d elements on the %s, every one correct\n", COUNT, where);
    return 0;
}
