/* SPDX-License-Identifier: MIT */
/*
 * The drop-in's first call loads, and CUSHIM_LOG reports: what exactly, and when nothing. A process
 * loads once, so each case is a child. tests/consumers has the drop-in in programs of others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "dropin.h"
#include "loader/registry.h"

/* As <cuda.h> declares them; the drop-in defines them. */
CUresult CUDAAPI cuInit(unsigned flags);
CUresult CUDAAPI cuDriverGetVersion(int *version);
CUresult CUDAAPI cuDeviceGetCount(int *count);
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name);
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text);
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *memory, size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr memory, CUstream stream);

#define NOWHERE "/nonexistent/libcuda.so.1"
#define GONE "cushim: CUSHIM_LIBCUDA=" NOWHERE ": "
#define ABSENT_ALLOC "cushim: cuMemAllocAsync is not available: there is no CUDA driver\n"
#define ABSENT_FREE "cushim: cuMemFreeAsync is not available: there is no CUDA driver\n"
#define OLD(symbol)                                                                                \
    "cushim: " symbol " is not available: it came with CUDA 11.2, and the driver, of CUDA 10.2, "  \
    "is older\n"

/* Run a body in a child with a driver and a level (NULL: unset); what it wrote to stderr. */
static const char *dropin_output(void (*body)(void *), const char *driver, const char *level)
{
    static char output[TEXT_SIZE];
    set_environment("CUSHIM_LIBCUDA", driver);
    set_environment("CUSHIM_LOG", level);
    run_in_child(body, NULL, output);
    return output;
}

/* The text begins with a line that begins so; what follows that line. */
static const char *dropin_after_line(const char *text, const char *start)
{
    const char *end = strchr(text, '\n');
    if (strncmp(text, start, strlen(start)) != 0 || !end)
        fail_msg("\"%s\" does not begin: %s", start, text);
    return end + 1;
}

/* ---- results, which are the same with and without reports */

static void call_old(void *unused)
{
    CUdeviceptr memory = 0;
    int version = 0, count = -1;
    const char *name = NULL;
    (void)unused;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cuMemAllocAsync(&memory, 16, NULL), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
        assert_int_equal(cuMemFreeAsync(0, NULL), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
        assert_int_equal(cuInit(0), CUDA_SUCCESS);
        assert_int_equal(cuDriverGetVersion(&version), CUDA_SUCCESS);
        assert_int_equal(version, 10020);
        assert_int_equal(cuDeviceGetCount(&count), CUDA_SUCCESS);
        assert_int_equal(cuGetErrorName(CUDA_ERROR_NO_DEVICE, &name), CUDA_SUCCESS);
    }
}

static void call_nowhere(void *unused)
{
    CUdeviceptr memory = 0;
    int version = -1;
    const char *text = NULL;
    (void)unused;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cuInit(0), CUDA_ERROR_NO_DEVICE);
        assert_int_equal(cuDriverGetVersion(&version), CUDA_SUCCESS);
        assert_int_equal(version, 0);
        assert_int_equal(cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
        assert_string_equal(text, "CUDA_ERROR_NO_DEVICE");
        assert_int_equal(cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
        assert_int_equal(cuMemAllocAsync(&memory, 16, NULL), CUDA_ERROR_NOT_INITIALIZED);
        assert_int_equal(cuMemFreeAsync(0, NULL), CUDA_ERROR_NOT_INITIALIZED);
    }
}

static void test_silent(void **state)
{
    static const char *const levels[] = {NULL, "", "0", "0x"};
    (void)state;
    for (size_t i = 0; i < COUNT(levels); i++) {
        assert_string_equal(dropin_output(call_old, fake_path("v10"), levels[i]), "");
        assert_string_equal(dropin_output(call_nowhere, NOWHERE, levels[i]), "");
    }
}

/* The load's sentence, then each unavailable entry once. */
static void test_first_level(void **state)
{
    static const char *const levels[] = {"1", "yes", "/", ":"};
    char sentence[PATH_SIZE];
    (void)state;
    snprintf(sentence, sizeof sentence, "cushim: %s: CUDA 10.2, ", fake_path("v10"));
    for (size_t i = 0; i < COUNT(levels); i++) {
        const char *text = dropin_output(call_old, fake_path("v10"), levels[i]);
        assert_string_equal(dropin_after_line(text, sentence),
                            OLD("cuMemAllocAsync") OLD("cuMemFreeAsync"));
        text = dropin_output(call_nowhere, NOWHERE, levels[i]);
        assert_string_equal(dropin_after_line(text, GONE), ABSENT_ALLOC ABSENT_FREE);
    }
}

/* Also what was tried. */
static void test_second_level(void **state)
{
    static const char *const levels[] = {"2", "3", "9"};
    char tried[PATH_SIZE], sentence[PATH_SIZE];
    (void)state;
    snprintf(tried, sizeof tried, "cushim: tried %s: in use\n", fake_path("v10"));
    snprintf(sentence, sizeof sentence, "cushim: %s: CUDA 10.2, ", fake_path("v10"));
    for (size_t i = 0; i < COUNT(levels); i++) {
        const char *text = dropin_output(call_old, fake_path("v10"), levels[i]);
        text = dropin_after_line(dropin_after_line(text, tried), sentence);
        assert_string_equal(text, OLD("cuMemAllocAsync") OLD("cuMemFreeAsync"));
        text = dropin_output(call_nowhere, NOWHERE, levels[i]);
        text = dropin_after_line(text, "cushim: tried " NOWHERE ": ");
        assert_string_equal(dropin_after_line(text, GONE), ABSENT_ALLOC ABSENT_FREE);
    }
}

