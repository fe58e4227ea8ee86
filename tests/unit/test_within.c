/* SPDX-License-Identifier: MIT */
/* Loads within loads: several within one, one that a jump left, and the one that comes second. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static const struct cushim_api *open_logged(cushim_log_fn *log)
{
    struct cushim_options options = defaults();
    options.path = fake_path(GOOD);
    options.log = log;
    return cushim_open(&options);
}

/* Each line opens other drivers. */
static void open_many(void *user, enum cushim_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    for (int i = 0; i < 10; i++) {
        const struct cushim_api *cu = open_path(fake_path(GOOD));
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        cushim_close(cu);
    }
}

static void test_beside(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_logged(open_many);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_close(cu);
}

static jmp_buf way_out;

static void jump_out(void *user, enum cushim_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    longjmp(way_out, 1);
}

static void leave_loads(void *unused)
{
    (void)unused;
    for (volatile int i = 0; i < 10; i++) {
        if (setjmp(way_out) == 0) {
            open_logged(jump_out);
            fail();
        }
    }
    assert_good_driver_loads();
}

/* What a load had that was left is lost: in a child, which nobody asks for it. */
static void test_left(void **state)
{
    (void)state;
    run_in_child(leave_loads, NULL, NULL);
}

/* The one that publishes later closes its library, and takes the first one's table. */
static const struct cushim_api *first;

static void load_first(void *user, enum cushim_log_level level, const char *line)
{
    struct cushim_options options = defaults();
    (void)user;
    (void)level;
    (void)line;
    options.path = fake_path("v11");
    first = first ? first : cushim_load(&options);
}

static void load_second(void *path)
{
    struct cushim_options options = defaults();
    options.path = path;
    options.log = load_first;
    const struct cushim_api *cu = cushim_load(&options);
    assert_ptr_equal(cu, first);
    assert_int_equal(cushim_driver_version(cu), 11040);
    void *again = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_true(!again || !HAVE_GLIBC); /* musl unloads nothing */
}

static void test_second(void **state)
{
    char *path = strdup(copy_file(fake_path(GOOD), "second.so"));
    (void)state;
    run_in_child(load_second, path, NULL);
    free(path);
}

static int prepare(void **state)
{
    (void)state;
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
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_second),
    };
    return cmocka_run_group_tests_name("within", tests, prepare, clean);
}
