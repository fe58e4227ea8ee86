/* SPDX-License-Identifier: MIT */
/* A program built with the header of another release than the library's. */
#include <pthread.h>
#include <string.h>

#include "common.h"

enum { MORE_SLOTS = 100 };
#define NEWER (sizeof(struct cushim_api) + MORE_SLOTS * sizeof(void *))
#define OLDER (sizeof(struct cushim_api) - 10 * sizeof(void *))

/* Every slot that the newer header knows can be called, also those that the library does not. */
static void assert_all_stubs(const struct cushim_api *table)
{
    size_t count = cushim_entry_count();
    const char *text = NULL;
    assert_non_null(table);
    for (size_t i = 0; i < count + MORE_SLOTS; i++)
        assert_non_null(table_slot(table, i));
    assert_int_equal(table->cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(table->cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
    for (size_t i = count; can_call_with_zeros() && i < count + MORE_SLOTS; i++)
        assert_int_equal(call_with_zeros(table_slot(table, i)), CUDA_ERROR_NOT_INITIALIZED);
}

static void newer_header_loads(void *unused)
{
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", fake_path(GOOD));
    const struct cushim_api *table = cushim_connect_(NULL, NEWER, false);
    assert_all_stubs(table);
    const struct cushim_api *cu = table;
    assert_int_equal(cushim_status(cu), CUSHIM_ERROR_HEADER_MISMATCH);
    assert_mentions(cushim_message(cu), "older");
    assert_contains(cushim_last_error(), "header");
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_HEADER_MISMATCH);
    cushim_close(cu);
    /* Another part of the program, built with the library's own header, is served. */
    assert_non_null(cushim_load(NULL));
    assert_int_equal(cushim_status(cushim_load(NULL)), CUSHIM_OK);
    assert_sound(cushim_load(NULL));
}

/* The table is as large as it says it is, whatever the size; absurd ones are refused. */
static void sizes(void *unused)
{
    enum { own = sizeof(struct cushim_api) };
    static const size_t more[] = {1, 8, 15, 4096, 40000, 12 * own, 15 * own, 15 * own + 15};
    static const size_t absurd[] = {SIZE_MAX,        SIZE_MAX / 2, SIZE_MAX - 7,
                                    SIZE_MAX / 4096, 20 * own,     16 * own + 16};
    (void)unused;
    for (size_t i = 0; i < COUNT(more); i++) {
        size_t size = sizeof(struct cushim_api) + more[i];
        const struct cushim_api *table = cushim_connect_(NULL, size, false);
        assert_true(table->size == size);
        for (size_t slot = 0; slot < cushim_entry_count() + more[i] / sizeof(void *); slot++)
            assert_non_null(table_slot(table, slot));
        assert_int_equal(cushim_status(table), CUSHIM_ERROR_HEADER_MISMATCH);
        assert_ptr_equal(cushim_connect_(NULL, size, false), table);
    }
    for (size_t i = 0; i < COUNT(absurd); i++) {
        cushim_last_error_clear();
        assert_null(cushim_connect_(NULL, absurd[i], false));
        assert_contains(cushim_last_error(), "header");
    }
    for (size_t size = 0; size < 100; size++)
        assert_sound(cushim_connect_(NULL, size, false));
}

enum { THREADS = 16 };

static pthread_barrier_t barrier;

static void *connect_wide(void *number)
{
    size_t size = NEWER + (size_t)(uintptr_t)number % 4 * sizeof(void *);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 100; i++) {
        const struct cushim_api *table = cushim_connect_(NULL, size, false);
        if (!table || table->size != size || table->cuInit(0) != CUDA_ERROR_NO_DEVICE ||
            !table_slot(table, cushim_entry_count() + MORE_SLOTS - 1))
            return NULL;
    }
    return number;
}

static void sizes_at_once(void *unused)
{
    pthread_t threads[THREADS];
    (void)unused;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, connect_wide, (void *)(uintptr_t)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, (void *)(uintptr_t)(i + 1));
    }
}

static void newer_header_opens(void *unused)
{
    struct cushim_options options = defaults();
    (void)unused;
    options.path = fake_path(GOOD);
    assert_null(cushim_connect_(&options, NEWER, true));
    assert_contains(cushim_last_error(), "header");
    assert_good_driver_loads();
}

static void older_header_is_served(void *unused)
{
    struct cushim_options options = defaults();
    (void)unused;
    options.path = fake_path(GOOD);
    const struct cushim_api *cu = cushim_connect_(&options, OLDER, true);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_close(cu);
    assert_non_null(cushim_connect_(&options, OLDER, false));
    assert_int_equal(cushim_status(cushim_connect_(NULL, OLDER, false)), CUSHIM_OK);
    assert_ptr_equal(cushim_load(NULL), cushim_connect_(NULL, OLDER, false));
}

/* The functions behind the macros, for callers that cannot use macros. */
static void functions_exist(void *unused)
{
    struct cushim_options options = defaults();
    (void)unused;
    options.path = fake_path(GOOD);
    const struct cushim_api *cu = cushim_open(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_close(cu);
    const struct cushim_api *table = cushim_load(&options);
    assert_ptr_equal(table, cushim_load(NULL));
}

static void test_child(void **state)
{
    void (*body)(void *);
    memcpy(&body, *state, sizeof body);
    run_in_child(body, NULL, NULL);
}

int main(void)
{
    static void (*const bodies[])(void *) = {
        newer_header_loads, newer_header_opens, older_header_is_served, functions_exist, sizes,
        sizes_at_once};
    static const char *const names[] = {"newer header loads",
                                        "newer header opens",
                                        "older header is served",
                                        "functions behind the macros",
                                        "sizes",
                                        "sizes at once"};
    struct CMUnitTest tests[COUNT(bodies)];
    for (size_t i = 0; i < COUNT(bodies); i++)
        tests[i] =
            (struct CMUnitTest){names[i], test_child, NULL, NULL, (void *)(uintptr_t)&bodies[i]};
    return _cmocka_run_group_tests("handshake", tests, COUNT(tests), NULL, NULL);
}