/* ---- cuInit */

static void init_fails(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    (void)unused;
    control->init_code = FAKE_UNKNOWN;
    assert_int_equal(cuInit(1), FAKE_UNKNOWN); /* wrong anyway: not reported */
    fprintf(stderr, "zero\n");
    assert_int_equal(cuInit(0), FAKE_UNKNOWN);
    assert_int_equal(cuInit(0), FAKE_UNKNOWN);
    /* Three of ours, and the one that is reported. */
    assert_int_equal(control->init_calls, getenv("CUSHIM_LOG") ? 4 : 3);
}

static void init_fails_first(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    (void)unused;
    control->init_code = FAKE_UNKNOWN;
    assert_int_equal(cuInit(0), FAKE_UNKNOWN);
    control->init_code = FAKE_SUCCESS;
    assert_int_equal(cuInit(0), FAKE_SUCCESS);
}

static void init_works(void *unused)
{
    (void)unused;
    for (int round = 0; round < 2; round++)
        assert_int_equal(cuInit(0), CUDA_SUCCESS);
}

static void test_init(void **state)
{
    char loaded[PATH_SIZE], failed[PATH_SIZE];
    (void)state;
    snprintf(loaded, sizeof loaded, "cushim: %s: CUDA 12.4, ", fake_path(GOOD));
    snprintf(failed, sizeof failed, "cushim: %s: cuInit returned 999", fake_path(GOOD));
    const char *text = dropin_output(init_fails, fake_path(GOOD), "1");
    text = dropin_after_line(dropin_after_line(text, loaded), "zero\n");
    assert_string_equal(dropin_after_line(text, failed), "");
    text = dropin_output(init_fails_first, fake_path(GOOD), "1");
    assert_string_equal(dropin_after_line(dropin_after_line(text, loaded), failed), "");
    text = dropin_output(init_works, fake_path(GOOD), "1");
    assert_string_equal(dropin_after_line(text, loaded), "");
    assert_string_equal(dropin_output(init_fails, fake_path(GOOD), NULL), "zero\n");
}

/* ---- codes that came after the driver: it has no text for what stubs return */

static void later_codes(void *unused)
{
    const char *name = NULL;
    (void)unused;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cuGetErrorName(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, &name),
                         CUDA_SUCCESS);
        assert_string_equal(name, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER");
        assert_int_equal(cuGetErrorName(CUDA_ERROR_NOT_READY, &name), CUDA_SUCCESS);
        assert_string_equal(name, "another");
    }
    assert_int_equal(
        cushim_load(NULL)->cuGetErrorName(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, &name),
        CUDA_ERROR_INVALID_VALUE);
}

static void test_later_codes(void **state)
{
    (void)state;
    assert_string_equal(dropin_output(later_codes, fake_path("v10"), NULL), "");
}

/* ---- which table the functions use */

static void tables_silent(void *unused)
{
    const struct cushim_api *loaded = cushim_load(NULL);
    size_t missing = entry_index("cuMemAllocAsync");
    int count;
    (void)unused;
    assert_true(CUSHIM_DROPIN_TABLE == &cushim_dropin_first);
    assert_int_equal(cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_true(CUSHIM_DROPIN_TABLE == loaded);
    assert_true(cushim_dropin_load((unsigned)missing) == loaded);
    assert_null(cushim_dropin_log_start(loaded));
}

/* A call that is reported ends in the table without reports, or it would never end. */
static void tables_logged(void *unused)
{
    const struct cushim_api *loaded = cushim_load(NULL);
    size_t missing = entry_index("cuMemAllocAsync"), init = entry_index("cuInit");
    (void)unused;
    assert_true(cushim_dropin_load((unsigned)missing) == loaded);
    const struct cushim_api *logged = CUSHIM_DROPIN_TABLE;
    assert_true(logged != loaded && logged != &cushim_dropin_first);
    assert_true(cushim_dropin_load((unsigned)init) == logged);
    assert_true(cushim_dropin_load((unsigned)missing) == loaded);
    assert_true(cushim_dropin_log_start(loaded) == logged); /* no second one, and no second line */
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        bool available = cushim_slot_at(loaded, i).state == CUSHIM_STATE_AVAILABLE;
        void *slot = table_slot(logged, i), *plain = table_slot(loaded, i);
        struct cushim_entry entry;
        assert_true(cushim_entry_at(i, &entry));
        if (i == init)
            assert_true(slot != plain && slot != table_slot(&cushim_dropin_first, i));
        else if (available || strncmp(entry.symbol, "cuGetError", 10) == 0)
            assert_ptr_equal(slot, plain);
        else
            assert_ptr_equal(slot, table_slot(&cushim_dropin_first, i));
    }
}

static void test_tables(void **state)
{
    char loaded[PATH_SIZE];
    (void)state;
    snprintf(loaded, sizeof loaded, "cushim: %s: CUDA 10.2, ", fake_path("v10"));
    assert_string_equal(dropin_output(tables_silent, fake_path("v10"), NULL), "");
    const char *text = dropin_output(tables_logged, fake_path("v10"), "1");
    assert_string_equal(dropin_after_line(text, loaded), OLD("cuMemAllocAsync"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent),       cmocka_unit_test(test_first_level),
        cmocka_unit_test(test_second_level), cmocka_unit_test(test_init),
        cmocka_unit_test(test_tables),       cmocka_unit_test(test_later_codes),
    };
    return cmocka_run_group_tests_name("dropin", tests, NULL, NULL);
}
