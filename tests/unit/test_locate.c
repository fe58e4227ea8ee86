/* SPDX-License-Identifier: MIT */
/*
 * Bad input: whatever is not a driver gives its own status and a sentence that names path and
 * cause, never crashes, and leaves the process able to load another driver. Every input is given
 * twice, as an option and in CUSHIM_LIBCUDA. What depends on the user is in test_user.c.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bad_input.h"
#include "common.h"

/* Inputs are made once, before all tests: a second time they exist already. */
static const char *path_of(const struct bad_input *bad)
{
    static char *paths[64];
    size_t index = (size_t)(bad - bad_inputs);
    assert_true(bad_input_count <= COUNT(paths) && index < bad_input_count);
    if (!paths[index]) {
        paths[index] = strdup(bad->make());
        assert_non_null(paths[index]);
    }
    return paths[index];
}

static void assert_explained(const struct cushim_api *cu, const struct bad_input *bad,
                             const char *path, enum cushim_source source)
{
    struct cushim_attempt attempts[ATTEMPTS];
    assert_failed(cu, bad->status);
    assert_contains(cushim_message(cu), bad->named ? bad->named : path);
    assert_mentions(cushim_message(cu), bad->cause);

    assert_true(attempts_of(cu, attempts) == 1);
    assert_string_equal(attempts[0].path, path);
    assert_int_equal(attempts[0].source, source);
    assert_int_equal(attempts[0].status, bad->status);
    assert_mentions(attempts[0].message, bad->cause);
}

/* The beginning of the sentence: the buffer of the last error is bounded. */
static void assert_last_error_is(const char *message)
{
    char beginning[513];
    snprintf(beginning, sizeof beginning, "%s", message);
    assert_true(strncmp(cushim_last_error(), beginning, strlen(beginning)) == 0);
}

static void open_by_option(void *input)
{
    const struct bad_input *bad = input;
    cushim_last_error_clear();
    const struct cushim_api *cu = open_path(path_of(bad));
    assert_last_error_is(cushim_message(cu));
    assert_explained(cu, bad, path_of(bad), CUSHIM_SOURCE_OPTION);
    assert_null(strstr(cushim_message(cu), "CUSHIM_LIBCUDA")); /* it was not asked */
    assert_good_driver_loads();
    cushim_close(cu);
}

static void open_by_environment(void *input)
{
    const struct bad_input *bad = input;
    set_environment("CUSHIM_LIBCUDA", path_of(bad));
    const struct cushim_api *cu = cushim_open(NULL);
    assert_explained(cu, bad, path_of(bad), CUSHIM_SOURCE_ENVIRONMENT);
    assert_true(strncmp(cushim_message(cu), "CUSHIM_LIBCUDA", 14) == 0); /* who named it */
    assert_string_equal(getenv("CUSHIM_LIBCUDA"), path_of(bad));
    /* An option is stronger than the environment. */
    assert_good_driver_loads();
    set_environment("CUSHIM_LIBCUDA", fake_path(GOOD));
    const struct cushim_api *good = cushim_open(NULL);
    assert_int_equal(cushim_status(good), CUSHIM_OK);
    cushim_close(good);
    cushim_close_unload(cu);
}

/* In a child first: one that dies or hangs fails its test and no other. */
static void test_option(void **state)
{
    run_in_child(open_by_option, *state, NULL);
    open_by_option(*state);
}

static void test_environment(void **state)
{
    run_in_child(open_by_environment, *state, NULL);
    open_by_environment(*state);
}

static int reset(void **state)
{
    (void)state;
    unsetenv("CUSHIM_LIBCUDA");
    return 0;
}

/* Every status of the list above has words of its own. */
static void sentences_differ(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < bad_input_count; i++) {
        const struct cushim_api *cu = open_path(path_of(&bad_inputs[i]));
        const char *cause = strstr(cushim_message(cu), path_of(&bad_inputs[i]));
        assert_non_null(cause);
        cause += strlen(path_of(&bad_inputs[i]));
        for (size_t j = 0; j < i; j++) {
            const struct cushim_api *other = open_path(path_of(&bad_inputs[j]));
            if (bad_inputs[j].status != bad_inputs[i].status &&
                strstr(cushim_message(other), cause))
                fail_msg("\"%s\" and \"%s\": %s", bad_inputs[i].label, bad_inputs[j].label, cause);
            cushim_close(other);
        }
        cushim_close(cu);
    }
}

