/* SPDX-License-Identifier: MIT */
/* Which of two ABIs a helper calls: the newer one if the driver has it, else the older one; and its
 * sentence names the one that was called. */
#include <stdio.h>
#include <string.h>

#include "fake_silent.h"

#include <cushim/context.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#define SOMETHING ((void *)(uintptr_t)0x1000)

static const char ptx[] = ".version 6.4\n.target sm_50\n";

static CUresult CUDAAPI complete(CUlinkState link, void **data, size_t *bytes)
{
    static char cubin[] = "cubin";
    (void)link;
    *data = cubin;
    *bytes = sizeof cubin;
    return CUDA_SUCCESS;
}

/* Both ABIs have the same parameters. */
static CUresult CUDAAPI add_data(CUlinkState link, CUjitInputType type, void *data, size_t bytes,
                                 const char *name, unsigned count, CUjit_option *options,
                                 void **values)
{
    (void)link;
    assert_int_equal(type, CU_JIT_INPUT_PTX);
    assert_string_equal(data, ptx);
    assert_int_equal(bytes, sizeof ptx);
    assert_string_equal(name, "input 0");
    assert_true(!count && !options && !values);
    return CUDA_SUCCESS;
}

static CUresult do_link(const struct cushim_api *cu)
{
    const struct cushim_link_input input = {.size = sizeof input, .data = ptx, .bytes = sizeof ptx};
    struct cushim_cubin cubin = {NULL, 0};
    CUresult code = cushim_cubin_link(cu, &input, 1, NULL, NULL, &cubin);
    if (code == CUDA_SUCCESS)
        assert_string_equal(cubin.data, "cubin");
    cushim_cubin_release(&cubin);
    assert_true(!cubin.data && !cubin.bytes);
    return code;
}

static CUresult do_capture(const struct cushim_api *cu)
{
    return cushim_capture_begin(cu, SOMETHING, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static CUresult do_elapsed(const struct cushim_api *cu)
{
    float milliseconds = 0;
    return cushim_event_elapsed(cu, SOMETHING, SOMETHING, &milliseconds);
}

static CUresult do_prefetch(const struct cushim_api *cu)
{
    return cushim_memory_prefetch(cu, 64, 64, 0, NULL);
}

static CUresult do_callback(const struct cushim_api *cu)
{
    static CUhostFn nothing = (CUhostFn)silent_reset;
    return cushim_stream_callback(cu, NULL, nothing, NULL);
}

static CUresult do_create(const struct cushim_api *cu)
{
    CUcontext context;
    return cushim_context_create(cu, 0, NULL, &context);
}

static CUresult do_instantiate(const struct cushim_api *cu)
{
    CUgraphExec exec;
    return cushim_graph_instantiate(cu, SOMETHING, 0, &exec);
}

struct pair {
    CUresult (*call)(const struct cushim_api *cu);
    const char *older, *newer, *absent; /* which is not there either */
};

static const struct pair pairs[] = {
    {do_link, "cuLinkCreate", "cuLinkCreate_v2", NULL},
    {do_link, "cuLinkAddData", "cuLinkAddData_v2", NULL},
    {do_capture, "cuStreamBeginCapture", "cuStreamBeginCapture_v2", NULL},
    {do_elapsed, "cuEventElapsedTime", "cuEventElapsedTime_v2", NULL},
    {do_prefetch, "cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", NULL},
    {do_create, "cuCtxCreate_v3", "cuCtxCreate_v4", NULL},
    {do_create, "cuCtxCreate_v2", "cuCtxCreate_v3", "cuCtxCreate_v4"},
    {do_instantiate, "cuGraphInstantiateWithFlags", "cuGraphInstantiateWithParams", NULL},
    {do_instantiate, "cuGraphInstantiate_v2", "cuGraphInstantiateWithFlags",
     "cuGraphInstantiateWithParams"},
    {do_callback, "cuStreamAddCallback", "cuLaunchHostFunc", NULL},
};

enum { WORKS, FAILS, LACKS };

/* Whether the helper succeeds if the older and the newer one are as said; else, who is to blame. */
static void check(const struct pair *pair, int older, int newer, const char *blamed)
{
    char words[64];
    silent_reset();
    silent_use("cuLinkComplete", (silent_fn *)complete);
    if (pair->absent)
        silent_use(pair->absent, NULL);
    const char *const symbols[] = {pair->older, pair->newer};
    const int states[] = {older, newer};
    for (int i = 0; i < 2; i++) {
        if (states[i] == FAILS)
            silent_fail(symbols[i], CUDA_ERROR_OUT_OF_MEMORY);
        else if (states[i] == LACKS)
            silent_use(symbols[i], NULL);
    }
    silent_use("cuLinkAddData", (silent_fn *)add_data); /* unless it was said otherwise */
    silent_use("cuLinkAddData_v2", (silent_fn *)add_data);
    const struct cushim_api *cu = silent_open();
    cushim_last_error_clear();
    const CUresult code = pair->call(cu);
    if (!blamed) {
        if (code != CUDA_SUCCESS)
            fail_msg("%s %d, %s %d: %s", pair->older, older, pair->newer, newer,
                     cushim_last_error());
    } else {
        snprintf(words, sizeof words, "%s: CUDA_ERROR_OUT_OF_MEMORY", blamed);
        assert_int_equal(code, CUDA_ERROR_OUT_OF_MEMORY);
        assert_contains(cushim_last_error(), words);
    }
    cushim_close(cu);
}

static void test_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        check(&pairs[i], WORKS, WORKS, NULL);
        check(&pairs[i], FAILS, WORKS, NULL);
        check(&pairs[i], LACKS, WORKS, NULL);
        if (pairs[i].call != do_callback) /* what waits for a call is never called */
            check(&pairs[i], WORKS, LACKS, NULL);
        check(&pairs[i], WORKS, FAILS, pairs[i].newer);
        check(&pairs[i], FAILS, FAILS, pairs[i].newer);
        check(&pairs[i], FAILS, LACKS, pairs[i].older);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests_name("abis", tests, NULL, NULL);
}
