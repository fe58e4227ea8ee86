/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of cmocka that the unit tests use, for Windows: Debian has no cmocka for mingw. The
 * names and their meanings are cmocka's; results are printed in TAP. See cmocka.c.
 */
#ifndef CUSHIM_TESTS_WINDOWS_CMOCKA_H
#define CUSHIM_TESTS_WINDOWS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef void CMUnitTestFunction(void **state);
typedef int CMFixtureFunction(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction *test_func;
    CMFixtureFunction *setup_func, *teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL, NULL                                                                    \
    }
#define cmocka_unit_test_setup(f, setup)                                                           \
    {                                                                                              \
#f, f, setup, NULL, NULL                                                                   \
    }
#define cmocka_unit_test_teardown(f, teardown)                                                     \
    {                                                                                              \
#f, f, NULL, teardown, NULL                                                                \
    }
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                        \
    {                                                                                              \
#f, f, setup, teardown, NULL                                                               \
    }
#define cmocka_unit_test_prestate(f, state)                                                        \
    {                                                                                              \
#f, f, NULL, NULL, state                                                                   \
    }

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    check_group(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    check_group(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#define _cmocka_run_group_tests(name, tests, count, setup, teardown)                               \
    check_group(tests, count, setup, teardown)

#define check_word(value) ((uintmax_t)(value))
#define assert_true(c) check_true((c) ? 1 : 0, #c, __FILE__, __LINE__)
#define assert_false(c) check_true((c) ? 0 : 1, "!(" #c ")", __FILE__, __LINE__)
#define assert_non_null(c) check_true((c) ? 1 : 0, #c " is not NULL", __FILE__, __LINE__)
#define assert_null(c) check_true((c) ? 0 : 1, #c " is NULL", __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                                     \
    check_equal(check_word(a), check_word(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) check_true((a) != (b), #a " != " #b, __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                                     \
    check_equal((uintptr_t)(a), (uintptr_t)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                                                 \
    check_true((uintptr_t)(a) != (uintptr_t)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b) check_string(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) check_string(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) check_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) check_memory(a, b, size, 0, __FILE__, __LINE__)
#define assert_in_range(value, least, most)                                                        \
    check_range(check_word(value), check_word(least), check_word(most), __FILE__, __LINE__)
#define fail_msg(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail() fail_msg("failure")
#define skip() check_skip("by the test")

int check_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction *setup,
                CMFixtureFunction *teardown);
void check_true(int holds, const char *text, const char *file, int line);
void check_equal(uintmax_t a, uintmax_t b, const char *text, const char *file, int line);
void check_range(uintmax_t value, uintmax_t least, uintmax_t most, const char *file, int line);
void check_string(const char *a, const char *b, int equal, const char *file, int line);
void check_memory(const void *a, const void *b, size_t size, int equal, const char *file, int line);
__attribute__((noreturn, format(gnu_printf, 3, 4))) void check_fail(const char *file, int line,
                                                                    const char *format, ...);
__attribute__((noreturn)) void check_skip(const char *reason);
__attribute__((format(gnu_printf, 1, 2))) void print_message(const char *format, ...);

/** Number of the test that runs, from 1; what a child of it is told. 0: none. */
extern size_t check_running;

#endif
