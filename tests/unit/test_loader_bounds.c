/* SPDX-License-Identifier: MIT */
/* The loader at its bounds: texts that are cut, the first and last entry, the newest release,
 * descriptor 0, and folders that are searched. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_silent.h"
#include "loader/last_error.h"
#include "loader/platform.h"
#include "loader/registry.h"
#include "loader/resolve.h"

/* ---- sentences */

/* In a buffer of any size: as much as fits, and its end. */
static void test_cut(void **state)
{
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    (void)state;
    for (int with_table = 0; with_table < 2; with_table++) {
        const struct cushim_api *table = with_table ? cu : NULL;
        char whole[512], text[520];
        assert_null(cushim_reason(table, "cuMemAlloc_v2", NULL, NULL, sizeof whole));
        cushim_reason(table, "cuMemAlloc_v2", NULL, whole, sizeof whole);
        assert_string_equal(whole, with_table ? "cuMemAlloc_v2 is available"
                                              : "cushim_slot_at: the table is NULL");
        const size_t length = strlen(whole);
        for (size_t size = 0; size < length + 3; size++) {
            memset(text, 'x', sizeof text);
            assert_ptr_equal(cushim_reason(table, "cuMemAlloc_v2", NULL, text, size), text);
            const size_t kept = size <= length ? size : length + 1;
            if (size) {
                assert_memory_equal(text, whole, kept - 1);
                assert_int_equal(text[kept - 1], '\0');
            }
            for (size_t i = kept; i < sizeof text; i++)
                assert_int_equal(text[i], 'x');
        }
    }
    cushim_close(cu);
}

/* Why each entry is missing, with the releases. */
static void test_releases(void **state)
{
    static const struct {
        const char *fake, *driver;
    } rows[] = {{"v10", "10.2"}, {GOOD, "12.4"}, {"v13", "13.0"}};
    struct cushim_entry entry;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct cushim_api *cu = open_path(fake_path(rows[i].fake));
        unsigned newer = 0, absent = 0;
        for (size_t k = 0; cushim_entry_at(k, &entry); k++) {
            const enum cushim_state missing = cushim_slot_at(cu, k).state;
            char text[256], wanted[256] = "";
            cushim_reason(cu, entry.symbol, NULL, text, sizeof text);
            if (missing == CUSHIM_STATE_NEWER && ++newer)
                snprintf(wanted, sizeof wanted,
                         "%s is not available: it came with CUDA %d.%d, and the driver, of CUDA "
                         "%s, is older",
                         entry.symbol, entry.since / 1000, entry.since / 10 % 100, rows[i].driver);
            else if (missing == CUSHIM_STATE_ABSENT && ++absent)
                snprintf(wanted, sizeof wanted,
                         "%s is not available: the driver, of CUDA %s, does not export it",
                         entry.symbol, rows[i].driver);
            if (*wanted)
                assert_string_equal(text, wanted);
        }
        assert_true(newer > 0 && absent > 0);
        cushim_close(cu);
    }
}

/* NAME_v1 means the first ABI of a name that has several; no length of a name is too much. */
static void test_first(void **state)
{
    char symbol[2 * CUSHIM_SYMBOL_SIZE];
    (void)state;
    assert_int_equal(cushim_registry_find("cuMemAlloc_v1"), cushim_registry_find("cuMemAlloc"));
    assert_int_equal(cushim_registry_find("cuInit_v1"), CUSHIM_ENTRY_COUNT); /* it has one */
    assert_int_equal(cushim_registry_find("cuMemAlloc_v1x"), CUSHIM_ENTRY_COUNT);
    assert_int_equal(cushim_registry_find("cuMemAlloc_v1_v1"), CUSHIM_ENTRY_COUNT);
    assert_int_equal(cushim_registry_find("cuMemAlloc_v1\0x"), cushim_registry_find("cuMemAlloc"));
    for (size_t length = 0; length < sizeof symbol; length++) {
        memset(symbol, 'c', length);
        symbol[length] = '\0';
        if (length >= 3)
            memcpy(symbol + length - 3, "_v1", 3);
        assert_int_equal(cushim_registry_find(symbol), CUSHIM_ENTRY_COUNT);
    }
    for (int i = 0; i < 5000; i++) { /* of every part of the list */
        snprintf(symbol, sizeof symbol, "cuNone%d", i);
        assert_int_equal(cushim_registry_find(symbol), CUSHIM_ENTRY_COUNT);
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        assert_int_equal(cushim_registry_find(cushim_registry_symbol(i, symbol)), i);
}

/* The process-wide driver's reason is named once, as long as it is the only one. */
static void load_without_driver(void *unused)
{
    char words[2048];
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", "/nonexistent/libcuda.so.1");
    const struct cushim_api *cu = cushim_load(NULL);
    assert_failed(cu, CUSHIM_ERROR_NOT_FOUND);
    assert_string_equal(cushim_message(cu),
                        "CUSHIM_LIBCUDA=/nonexistent/libcuda.so.1: No such file or directory; "
                        "unset it, or give the path of a libcuda.so.1");
    snprintf(words, sizeof words, "cuMemFree_v2 is not available: %s", cushim_message(cu));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
        assert_string_equal(cushim_last_error(), words);
        assert_string_equal(cushim_last_error(), words);
    }
    const struct cushim_api *other = open_path(fake_path(GOOD));
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
    cushim_close(other); /* a call while it was open could have been its */
    assert_string_equal(cushim_last_error(),
                        "cuMemFree_v2 is not available: there is no CUDA driver");
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
    assert_string_equal(cushim_last_error(), words);
}

