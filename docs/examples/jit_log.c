/* SPDX-License-Identifier: MIT */
/* Compile PTX on the driver, and read what its compiler says: of a source with a mistake in line
 * 14, and of a good one. */
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/module.h>

#include "saxpy_ptx.h"
#include "syntax_error_ptx.h"

/* No time means that nothing was compiled: the driver keeps what it made, on disk. */
static void print_logs(const char *what, const struct cushim_jit_result *result)
{
    printf("%s, %.3f ms\nerror log: %s\ninfo log: %s\n", what, (double)result->wall_ms,
           result->error_log, result->info_log);
}

/* The result is written and is to be released in either case. */
static bool compile_both(const struct cushim_api *cu)
{
    struct cushim_jit_options options = {.size = sizeof options, .verbose = true};
    struct cushim_jit_result result = {.size = sizeof result};
    struct cushim_image image = {.size = sizeof image};
    CUmodule module = NULL;
    CUfunction saxpy = NULL;

    /* What kind of image it is needs no driver: here PTX, its .version and its .target. */
    if (!CUSHIM_CHECK(cushim_image_describe(saxpy_ptx, sizeof saxpy_ptx, &image)) ||
        image.kind != CUSHIM_IMAGE_PTX)
        return false;
    printf("PTX %d.%d for sm_%d\n", image.version_major, image.version_minor, image.arch);

    CUresult code = cushim_module_load(cu, syntax_error_ptx, sizeof syntax_error_ptx, &options,
                                       &result, &module);
    print_logs(cushim_last_error(), &result); /* the sentence has the log's first line */
    bool good = code == CUDA_ERROR_INVALID_PTX && strstr(result.error_log, "line 14") && !module;
    cushim_jit_result_release(&result);

    options.optimisation = CUSHIM_JIT_OPTIMISATION_2;
    options.max_registers = 32;
    good &= CUSHIM_CHECK(
        cushim_module_load(cu, saxpy_ptx, sizeof saxpy_ptx, &options, &result, &module));
    print_logs("saxpy", &result);
    cushim_jit_result_release(&result);
    good = good && CUSHIM_CHECK(cushim_module_function(cu, module, "saxpy", &saxpy));

    /* What is not there: the sentence has the names that are near. */
    if (good && cushim_module_function(cu, module, "sapxy", &saxpy) == CUDA_ERROR_NOT_FOUND)
        printf("%s\n", cushim_last_error());
    else
        good = false;
    return CUSHIM_CHECK(cushim_module_unload(cu, module)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    bool good = compile_both(cu);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
