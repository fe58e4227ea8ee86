/* SPDX-License-Identifier: MIT */
/*
 * Foreign code that runs within a load, or stops one: constructors, callbacks, signal handlers,
 * cancellation, fork. No load waits for another one, so nothing here hangs; the children's limit of
 * time would end them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

/* What the constructors of fake_constructor and fake_plugin call. */
static void (*hook)(void);
__attribute__((visibility("default"))) void fake_constructor_hook(void);
void fake_constructor_hook(void)
{
    if (hook)
        hook();
}

static void wait_milliseconds(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static const struct cushim_api *load_path(const char *path)
{
    struct cushim_options options = defaults();
    options.path = path;
    return cushim_load(&options);
}

/* ---- constructors ---- */

static atomic_int constructing;

static void load_slowly(void)
{
    atomic_store(&constructing, 1);
    wait_milliseconds(200); /* the other thread is within its load by then */
    assert_int_equal(cushim_status(load_path(fake_path(GOOD))), CUSHIM_OK);
    atomic_store(&constructing, 2);
}

static void *open_plugin(void *unused)
{
    (void)unused;
    return dlopen(fake_path("plugin"), RTLD_NOW);
}

/* The constructor holds the lock of the system's loader, and the other load waits for that. */
static void plugin_loads(void *unused)
{
    pthread_t thread;
    void *plugin = NULL;
    (void)unused;
    hook = load_slowly;
    assert_int_equal(pthread_create(&thread, NULL, open_plugin, NULL), 0);
    while (!atomic_load(&constructing))
        wait_milliseconds(1);
    assert_int_equal(cushim_status(load_path(fake_path(GOOD))), CUSHIM_OK);
    assert_int_equal(pthread_join(thread, &plugin), 0);
    assert_non_null(plugin);
    assert_int_equal(atomic_load(&constructing), 2);
    assert_sound(cushim_load(NULL));
}

static const struct cushim_api *inner;

static void load_other(void)
{
    inner = load_path(fake_path("v11"));
}

/* The load within comes first, and both return its table. */
static void driver_loads_another(void *unused)
{
    (void)unused;
    hook = load_other;
    const struct cushim_api *cu = load_path(fake_path("constructor"));
    assert_non_null(inner);
    assert_ptr_equal(cu, inner);
    assert_int_equal(cushim_driver_version(cu), 11040);
    assert_sound(cu);
}

static void load_itself(void)
{
    inner = load_path(fake_path("constructor"));
}

static void driver_loads_itself(void *unused)
{
    (void)unused;
    hook = load_itself;
    const struct cushim_api *cu = load_path(fake_path("constructor"));
    assert_ptr_equal(cu, inner);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_sound(cu);
}

/* ---- callbacks ---- */

static unsigned lines;

static void load_from_log(void *user, enum cushim_log_level level, const char *line)
{
    (void)level, (void)line;
    lines++;
    inner = load_path(user);
}

static void log_loads(void *unused)
{
    struct cushim_options options = defaults();
    char path[PATH_SIZE];
    (void)unused;
    snprintf(path, sizeof path, "%s", fake_path("v11"));
    options.path = fake_path(GOOD);
    options.log = load_from_log;
    options.user = path;
    const struct cushim_api *cu = cushim_load(&options);
    assert_true(lines > 0);
    assert_ptr_equal(cu, inner);
    assert_int_equal(cushim_driver_version(cu), 11040);
}

/* ---- cancellation ---- */

static void *load_thread(void *path)
{
    (void)load_path(path);
    return NULL;
}

static void cancel_during_load(char *path)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, load_thread, path), 0);
    wait_milliseconds(100);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_good_driver_loads();
    assert_non_null(cushim_load(NULL));
    assert_sound(cushim_load(NULL));
}

static __attribute__((unused)) void cancel_in_driver(void *unused)
{
    char path[PATH_SIZE];
    (void)unused;
    snprintf(path, sizeof path, "%s", fake_path("v11"));
    fake_control(path)->version_milliseconds = 500;
    cancel_during_load(path);
}

static void wait_within(void)
{
    wait_milliseconds(500);
}

/* Within dlopen the thread has the lock of the system's loader, which it must give back. */
static __attribute__((unused)) void cancel_in_constructor(void *unused)
{
    char path[PATH_SIZE];
    (void)unused;
    hook = wait_within;
    snprintf(path, sizeof path, "%s", fake_path("constructor"));
    cancel_during_load(path);
}

/* ---- signals ---- */

static const struct cushim_api *no_driver;
static volatile sig_atomic_t handled;

static void handle(int number)
{
    CUdeviceptr pointer = 0;
    (void)number;
    bool good = no_driver->cuMemAlloc_v2(&pointer, 1) == CUDA_ERROR_NOT_INITIALIZED &&
                strstr(cushim_last_error(), "cuMemAlloc_v2") &&
                strstr(cushim_message(no_driver), "/nonexistent");
    handled = good ? 1 : -1;
}

