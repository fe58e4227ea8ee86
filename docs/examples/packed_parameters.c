/* SPDX-License-Identifier: MIT */
/* Pack a kernel's parameters of many kinds into one buffer. The kernel writes every byte that it
 * received to memory, one value after the other without padding. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "parameters_ptx.h"

/* As in CUDA: vectors are aligned to their size, and structures to their members. */
struct float2 {
    _Alignas(8) float x;
    float y;
};
struct float4 {
    _Alignas(16) float x;
    float y, z, w;
};
struct small {
    char tag;
    short number;
};

struct large {
    char tag;
    double value;
    struct float2 point;
    unsigned char tail;
};

#define BYTES 73 /* that the kernel writes */
static unsigned char expected[BYTES];
static size_t written;

static void expect(const void *value, size_t size)
{
    memcpy(expected + written, value, size);
    written += size;
}
#define EXPECT(value) expect(&(value), sizeof(value))

static bool launch_packed(const struct cushim_api *cu, CUfunction function, CUdeviceptr out)
{
    struct cushim_launch launch = cushim_launch_1d(1, 1, NULL);
    unsigned char buffer[256];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    int integer = -123456789;
    struct float4 vector = {1.5F, -2.5F, 3.5F, -4.5F};
    float number = 0.1F;
    void *pointer = (void *)(uintptr_t)0x123456789abc;
    struct float2 pair = {7, 8};
    struct small first = {'f', -3};
    struct large second = {'s', 1e100, {9, 10}, 0xee};
    short half = 0x7a7b;
    double wide = -1e-300;
    char character = 'c', last = 'z';

    /* Each type says how large it is and how it is aligned. An error in one of these is kept, and
     * returned by the launch. */
    CUSHIM_PARAMS_ADD(&params, out);
    CUSHIM_PARAMS_ADD(&params, integer);
    CUSHIM_PARAMS_ADD(&params, vector);
    CUSHIM_PARAMS_ADD(&params, character);
    CUSHIM_PARAMS_ADD(&params, number);
    CUSHIM_PARAMS_ADD(&params, pointer);
    CUSHIM_PARAMS_ADD(&params, pair);
    CUSHIM_PARAMS_ADD(&params, first);
    CUSHIM_PARAMS_ADD(&params, second);
    CUSHIM_PARAMS_ADD(&params, half);
    CUSHIM_PARAMS_ADD(&params, wide);
    CUSHIM_PARAMS_ADD(&params, last);

    EXPECT(integer), EXPECT(vector), EXPECT(character), EXPECT(number), EXPECT(pointer);
    EXPECT(pair), EXPECT(first.tag), EXPECT(first.number), EXPECT(second.tag);
    EXPECT(second.value), EXPECT(second.point), EXPECT(second.tail), EXPECT(half), EXPECT(wide);
    EXPECT(last);
    printf("%zu parameters in %zu bytes\n", params.count, params.size);
    return params.size == 113 && /* the last is one char, and no padding follows it */
           CUSHIM_CHECK(cushim_launch_packed(cu, function, &launch, &params));
}

static bool run(const struct cushim_api *cu)
{
    unsigned char received[BYTES] = {0};
    CUfunction function = NULL;
    CUmodule module = NULL;
    CUdeviceptr out = 0;

    bool good = CUSHIM_CHECK(cushim_module_load(cu, parameters_ptx, sizeof parameters_ptx, NULL,
                                                NULL, &module)) &&
                CUSHIM_CHECK(cushim_module_function(cu, module, "parameters", &function)) &&
                CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &out)) &&
                launch_packed(cu, function, out) &&
                CUSHIM_CHECK(cushim_copy_to_host(cu, received, out, BYTES)) && written == BYTES &&
                memcmp(received, expected, BYTES) == 0;
    good &= CUSHIM_CHECK(cushim_memory_free(cu, out));
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
    bool good = run(cu);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
