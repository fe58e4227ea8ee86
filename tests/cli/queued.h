/* SPDX-License-Identifier: MIT */
/* What small programs that queue work have in common: a kernel, two streams, memory. Each program
 * has many, by name. */
#ifndef QUEUED_H
#define QUEUED_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cushim/cushim.h>
#include <cushim/error.h>

#define OK(call) check(call, #call)
enum { COUNT = 256, BYTES = COUNT * 4 };

/* A kernel in which thread I makes one word of another: `add` and `times`. */
#define WORD_KERNEL(name, operation)                                                               \
    ".visible .entry " name "(.param .u64 at, .param .u32 value)\n"                                \
    "{\n"                                                                                          \
    "    .reg .b64 %a, %o;\n"                                                                      \
    "    .reg .b32 %i, %v, %w;\n"                                                                  \
    "    ld.param.u64 %a, [at];\n"                                                                 \
    "    ld.param.u32 %v, [value];\n"                                                              \
    "    mov.u32 %i, %tid.x;\n"                                                                    \
    "    mul.wide.u32 %o, %i, 4;\n"                                                                \
    "    add.u64 %a, %a, %o;\n"                                                                    \
    "    ld.global.u32 %w, [%a];\n"                                                                \
    "    " operation " %w, %w, %v;\n"                                                              \
    "    st.global.u32 [%a], %w;\n"                                                                \
    "    ret;\n"                                                                                   \
    "}\n"
static const char ptx[] =
    ".version 4.1\n.target sm_30\n.address_size 64\n" WORD_KERNEL("add", "add.u32")
        WORD_KERNEL("times", "mul.lo.u32")
    /* It waits until a word is not 0. */
    ".visible .entry spin(.param .u64 at, .param .u32 value)\n"
    "{\n"
    "    .reg .b64 %a;\n"
    "    .reg .b32 %w;\n"
    "    .reg .pred %p;\n"
    "    ld.param.u64 %a, [at];\n"
    "again:\n"
    "    ld.volatile.global.u32 %w, [%a];\n"
    "    setp.eq.u32 %p, %w, 0;\n"
    "    @%p bra again;\n"
    "    ret;\n"
    "}\n";

struct program {
    const char *name;
    int (*run)(void);
};
#define PROGRAM(name)                                                                              \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct cushim_api *cu;
static CUcontext context;
static CUmodule module;
static CUfunction kernel;     /* add */
static CUstream one, other;   /* non-blocking */
static CUdeviceptr memory;    /* zeros */
static unsigned *pinned;      /* zeros */
static unsigned plain[COUNT]; /* pageable */

static inline void check(CUresult code, const char *call)
{
    if (code == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)code);
    exit(3);
}

/* The program does something else for a while. */
static inline void compute(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static inline void add(CUdeviceptr at, unsigned value, CUstream stream)
{
    void *values[] = {&at, &value};
    OK(cu->cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, stream, values, NULL));
}

static inline int are(const unsigned *words, unsigned value)
{
    for (int i = 0; i < COUNT; i++)
        if (words[i] != value)
            return 1;
    return 0;
}

static inline int has(CUdeviceptr at, unsigned value)
{
    unsigned words[COUNT];
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemcpyDtoH_v2(words, at, BYTES));
    return are(words, value);
}

static inline CUdeviceptr managed(void)
{
    CUdeviceptr made;
    OK(cu->cuMemAllocManaged(&made, BYTES, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)made, 0, BYTES);
    return made;
}

static inline int managed_has(CUdeviceptr at, unsigned value)
{
    int result = are((const unsigned *)(uintptr_t)at, value);
    OK(cu->cuMemFree_v2(at));
    return result;
}

static inline CUevent recorded(CUstream stream)
{
    CUevent event;
    OK(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventRecord(event, stream));
    return event;
}

static int run(const struct program *programs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(programs[i].name, name) == 0)
            return programs[i].run();
    return 2;
}

/* main's: the program that the first word names. 77: there is no driver. */
static inline int run_one(const struct program *programs, size_t count, int words, char **word)
{
    cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK)
        return 77;
    OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuModuleLoadData(&module, ptx));
    OK(cu->cuModuleGetFunction(&kernel, module, "add"));
    OK(cu->cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAlloc_v2(&memory, BYTES));
    OK(cu->cuMemHostAlloc((void **)&pinned, BYTES, 0));
    OK(cu->cuMemsetD32_v2(memory, 0, COUNT));
    memset(pinned, 0, BYTES);
    add(memory, 0, NULL); /* the first launch takes longer */
    OK(cu->cuCtxSynchronize());
    int result = run(programs, count, words > 1 ? word[1] : "");
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuMemFree_v2(memory));
    OK(cu->cuStreamDestroy_v2(one));
    OK(cu->cuStreamDestroy_v2(other));
    OK(cu->cuModuleUnload(module));
    OK(cu->cuDevicePrimaryCtxRelease_v2(0));
    if (result)
        fputs("the result is wrong\n", stderr);
    return result;
}

#endif
