/* SPDX-License-Identifier: MIT */
/* cushim_proc: the safe form of cuGetProcAddress. */
#include <string.h>

#include "common.h"

/* One question and its answer. */
static void ask(const struct cushim_api *cu, const char *name, int version,
                enum cushim_stream stream, const char *symbol, enum cushim_proc_status status)
{
    enum cushim_proc_status why = CUSHIM_PROC_NOT_FOUND;
    cushim_last_error_clear();
    void *address = cushim_proc(cu, name, version, stream, &why);
    if (why != status)
        fail_msg("%s %d: %d, not %d", name, version, (int)why, (int)status);
    if (symbol) {
        assert_ptr_equal(address, exported(cushim_path(cu), symbol));
        assert_string_equal(cushim_last_error(), "");
    } else {
        assert_null(address);
        assert_contains(cushim_last_error(), name);
    }
    assert_ptr_equal(cushim_proc(cu, name, version, stream, NULL), address);
}

static void ask_12(const struct cushim_api *cu)
{
    const enum cushim_stream legacy = CUSHIM_STREAM_LEGACY, ptsz = CUSHIM_STREAM_PTSZ;
    /* The newest up to the version that was asked for. */
    ask(cu, "cuMemAlloc", 2000, legacy, "cuMemAlloc", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemAlloc", 3010, legacy, "cuMemAlloc", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemAlloc", 3020, legacy, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemAlloc", 12040, legacy, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    ask(cu, "cuCtxCreate", 11040, legacy, "cuCtxCreate_v3", CUSHIM_PROC_EXACT);
    ask(cu, "cuCtxCreate", 12040, legacy, "cuCtxCreate_v3", CUSHIM_PROC_EXACT);
    /* The driver itself answers these with an older ABI and calls it a success. */
    ask(cu, "cuCtxCreate", 12050, legacy, NULL, CUSHIM_PROC_NEWER);
    ask(cu, "cuCtxSynchronize", 13000, legacy, NULL, CUSHIM_PROC_NEWER);
    /* Per thread, and what has no such form. */
    ask(cu, "cuStreamQuery", 12040, legacy, "cuStreamQuery", CUSHIM_PROC_EXACT);
    ask(cu, "cuStreamQuery", 12040, ptsz, "cuStreamQuery_ptsz", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemcpyHtoD", 12040, ptsz, "cuMemcpyHtoD_v2_ptds", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemAlloc", 12040, ptsz, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    /* Not there. */
    ask(cu, "cuMemFree", 12040, legacy, NULL, CUSHIM_PROC_NOT_FOUND);
    ask(cu, "cuNoSuchName", 12040, legacy, NULL, CUSHIM_PROC_NOT_FOUND);
}

static void test_exact(void **state)
{
    static const char *const fakes[] = {"v12",          "proc_fails", "proc_denies",
                                        "proc_garbage", "proc_lies",  "proc_scribbles"};
    (void)state;
    for (size_t i = 0; i < COUNT(fakes); i++) {
        const struct cushim_api *cu = open_path(fake_path(fakes[i]));
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        ask_12(cu);
        cushim_close(cu);
    }
}

static void test_null(void **state)
{
    enum cushim_proc_status why = CUSHIM_PROC_EXACT;
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_null(cushim_proc(NULL, "cuMemAlloc", 12040, CUSHIM_STREAM_LEGACY, &why));
    assert_int_equal(why, CUSHIM_PROC_NOT_FOUND);
    assert_contains(cushim_last_error(), "table is NULL");
    assert_null(cushim_proc(cu, NULL, 12040, CUSHIM_STREAM_LEGACY, NULL));
    assert_contains(cushim_last_error(), "name is NULL");
    assert_null(cushim_proc(NULL, NULL, 0, CUSHIM_STREAM_PTSZ, NULL));
    assert_non_null(cushim_proc(cu, "cuMemAlloc", 12040, CUSHIM_STREAM_LEGACY, NULL));
    cushim_close(cu);
}

/* A name that is older than what is asked for, and one that is younger than the name. */
static void test_too_early(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    ask(cu, "cuMemAlloc", 1000, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NOT_FOUND);
    ask(cu, "cuMemPrefetchAsync", 7000, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NOT_FOUND);
    assert_string_equal(cushim_last_error(), "cuMemPrefetchAsync is not available as of CUDA 7.0: "
                                             "it came with CUDA 8.0");
    cushim_close(cu);
    cu = open_path(fake_path("v13"));
    ask(cu, "cuNoSuchName", 11080, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NOT_FOUND);
    assert_contains(cushim_last_error(), "is not available as of CUDA 11.8: the driver, of CUDA "
                                         "13.0, does not have it");
    cushim_close(cu);
}

/* A driver newer than the registry: what the registry knows is exact all the same. */
static void test_newer_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("future"));
    ask(cu, "cuCtxCreate", 12050, CUSHIM_STREAM_LEGACY, "cuCtxCreate_v4", CUSHIM_PROC_EXACT);
    ask(cu, "cuCtxCreate", 99090, CUSHIM_STREAM_LEGACY, "cuCtxCreate_v4", CUSHIM_PROC_EXACT);
    ask(cu, "cuNoSuchName", 99090, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NOT_FOUND);
    /* What it does not know is the driver's word alone. */
    ask(cu, "cuMemAlloc", 13000, CUSHIM_STREAM_LEGACY, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    ask(cu, "cuMemAlloc", 99090, CUSHIM_STREAM_LEGACY, "cuMemAlloc_v7", CUSHIM_PROC_UNVERIFIED);
    ask(cu, "cuFutureThing", 99090, CUSHIM_STREAM_LEGACY, "cuFutureThing", CUSHIM_PROC_UNVERIFIED);
    cushim_close(cu);
}

/* A driver newer than the registry that lacks the newest ABI, and hands back an older one. */
static void newer_driver_hands_back_older(void *unused)
{
    (void)unused;
    fake_control(fake_path("v12"))->version = 99090;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_int_equal(cushim_driver_version(cu), 99090);
    ask(cu, "cuCtxCreate", 99090, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NEWER);
    ask(cu, "cuMemAlloc", 99090, CUSHIM_STREAM_LEGACY, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    cushim_close(cu);
}

static void test_newer_driver_hands_back_older(void **state)
{
    (void)state;
    run_in_child(newer_driver_hands_back_older, NULL, NULL);
}

/* The question says which kind of stream, whatever the table's plain slots hold. */
static void test_per_thread_instance(void **state)
{
    struct cushim_options options = defaults();
    (void)state;
    options.path = fake_path("v12");
    options.per_thread_default_stream = true;
    const struct cushim_api *cu = cushim_open(&options);
    ask(cu, "cuStreamQuery", 12040, CUSHIM_STREAM_PTSZ, "cuStreamQuery_ptsz", CUSHIM_PROC_EXACT);
    ask(cu, "cuStreamQuery", 12040, CUSHIM_STREAM_LEGACY, "cuStreamQuery", CUSHIM_PROC_EXACT);
    cushim_close(cu);
}

/* Who asked for the symbols only does not want the driver's look-up later either. */
static void test_dlsym_only(void **state)
{
    struct cushim_options options = defaults();
    struct fake_control *control = fake_control(fake_path("v12"));
    (void)state;
    options.path = fake_path("v12");
    options.order = CUSHIM_ORDER_SYMBOLS;
    const struct cushim_api *cu = cushim_open(&options);
    unsigned before = control->proc_calls;
    ask(cu, "cuMemAlloc", 12040, CUSHIM_STREAM_LEGACY, "cuMemAlloc_v2", CUSHIM_PROC_EXACT);
    ask(cu, "cuNoSuchName", 12040, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NOT_FOUND);
    assert_int_equal(control->proc_calls, before);
    cushim_close(cu);
}

static void test_without_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    ask(cu, "cuMemAlloc", 12040, CUSHIM_STREAM_LEGACY, NULL, CUSHIM_PROC_NO_DRIVER);
    ask(cu, "cuNoSuchName", 12040, CUSHIM_STREAM_PTDS, NULL, CUSHIM_PROC_NO_DRIVER);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_too_early),
        cmocka_unit_test(test_newer_driver),
        cmocka_unit_test(test_newer_driver_hands_back_older),
        cmocka_unit_test(test_per_thread_instance),
        cmocka_unit_test(test_dlsym_only),
        cmocka_unit_test(test_without_driver),
    };
    return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
