/* SPDX-License-Identifier: MIT */
/* What cushim_close refuses, and that nothing of a table is left after it. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static void test_twice(void **state)
{
    (void)state;
    const struct cushim_api *first = open_path(fake_path(GOOD));
    const struct cushim_api *second = open_path(fake_path("v11"));
    cushim_close(first);
    cushim_last_error_clear();
    cushim_close(first);
    assert_contains(cushim_last_error(), "closed already");
    cushim_last_error_clear();
    cushim_close_unload(first);
    assert_contains(cushim_last_error(), "closed already");
    assert_sound(second);
    cushim_last_error_clear();
    cushim_close(second);
    assert_string_equal(cushim_last_error(), "");
}

static void test_copy(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    struct cushim_api copy = *cu;
    cushim_last_error_clear();
    cushim_close(&copy);
    assert_contains(cushim_last_error(), "not a table that cushim_open returned");
    assert_sound(cu);
    assert_sound(&copy); /* it is as good as the table */
    cushim_close(cu);
}

/* More than one block of the list of open tables, closed in another order. */
static void test_many(void **state)
{
    const struct cushim_api *tables[100];
    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++)
        tables[i] = open_path(fake_path(GOOD));
    cushim_last_error_clear();
    for (size_t i = 0; i < COUNT(tables); i++)
        cushim_close(tables[i * 37 % COUNT(tables)]);
    assert_string_equal(cushim_last_error(), "");
    cushim_close(tables[COUNT(tables) - 1]);
    assert_contains(cushim_last_error(), "closed already");
}

static void close_process_wide(void *unused)
{
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", fake_path(GOOD));
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_api copy = *cu;
    cushim_last_error_clear();
    cushim_close(cu);
    cushim_close_unload(cu);
    assert_string_equal(cushim_last_error(), "");
    assert_sound(cu);
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    cushim_close(&copy);
    assert_contains(cushim_last_error(), "cushim_close");
    assert_ptr_equal(cushim_load(NULL), cu);
}

static void test_process_wide(void **state)
{
    (void)state;
    run_in_child(close_process_wide, NULL, NULL);
}

/* Every record that a table may have, of a driver without a device. */
static const struct cushim_api *open_and_use(void)
{
    const struct cushim_api *cu = open_path(fake_path("v11"));
    CUcontext context = NULL;
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    assert_contains(cushim_message(cu), "100");
    assert_non_null(cushim_path(cu));
    (void)cu->cuCtxCreate_v4(&context, NULL, 0, 0);
    assert_contains(cushim_last_error(), "cuCtxCreate_v4");
    return cu;
}

static void test_nothing_inherited(void **state)
{
    bool met = false;
    (void)state;
    fake_control(fake_path("v11"))->init_code = CUDA_ERROR_NO_DEVICE;
    for (int i = 0; i < 50 && !met; i++) {
        const struct cushim_api *before = open_and_use();
        uintptr_t address = (uintptr_t)before;
        cushim_close(before);
        const struct cushim_api *cu = open_path(fake_path(GOOD));
        met = (uintptr_t)cu == address;
        assert_contains(cushim_message(cu), "CUDA 12.4");
        assert_contains(cushim_path(cu), "fake_v12");
        assert_int_equal(cushim_init(cu), CUSHIM_OK);
        assert_contains(cushim_message(cu), "CUDA 12.4");
        struct cushim_attempt attempts[ATTEMPTS];
        assert_true(attempts_of(cu, attempts) == 1);
        assert_contains(attempts[0].path, "fake_v12");
        cushim_close(cu);
    }
    fake_control(fake_path("v11"))->init_code = CUDA_SUCCESS;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    assert_true(met); /* else this has shown nothing */
#endif
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Of the heap. A C library that keeps no account has the process's data pages instead. */
static size_t bytes_in_use(void)
{
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    size_t pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%*u %*u %*u %*u %*u %zu", &pages), 1);
    fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/* The driver stays loaded, and costs once. All else is given back. */
static void test_nothing_left(void **state)
{
    static const char *const fakes[] = {"v12", "v11", "stub", "gone", "nowhere", "needs_gone"};
    size_t descriptors = count_descriptors(), bytes = 0;
    (void)state;
    for (int round = 0; round < 1000; round++) {
        if (round == 100)
            bytes = bytes_in_use();
        const struct cushim_api *cu = open_path(fake_path(fakes[round % (int)COUNT(fakes)]));
        (void)cushim_init(cu);
        (void)cushim_message(cu);
        (void)cushim_path(cu);
        cushim_close(cu);
    }
    assert_true(count_descriptors() == descriptors);
    size_t now = bytes_in_use();
    /* dlopen of what is open already takes nothing; the rest is noise of the C library. */
    if (now > bytes && now - bytes > 4096)
        fail_msg("%zu bytes more after 900 rounds", now - bytes);
}

static void unload(void *unused)
{
    (void)unused;
    cushim_close_unload(open_path(fake_path("v10")));
    assert_true(HAVE_GLIBC == !dlopen(fake_path("v10"), RTLD_NOW | RTLD_NOLOAD));
    cushim_close(open_path(fake_path("v10")));
    assert_non_null(dlopen(fake_path("v10"), RTLD_NOW | RTLD_NOLOAD));
    cushim_close(open_path(fake_path("stub"))); /* what is no driver does not stay */
    assert_true(HAVE_GLIBC == !dlopen(fake_path("stub"), RTLD_NOW | RTLD_NOLOAD));
}

static void test_unload(void **state)
{
    (void)state;
    run_in_child(unload, NULL, NULL);
}

int main(void)
{
    unsetenv("CUSHIM_LIBCUDA");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twice),        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_process_wide),
        cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_nothing_inherited),
        cmocka_unit_test(test_unload),
    };
    return cmocka_run_group_tests_name("close", tests, NULL, NULL);
}
