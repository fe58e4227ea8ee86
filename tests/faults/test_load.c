/* SPDX-License-Identifier: MIT */
/* Everything that a load asks the system for fails in turn: the status names the true cause, the
 * table is sound, and nothing leaks. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "faults.h"

static enum cushim_status statuses[INJECT_KINDS] = {
    [INJECT_ALLOCATE] = CUSHIM_ERROR_OUT_OF_MEMORY, [INJECT_OPEN] = CUSHIM_ERROR_NO_DESCRIPTORS,
    [INJECT_READ] = CUSHIM_ERROR_READ_FAILED,       [INJECT_DLOPEN] = CUSHIM_ERROR_OUT_OF_MEMORY,
    [INJECT_DLSYM] = CUSHIM_ERROR_NOT_CUDA,
};

static bool names_cause(enum inject_kind kind, int code, const char *text)
{
    if (kind == INJECT_DLOPEN && code == CUSHIM_ERROR_NO_DLOPEN)
        return true; /* nothing could be opened at all, not even the program */
    if (kind == INJECT_DLSYM &&
        (code == CUSHIM_ERROR_INCOMPLETE || code == CUSHIM_ERROR_INIT_FAILED))
        return strstr(text, "it has no cu") ||
               strstr(text, "801"); /* the driver seems to lack it */
    return code == (int)statuses[kind];
}

static size_t available(const struct cushim_api *cu)
{
    size_t count = 0;
    for (size_t i = 0; i < cushim_entry_count(); i++)
        count += cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE;
    return count;
}

static size_t expected; /* entries; a symbol that dlsym does not find is no entry */

/* One load, and what a program asks of it. */
static int load(const struct cushim_options *options, char *text, size_t size)
{
    cushim_last_error_clear();
    const struct cushim_api *cu = cushim_open(options);
    if (!cu) {
        inject_end();
        snprintf(text, size, "%s", cushim_last_error());
        assert_contains(text, "out of memory");
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    }
    enum cushim_status status = cushim_status(cu);
    char reason[256];
    enum cushim_state state;
    struct cushim_attempt attempt = {.size = sizeof attempt};
    (void)cushim_path(cu);
    (void)cushim_attempt_at(cu, 0, &attempt);
    (void)cushim_message(cu);
    (void)cushim_reason(cu, "cuMemAllocAsync", &state, reason, sizeof reason);
    if (status == CUSHIM_OK && cushim_init(cu) != CUSHIM_OK)
        status = CUSHIM_ERROR_INIT_FAILED;
    (void)cushim_message(cu);
    inject_end();
    snprintf(text, size, "%s", cushim_message(cu));
    assert_true(*text);
    assert_true(*reason);
    assert_sound(cu);
    if (status == CUSHIM_ERROR_OUT_OF_MEMORY && inject_kind() == INJECT_ALLOCATE)
        assert_true(strstr(text, "out of memory") || strcmp(text, "out-of-memory") == 0);
    if (status == CUSHIM_OK) {
        assert_true(cushim_path(cu) || inject_kind() == INJECT_DLINFO ||
                    inject_kind() == INJECT_DLSYM);
        expected = expected ? expected : available(cu);
        if (inject_kind() != INJECT_DLSYM)
            assert_int_equal(available(cu), expected);
    }
    cushim_close(cu);
    return (int)status;
}

static int load_path(char *text, size_t size)
{
    struct cushim_options options = defaults();
    options.path = fake_path(GOOD);
    return load(&options, text, size);
}

static int load_symbols(char *text, size_t size)
{
    struct cushim_options options = defaults();
    options.path = fake_path(GOOD);
    options.order = CUSHIM_ORDER_SYMBOLS;
    return load(&options, text, size);
}

/* One is loaded already, by the name that the search asks for. */
static int load_search(char *text, size_t size)
{
    struct cushim_options options = defaults();
    options.allow_compat = true;
    return load(&options, text, size);
}

static void *resolve(void *user, const char *symbol)
{
    return dlsym(user, symbol);
}

static int load_resolver(char *text, size_t size)
{
    struct cushim_options options = defaults();
    options.resolver = resolve;
    options.user = dlopen(fake_path(GOOD), RTLD_NOW | RTLD_LOCAL);
    if (!options.user) /* this program's own call failed */
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    int code = load(&options, text, size);
    dlclose(options.user);
    return code;
}

static void run(int (*body)(char *, size_t), const char *name)
{
    struct faults_scenario scenario = {name, body, names_cause};
    expected = 0; /* what the first run finds, the one without a fault */
    faults_run(&scenario);
    assert_true(expected > 10);
}

static void test_path(void **state)
{
    (void)state;
    run(load_path, "a path");
}

static void test_symbols(void **state)
{
    (void)state;
    run(load_symbols, "symbols only");
}

static void test_search(void **state)
{
    (void)state;
    assert_non_null(dlopen(fake_path("soname"), RTLD_NOW | RTLD_LOCAL));
    run(load_search, "the system's search");
}

static void test_resolver(void **state)
{
    (void)state;
    run(load_resolver, "a resolver");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_resolver),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