static void signal_during(const char *path)
{
    struct sigaction action = {.sa_handler = handle};
    no_driver = open_path("/nonexistent");
    sigaction(SIGUSR1, &action, NULL);
    pid_t child = fork(); /* sends the signal, because a timer is the limit of this process */
    if (child == 0) {
        wait_milliseconds(100);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    const struct cushim_api *cu = load_path(path);
    waitpid(child, NULL, 0);
    assert_int_equal(handled, 1);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
}

static void signal_in_driver(void *unused)
{
    (void)unused;
    fake_control(fake_path("v11"))->version_milliseconds = 300;
    signal_during(fake_path("v11"));
}

static void signal_in_constructor(void *unused)
{
    (void)unused;
    hook = wait_within;
    signal_during(fake_path("constructor"));
}

/* The last error of one thread does not wait for a load of another. */
static void last_error_during_load(void *unused)
{
    pthread_t thread;
    char path[PATH_SIZE];
    struct timespec before, after;
    (void)unused;
    snprintf(path, sizeof path, "%s", fake_path("v11"));
    fake_control(path)->version_milliseconds = 1000;
    no_driver = open_path("/nonexistent");
    assert_int_equal(pthread_create(&thread, NULL, load_thread, path), 0);
    wait_milliseconds(50);
    clock_gettime(CLOCK_MONOTONIC, &before);
    handle(0);
    assert_sound(no_driver);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 <
                600);
    assert_int_equal(handled, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- fork ---- */

static void load_in_child(void *unused)
{
    (void)unused;
    assert_non_null(cushim_load(NULL));
    assert_good_driver_loads();
    assert_int_equal(cushim_init(cushim_load(NULL)), cushim_status(cushim_load(NULL)));
}

static void fork_during_load(void *unused)
{
    pthread_t thread;
    char path[PATH_SIZE];
    (void)unused;
    snprintf(path, sizeof path, "%s", fake_path("v11"));
    fake_control(path)->version_milliseconds = 500;
    assert_int_equal(pthread_create(&thread, NULL, load_thread, path), 0);
    wait_milliseconds(100);
    run_in_child(load_in_child, NULL, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void expect_forked(void *cu)
{
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_FORKED);
    assert_contains(cushim_last_error(), "fork");
}

/* A driver whose own cuInit failed does so in a child, also if another one's succeeded. */
static void expect_no_device(void *cu)
{
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    assert_contains(cushim_message(cu), "100");
    assert_string_equal(cushim_last_error(), cushim_message(cu));
}

static void fork_after_both(void *unused)
{
    (void)unused;
    fake_control(fake_path("v11"))->init_code = CUDA_ERROR_NO_DEVICE;
    const struct cushim_api *without = open_path(fake_path("v11"));
    const struct cushim_api *with = open_path(fake_path(GOOD));
    assert_int_equal(cushim_init(without), CUSHIM_ERROR_NO_DEVICE);
    assert_int_equal(cushim_init(with), CUSHIM_OK);
    run_in_child(expect_no_device, (void *)(uintptr_t)without, NULL);
    run_in_child(expect_forked, (void *)(uintptr_t)with, NULL);
}

/* A child may try again if there was nothing that a fork could break. */
static void try_again_in_child(void *unused)
{
    unsigned calls = fake_control(fake_path("v11"))->init_calls;
    (void)unused;
    const struct cushim_api *cu = open_path(fake_path("v11"));
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    assert_int_equal(fake_control(fake_path("v11"))->init_calls, calls + 1);
    fake_control(fake_path("v11"))->init_code = CUDA_SUCCESS;
    cu = open_path(fake_path("v11"));
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    run_in_child(expect_forked, (void *)(uintptr_t)cu, NULL);
}

static void fork_after_failure(void *unused)
{
    (void)unused;
    fake_control(fake_path("v11"))->init_code = CUDA_ERROR_NO_DEVICE;
    const struct cushim_api *cu = open_path(fake_path("v11"));
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    run_in_child(expect_no_device, (void *)(uintptr_t)cu, NULL);
    run_in_child(try_again_in_child, NULL, NULL);
}

/* The driver itself reports what cushim did not see: its own cuInit, called before a fork. */
static void fork_after_raw_init(void *unused)
{
    (void)unused;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cu->cuInit(0), CUDA_SUCCESS);
    fake_control(fake_path(GOOD))->init_code = CUDA_ERROR_NOT_INITIALIZED; /* as drivers do then */
    run_in_child(expect_forked, (void *)(uintptr_t)cu, NULL);
}

/* ---- */

struct child {
    const char *name;
    void (*body)(void *);
};

static const struct child children[] = {
    {"a plug-in's constructor loads while another thread loads", plugin_loads},
    {"a driver's constructor loads another one", driver_loads_another},
    {"a driver's constructor loads itself", driver_loads_itself},
    {"the log loads", log_loads},
#ifndef __SANITIZE_ADDRESS__ /* which reports the end of every cancelled thread */
    {"cancelled within the driver", cancel_in_driver},
    {"cancelled within a constructor", cancel_in_constructor},
#endif
    {"a signal within the driver", signal_in_driver},
    {"a signal within a constructor", signal_in_constructor},
    {"the last error during another thread's load", last_error_during_load},
    {"fork during a load", fork_during_load},
    {"fork after one cuInit that failed and one that succeeded", fork_after_both},
    {"fork after a cuInit that failed", fork_after_failure},
    {"fork after the driver's own cuInit", fork_after_raw_init},
};

static void test_child(void **state)
{
    const struct child *child = *state;
    run_in_child(child->body, NULL, NULL);
}

int main(void)
{
    struct CMUnitTest tests[COUNT(children)];
    unsetenv("CUSHIM_LIBCUDA");
    for (size_t i = 0; i < COUNT(children); i++)
        tests[i] = (struct CMUnitTest){children[i].name, test_child, NULL, NULL,
                                       (void *)(uintptr_t)&children[i]};
    return _cmocka_run_group_tests("foreign", tests, COUNT(tests), NULL, NULL);
}
