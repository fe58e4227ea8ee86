/* SPDX-License-Identifier: MIT */
/* cushim_init: what cuInit's answers are called, and fork. A driver's cuInit returns 3 in the child
 * of a process in which it succeeded. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static const struct cushim_api *open_good(void)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    control->init_code = FAKE_SUCCESS;
    control->init_calls = 0;
    control->init_milliseconds = 0;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    return cu;
}

static const struct {
    int code;
    enum cushim_status status;
    const char *words;
} answers[] = {
    {0, CUSHIM_OK, "12.4"},
    {100, CUSHIM_ERROR_NO_DEVICE, "100"},
    {802, CUSHIM_ERROR_NOT_READY, "802"},
    {803, CUSHIM_ERROR_DRIVER_MISMATCH, "803"},
    {804, CUSHIM_ERROR_COMPAT_UNSUPPORTED, "804"},
    {999, CUSHIM_ERROR_INIT_UNKNOWN, "999"},
    {1, CUSHIM_ERROR_INIT_FAILED, "1"},
    {3, CUSHIM_ERROR_FORKED, "fork"},
    {54321, CUSHIM_ERROR_INIT_FAILED, "54321"},
};

static void answers_have_names(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    (void)unused;
    for (size_t i = 0; i < COUNT(answers); i++) {
        const struct cushim_api *cu = open_good();
        control->init_code = answers[i].code;
        cushim_last_error_clear();
        assert_contains(cushim_message(cu),
                        "entries"); /* of the load, until there is a later one */
        assert_int_equal(cushim_init(cu), answers[i].status);
        assert_contains(cushim_message(cu), answers[i].words);
        assert_contains(cushim_message(cu), cushim_path(cu));
        if (answers[i].code == 0)
            assert_string_equal(cushim_last_error(), "");
        else
            assert_string_equal(cushim_last_error(), cushim_message(cu));
        /* The load itself was fine, and stays so. */
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        assert_int_equal(cushim_init(cu), answers[i].status);
        cushim_close(cu);
    }
}

/* Each call asks the driver: a system that was not ready may be ready later. */
static void each_call_asks(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    const struct cushim_api *cu = open_good();
    (void)unused;
    assert_int_equal(control->init_calls, 0);
    control->init_code = 802;
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NOT_READY);
    const char *not_ready = cushim_message(cu);
    assert_contains(not_ready, "802");
    control->init_code = 100;
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    assert_contains(cushim_message(cu), "100");
    assert_contains(not_ready, "802"); /* it lives as long as the table */
    control->init_code = 0;
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    assert_contains(cushim_message(cu), "entries");
    assert_int_equal(control->init_calls, 3);
    control->init_code = 802;
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NOT_READY);
    assert_ptr_equal(cushim_message(cu), not_ready); /* made once */
    cushim_close(cu);
}

static void *init_on_thread(void *cu)
{
    return cushim_init(cu) == CUSHIM_OK ? cu : NULL;
}

static void threads_init_once(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    const struct cushim_api *cu = open_good();
    pthread_t threads[8];
    (void)unused;
    control->init_milliseconds = 50;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, init_on_thread, (void *)cu), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, cu);
    }
    assert_true(control->init_calls >= 1); /* several threads may be in it at once */
    cushim_close(cu);
}

static void without_driver(void *unused)
{
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    (void)unused;
    cushim_last_error_clear();
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NOT_FOUND);
    assert_string_equal(cushim_last_error(), cushim_message(cu));
    assert_string_equal(cushim_message(cu), cushim_message(cu));
    cushim_close(cu);
}

/* ---- fork ---- */

static void init_in_fresh_child(void *cu)
{
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
}

static void expect_forked(void *cu)
{
    fake_control(fake_path(GOOD))->init_code = CUDA_ERROR_NOT_INITIALIZED; /* as drivers do */
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_FORKED);
    assert_mentions(cushim_message(cu), "fork");
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_FORKED);
    assert_sound(cu);
}

