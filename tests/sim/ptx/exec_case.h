/* SPDX-License-Identifier: MIT */
/* One case: PTX text, a launch, and the words that the kernel wrote. Every kernel is `k(.u64 out)`,
 * and the text of a case is its body; EXEC_HEAD declares registers enough. */
#ifndef CUSHIM_TEST_PTX_EXEC_CASE_H
#define CUSHIM_TEST_PTX_EXEC_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "world.h"

#define EXEC_MODULE ".version 8.0\n.target sm_90\n.address_size 64\n"
#define EXEC_REGISTERS                                                                             \
    ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n"                \
    ".reg .f32 %f<16>;\n"
/* %d0: the output, %d1: the output at the thread's own word, %r0: the thread's number. */
#define EXEC_ENTRY                                                                                 \
    ".visible .entry k(.param .u64 out) {\n" EXEC_REGISTERS                                        \
    "ld.param.u64 %d0, [out];\ncvta.to.global.u64 %d0, %d0;\n"                                     \
    "mov.u32 %r61, %tid.x;\nmov.u32 %r62, %ntid.x;\nmov.u32 %r63, %ctaid.x;\n"                     \
    "mad.lo.u32 %r0, %r63, %r62, %r61;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d0, %d1;\n"
#define EXEC_BODY(text) EXEC_MODULE EXEC_ENTRY text "ret;\n}\n"

struct exec_case {
    struct world world;
    uint64_t out;
    uint32_t *words;
    struct ptx_launch request;
};

enum { EXEC_WORDS = 4096 };

static inline void exec_open_on(struct exec_case *one, uint32_t architecture, const char *text,
                                uint32_t blocks, uint32_t threads)
{
    struct ptx_text errors = {0};

    world_open(&one->world);
    one->world.machine.architecture = architecture;
    if (!world_load(&one->world, text, strlen(text), &errors))
        fail_msg("%s", errors.data ? errors.data : "no log");
    ptx_text_free(&errors);
    one->out = world_alloc(&one->world, EXEC_WORDS * 4);
    one->words = world_host(&one->world, one->out);
    memset(&one->request, 0, sizeof one->request);
    one->request.image = one->world.image;
    one->request.function = world_function(&one->world, "k");
    one->request.params = &one->out;
    one->request.machine = &one->world.machine;
    one->request.world = &one->world.calls;
    for (int i = 1; i < 3; i++)
        one->request.grid[i] = one->request.block[i] = 1;
    one->request.grid[0] = blocks;
    one->request.block[0] = threads;
    one->world.machine.time_limit_ns = UINT64_C(20000000000);
}

static inline void exec_open(struct exec_case *one, const char *text, uint32_t blocks,
                             uint32_t threads)
{
    exec_open_on(one, 90, text, blocks, threads);
}

static inline bool exec_launch(struct exec_case *one)
{
    return ptx_launch(&one->request, &one->world.fault);
}

static inline void exec_good(struct exec_case *one)
{
    if (!exec_launch(one))
        fail_msg("%s", one->world.fault.report);
}

static inline void exec_run(struct exec_case *one, const char *text, uint32_t blocks,
                            uint32_t threads)
{
    exec_open(one, text, blocks, threads);
    exec_good(one);
}

static inline void exec_close(struct exec_case *one)
{
    world_close(&one->world);
}

/* The launch ends with `kind`, and the report has each of the `words`. */
static inline void exec_fails(struct exec_case *one, enum ptx_fault_kind kind, const char *word1,
                              const char *word2)
{
    if (exec_launch(one))
        fail_msg("the launch ended well");
    if (one->world.fault.kind != kind || !strstr(one->world.fault.report, word1) ||
        !strstr(one->world.fault.report, word2))
        fail_msg("fault %d: %s", (int)one->world.fault.kind, one->world.fault.report);
}

#endif
