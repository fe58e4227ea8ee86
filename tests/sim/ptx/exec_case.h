/* SPDX-License-Identifier: MIT */
/* One case: PTX text, a launch, and the words that the kernel wrote. */
#ifndef CUSHIM_TEST_PTX_EXEC_CASE_H
#define CUSHIM_TEST_PTX_EXEC_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec_text.h"
#include "world.h"

struct exec_case {
    struct world world;
    uint64_t out;
    uint32_t *words;
    struct ptx_launch request;
};

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
