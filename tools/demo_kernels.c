/* SPDX-License-Identifier: MIT */
#include "demo_kernels.h"

#include "command.h"
#include "output.h"
#include "progress.h"

#include <checks.h>
#include <cushim/device.h>

#include <stdio.h>

static bool run_all(const struct cushim_api *cu)
{
    struct check_run run = {.cu = cu, .large = true, .progress = progress_set};
    bool good = true;

    for (const struct check *check = checks; check->name; check++) {
        bool right;

        progress_begin(check->name);
        right = check_kernel(check, &run);
        progress_end();
        good &= right;
        if (right) {
            printf("kernel   %s: ", check->name);
            output_text(OUTPUT_GOOD, run.message);
            putchar('\n');
            fflush(stdout);
        } else {
            fflush(stdout);
            fprintf(stderr, "cushim demo: kernel %s: %s\n", check->name, run.message);
        }
    }
    return good;
}

int demo_kernels(const struct cushim_api *cu, CUdevice device)
{
    struct cushim_device_scope gpu;

    if (cushim_device_enter(cu, device, &gpu) == CUDA_SUCCESS && !run_all(cu))
        return COMMAND_FAILED; /* the context may be unusable */
    if (cushim_device_leave(&gpu) == CUDA_SUCCESS)
        return COMMAND_OK;
    fprintf(stderr, "cushim demo: %s\n", gpu.outcome.message);
    return COMMAND_FAILED;
}
