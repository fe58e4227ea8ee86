/* SPDX-License-Identifier: MIT */
/* What the memory tests share: a context, patterns, refusals, and a look at what is left over. */
#ifndef TESTS_DEVICE_MEMORY_COMMON_H
#define TESTS_DEVICE_MEMORY_COMMON_H

#include <stdint.h>
#include <string.h>

#include <cushim/memory.h>

#include "device.h"

/* A helper that must work; says what it said where it does not. */
#define HELPER(call)                                                                               \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s: %d: %s\n", __FILE__, __LINE__, #call, (int)result_,        \
                    cushim_last_error());                                                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A helper that must refuse, with these words in its sentence; the current context stays. */
#define REFUSED(call, ...)                                                                         \
    memory_refused((cushim_clear_last_error(), (call)), #call, __LINE__,                           \
                   (const char *const[]){__VA_ARGS__, NULL})

/* The context of the test, and what was current when the last check was made. */
static const struct cushim_api *cu_api;
static CUcontext memory_context;

static inline void memory_refused(CUresult result, const char *call, int line,
                                  const char *const words[])
{
    CUcontext now = NULL;
    const char *sentence = cushim_last_error();
    bool named = result != CUDA_SUCCESS;
    for (int i = 0; words[i]; i++)
        named = named && strstr(sentence, words[i]);
    if (!named) {
        fprintf(stderr, "line %d: %s: %d: %s\n", line, call, (int)result, sentence);
        exit(1);
    }
    printf("  %d %s\n", (int)result, sentence);
    CALL(cu_api->cuCtxGetCurrent(&now));
    CHECK(now == memory_context);
}

static inline unsigned char memory_pattern(size_t i, unsigned seed)
{
    return (unsigned char)(i * 31 + (i >> 8) * 7 + seed);
}

static inline void memory_set(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = memory_pattern(i, seed);
}

#define CHECK_PATTERN(bytes, size, seed) memory_check((bytes), (size), (seed), __LINE__)

static inline void memory_check(const unsigned char *bytes, size_t size, unsigned seed, int line)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != memory_pattern(i, seed)) {
            fprintf(stderr, "line %d: byte %zu is %u, not %u\n", line, i, bytes[i],
                    memory_pattern(i, seed));
            exit(1);
        }
}

static inline CUresult memory_id(CUdeviceptr address, unsigned long long *id)
{
    *id = 0;
    return cu_api->cuPointerGetAttribute(id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
}

static inline size_t memory_free_now(void)
{
    size_t free_bytes;
    CALL(cu_api->cuCtxSynchronize_v1());
    HELPER(cushim_memory_info(cushim_load(NULL), &free_bytes, NULL));
    return free_bytes;
}

/*
 * Run a test in the first device's primary context, twice: what a driver sets up on first use is
 * there after the first time, and the second must give all back.
 */
static inline int memory_run(void (*body)(const struct cushim_api *cu))
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext now = NULL;
    cu_api = device_or_skip();
    CALL(cu_api->cuDevicePrimaryCtxRetain(&memory_context, 0));
    CALL(cu_api->cuCtxSetCurrent(memory_context));
    body(cu);
    CHECK(cushim_memory_live(cu, NULL) == 0);
    size_t before = memory_free_now();
    printf("-- again --\n");
    body(cu);
    size_t after = memory_free_now();
    CALL(cu_api->cuCtxGetCurrent(&now));
    CHECK(now == memory_context);
    CHECK(cushim_memory_live(cu, NULL) == 0);
    printf("free before the second run: %zu, after: %zu\n", before, after);
    if (!getenv("CUSHIM_TEST_TOOL")) /* whose own memory comes and goes: sanitize.py */
        CHECK(after >= before);
    CALL(cu_api->cuDevicePrimaryCtxRelease(0));
    return 0;
}

#endif
