/* SPDX-License-Identifier: MIT */
/* On a device: each function of pieces.h once, against its result. */
#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "../device.h"
#include "pieces.h"
#include "pieces_ptx.h"

static const struct {
    const char *expression;
    long long result;
} pieces[] = {
#define P(expression, result) {#expression, result},
    PIECES(P)};

enum { COUNT = sizeof pieces / sizeof *pieces };

int main(void)
{
    struct cushim_device_scope gpu;
    struct cushim_launch launch = cushim_launch_1d(32, 32, NULL);
    const struct cushim_api *cu = device_or_skip();
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    long long got[COUNT] = {0};
    int wrong = 0;
    OK(cushim_device_enter(cu, 0, &gpu));
    OK(cushim_module_load(cu, pieces_ptx, sizeof pieces_ptx, NULL, NULL, &module));
    OK(cushim_module_function(cu, module, "pieces", &function));
    OK(cushim_memory_alloc(cu, sizeof got, &memory));
    OK(cushim_copy_to_device(cu, memory, got, sizeof got));
    OK(CUSHIM_LAUNCH(cu, function, &launch, memory));
    OK(cushim_copy_to_host(cu, got, memory, sizeof got));
    for (int i = 0; i < COUNT; i++) {
        if (got[i] == pieces[i].result)
            continue;
        printf("%s: %lld, not %lld\n", pieces[i].expression, got[i], pieces[i].result);
        wrong++;
    }
    CHECK(wrong == 0);
    OK(cushim_memory_free(cu, memory));
    OK(cushim_module_unload(cu, module));
    OK(cushim_device_leave(&gpu));
    printf("%d expressions, every one right\n", COUNT);
    return 0;
}