static void test_sentences_differ(void **state)
{
    (void)state;
    run_in_child(sentences_differ, NULL, NULL);
}

/* Cut at many places: each is called truncated, or still is a whole driver, and nothing crashes. */
static void cut_everywhere(void *unused)
{
    size_t size;
    unsigned char *bytes = read_whole(fake_path(GOOD), &size);
    bool was_ok = false;
    (void)unused;
    for (size_t at = 4; at <= size; at += at < 1024 ? 13 : 211) {
        const struct cushim_api *cu = open_path(write_file("cut.so", bytes, at));
        bool ok = cushim_status(cu) == CUSHIM_OK;
        if (!ok)
            assert_failed(cu, CUSHIM_ERROR_TRUNCATED);
        else
            assert_sound(cu);
        assert_true(ok || !was_ok); /* what follows the last segment alone may be missing */
        was_ok = ok;
        cushim_close_unload(cu);
    }
    assert_true(was_ok);
    free(bytes);
}

static void test_cut_everywhere(void **state)
{
    (void)state;
    run_in_child(cut_everywhere, NULL, NULL);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void no_file_left_open(void *unused)
{
    (void)unused;
    size_t before = open_files();
    for (size_t i = 0; i < bad_input_count; i++)
        cushim_close(open_path(path_of(&bad_inputs[i])));
    assert_true(open_files() == before);
}

/* The attempt has the whole of a long path. */
static void test_long_path(void **state)
{
    char path[3500] = "";
    const char *copy = copy_file(fake_path(GOOD), "long.so"); /* that nothing has opened before */
    struct cushim_attempt attempts[ATTEMPTS];
    size_t length;
    (void)state;
    snprintf(path, sizeof path, "%.*s", (int)(strrchr(copy, '/') - copy), copy);
    while ((length = strlen(path)) < 3000)
        memcpy(path + length, "/.", 3);
    snprintf(path + length, sizeof path - length, "/long.so");
    const struct cushim_api *cu = open_path(path);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_string_equal(cushim_path(cu), copy);
    assert_int_equal(attempts_of(cu, attempts), 1);
    assert_string_equal(attempts[0].path, path);
    assert_string_equal(attempts[0].message, cushim_path(cu));
    cushim_close(cu);
}

static void test_no_file_left_open(void **state)
{
    (void)state;
    run_in_child(no_file_left_open, NULL, NULL);
}

static void say_nothing(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < bad_input_count; i++)
        cushim_close(open_path(path_of(&bad_inputs[i])));
    cushim_close(open_path(fake_path(GOOD)));
}

static void test_silent(void **state)
{
    char output[TEXT_SIZE];
    (void)state;
    run_in_child(say_nothing, NULL, output);
    assert_string_equal(output, "");
}

static int prepare(void **state)
{
    if (!make_folder())
        return -1;
    for (size_t i = 0; i < bad_input_count; i++)
        (void)path_of(&bad_inputs[i]);
    return reset(state);
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

static struct CMUnitTest tests[256];
static size_t test_count;

static void add(const char *way, const struct bad_input *bad, CMUnitTestFunction function)
{
    char *name = malloc(128);
    if (!name)
        abort();
    snprintf(name, 128, "%s%s", way, bad ? bad->label : "");
    tests[test_count++] = (struct CMUnitTest){name, function, NULL, reset, (void *)(uintptr_t)bad};
}

int main(void)
{
    for (size_t i = 0; i < bad_input_count; i++)
        add("path: ", &bad_inputs[i], test_option);
    for (size_t i = 0; i < bad_input_count; i++)
        add("CUSHIM_LIBCUDA: ", &bad_inputs[i], test_environment);
    add("sentences differ", NULL, test_sentences_differ);
    add("cut everywhere", NULL, test_cut_everywhere);
    add("no file left open", NULL, test_no_file_left_open);
    add("silent", NULL, test_silent);
    add("long path", NULL, test_long_path);
    return _cmocka_run_group_tests("locate", tests, test_count, prepare, clean);
}
