/* SPDX-License-Identifier: MIT */
/* cushim_options and cushim_open: what contradicts itself, the resolver, the log, the sizes. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static void assert_refused(const struct cushim_options *options)
{
    cushim_last_error_clear();
    assert_null(cushim_open(options));
    assert_true(strlen(cushim_last_error()) > 10);
    assert_good_driver_loads();
}

static void test_size_too_small(void **state)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t)};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct cushim_options options = defaults();
        options.path = fake_path(GOOD);
        options.size = sizes[i];
        assert_refused(&options);
        assert_mentions(cushim_last_error(), "size");
    }
}

/* A caller built against a later version, whose new options are all zero. */
static void test_size_of_the_future(void **state)
{
    struct {
        struct cushim_options options;
        char more[64];
    } future = {.options = defaults()};
    (void)state;
    future.options.size = sizeof future;
    future.options.path = fake_path(GOOD);
    const struct cushim_api *cu = cushim_open(&future.options);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_close(cu);
}

static void test_unknown_order(void **state)
{
    static const int orders[] = {CUSHIM_ORDER_SYMBOLS + 1, -1, 1 << 20};
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        struct cushim_options options = defaults();
        options.path = fake_path(GOOD);
        memcpy(&options.order, &orders[i], sizeof orders[i]);
        assert_refused(&options);
        assert_mentions(cushim_last_error(), "order");
    }
}

/* ---- resolver ---- */

struct lookup {
    void *handle;       /* of the fake whose symbols it hands out */
    const char *denied; /* NULL, or one that it does not */
    unsigned calls;
};

static void *resolve(void *user, const char *symbol)
{
    struct lookup *lookup = user;
    lookup->calls++;
    if (!lookup->handle || (lookup->denied && strcmp(symbol, lookup->denied) == 0))
        return NULL;
    return dlsym(lookup->handle, symbol);
}

static struct lookup lookup_in(const char *fake)
{
    struct lookup lookup = {.handle = dlopen(fake_path(fake), RTLD_NOW | RTLD_LOCAL)};
    assert_non_null(lookup.handle);
    return lookup;
}

static const struct cushim_api *open_resolver(struct lookup *lookup)
{
    struct cushim_options options = defaults();
    options.resolver = resolve;
    options.user = lookup;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    assert_sound(cu);
    return cu;
}

static void test_path_and_resolver(void **state)
{
    struct lookup lookup = lookup_in(GOOD);
    struct cushim_options options = defaults();
    (void)state;
    options.path = fake_path(GOOD);
    options.resolver = resolve;
    options.user = &lookup;
    assert_refused(&options);
    assert_int_equal(lookup.calls, 0);
    assert_mentions(cushim_last_error(), "resolver");
    dlclose(lookup.handle);
}

static void test_resolver(void **state)
{
    struct cushim_attempt attempts[ATTEMPTS];
    struct lookup lookup = lookup_in(GOOD);
    (void)state;
    set_environment("CUSHIM_LIBCUDA", fake_path("v10")); /* not asked where a resolver is given */
    const struct cushim_api *cu = open_resolver(&lookup);
    set_environment("CUSHIM_LIBCUDA", NULL);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_driver_version(cu), GOOD_VERSION);
    assert_true(lookup.calls > 0);
    assert_true(attempts_of(cu, attempts) == 1);
    assert_int_equal(attempts[0].source, CUSHIM_SOURCE_RESOLVER);
    assert_ptr_equal(table_slot(cu, entry_index("cuMemAlloc_v2")),
                     dlsym(lookup.handle, "cuMemAlloc_v2"));
    cushim_close(cu);
    dlclose(lookup.handle);
}

static void test_resolver_without_driver(void **state)
{
    struct lookup nothing = {.handle = NULL};
    (void)state;
    const struct cushim_api *cu = open_resolver(&nothing);
    assert_failed(cu, CUSHIM_ERROR_NOT_CUDA);
    cushim_close_unload(cu);
    struct lookup old = lookup_in("v10"); /* which has no other way to it */
    old.denied = "cuDriverGetVersion";
    cu = open_resolver(&old);
    assert_failed(cu, CUSHIM_ERROR_NOT_CUDA);
    assert_contains(cushim_message(cu), "cuDriverGetVersion");
    cushim_close(cu);
    dlclose(old.handle);
    assert_good_driver_loads();
}

/* One missing entry fails nothing, and a missing cuGetProcAddress neither. */
static void test_resolver_lacks_one(void **state)
{
    static const char *const denied[] = {"cuMemAlloc_v2", "cuGetProcAddress_v2",
                                         "cuGetProcAddress"};
    (void)state;
    for (size_t i = 0; i < COUNT(denied); i++) {
        struct lookup lookup = lookup_in(GOOD);
        lookup.denied = denied[i];
        const struct cushim_api *cu = open_resolver(&lookup);
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        assert_true(cushim_has(cu, "cuMemAlloc"));
        assert_true(cushim_has(cu, "cuCtxCreate_v3"));
        cushim_close(cu);
        dlclose(lookup.handle);
    }
}

/* ---- log ---- */

struct journal {
    unsigned lines, bad, warnings;
    char text[TEXT_SIZE];
};

static void keep(void *user, enum cushim_log_level level, const char *line)
{
    struct journal *journal = user;
    size_t length = strlen(journal->text);
    journal->lines++;
    journal->warnings += level == CUSHIM_LOG_WARNING;
    journal->bad += level > CUSHIM_LOG_WARNING || *line == '\0' || strchr(line, '\n');
    snprintf(journal->text + length, sizeof journal->text - length, "%s\n", line);
}

