/* SPDX-License-Identifier: MIT */
/* Link two PTX sources, of which one calls a function in the other, and load the cubin. */
#include <math.h>
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "link_main_ptx.h"
#include "link_part_ptx.h"

#define COUNT 1000

/* In two steps, to have the cubin in hand, and then both in one. */
static bool link_module(const struct cushim_api *cu, CUmodule *module)
{
    const struct cushim_link_input inputs[] = {
        {.size = sizeof inputs[0],
         .data = link_main_ptx,
         .bytes = sizeof link_main_ptx,
         .name = "link_main"},
        {.size = sizeof inputs[0],
         .data = link_part_ptx,
         .bytes = sizeof link_part_ptx,
         .name = "link_part"},
    };
    struct cushim_jit_options options = {.size = sizeof options, .verbose = true};
    struct cushim_jit_result result = {.size = sizeof result};
    struct cushim_cubin cubin = {0};

    bool good = CUSHIM_CHECK(cushim_cubin_link(cu, inputs, 2, &options, &result, &cubin));
    printf("cubin of %zu bytes, %.3f ms\nerror log: %s\ninfo log: %s\n", cubin.bytes,
           (double)result.wall_ms, result.error_log, result.info_log);
    cushim_jit_result_release(&result);
    good =
        good && CUSHIM_CHECK(cushim_module_load(cu, cubin.data, cubin.bytes, NULL, NULL, module));
    cushim_cubin_release(&cubin); /* the module has its own copy */
    if (!good || !CUSHIM_CHECK(cushim_module_unload(cu, *module)))
        return false;
    *module = NULL;
    return CUSHIM_CHECK(cushim_module_link(cu, inputs, 2, NULL, NULL, module));
}

static bool run(const struct cushim_api *cu, CUmodule module)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 128, NULL);
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    float data[COUNT];

    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i / 10;
    bool good = CUSHIM_CHECK(cushim_module_function(cu, module, "link_main", &function)) &&
                CUSHIM_CHECK(cushim_memory_alloc(cu, sizeof data, &memory)) &&
                CUSHIM_CHECK(cushim_copy_to_device(cu, memory, data, sizeof data)) &&
                CUSHIM_CHECK(CUSHIM_LAUNCH(cu, function, &launch, memory, (unsigned)COUNT)) &&
                CUSHIM_CHECK(cushim_copy_to_host(cu, data, memory, sizeof data));
    for (int i = 0; good && i < COUNT; i++)
        good = data[i] == fmaf(3, (float)i / 10, 1);
    return CUSHIM_CHECK(cushim_memory_free(cu, memory)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    CUmodule module = NULL;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    bool good = link_module(cu, &module) && run(cu, module);
    good &= CUSHIM_CHECK(cushim_module_unload(cu, module));
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
