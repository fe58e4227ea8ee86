/* SPDX-License-Identifier: MIT */
/* CUSHIM_CHECK and its handler. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cushim/error.h>
#include <cushim/memory.h>

#include "common.h"

static struct {
    int calls;
    CUresult code;
    int line;
    void *user;
    char name[64], text[256], detail[1024], expression[256], file[256], message[4096];
} seen;

static void note(void *user, const struct cushim_failure *failure)
{
    seen.calls++;
    seen.user = user;
    seen.code = failure->code;
    seen.line = failure->line;
    snprintf(seen.name, sizeof seen.name, "%s", failure->name);
    snprintf(seen.text, sizeof seen.text, "%s", failure->text);
    snprintf(seen.detail, sizeof seen.detail, "%s", failure->detail);
    snprintf(seen.expression, sizeof seen.expression, "%s", failure->expression);
    snprintf(seen.file, sizeof seen.file, "%s", failure->file);
    snprintf(seen.message, sizeof seen.message, "%s", failure->message);
}

static int set_up(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    return cushim_error_handler_set(note, &seen) != CUDA_SUCCESS;
}

static int tear_down(void **state)
{
    (void)state;
    return cushim_error_handler_set(NULL, NULL) != CUDA_SUCCESS;
}

static int evaluated;

static CUresult give(CUresult code)
{
    evaluated++;
    return code;
}

static void test_success(void **state)
{
    (void)state;
    evaluated = 0;
    assert_true(CUSHIM_CHECK(give(CUDA_SUCCESS)));
    assert_int_equal(evaluated, 1);
    assert_int_equal(seen.calls, 0);
}

static void test_failure(void **state)
{
    (void)state;
    evaluated = 0;
    int line = __LINE__ + 1;
    bool good = CUSHIM_CHECK(give(CUDA_ERROR_OUT_OF_MEMORY));
    assert_false(good);
    assert_int_equal(evaluated, 1);
    assert_int_equal(seen.calls, 1);
    assert_ptr_equal(seen.user, &seen);
    assert_int_equal(seen.code, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(seen.line, line);
    assert_string_equal(seen.name, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(seen.text, cushim_error_string(CUDA_ERROR_OUT_OF_MEMORY));
    assert_string_equal(seen.detail, "");
    assert_string_equal(seen.expression, "give(CUDA_ERROR_OUT_OF_MEMORY)");
    assert_contains(seen.file, "test_error.c");
    const char *const parts[] = {seen.file, seen.expression, seen.name, "(2)", seen.text};
    for (size_t i = 0; i < COUNT(parts); i++)
        assert_contains(seen.message, parts[i]);
}

/* Macros of the caller may make an expression very long: the message has the beginning. */
static void test_long_expression(void **state)
{
    (void)state;
    struct cushim_outcome outcome = {CUDA_SUCCESS, ""};
    char expression[200] = "", wanted[256];
    memset(expression, 'a', 80);
    snprintf(wanted, sizeof wanted, "%s: CUDA_ERROR_OUT_OF_MEMORY (2)", expression);
    assert_false(cushim_check(CUDA_ERROR_OUT_OF_MEMORY, expression, "a.c", 1));
    assert_contains(seen.message, wanted);
    memset(expression, 'a', 199);
    assert_false(cushim_check(CUDA_ERROR_OUT_OF_MEMORY, expression, "a.c", 1));
    assert_string_equal(seen.expression, expression);
    snprintf(wanted, sizeof wanted, "a.c:1: %.80s...: CUDA", expression);
    assert_memory_equal(seen.message, wanted, strlen(wanted));
    assert_false(cushim_outcome_keep(&outcome, CUDA_ERROR_OUT_OF_MEMORY, expression));
    assert_memory_equal(outcome.message, wanted + 7, strlen(wanted + 7));
}

static void test_unknown_code(void **state)
{
    (void)state;
    assert_false(CUSHIM_CHECK(give((CUresult)54321)));
    assert_string_equal(seen.name, "unknown error");
    assert_string_equal(seen.text, "");
    assert_contains(seen.message, "54321");
}

