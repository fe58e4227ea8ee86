/* SPDX-License-Identifier: MIT */
/* Multiply numbers, on a GPU if there is one and on the CPU if not. */
#include <stdio.h>
#include <string.h>
#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

enum { COUNT = 1000 };

/* For every driver from CUDA 5.5 on, and every GPU from sm_30 on. */
static const char scale_ptx[] =
    ".version 3.2\n.target sm_30\n.address_size 64\n"
    ".visible .entry scale(.param .u64 numbers, .param .u32 count, .param .f32 factor)\n"
    "{\n"
    "    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %d<3>;\n"
    "    ld.param.u64 %d0, [numbers]; ld.param.u32 %r0, [count]; ld.param.f32 %f0, [factor];\n"
    "    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "    setp.ge.u32 %p, %r4, %r0;\n"
    "    @%p bra done;\n"
    "    cvta.to.global.u64 %d1, %d0; mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2;\n"
    "    ld.global.f32 %f1, [%d1]; mul.f32 %f1, %f1, %f0; st.global.f32 [%d1], %f1;\n"
    "done:\n"
    "    ret;\n"
    "}\n";

/* The first failure stays in the outcome; what was taken is given back all the same. */
static void scale_on_gpu(const struct cushim_api *cu, float *numbers, float factor,
                         struct cushim_outcome *outcome)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 256, NULL);
    CUmodule module = NULL;
    CUfunction scale = NULL;
    CUdeviceptr memory = 0;
    size_t bytes = COUNT * sizeof *numbers;

    if (CUSHIM_KEEP(outcome,
                    cushim_module_load(cu, scale_ptx, strlen(scale_ptx), NULL, NULL, &module)) &&
        CUSHIM_KEEP(outcome, cushim_module_function(cu, module, "scale", &scale)) &&
        CUSHIM_KEEP(outcome, cushim_memory_alloc(cu, bytes, &memory)) &&
        CUSHIM_KEEP(outcome, cushim_copy_to_device(cu, memory, numbers, bytes)) &&
        CUSHIM_KEEP(outcome, CUSHIM_LAUNCH(cu, scale, &launch, memory, (unsigned)COUNT, factor)))
        CUSHIM_KEEP(outcome, cushim_copy_to_host(cu, numbers, memory, bytes));
    CUSHIM_KEEP(outcome, cushim_memory_free(cu, memory));
    CUSHIM_KEEP(outcome, cushim_module_unload(cu, module));
}

static void scale_on_cpu(float *numbers, float factor)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] *= factor;
}

int main(void)
{
    static float numbers[COUNT];
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;

    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)i;
    if (cushim_device_enter(cu, 0, &gpu) == CUDA_SUCCESS)
        scale_on_gpu(cu, numbers, 2.0f, &gpu.outcome);
    if (cushim_device_leave(&gpu) != CUDA_SUCCESS) {
        fprintf(stderr, "on the CPU, because %s\n", gpu.outcome.message);
        scale_on_cpu(numbers, 2.0f);
    }
    printf("%.0f %.0f %.0f\n", (double)numbers[1], (double)numbers[10], (double)numbers[999]);
    return 0;
}