static void open_logged(const char *path, struct journal *journal)
{
    struct cushim_options options = defaults();
    memset(journal, 0, sizeof *journal);
    options.path = path;
    options.log = keep;
    options.user = journal;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    unsigned lines = journal->lines;
    (void)cu->cuDeviceGetCount(NULL);
    cushim_close(cu);
    assert_true(lines > 0);
    assert_int_equal(journal->bad, 0);
    assert_int_equal(journal->lines, lines); /* the load logs, and nothing after it */
    assert_contains(journal->text, path);
}

static void log_all(void *unused)
{
    struct journal journal;
    (void)unused;
    open_logged(fake_path(GOOD), &journal);
    assert_int_equal(journal.warnings, 0);
    open_logged("/nonexistent/libcuda.so.1", &journal);
    assert_true(journal.warnings > 0);
    assert_contains(journal.text, "/nonexistent/libcuda.so.1: not-found: "); /* each attempt */
#ifdef _WIN32
    assert_mentions(journal.text, "not found");
#else
    assert_mentions(journal.text, "no such file");
#endif
    open_logged(fake_path("proc_lies"), &journal);
    assert_true(journal.warnings > 0);
}

/* Lines go to the callback and nowhere else. */
static void test_log(void **state)
{
    char output[TEXT_SIZE];
    (void)state;
    run_in_child(log_all, NULL, output);
    assert_string_equal(output, "");
}

static void open_silently(void *unused)
{
    static const char *const names[] = {GOOD, "stub", "proc_fails", "future", "no-such", "v6"};
    (void)unused;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct cushim_options options = defaults();
        options.path = fake_path(names[i]);
        options.per_thread_default_stream = true;
        const struct cushim_api *cu = cushim_open(&options);
        (void)cu->cuGraphicsUnregisterResource(NULL);
        (void)cushim_last_error();
        (void)cushim_init(cu);
        cushim_close(cu);
    }
    cushim_close(cushim_open(NULL));
    struct cushim_options wrong = defaults();
    wrong.size = 1;
    (void)cushim_open(&wrong);
}

static void test_silent_by_default(void **state)
{
    char output[TEXT_SIZE];
    (void)state;
    run_in_child(open_silently, NULL, output);
    assert_string_equal(output, "");
}

/* ---- what a load leaves as it was ---- */

static char *environment_text(void)
{
    static char text[1 << 18];
    size_t length = 0;
    for (char **variable = environ; *variable; variable++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", *variable);
    assert_true(length < sizeof text);
    return strdup(text);
}

static void test_environment_unchanged(void **state)
{
    static const char *const names[] = {GOOD, "stub", "no-such"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        set_environment("CUSHIM_LIBCUDA", fake_path(names[i]));
        char *before = environment_text();
        const struct cushim_api *cu = cushim_open(NULL);
        char *after = environment_text();
        assert_string_equal(before, after);
        free(before);
        free(after);
        cushim_close(cu);
    }
    set_environment("CUSHIM_LIBCUDA", NULL);
}

/* The driver's names do not become visible to the rest of the program. */
static void test_names_stay_private(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_null(dlsym(RTLD_DEFAULT, "cuInit"));
    assert_null(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    cushim_close(cu);
}

static void test_close_null(void **state)
{
    (void)state;
    cushim_close(NULL);
    cushim_close_unload(NULL);
}

static bool is_loaded(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle;
}

static void test_close_keeps_driver(void **state)
{
    char *kept = strdup(copy_file(fake_path(GOOD), "kept.so"));
    char *dropped = strdup(copy_file(fake_path(GOOD), "dropped.so"));
    (void)state;
    cushim_close(open_path(kept));
    assert_true(is_loaded(kept));
    cushim_close_unload(open_path(dropped));
    assert_true(is_loaded(dropped) == !HAVE_GLIBC);
    free(kept);
    free(dropped);
}

static void test_refused_is_not_kept(void **state)
{
    char *path = strdup(copy_file(fake_path("stub"), "refused.so"));
    (void)state;
    cushim_close(open_path(path));
    assert_true(is_loaded(path) == !HAVE_GLIBC);
    free(path);
}

/* Two at once, of different versions, each with its own table. */
static void test_several_at_once(void **state)
{
    (void)state;
    const struct cushim_api *old = open_path(fake_path("v10")), *new = open_path(fake_path("v13"));
    assert_int_equal(cushim_driver_version(old), 10020);
    assert_int_equal(cushim_driver_version(new), 13000);
    assert_true(old != new);
    assert_false(cushim_has(old, "cuCtxCreate_v4"));
    assert_true(cushim_has(new, "cuCtxCreate_v4"));
    assert_sound(old);
    cushim_close(old);
    assert_sound(new);
    cushim_close(new);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_too_small),     cmocka_unit_test(test_size_of_the_future),
        cmocka_unit_test(test_unknown_order),      cmocka_unit_test(test_path_and_resolver),
        cmocka_unit_test(test_resolver),           cmocka_unit_test(test_resolver_without_driver),
        cmocka_unit_test(test_resolver_lacks_one), cmocka_unit_test(test_log),
        cmocka_unit_test(test_silent_by_default),  cmocka_unit_test(test_environment_unchanged),
        cmocka_unit_test(test_names_stay_private), cmocka_unit_test(test_close_null),
        cmocka_unit_test(test_close_keeps_driver), cmocka_unit_test(test_refused_is_not_kept),
        cmocka_unit_test(test_several_at_once),
    };
    return cmocka_run_group_tests_name("options", tests, prepare, clean);
}