/* An unavailable entry says why; what went wrong before it is not taken for it. */
static void test_detail(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    assert_false(CUSHIM_CHECK(cu->cuCtxSetCurrent(NULL)));
    assert_int_equal(seen.code, CUDA_ERROR_NOT_INITIALIZED);
    assert_contains(seen.detail, "cuCtxSetCurrent is not available");
    assert_contains(seen.message, "(3); cuCtxSetCurrent is not available: there is no CUDA driver");
    assert_null(strstr(seen.message, seen.text));
    assert_contains(cushim_last_error(), "cuCtxSetCurrent is not available");

    /* A helper's sentence: neither the helper nor the code stands there twice. */
    assert_false(CUSHIM_CHECK(cushim_memory_free(NULL, 1)));
    assert_contains(seen.message,
                    ": cushim_memory_free(NULL, 1): CUDA_ERROR_INVALID_VALUE (1); cu");
    assert_contains(seen.detail, "cushim_memory_free: cu is NULL");
    assert_false(CUSHIM_CHECK(cushim_error_explain(CUDA_ERROR_NOT_FOUND, "file", "cuCall")));
    assert_contains(seen.message, "\"cuCall\"): file: cuCall: CUDA_ERROR_NOT_FOUND (500), ");

    assert_false(CUSHIM_CHECK(give(CUDA_ERROR_INVALID_VALUE)));
    assert_string_equal(seen.detail, "");
    /* Nor a call whose sentence nobody has read. */
    assert_int_equal(cu->cuCtxSetCurrent(NULL), CUDA_ERROR_NOT_INITIALIZED);
    assert_false(CUSHIM_CHECK(give(CUDA_ERROR_INVALID_VALUE)));
    assert_string_equal(seen.detail, "");
    cushim_close(cu);
}

