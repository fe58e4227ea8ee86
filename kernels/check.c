/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cushim/memory.h>

const struct check checks[] = {
    {"vecadd", check_vecadd},
    {"saxpy", check_saxpy},
    {"fill", check_fill},
    {"reduce", check_reduce},
    {"transpose", check_transpose},
    {"histogram", check_histogram},
    {"matmul", check_matmul},
    {"texture", check_texture},
    {"parameters", check_parameters},
    {"link_main and link_part", check_link},
    {"bad/syntax_error", check_syntax_error},
    {NULL, NULL},
};

bool check_failed(struct check_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(run->message, sizeof run->message, format, list);
    va_end(list);
    return false;
}

bool check_call(struct check_run *run, const char *call, CUresult code)
{
    const char *name = cushim_error_name(code), *reason = cushim_last_error();
    if (code == CUDA_SUCCESS)
        return true;
    check_failed(run, "%.120s: %s (%d)%s%.200s", call, name ? name : "unknown code", (int)code,
                 *reason ? ": " : "", reason);
    cushim_last_error_clear();
    return false;
}

void check_progress(const struct check_run *run, unsigned done, unsigned of)
{
    if (run->progress)
        run->progress(run->user, done, of);
}

void *check_host(struct check_run *run, size_t bytes)
{
    for (size_t i = 0; i < CHECK_MOST; i++)
        if (!run->host[i]) {
            run->host[i] = calloc(1, bytes);
            if (!run->host[i])
                check_failed(run, "no memory");
            return run->host[i];
        }
    check_failed(run, "too many buffers");
    return NULL;
}

float check_number(unsigned i)
{
    unsigned mixed = (i + 1) * 2654435761U;
    mixed ^= mixed >> 15;
    mixed *= 2246822519U;
    mixed ^= mixed >> 13;
    return (float)(mixed >> 8) / 1048576.0F - 8.0F;
}

float *check_floats(struct check_run *run, size_t count, unsigned seed)
{
    float *values = check_host(run, count * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = check_number((unsigned)i + seed);
    return values;
}

CUdeviceptr check_copy(struct check_run *run, const void *host, size_t bytes)
{
    for (size_t i = 0; i < CHECK_MOST; i++) {
        CUdeviceptr *memory = &run->device[i];
        if (*memory)
            continue;
        if (!CHECK_CALL(run, cushim_memory_alloc(run->cu, bytes, memory)) ||
            !CHECK_CALL(run, cushim_copy_to_device(run->cu, *memory, host, bytes)))
            return 0;
        return *memory;
    }
    check_failed(run, "too much memory");
    return 0;
}

CUfunction check_load(struct check_run *run, const char *ptx, const char *name)
{
    const struct cushim_api *api = run->cu;
    CUfunction function = NULL;
    char errors[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors};
    CUresult code = api->cuModuleLoadDataEx(&run->module, ptx, 2, options, values);
    if (code != CUDA_SUCCESS && errors[0]) {
        check_failed(run, "its PTX was refused: %.400s", errors);
        return NULL;
    }
    if (!check_call(run, "cuModuleLoadDataEx", code) ||
        !CHECK_CALL(run, api->cuModuleGetFunction(&function, run->module, name)))
        return NULL;
    return function;
}

static bool free_device(struct check_run *run, CUdeviceptr memory)
{
    for (size_t i = 0; i < CHECK_MOST; i++)
        if (run->device[i] == memory)
            run->device[i] = 0;
    return CHECK_CALL(run, cushim_memory_free(run->cu, memory));
}

bool check_equal(struct check_run *run, CUdeviceptr memory, const void *expected, size_t bytes)
{
    unsigned char *received = malloc(bytes);
    bool good = received ? CHECK_CALL(run, cushim_copy_to_host(run->cu, received, memory, bytes))
                         : check_failed(run, "no memory");
    for (size_t i = 0; good && i < bytes; i++)
        if (received[i] != ((const unsigned char *)expected)[i])
            good = check_failed(run, "byte %zu of %zu is 0x%02x instead of 0x%02x", i, bytes,
                                received[i], ((const unsigned char *)expected)[i]);
    free(received);
    run->bytes += bytes;
    return good && free_device(run, memory);
}

/* The first failure is the one that is told. */
static bool release(struct check_run *run, bool good)
{
    const struct cushim_api *api = run->cu;
    struct check_run ignored = *run, *say = good ? run : &ignored;
    if (run->texture)
        good &= CHECK_CALL(say, api->cuTexObjectDestroy(run->texture));
    if (run->array)
        good &= CHECK_CALL(say, api->cuArrayDestroy(run->array));
    if (run->linker)
        good &= CHECK_CALL(say, api->cuLinkDestroy(run->linker));
    if (run->module)
        good &= CHECK_CALL(say, api->cuModuleUnload(run->module));
    for (size_t i = 0; i < CHECK_MOST; i++) {
        if (run->device[i])
            good &= CHECK_CALL(say, cushim_memory_free(run->cu, run->device[i]));
        free(run->host[i]);
    }
    return good;
}

bool check_kernel(const struct check *check, struct check_run *run)
{
    struct check_run fresh = {
        .cu = run->cu, .large = run->large, .progress = run->progress, .user = run->user};
    *run = fresh;
    bool good = check->run(run);
    good = release(run, good);
    if (good && !run->message[0])
        snprintf(run->message, sizeof run->message, "%zu bytes as on the CPU", run->bytes);
    return good;
}
