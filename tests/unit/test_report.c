/* SPDX-License-Identifier: MIT */
/* The last error of a thread, reasons, names of errors and statuses, entries of the registry. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

static void test_error_names(void **state)
{
    (void)state;
    assert_string_equal(cushim_error_name(CUDA_SUCCESS), "CUDA_SUCCESS");
    assert_string_equal(cushim_error_name(CUDA_ERROR_NOT_INITIALIZED),
                        "CUDA_ERROR_NOT_INITIALIZED");
    assert_string_equal(cushim_error_name((CUresult)34), "CUDA_ERROR_STUB_LIBRARY");
    assert_string_equal(cushim_error_name((CUresult)36), "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER");
    assert_string_equal(cushim_error_name((CUresult)100), "CUDA_ERROR_NO_DEVICE");
    assert_string_equal(cushim_error_name((CUresult)801), "CUDA_ERROR_NOT_SUPPORTED");
    assert_string_equal(cushim_error_name((CUresult)999), "CUDA_ERROR_UNKNOWN");
}

/* Name and text come together, names differ, and the driver's calls of a table say the same. */
static void test_error_names_agree(void **state)
{
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    const char *seen[512];
    size_t count = 0;
    (void)state;
    for (int code = -2; code < 1200; code++) {
        const char *name = cushim_error_name((CUresult)code);
        const char *text = cushim_error_string((CUresult)code);
        const char *asked = "unwritten", *told = "unwritten";
        CUresult expected = name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        assert_true((!name) == !text);
        assert_int_equal(cu->cuGetErrorName((CUresult)code, &asked), expected);
        assert_int_equal(cu->cuGetErrorString((CUresult)code, &told), expected);
        assert_ptr_equal(asked, name);
        assert_ptr_equal(told, text);
        if (!name)
            continue;
        assert_true(strncmp(name, "CUDA_", 5) == 0);
        assert_true(strlen(text) > 0);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(seen[i], name);
        assert_true(count < COUNT(seen));
        seen[count++] = name;
    }
    assert_true(count > 80);
    cushim_close(cu);
}