/* The first failure stays, with its sentence or, without one, its source; no handler is called. */
static void test_keep(void **state)
{
    (void)state;
    struct cushim_outcome outcome = {CUDA_SUCCESS, ""}, other = outcome;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    evaluated = 0;
    assert_true(CUSHIM_KEEP(&outcome, give(CUDA_SUCCESS)));
    assert_int_equal(evaluated, 1);
    assert_true(outcome.code == CUDA_SUCCESS && !outcome.message[0]);
    assert_false(CUSHIM_KEEP(&outcome, give(CUDA_ERROR_OUT_OF_MEMORY)));
    assert_int_equal(outcome.code, CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(outcome.message,
                    "give(CUDA_ERROR_OUT_OF_MEMORY): CUDA_ERROR_OUT_OF_MEMORY (2)");
    assert_false(CUSHIM_KEEP(&outcome, cu->cuCtxSetCurrent(NULL)));
    assert_true(CUSHIM_KEEP(&outcome, give(CUDA_SUCCESS)));
    assert_int_equal(outcome.code, CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(outcome.message, "give(");

    assert_false(CUSHIM_KEEP(&other, cu->cuCtxSetCurrent(NULL)));
    assert_contains(other.message, "cuCtxSetCurrent is not available");
    assert_false(CUSHIM_KEEP(NULL, give(CUDA_ERROR_UNKNOWN)));
    assert_int_equal(seen.calls, 0);
    cushim_close(cu);
}

static int after;

static CUresult returning(CUresult first, CUresult second)
{
    CUSHIM_RETURN_IF_FAILED(give(first));
    if (first == CUDA_SUCCESS)
        CUSHIM_RETURN_IF_FAILED(give(second));
    else
        return CUDA_ERROR_UNKNOWN;
    after++;
    return CUDA_SUCCESS;
}

static void test_return(void **state)
{
    (void)state;
    evaluated = after = 0;
    assert_int_equal(returning(CUDA_SUCCESS, CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(evaluated, 2);
    assert_int_equal(after, 1);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(returning(CUDA_ERROR_NO_DEVICE, CUDA_SUCCESS), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(evaluated, 3);
    assert_string_equal(seen.expression, "give(first)");
    assert_int_equal(returning(CUDA_SUCCESS, CUDA_ERROR_NOT_FOUND), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(evaluated, 5);
    assert_string_equal(seen.expression, "give(second)");
    assert_int_equal(after, 1);
}

static void test_explain(void **state)
{
    (void)state;
    cushim_last_error_clear();
    assert_int_equal(cushim_error_explain(CUDA_SUCCESS, "stream", "cuStreamQuery"), CUDA_SUCCESS);
    assert_string_equal(cushim_last_error(), "");
    assert_int_equal(cushim_error_explain(CUDA_ERROR_INVALID_HANDLE, "stream", "cuStreamQuery"),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_contains(cushim_last_error(), "stream: cuStreamQuery: CUDA_ERROR_INVALID_HANDLE (400)");
    assert_int_equal(cushim_error_explain((CUresult)12345, "stream", "cuStreamQuery"), 12345);
    assert_string_equal(cushim_last_error(), "stream: cuStreamQuery: unknown error (12345)");
    assert_int_equal(cushim_error_explain(CUDA_ERROR_UNKNOWN, NULL, "cuStreamQuery"),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_error_explain(CUDA_ERROR_UNKNOWN, "stream", NULL),
                     CUDA_ERROR_INVALID_VALUE);
}

static void fail_by_default(void *unused)
{
    (void)unused;
    cushim_error_handler_set(NULL, NULL);
    assert_false(CUSHIM_CHECK(give(CUDA_ERROR_LAUNCH_FAILED)));
}

static void test_default_handler(void **state)
{
    char output[TEXT_SIZE];
    (void)state;
    run_in_child(fail_by_default, NULL, output);
    assert_contains(output, "test_error.c");
    assert_contains(output, "give(CUDA_ERROR_LAUNCH_FAILED): CUDA_ERROR_LAUNCH_FAILED (719)");
    assert_contains(output, "\n");
}

/* A handler may check calls itself, and set another. */
static void nest(void *user, const struct cushim_failure *failure)
{
    if (failure->code != CUDA_ERROR_INVALID_VALUE)
        CUSHIM_CHECK(give(CUDA_ERROR_INVALID_VALUE));
    cushim_error_handler_set(note, user);
}

static void test_handler_within_handler(void **state)
{
    (void)state;
    cushim_error_handler_set(nest, &after);
    assert_false(CUSHIM_CHECK(give(CUDA_ERROR_NOT_FOUND)));
    assert_int_equal(seen.calls, 0);
    assert_false(CUSHIM_CHECK(give(CUDA_ERROR_NOT_FOUND)));
    assert_int_equal(seen.calls, 1);
    assert_ptr_equal(seen.user, &after);
}

/* A handler never gets another's user. */
static int counts[2];

static void first_handler(void *user, const struct cushim_failure *failure)
{
    __atomic_fetch_add(&counts[0], user == (void *)&counts[0] && failure->line > 0, 5);
}

static void second_handler(void *user, const struct cushim_failure *failure)
{
    __atomic_fetch_add(&counts[1], user == (void *)&counts[1] && failure->line > 0, 5);
}

enum { ROUNDS = 20000, CHECKERS = 4 };

static void *check_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        if (CUSHIM_CHECK(CUDA_ERROR_NOT_FOUND))
            break;
    return unused;
}

static void test_threads(void **state)
{
    pthread_t threads[CHECKERS];
    (void)state;
    cushim_error_handler_set(first_handler, &counts[0]);
    for (int i = 0; i < CHECKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, NULL), 0);
    for (int i = 0; i < ROUNDS; i++)
        cushim_error_handler_set(i % 2 ? first_handler : second_handler, &counts[!(i % 2)]);
    for (int i = 0; i < CHECKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counts[0] + counts[1], ROUNDS * CHECKERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_success, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_expression, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_code, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_detail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_return, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_default_handler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_handler_within_handler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
