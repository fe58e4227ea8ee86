/* SPDX-License-Identifier: MIT */
/*
 * Bad input that depends on who runs: a file that may not be read, and CUSHIM_LIBCUDA in a set-uid
 * program. Root reads everything, so as root the first is tried as another user; the second can
 * only be set up by root, on a file system that honours set-uid. Where that is not so, it is
 * skipped by name: this program prints its own TAP, because cmocka 1.1 calls a skipped test failed.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

enum { OTHER_USER = 65534 };

static char unreadable[256], locked[256], good[256], copy[256]; /* in our short folder */

static void become_other_user(void)
{
    if (geteuid() != 0)
        return;
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setgid(OTHER_USER), 0);
    assert_int_equal(setuid(OTHER_USER), 0);
}

static void assert_unreadable(const struct cushim_api *cu, const char *path)
{
    assert_failed(cu, CUSHIM_ERROR_UNREADABLE);
    assert_contains(cushim_message(cu), path);
    assert_mentions(cushim_message(cu), "permission denied");
}

static void open_unreadable(void *path)
{
    become_other_user();
    const struct cushim_api *cu = open_path(path);
    assert_unreadable(cu, path);
    cushim_close(cu);

    set_environment("CUSHIM_LIBCUDA", path);
    cu = cushim_open(NULL);
    assert_unreadable(cu, path);
    const struct cushim_api *other = open_path(good);
    assert_sound(other);
    assert_int_equal(cushim_status(other), CUSHIM_OK);
    cushim_close(other);
    cushim_close(cu);
}

/* ---- set-uid ---- */

static const char secure_mode[] = "secure", probe_mode[] = "probe";

/* What the set-uid copy of this program does. */
static void run_mode(const char *mode)
{
    bool secure = getauxval(AT_SECURE) != 0;
    if (strcmp(mode, probe_mode) == 0) {
        puts(secure ? "secure" : "plain");
        return;
    }
    assert_true(secure);
    assert_non_null(getenv("CUSHIM_LIBCUDA"));
    const struct cushim_api *cu = cushim_open(NULL);
    struct cushim_attempt attempts[ATTEMPTS];
    size_t count = attempts_of(cu, attempts);
    for (size_t i = 0; i < count; i++)
        assert_true(attempts[i].source != CUSHIM_SOURCE_ENVIRONMENT);
    if (cushim_path(cu))
        assert_null(strstr(cushim_path(cu), "cushim-unit-"));
    assert_sound(cu);
    cushim_close(cu);
}

static int run_copy(const char *mode, char *output)
{
    char variable[PATH_SIZE];
    snprintf(variable, sizeof variable, "CUSHIM_LIBCUDA=%s", good);
    char quiet[] = "CMOCKA_TEST_ABORT=1";
    char *environment[] = {quiet, variable, NULL};
    return try_again(copy, mode, environment, output);
}

static bool can_set_uid(void)
{
    char output[TEXT_SIZE];
    if (geteuid() != 0)
        return false;
    snprintf(copy, sizeof copy, "%s", copy_file("/proc/self/exe", "set-uid"));
    if (chown(copy, OTHER_USER, OTHER_USER) != 0 || chmod(copy, 04755) != 0)
        return false;
    return run_copy(probe_mode, output) == 0 && strcmp(output, "secure\n") == 0;
}

static void open_in_set_uid(void *unused)
{
    char output[TEXT_SIZE];
    (void)unused;
    if (run_copy(secure_mode, output) != 0)
        fail_msg("%s", output);
}

/* ---- */

static void make_files(void)
{
    snprintf(good, sizeof good, "%s", copy_file(fake_path(GOOD), "good.so"));
    snprintf(unreadable, sizeof unreadable, "%s", copy_file(fake_path(GOOD), "unreadable.so"));
    assert_int_equal(chmod(unreadable, 0), 0);
    assert_int_equal(mkdir(in_folder("locked"), 0700), 0);
    snprintf(locked, sizeof locked, "%s", copy_file(fake_path(GOOD), "locked/libcuda.so.1"));
    if (geteuid() != 0)
        assert_int_equal(chmod(in_folder("locked"), 0), 0);
}

static void clean(void)
{
    chmod(in_folder("locked"), 0700);
    remove_folder();
}

/* Whether a child can become another user; containers may have only one. */
static void try_other_user(void *unused)
{
    (void)unused;
    bool can = geteuid() != 0 ||
               (setgroups(0, NULL) == 0 && setgid(OTHER_USER) == 0 && setuid(OTHER_USER) == 0);
    puts(can ? "yes" : "no");
}

static bool has_other_user(void)
{
    char output[TEXT_SIZE];
    run_in_child(try_other_user, NULL, output);
    return strcmp(output, "yes\n") == 0;
}

static unsigned number, failures;

static void run_one(const char *name, void (*body)(void *), void *argument, const char *no)
{
    char output[TEXT_SIZE] = "";
    bool failed = !no && try_in_child(body, argument, output) != 0;
    printf("%sok %u - %s%s%s\n", failed ? "not " : "", ++number, name, no ? " # SKIP " : "",
           no ? no : "");
    if (failed)
        fprintf(stderr, "%s: %s\n", name, output);
    failures += failed;
}

int main(int count, char **arguments)
{
    if (count > 1) {
        run_mode(arguments[1]);
        fflush(stdout);
        _exit(0); /* a leak checker cannot look into a set-uid process, and fails */
    }
    unsetenv("CUSHIM_LIBCUDA");
    if (!make_folder())
        return 1;
    make_files();
    const char *no_user = has_other_user() ? NULL : "root cannot become another user here";
    const char *no_set_uid = can_set_uid()    ? NULL
                             : geteuid() != 0 ? "only root can make a set-uid program"
                                              : "needs a file system with set-uid";
    printf("1..3\n");
    run_one("unreadable file", open_unreadable, unreadable, no_user);
    run_one("file in a locked folder", open_unreadable, locked, no_user);
    run_one("CUSHIM_LIBCUDA in a set-uid program", open_in_set_uid, NULL, no_set_uid);
    clean();
    return failures != 0;
}
