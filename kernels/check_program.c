/* SPDX-License-Identifier: MIT */
/* Parameters of every shape, a program of two files, and one that is no program. */
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "link_main_ptx.h"
#include "link_part_ptx.h"
#include "parameters_ptx.h"
#include "syntax_error_ptx.h"

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

static size_t append(unsigned char *to, size_t at, const void *value, size_t size)
{
    memcpy(to + at, value, size);
    return at + size;
}
#define APPEND(value) at = append(bytes, at, &(value), sizeof(value))

bool check_parameters(struct check_run *run)
{
    struct cushim_launch launch = cushim_launch_1d(1, 1, NULL);
    unsigned char bytes[73 + CHECK_SPARE] = {0};
    size_t at = 0;
    CUdeviceptr out = check_copy(run, bytes, sizeof bytes);
    CUfunction function = out ? check_load(run, parameters_ptx, "parameters") : NULL;
    int integer = 0x01020304;
    struct float4 vector = {1.1F, -2.2F, 3.3F, -4.4F};
    char character = 'q', last = '~';
    float fraction = -0.3F;
    CUdeviceptr pointer = 0xfedcba9876543210;
    struct float2 pair = {5.5F, -6.6F};
    struct small first = {'a', -12345};
    struct large second = {'b', 3.14159, {7.7F, -8.8F}, 0xa5};
    short half = -2;
    double wide = 2.71828;
    if (!function || !CHECK_LAUNCH(run, function, &launch, out, integer, vector, character,
                                   fraction, pointer, pair, first, second, half, wide, last))
        return false;
    APPEND(integer), APPEND(vector), APPEND(character), APPEND(fraction), APPEND(pointer);
    APPEND(pair), APPEND(first.tag), APPEND(first.number), APPEND(second.tag);
    APPEND(second.value), APPEND(second.point), APPEND(second.tail), APPEND(half), APPEND(wide);
    APPEND(last);
    return check_equal(run, out, bytes, sizeof bytes);
}

static CUfunction link_two(struct check_run *run)
{
    const struct cushim_api *api = run->cu;
    CUfunction function = NULL;
    void *cubin = NULL;
    size_t size = 0;
    if (!CHECK_CALL(run, api->cuLinkCreate(0, NULL, NULL, &run->linker)) ||
        !CHECK_CALL(run, api->cuLinkAddData(run->linker, CU_JIT_INPUT_PTX, (void *)link_main_ptx,
                                            sizeof link_main_ptx, "main", 0, NULL, NULL)) ||
        !CHECK_CALL(run, api->cuLinkAddData(run->linker, CU_JIT_INPUT_PTX, (void *)link_part_ptx,
                                            sizeof link_part_ptx, "part", 0, NULL, NULL)) ||
        !CHECK_CALL(run, api->cuLinkComplete(run->linker, &cubin, &size)) ||
        !CHECK_CALL(run, api->cuModuleLoadData(&run->module, cubin)) ||
        !CHECK_CALL(run, api->cuModuleGetFunction(&function, run->module, "link_main")))
        return NULL;
    return function;
}

bool check_link(struct check_run *run)
{
    struct cushim_launch launch = cushim_launch_1d(CHECK_MANY, 128, NULL);
    size_t bytes = (CHECK_MANY + CHECK_SPARE) * sizeof(float);
    float *data = check_floats(run, CHECK_MANY + CHECK_SPARE, 11);
    CUdeviceptr memory = data ? check_copy(run, data, bytes) : 0;
    CUfunction function = memory ? link_two(run) : NULL;
    if (!function || !CHECK_LAUNCH(run, function, &launch, memory, (unsigned)CHECK_MANY))
        return false;
    for (int i = 0; i < CHECK_MANY; i++)
        data[i] = fmaf(3, data[i], 1);
    return check_equal(run, memory, data, bytes);
}

/* The log of a compiler names the line. */
static bool log_says(struct check_run *run, char *log)
{
    log[strcspn(log, "\n")] = '\0';
    if (!strstr(log, "line"))
        return check_failed(run, "refused, but its log is \"%.300s\"", log);
    check_failed(run, "refused, as it should be: %.400s", log);
    return true;
}

bool check_syntax_error(struct check_run *run)
{
    const struct cushim_api *api = run->cu;
    char log[4096] = "", other_log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUresult code = api->cuModuleLoadDataEx(&run->module, syntax_error_ptx, 2, options, values);
    if (code != CUDA_ERROR_INVALID_PTX || run->module)
        return check_failed(run, "loading it gave %d", (int)code);
    /* Alone it lacks link_part. */
    values[0] = other_log;
    code = api->cuModuleLoadDataEx(&run->module, link_main_ptx, 2, options, values);
    if (code == CUDA_SUCCESS || run->module)
        return check_failed(run, "link_main was loaded without link_part");
    return log_says(run, log);
}
