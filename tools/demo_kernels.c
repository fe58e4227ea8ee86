/* SPDX-License-Identifier: MIT */
#include "demo_kernels.h"

#include "command.h"
#include "output.h"
#include "progress.h"

#include <checks.h>
#include <cushim/context.h>
#include <cushim/memory.h>

#include <stdio.h>

static bool run_all(const struct cushim_api *cu)
{
    struct check_run run = {.cu = cu, .large = true, .progress = progress_set};
    bool good = true;

    for (const struct check *check = checks; check->name != NULL; check++) {
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
    CUcontext context = NULL;
    bool good = cushim_primary_retain(cu, device, &context) == CUDA_SUCCESS;

    if (good) {
        good = cushim_context_push(cu, context) == CUDA_SUCCESS;
        if (good) {
            if (!run_all(cu))
                return COMMAND_FAILED; /* the context may be unusable */
            good = cushim_context_pop(cu, NULL) == CUDA_SUCCESS;
        }
        good &= cushim_primary_release(cu, device) == CUDA_SUCCESS;
    }
    if (!good)
        fprintf(stderr, "cushim demo: %s\n", cushim_last_error());
    return good ? COMMAND_OK : COMMAND_FAILED;
}
