/* SPDX-License-Identifier: MIT */
/*
 * Where a driver is looked for when nobody names one. The system's own search reads
 * LD_LIBRARY_PATH when a program starts, so most of these run this program again.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

/* ---- what the program does when it is run again ---- */

static const struct cushim_attempt *attempt_of(const struct cushim_api *cu,
                                               enum cushim_source source)
{
    static struct cushim_attempt attempts[ATTEMPTS];
    size_t count = attempts_of(cu, attempts);
    for (size_t i = 0; i < count; i++)
        if (attempts[i].source == source)
            return &attempts[i];
    return NULL;
}

static void mode_finds_fake(void)
{
    const struct cushim_api *cu = cushim_open(NULL);
    assert_sound(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_driver_version(cu), GOOD_VERSION);
    const struct cushim_attempt *attempt = attempt_of(cu, CUSHIM_SOURCE_SYSTEM);
    assert_non_null(attempt);
    assert_int_equal(attempt->status, CUSHIM_OK);
    assert_string_equal(attempt->path, "libcuda.so.1");
    assert_contains(cushim_path(cu), getenv("LD_LIBRARY_PATH"));
    assert_contains(cushim_message(cu), cushim_path(cu));
    cushim_close(cu);
}

/* By a name alone the option and the environment search as the system does. */
static void mode_finds_by_name(void)
{
    const struct cushim_api *cu = open_path("libcuda.so.1");
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(attempt_of(cu, CUSHIM_SOURCE_OPTION)->status, CUSHIM_OK);
    assert_contains(cushim_path(cu), getenv("LD_LIBRARY_PATH"));
    cushim_close(cu);
}

/* A candidate that is no driver is reported and passed over; a real one may come after it. */
static void passes_over(enum cushim_status status)
{
    char begin[TEXT_SIZE];
    const struct cushim_api *cu = cushim_open(NULL);
    assert_sound(cu);
    const struct cushim_attempt *attempt = attempt_of(cu, CUSHIM_SOURCE_SYSTEM);
    assert_non_null(attempt);
    assert_int_equal(attempt->status, status);
    assert_true(strlen(attempt->message) > 0);
    assert_non_null(attempt_of(cu, CUSHIM_SOURCE_LIST));
    if (cushim_status(cu) != CUSHIM_OK) {
        assert_failed(cu, status); /* the telling one, not merely "not found" */
        assert_contains(cushim_message(cu), "libcuda.so.1");
        snprintf(begin, sizeof begin, "%s: %s", attempt->path, attempt->message);
        assert_memory_equal(cushim_message(cu), begin, strlen(begin));
    }
    cushim_close(cu);
    assert_good_driver_loads();
}

static void mode_stub(void)
{
    passes_over(CUSHIM_ERROR_STUB);
}

static void mode_not_cuda(void)
{
    passes_over(CUSHIM_ERROR_NOT_CUDA);
}

static void mode_dependency(void)
{
    passes_over(CUSHIM_ERROR_DEPENDENCY);
}

static void mode_never_looked_at(void)
{
    struct cushim_attempt attempts[ATTEMPTS];
    const struct cushim_api *cu = cushim_open(NULL);
    assert_sound(cu);
    size_t count = attempts_of(cu, attempts);
    assert_true(count > 2);
    for (size_t i = 0; i < count; i++)
        assert_true(strcmp(attempts[i].path, "libcuda.so.1") == 0 || attempts[i].path[0] == '/');
    if (cushim_path(cu))
        assert_null(strstr(cushim_path(cu), "cushim-unit-"));
    else
        assert_contains(cushim_message(cu), "no CUDA driver");
    if (cushim_status(cu) != CUSHIM_OK) /* the system's own words */
        assert_contains(cushim_message(cu), attempt_of(cu, CUSHIM_SOURCE_SYSTEM)->message);
    cushim_close(cu);
}

static void mode_silent(void)
{
    cushim_load(NULL);
}

/* Another part of the program has opened a driver by that name. */
static void find_opened(const char *name, bool expected)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    const struct cushim_api *cu = cushim_open(NULL);
    const struct cushim_attempt *attempt = attempt_of(cu, CUSHIM_SOURCE_SYSTEM);
    assert_non_null(attempt);
    assert_int_equal(attempt->status, expected ? CUSHIM_OK : CUSHIM_ERROR_NOT_FOUND);
    if (expected)
        assert_ptr_equal(table_slot(cu, entry_index("cuInit")), dlsym(handle, "cuInit"));
    cushim_close(cu);
    dlclose(handle);
}

static void mode_already_loaded(void)
{
    find_opened("libcuda.so.1", true);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"finds-fake", mode_finds_fake},
    {"finds-by-name", mode_finds_by_name},
    {"stub", mode_stub},
    {"not-cuda", mode_not_cuda},
    {"dependency", mode_dependency},
    {"never-looked-at", mode_never_looked_at},
    {"silent", mode_silent},
    {"already-loaded", mode_already_loaded},
};

