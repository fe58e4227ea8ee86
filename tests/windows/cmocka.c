/* SPDX-License-Identifier: MIT */
/* See cmocka.h. A failed assertion jumps back to the loop over the tests. */
#include "cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

enum { PASSED, FAILED, SKIPPED };

size_t check_running;
static jmp_buf back;
static volatile int inside;
static const char *skipped_for;

void check_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# %s:%d: ", file, line);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    if (!inside || child_number())
        exit(1);
    longjmp(back, FAILED);
}

void check_skip(const char *reason)
{
    skipped_for = reason;
    longjmp(back, SKIPPED);
}

void print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    va_end(arguments);
}

void check_true(int holds, const char *text, const char *file, int line)
{
    if (!holds)
        check_fail(file, line, "not so: %s", text);
}

void check_equal(uintmax_t a, uintmax_t b, const char *text, const char *file, int line)
{
    if (a != b)
        check_fail(file, line, "0x%jx != 0x%jx: %s", a, b, text);
}

void check_range(uintmax_t value, uintmax_t least, uintmax_t most, const char *file, int line)
{
    if (value < least || value > most)
        check_fail(file, line, "%ju is not within %ju to %ju", value, least, most);
}

void check_string(const char *a, const char *b, int equal, const char *file, int line)
{
    if (!a || !b || (strcmp(a, b) == 0) != equal)
        check_fail(file, line, "\"%s\" and \"%s\" should%s be equal", a ? a : "(NULL)",
                   b ? b : "(NULL)", equal ? "" : " not");
}

void check_memory(const void *a, const void *b, size_t size, int equal, const char *file, int line)
{
    if ((memcmp(a, b, size) == 0) != equal)
        check_fail(file, line, "%zu bytes should%s be equal", size, equal ? "" : " not");
}

static int check_one(const struct CMUnitTest *test, void *group_state)
{
    void *state = test->initial_state ? test->initial_state : group_state;
    volatile int result;
    inside = 1;
    result = setjmp(back);
    if (result == PASSED) {
        if (strstr(test->name, "fork")) /* their names say so */
            check_skip("there is no fork");
        if (test->setup_func && test->setup_func(&state) != 0)
            check_fail(test->name, 0, "its set-up failed");
        test->test_func(&state);
    }
    inside = 0;
    if (test->teardown_func && test->teardown_func(&state) != 0)
        result = FAILED;
    return result;
}

int check_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction *setup,
                CMFixtureFunction *teardown)
{
    static const char *const words[] = {"ok", "not ok", "ok"};
    void *state = NULL;
    int failed = 0;
    setvbuf(stdout, NULL, _IOFBF, 1 << 12);
    if (!child_number())
        printf("1..%zu\n", count);
    if (setup && setup(&state) != 0) {
        printf("Bail out! The group's set-up failed\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (child_number() && child_test() != i + 1)
            continue; /* a child runs one test, up to its own part */
        check_running = i + 1;
        int result = check_one(&tests[i], state);
        failed += result == FAILED;
        printf("%s %zu - %s%s%s\n", words[result], i + 1, tests[i].name,
               result == SKIPPED ? " # SKIP " : "", result == SKIPPED ? skipped_for : "");
        fflush(stdout);
    }
    check_running = 0;
    if (teardown && teardown(&state) != 0)
        failed++;
    if (child_number()) {
        printf("the child did not reach its part of the test\n");
        return 1;
    }
    return failed;
}