/* A sentence has an end, however long the reason is. */
static void load_far(void *unused)
{
    char path[2 * CUSHIM_SENTENCE] = "/nonexistent";
    (void)unused;
    for (size_t i = strlen(path); i < sizeof path - 1; i++)
        path[i] = i % 100 ? 'f' : '/';
    set_environment("CUSHIM_LIBCUDA", path);
    const struct cushim_api *cu = cushim_load(NULL);
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(strlen(cushim_last_error()), CUSHIM_SENTENCE - 1);
    assert_contains(cushim_last_error(), "is not available: CUSHIM_LIBCUDA=/nonexistentf");
}

static void load_older(void *unused)
{
    struct cushim_options options = defaults();
    char before[512];
    (void)unused;
    options.path = fake_path(GOOD);
    const struct cushim_api *cu = cushim_load(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cu->cuCtxCreate_v4(NULL, NULL, 0, 0), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_string_equal(cushim_last_error(), "cuCtxCreate_v4 is not available: it came with CUDA "
                                             "12.5, and the driver, of CUDA 12.4, is older");
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_last_error(), "cuMemFree_v2 is not available: the driver, of CUDA "
                                             "12.4, does not export it");
    assert_int_equal(call_with_zeros(table_slot(cu, entry_index("cuWGLGetDevice"))),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_last_error(),
                        "cuWGLGetDevice is not available: it exists on Windows only");
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_SUPPORTED);
    snprintf(before, sizeof before, "%s", cushim_last_error());
    const struct cushim_api *other = open_path(fake_path(GOOD));
    assert_string_equal(cushim_last_error(), before); /* what was said stays */
    assert_int_equal(cu->cuCtxCreate_v4(NULL, NULL, 0, 0), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    cushim_close(other); /* with two, sentences do not say which driver */
    assert_string_equal(cushim_last_error(), "cuCtxCreate_v4 is not available: it came with CUDA "
                                             "12.5, and the driver is older");
}

static void test_process_wide(void **state)
{
    (void)state;
    run_in_child(load_without_driver, NULL, NULL);
    run_in_child(load_far, NULL, NULL);
    run_in_child(load_older, NULL, NULL);
}

/* ---- what a driver is asked first */

static CUresult CUDAAPI one_version(int *version)
{
    *version = 1;
    return CUDA_SUCCESS;
}

/* Any version above 0 is one. A driver that writes none has none. */
static void test_least_version(void **state)
{
    (void)state;
    silent_use("cuDriverGetVersion", (silent_fn *)one_version);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_driver_version(cu), 1);
    cushim_close(cu);
    silent_reset();
    silent.version = 0;
    cu = silent_open();
    assert_failed(cu, CUSHIM_ERROR_VERSION_INVALID);
    assert_contains(cushim_message(cu), "its cuDriverGetVersion returns version 0");
    cushim_close(cu);
    silent_reset();
}

/* An empty name is told by whose it is. */
static void test_empty(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("");
    assert_failed(cu, CUSHIM_ERROR_EMPTY_PATH);
    assert_memory_equal(cushim_message(cu), "path: empty, which hides the driver; ", 37);
    cushim_close(cu);
    set_environment("CUSHIM_LIBCUDA", "");
    cu = cushim_open(NULL);
    assert_failed(cu, CUSHIM_ERROR_EMPTY_PATH);
    assert_memory_equal(cushim_message(cu),
                        "CUSHIM_LIBCUDA: empty, which hides the driver; unset it", 55);
    cushim_close(cu);
    set_environment("CUSHIM_LIBCUDA", NULL);
}

/* ---- the system */

/* 0 is a descriptor like any other. */
static void without_input(void *unused)
{
    (void)unused;
    close(0);
    assert_good_driver_loads();
    assert_int_equal(dup(1), 0); /* and it is free again */
    close(0);
    assert_failed(open_path(fake_path("needs_gone")), CUSHIM_ERROR_DEPENDENCY);
    assert_int_equal(dup(1), 0);
}

static void test_descriptor(void **state)
{
    (void)state;
    run_in_child(without_input, NULL, NULL);
}

static int prepare(void **state)
{
    (void)state;
    silent_reset();
    set_environment("LD_LIBRARY_PATH", NULL);
    return make_folder() ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_wide), /* before others are opened */
        cmocka_unit_test(test_first),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_descriptor),   cmocka_unit_test(test_least_version),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_releases),
    };
    return cmocka_run_group_tests_name("loader_bounds", tests, prepare, clean);
}