static void fork_once(void *unused)
{
    const struct cushim_api *cu = open_good();
    (void)unused;
    run_in_child(init_in_fresh_child, (void *)cu, NULL); /* the parent had not called it */
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    run_in_child(expect_forked, (void *)cu, NULL);
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    cushim_close(cu);
}

static void expect_forked_grandchild(void *cu)
{
    expect_forked(cu);
    run_in_child(expect_forked, (void *)cu, NULL);
}

static void fork_twice(void *unused)
{
    const struct cushim_api *cu = open_good();
    (void)unused;
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    run_in_child(expect_forked_grandchild, (void *)cu, NULL);
    cushim_close(cu);
}

/* Another driver than the one that the parent initialised is as good as ever. */
static void expect_other_driver(void *unused)
{
    (void)unused;
    const struct cushim_api *cu = open_path(fake_path("v13"));
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    cushim_close(cu);
}

static void fork_then_other(void *unused)
{
    const struct cushim_api *cu = open_good();
    (void)unused;
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    run_in_child(expect_other_driver, NULL, NULL);
    cushim_close(cu);
}

/* Forked while another thread is inside cuInit, which takes seconds on real machines: the child
   must get an answer, not wait for a thread that it does not have. */
static void after_fork_within_init(void *table)
{
    const struct cushim_api *cu = table;
    alarm(5);
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_FORKED);
    (void)cu->cuMemFree_v2(0);
    assert_contains(cushim_last_error(), "cuMemFree_v2");
    assert_good_driver_loads();
}

static void fork_within_init(void *unused)
{
    char output[TEXT_SIZE];
    struct fake_control *control = fake_control(fake_path(GOOD));
    const struct cushim_api *cu = open_good();
    pthread_t thread;
    (void)unused;
    control->init_milliseconds = 500;
    assert_int_equal(pthread_create(&thread, NULL, init_on_thread, (void *)cu), 0);
    while (control->init_calls == 0)
        usleep(1000);
    int status = try_in_child(after_fork_within_init, (void *)cu, output);
    assert_int_equal(pthread_join(thread, NULL), 0);
    cushim_close(cu);
    if (status != 0)
        fail_msg("child: wait status %d: %s", status, output);
}

/* While one thread waits in cuInit, others can still ask what went wrong. */
static void last_error_within_init(void *unused)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    const struct cushim_api *cu = open_good();
    pthread_t thread;
    (void)unused;
    control->init_milliseconds = 500;
    control->inside_init = 0;
    assert_int_equal(pthread_create(&thread, NULL, init_on_thread, (void *)cu), 0);
    while (control->inside_init == 0)
        usleep(1000);
    (void)cu->cuMemFree_v2(0);
    const char *text = cushim_last_error();
    int inside = control->inside_init;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_contains(text, "cuMemFree_v2");
    assert_int_equal(inside, 1);
    cushim_close(cu);
}

/* Each in a child of its own: a process that never called cuInit before. */
static const struct child {
    const char *name;
    void (*body)(void *);
} children[] = {
    {"answers", answers_have_names},
    {"each call asks", each_call_asks},
    {"threads init once", threads_init_once},
    {"without driver", without_driver},
    {"fork", fork_once},
    {"fork twice", fork_twice},
    {"fork, then another driver", fork_then_other},
    {"fork within cuInit", fork_within_init},
    {"last error within cuInit", last_error_within_init},
};

static void test_child(void **state)
{
    const struct child *child = *state;
    run_in_child(child->body, NULL, NULL);
}

static struct CMUnitTest tests[COUNT(children)];

int main(void)
{
    for (size_t i = 0; i < COUNT(children); i++)
        tests[i] = (struct CMUnitTest){children[i].name, test_child, NULL, NULL,
                                       (void *)(uintptr_t)&children[i]};
    return cmocka_run_group_tests_name("init", tests, NULL, NULL);
}