/* A driver too old to have them, and one that has none: the registry answers. */
static void test_error_names_of_old_driver(void **state)
{
    static const char *const names[] = {"v5"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *text = NULL;
        const struct cushim_api *cu = open_path(fake_path(names[i]));
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        assert_int_equal(cu->cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
        assert_string_equal(text, "CUDA_ERROR_NO_DEVICE");
        assert_int_equal(cu->cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
        assert_true(strlen(text) > 0);
        cushim_close(cu);
    }
}

/* Every status has a name of its own, in the form that tools print; more may be added. */
static void test_status_names(void **state)
{
    const char *seen[100];
    int count = 0;
    (void)state;
    for (; strcmp(cushim_status_name((enum cushim_status)count), "unknown") != 0; count++) {
        assert_true(count < (int)COUNT(seen));
        seen[count] = cushim_status_name((enum cushim_status)count);
        assert_true(strlen(seen[count]) > 1);
        assert_null(strpbrk(seen[count], " _ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        for (int other = 0; other < count; other++)
            assert_string_not_equal(seen[other], seen[count]);
    }
    assert_true(count > CUSHIM_ERROR_FORKED);
    assert_string_equal(seen[CUSHIM_OK], "ok");
    assert_string_equal(seen[CUSHIM_ERROR_NOT_FOUND], "not-found");
    assert_string_equal(seen[CUSHIM_ERROR_FORKED], "forked");
    for (int status = count; status < count + 100; status++)
        assert_string_equal(cushim_status_name((enum cushim_status)status), "unknown");
    assert_string_equal(cushim_status_name((enum cushim_status) - 1), "unknown");
}

/* ---- last error ---- */

static void test_last_error_of_load(void **state)
{
    (void)state;
    cushim_last_error_clear();
    assert_string_equal(cushim_last_error(), "");
    assert_good_driver_loads();
    assert_string_equal(cushim_last_error(), "");
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    assert_string_equal(cushim_last_error(), cushim_message(cu));
    cushim_close(cu);
    assert_contains(cushim_last_error(), "/nonexistent/libcuda.so.1"); /* outlives the instance */
    cushim_last_error_clear();
    assert_string_equal(cushim_last_error(), "");
}

static void test_last_error_of_newer_entry(void **state)
{
    CUcontext context = NULL;
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    cushim_last_error_clear();
    assert_int_equal(cu->cuCtxCreate_v4(&context, NULL, 0, 0),
                     CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_null(context);
    assert_contains(cushim_last_error(), "cuCtxCreate_v4");
    assert_contains(cushim_last_error(), "12.5");           /* that it needs */
    assert_contains(cushim_last_error(), "older");          /* whose driver it is, nobody knows */
    assert_contains(cushim_last_error(), "cuCtxCreate_v4"); /* reading it does not consume it */
    cushim_close(cu);
}

static void test_last_error_of_absent_entry(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_SUPPORTED);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    assert_contains(cushim_last_error(), "export");
    cushim_close(cu);
}

static void test_last_error_without_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    assert_mentions(cushim_last_error(), "no CUDA driver");
    cushim_last_error_clear();
    assert_string_equal(cushim_last_error(), "");
    assert_int_equal(cu->cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_contains(cushim_last_error(), "cuInit");
    cushim_close(cu);
}

/* The newest one counts, of calls and of loads. */
static void test_last_error_is_the_last(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    (void)cu->cuMemFree_v2(0);
    const struct cushim_api *none = open_path("/nonexistent/libcuda.so.1");
    assert_contains(cushim_last_error(), "/nonexistent/libcuda.so.1");
    (void)cu->cuMemFree_v2(0);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    cushim_close(none);
    cushim_close(cu);
}

static void *fail_on_another_thread(void *table)
{
    const struct cushim_api *cu = table;
    const bool was_empty = cushim_last_error()[0] == '\0';
    (void)cu->cuCtxCreate_v4(NULL, NULL, 0, 0);
    const bool told = strstr(cushim_last_error(), "cuCtxCreate_v4");
    return was_empty && told ? table : NULL;
}

static void test_last_error_per_thread(void **state)
{
    pthread_t thread;
    void *result = NULL;
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    (void)cu->cuMemFree_v2(0);
    assert_int_equal(pthread_create(&thread, NULL, fail_on_another_thread, (void *)cu), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, cu);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    cushim_close(cu);
}

/* ---- reasons ---- */

static enum cushim_state state_of(const struct cushim_api *cu, const char *symbol,
                                  const char *words)
{
    enum cushim_state state = CUSHIM_STATE_UNKNOWN;
    char text[512];
    const char *reason = cushim_reason(cu, symbol, &state, text, sizeof text);
    assert_contains(reason, symbol);
    assert_mentions(reason, words);
    assert_true(cushim_has(cu, symbol) == (state == CUSHIM_STATE_AVAILABLE));
    return state;
}

static void test_reasons(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_int_equal(state_of(cu, "cuMemAlloc_v2", "available"), CUSHIM_STATE_AVAILABLE);
    assert_int_equal(state_of(cu, "cuCtxCreate_v4", "12.5"), CUSHIM_STATE_NEWER);
    assert_int_equal(state_of(cu, "cuCtxCreate_v4", "12.4"), CUSHIM_STATE_NEWER);
    assert_int_equal(state_of(cu, "cuMemFree_v2", "export"), CUSHIM_STATE_ABSENT);
    assert_int_equal(state_of(cu, "cuNoSuchEntry", "not"), CUSHIM_STATE_UNKNOWN);
    assert_int_equal(state_of(cu, "cuda", "not"), CUSHIM_STATE_UNKNOWN);
    assert_int_equal(state_of(cu, "cuMemAlloc_v9", "not"), CUSHIM_STATE_UNKNOWN);
#ifdef __linux__
    assert_int_equal(state_of(cu, "cuD3D9Begin", "Windows"), CUSHIM_STATE_PLATFORM);
#endif
    char text[8] = "";
    assert_ptr_equal(cushim_reason(cu, "cuMemAlloc_v2", NULL, text, sizeof text), text);
    assert_string_equal(text, "cuMemAl");
    assert_null(cushim_reason(cu, "cuMemAlloc_v2", NULL, NULL, 0));
    cushim_close(cu);
    cu = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(state_of(cu, "cuMemAlloc_v2", "driver"), CUSHIM_STATE_NO_DRIVER);
    cushim_close(cu);
}

/* A call of an unavailable entry is forgotten too, though its sentence was not made yet. */
static void test_clear(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    (void)cu->cuMemFree_v2(0);
    cushim_last_error_clear();
    assert_string_equal(cushim_last_error(), "");
    (void)cu->cuMemFree_v2(0);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    cushim_last_error_clear();
    assert_string_equal(cushim_last_error(), "");
    cushim_close(cu);
}

/* NULL for a table or a name is refused with a sentence. */
static void test_null(void **state)
{
    char text[100] = "";
    struct cushim_attempt attempt = {.size = sizeof attempt};
    enum cushim_state why = CUSHIM_STATE_AVAILABLE;
    (void)state;
    cushim_last_error_clear();
    assert_int_equal(cushim_status(NULL), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_contains(cushim_last_error(), "cushim_status: the table is NULL");
    assert_contains(cushim_message(NULL), "table is NULL");
    assert_int_equal(cushim_init(NULL), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_null(cushim_path(NULL));
    assert_null(cushim_base(NULL));
    assert_false(cushim_attempt_at(NULL, 0, &attempt));
    assert_int_equal(cushim_remarks(NULL), 0);
    assert_int_equal(cushim_driver_version(NULL), 0);
    assert_contains(cushim_reason(NULL, "cuInit", &why, text, sizeof text), "table is NULL");
    assert_int_equal(why, CUSHIM_STATE_UNKNOWN);
    assert_false(CUSHIM_HAS(NULL, cuInit));
    cushim_last_error_clear();
    assert_false(cushim_has(NULL, "cuInit"));
    assert_contains(cushim_last_error(), "table is NULL");
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_false(cushim_has(cu, NULL));
    assert_contains(cushim_last_error(), "symbol is NULL");
    assert_contains(cushim_reason(cu, NULL, NULL, text, sizeof text), "NULL");
    assert_true(CUSHIM_HAS(cu, cuInit));
    assert_false(CUSHIM_HAS(cu, size));
    assert_false(CUSHIM_HAS(cu, instance));
    assert_false(cushim_entry_at(0, NULL));
    assert_false(cushim_attempt_at(cu, 0, NULL));
    assert_contains(cushim_last_error(), "cushim_attempt_at: attempt is NULL");
    attempt.size = 0;
    assert_false(cushim_attempt_at(cu, 0, &attempt));
    assert_contains(cushim_last_error(), "size is not set");
    attempt.size = sizeof attempt;
    assert_true(cushim_attempt_at(cu, 0, &attempt));
    assert_false(cushim_attempt_at(cu, 1, &attempt));
    cushim_close(cu);
}

/* NAME_v1 is the first ABI where a name has several, and nothing where it has one. */
static void test_first_abi(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_true(cushim_has(cu, "cuMemAlloc_v1"));
    assert_true(cushim_has(cu, "cuMemAlloc"));
    assert_false(cushim_has(cu, "cuDeviceGet_v1"));
    assert_false(cushim_has(cu, "cuNoSuchEntry_v1"));
    assert_false(cushim_has(cu, ""));
    assert_false(cushim_has(cu, "_v1"));
    assert_true((void *)cu->cuMemAlloc_v1 == exported(fake_path("v12"), "cuMemAlloc"));
    cushim_close(cu);
}

static void test_long_symbol(void **state)
{
    char symbol[4096];
    (void)state;
    memset(symbol, 'x', sizeof symbol - 1);
    symbol[sizeof symbol - 1] = '\0';
    memcpy(symbol + sizeof symbol - 4, "_v1", 4);
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_false(cushim_has(cu, symbol));
    char text[512];
    assert_contains(cushim_reason(cu, symbol, NULL, text, sizeof text), "xxx");
    cushim_close(cu);
}

/* ---- entries ---- */

static void test_entries(void **state)
{
    struct cushim_entry entry = {.symbol = "unwritten"}, other;
    size_t count = cushim_entry_count();
    (void)state;
    assert_true(count > 673);
    assert_true(cushim_registry_version() >= 13000);
    for (size_t i = 0; i < count; i++) {
        assert_true(cushim_entry_at(i, &entry));
        assert_true(strncmp(entry.symbol, entry.name, strlen(entry.name)) == 0);
        assert_true(entry.since >= 2000 && entry.since <= cushim_registry_version());
        assert_non_null(strstr(entry.header, ".h"));
        size_t length = strlen(entry.symbol);
        const char *end = entry.symbol + (length > 5 ? length - 5 : 0);
        assert_true((entry.stream == CUSHIM_STREAM_PTSZ) == (strcmp(end, "_ptsz") == 0));
        assert_true((entry.stream == CUSHIM_STREAM_PTDS) == (strcmp(end, "_ptds") == 0));
        for (size_t j = 0; j < i; j++) {
            assert_true(cushim_entry_at(j, &other));
            assert_true(strcmp(other.symbol, entry.symbol) != 0);
        }
    }
    strcpy(entry.symbol, "unwritten");
    assert_false(cushim_entry_at(count, &entry));
    assert_false(cushim_entry_at((size_t)-1, &entry));
    assert_string_equal(entry.symbol, "unwritten");
}

static void test_slot_out_of_range(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("v12"));
    assert_int_equal(cushim_slot_at(cu, cushim_entry_count()).state, CUSHIM_STATE_UNKNOWN);
    assert_int_equal(cushim_slot_at(cu, (size_t)-1).state, CUSHIM_STATE_UNKNOWN);
    assert_null(cushim_slot_at(cu, (size_t)-1).address);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_error_names_agree),
        cmocka_unit_test(test_error_names_of_old_driver),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_last_error_of_load),
        cmocka_unit_test(test_last_error_of_newer_entry),
        cmocka_unit_test(test_last_error_of_absent_entry),
        cmocka_unit_test(test_last_error_without_driver),
        cmocka_unit_test(test_last_error_is_the_last),
        cmocka_unit_test(test_last_error_per_thread),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_first_abi),
        cmocka_unit_test(test_long_symbol),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_slot_out_of_range),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