static int run_mode(const char *name)
{
    for (size_t i = 0; i < COUNT(modes); i++) {
        if (strcmp(modes[i].name, name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no mode %s\n", name);
    return 1;
}

/* ---- tests ---- */

/* Run a mode with the library search beginning at `where`. */
static void run_with(const char *mode, const char *where, char *output)
{
    char search[2 * PATH_SIZE];
    snprintf(search, sizeof search, "LD_LIBRARY_PATH=%s", where ? where : "");
    char quiet[] = "CMOCKA_TEST_ABORT=1";
    char *environment[] = {quiet, where ? search : NULL, NULL};
    run_again("/proc/self/exe", mode, environment, output);
}

static const char *folder_with(const char *folder, const char *fake, const char *name)
{
    char path[PATH_SIZE];
    assert_int_equal(mkdir(in_folder(folder), 0755), 0);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    copy_file(fake_path(fake), path);
    return in_folder(folder);
}

static void test_system_search(void **state)
{
    (void)state;
    const char *where = folder_with("good", GOOD, "libcuda.so.1");
    run_with("finds-fake", where, NULL);
    run_with("finds-by-name", where, NULL);
}

static void test_stub_passed_over(void **state)
{
    (void)state;
    run_with("stub", folder_with("stub", "stub", "libcuda.so.1"), NULL);
}

static void test_not_cuda_passed_over(void **state)
{
    (void)state;
    run_with("not-cuda", folder_with("other", "gone", "libcuda.so.1"), NULL);
}

static void test_dependency_passed_over(void **state)
{
    (void)state;
    run_with("dependency", folder_with("needs", "needs_gone", "libcuda.so.1"), NULL);
}

static void test_unversioned_never_opened(void **state)
{
    (void)state;
    run_with("never-looked-at", folder_with("unversioned", GOOD, "libcuda.so"), NULL);
}

static void test_current_folder_never_searched(void **state)
{
    char before[PATH_SIZE];
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_with("current", GOOD, "libcuda.so.1")), 0);
    run_with("never-looked-at", NULL, NULL);
    assert_int_equal(chdir(before), 0);
}

static void test_search_is_silent(void **state)
{
    char output[TEXT_SIZE];
    (void)state;
    run_with("silent", NULL, output);
    assert_string_equal(output, "");
    run_with("silent", folder_with("quiet", "stub", "libcuda.so.1"), output);
    assert_string_equal(output, "");
}

static void find_loaded(void *unused)
{
    (void)unused;
    find_opened(fake_path("soname"), HAVE_GLIBC);
}

static void test_already_loaded(void **state)
{
    (void)state;
    run_in_child(find_loaded, NULL, NULL);
    run_with("already-loaded", folder_with("loaded", "soname", "libcuda.so.1"), NULL);
}

/* A named one is used exactly, even where another is loaded already. */
static void name_another(void *unused)
{
    (void)unused;
    assert_non_null(dlopen(fake_path("soname"), RTLD_NOW | RTLD_LOCAL));
    const struct cushim_api *cu = open_path(fake_path("v11"));
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_driver_version(cu), 11040);
    cushim_close(cu);
    set_environment("CUSHIM_LIBCUDA", fake_path("v10"));
    cu = cushim_open(NULL);
    assert_int_equal(cushim_driver_version(cu), 10020);
    cushim_close(cu);
    cu = open_path("/nonexistent/libcuda.so.1");
    assert_failed(cu, CUSHIM_ERROR_NOT_FOUND);
    cushim_close(cu);
}

static void test_named_wins_over_loaded(void **state)
{
    (void)state;
    run_in_child(name_another, NULL, NULL);
}

static void test_option_wins_over_environment(void **state)
{
    (void)state;
    set_environment("CUSHIM_LIBCUDA", fake_path("v11"));
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cushim_driver_version(cu), GOOD_VERSION);
    cushim_close(cu);
    cu = cushim_open(NULL);
    assert_int_equal(cushim_driver_version(cu), 11040);
    assert_non_null(attempt_of(cu, CUSHIM_SOURCE_ENVIRONMENT));
    cushim_close(cu);
    set_environment("CUSHIM_LIBCUDA", NULL);
}

/* The compat folder is looked at where the caller allows it, and only there. */
static void test_compat_only_if_asked(void **state)
{
    (void)state;
    const struct cushim_api *cu = cushim_open(NULL);
    assert_null(attempt_of(cu, CUSHIM_SOURCE_COMPAT));
    cushim_close(cu);
    struct cushim_options options = defaults();
    options.allow_compat = true;
    cu = cushim_open(&options);
    struct cushim_attempt attempts[ATTEMPTS];
    assert_true(attempts_of(cu, attempts) > 0);
    assert_int_equal(attempts[0].source, CUSHIM_SOURCE_COMPAT);
    cushim_close(cu);
}

/* A link is followed, and what the system resolved is told beside what was given. */
static void test_link(void **state)
{
    (void)state;
    char *file = strdup(copy_file(fake_path(GOOD), "file.so.1")); /* by no other path yet */
    const char *link = in_folder("link.so.1");
    assert_int_equal(symlink(file, link), 0);
    const struct cushim_api *cu = open_path(link);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_string_equal(attempt_of(cu, CUSHIM_SOURCE_OPTION)->path, link);
    char *real = realpath(file, NULL);
    assert_string_equal(cushim_path(cu), real);
    free(real);
    free(file);
    cushim_close(cu);
}

static int prepare(void **state)
{
    (void)state;
    unsetenv("CUSHIM_LIBCUDA");
    return make_folder() ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return run_mode(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system_search),
        cmocka_unit_test(test_stub_passed_over),
        cmocka_unit_test(test_not_cuda_passed_over),
        cmocka_unit_test(test_dependency_passed_over),
        cmocka_unit_test(test_unversioned_never_opened),
        cmocka_unit_test(test_current_folder_never_searched),
        cmocka_unit_test(test_search_is_silent),
        cmocka_unit_test(test_already_loaded),
        cmocka_unit_test(test_named_wins_over_loaded),
        cmocka_unit_test(test_option_wins_over_environment),
        cmocka_unit_test(test_compat_only_if_asked),
        cmocka_unit_test(test_link),
    };
    return cmocka_run_group_tests_name("search", tests, prepare, clean);
}
