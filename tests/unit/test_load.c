/* SPDX-License-Identifier: MIT */
/*
 * The process-wide instance: loaded once, by whichever thread came first, and never NULL. A process
 * has one, so each test is a child.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "common.h"

static struct cushim_options with_path(const char *path)
{
    struct cushim_options options = defaults();
    options.path = path;
    return options;
}

static const struct cushim_api *load_path(const char *path)
{
    struct cushim_options options = with_path(path);
    return cushim_load(&options);
}

static bool is_loaded(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle;
}

/* ---- once ---- */

static void same_table(void *unused)
{
    (void)unused;
    const struct cushim_api *first = load_path(fake_path(GOOD));
    assert_non_null(first);
    assert_ptr_equal(load_path(fake_path(GOOD)), first);
    assert_ptr_equal(cushim_load(NULL), first);
    assert_ptr_equal(cushim_load(NULL), first);
    assert_ptr_equal(cushim_load(NULL), cushim_load(NULL));
    assert_int_equal(cushim_status(cushim_load(NULL)), CUSHIM_OK);
    assert_sound(cushim_load(NULL));
}

static void later_options_ignored(void *unused)
{
    struct cushim_options wrong = {.size = 1};
    (void)unused;
    const struct cushim_api *first = load_path(fake_path(GOOD));
    assert_ptr_equal(load_path(fake_path("v11")), first);
    assert_ptr_equal(load_path("/nonexistent"), first);
    assert_ptr_equal(cushim_load(&wrong), first);
    assert_int_equal(cushim_driver_version(cushim_load(NULL)), GOOD_VERSION);
    assert_false(is_loaded(fake_path("v11")));
}

/* A failed load is an answer too: it is not tried again. */
static void failure_is_kept(void *unused)
{
    (void)unused;
    const struct cushim_api *first = load_path("/nonexistent/libcuda.so.1");
    assert_non_null(first);
    assert_ptr_equal(load_path(fake_path(GOOD)), first);
    assert_failed(cushim_load(NULL), CUSHIM_ERROR_NOT_FOUND);
    assert_contains(cushim_last_error(), "cuInit"); /* that assert_failed called */
    assert_good_driver_loads();                     /* of its own */
}

static const struct cushim_api *retry_path(const char *path)
{
    struct cushim_options options = with_path(path);
    options.retry = true;
    return cushim_load(&options);
}

/* A daemon that starts before its driver asks again, and nothing grows while the answer is the
 * same. Who has the old table keeps it. */
static void failure_is_retried(void *unused)
{
    (void)unused;
    const struct cushim_api *first = load_path("/nonexistent/libcuda.so.1");
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(retry_path("/nonexistent/libcuda.so.1"), first);
    const struct cushim_api *other = retry_path(""); /* fails in another way */
    assert_true(other != first);
    assert_failed(other, CUSHIM_ERROR_EMPTY_PATH);
    assert_ptr_equal(cushim_load(NULL), other);
    const struct cushim_api *good = retry_path(fake_path(GOOD));
    assert_int_equal(cushim_status(good), CUSHIM_OK);
    assert_ptr_equal(cushim_load(NULL), good);
    assert_ptr_equal(retry_path("/nonexistent/libcuda.so.1"), good); /* it succeeded: no more */
    assert_failed(first, CUSHIM_ERROR_NOT_FOUND);
    assert_failed(other, CUSHIM_ERROR_EMPTY_PATH);
    struct cushim_options wrong = {.size = sizeof wrong, .path = "x", .retry = true, .reserved = 1};
    assert_ptr_equal(cushim_load(&wrong), good);
}

static void *retry_in_a_crowd(void *path)
{
    return (void *)(uintptr_t)retry_path(path);
}

/* A daemon that asks every second for a driver that never comes does not grow. */
static void retries_do_not_grow(void *unused)
{
    (void)unused;
#ifdef __GLIBC__
    const struct cushim_api *first = load_path("/nonexistent/libcuda.so.1");
    assert_ptr_equal(retry_path("/nonexistent/libcuda.so.1"), first);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++)
        assert_ptr_equal(retry_path("/nonexistent/libcuda.so.1"), first);
    assert_int_equal(mallinfo2().uordblks, before);
#endif
}

/* Whoever comes second takes the first one's table. */
static void crowd_retries(void *unused)
{
    pthread_t threads[8];
    void *tables[COUNT(threads)];
    char path[PATH_SIZE];
    (void)unused;
    snprintf(path, sizeof path, "%s", fake_path(GOOD));
    const struct cushim_api *first = load_path("/nonexistent/libcuda.so.1");
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retry_in_a_crowd, path), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_join(threads[i], &tables[i]), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_ptr_equal(tables[i], cushim_load(NULL));
    assert_true(cushim_load(NULL) != first);
}

static void get_loads_with_defaults(void *unused)
{
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", fake_path("v11"));
    const struct cushim_api *cu = cushim_load(NULL);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_driver_version(cu), 11040);
    assert_ptr_equal(load_path(fake_path(GOOD)), cu);
}

static void wrong_options_never_null(void *unused)
{
    struct cushim_options wrong = {.size = 1};
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", fake_path(GOOD));
    assert_failed(cushim_load(&wrong), CUSHIM_ERROR_INVALID_ARGUMENT);
    const struct cushim_api *small = cushim_load(&wrong);
    assert_string_equal(cushim_message(small), "the options of cushim_load were refused: size is "
                                               "too small; set it to sizeof of the structure");
    assert_string_equal(cushim_last_error(), cushim_message(small));
    /* Another mistake has another table, and what the first one says stays. */
    wrong = (struct cushim_options){.size = sizeof wrong, .order = 7};
    const struct cushim_api *order = cushim_load(&wrong);
    assert_string_equal(cushim_message(order), "the options of cushim_load were refused: order has "
                                               "an unknown value");
    wrong = (struct cushim_options){.size = 1};
    assert_ptr_equal(cushim_load(&wrong), small);
    assert_contains(cushim_message(small), "size is too small");
    cushim_close(cushim_load(&wrong));
    /* One caller's mistake does not take the driver from the others. */
    assert_int_equal(cushim_status(cushim_load(NULL)), CUSHIM_OK);
    assert_sound(cushim_load(NULL));
}

static void close_leaves_it(void *unused)
{
    (void)unused;
    const struct cushim_api *table = load_path(fake_path(GOOD));
    cushim_close(cushim_load(NULL));
    assert_ptr_equal(cushim_load(NULL), table);
    cushim_close_unload(cushim_load(NULL));
    assert_ptr_equal(cushim_load(NULL), table);
    assert_sound(cushim_load(NULL));
    assert_true(is_loaded(fake_path(GOOD)));
}

static void never_inits(void *unused)
{
    (void)unused;
    assert_non_null(load_path(fake_path("init_aborts"))); /* a call of cuInit would end this */
    assert_int_equal(cushim_status(cushim_load(NULL)), CUSHIM_OK);
    assert_sound(cushim_load(NULL));
    assert_int_equal(fake_control(fake_path("init_aborts"))->init_calls, 0);
}

/* ---- threads ---- */

enum { THREADS = 24 };

static struct {
    pthread_barrier_t barrier;
    atomic_uint lines[THREADS]; /* of the log, for each thread's own options */
    const struct cushim_api *tables[THREADS];
} crowd;

static void count_line(void *user, enum cushim_log_level level, const char *line)
{
    (void)level, (void)line;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static void *load_in_crowd(void *argument)
{
    size_t number = (size_t)(uintptr_t)argument;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", fake_path(number % 2 ? "v11" : "v12"));
    struct cushim_options options = with_path(path);
    options.log = count_line;
    options.user = &crowd.lines[number];
    pthread_barrier_wait(&crowd.barrier);
    const struct cushim_api *table = cushim_load(&options);
    /* Complete at once, for whoever sees it. */
    int version = 0;
    bool complete = table->cuDriverGetVersion(&version) == CUDA_SUCCESS && version > 0;
    for (size_t i = 0; i < cushim_entry_count(); i++)
        complete = complete && table_slot(table, i);
    crowd.tables[number] = complete ? table : NULL;
    return NULL;
}

static void crowd_loads_once(void *unused)
{
    pthread_t threads[THREADS];
    unsigned loads = 0;
    (void)unused;
    /* So slow that all of them arrive before the first is done. */
    fake_control(fake_path("v11"))->version_milliseconds = 100;
    fake_control(fake_path("v12"))->version_milliseconds = 100;
    assert_int_equal(pthread_barrier_init(&crowd.barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_in_crowd, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_non_null(crowd.tables[i]);
        assert_ptr_equal(crowd.tables[i], crowd.tables[0]);
        loads += crowd.lines[i] > 0;
    }
    assert_true(loads >= 1); /* several may load; one of their tables is published */
    assert_sound(cushim_load(NULL));
}

/* As long as there is no other driver, the sentence of a call has the version of this one. */
static void call_names_the_driver(void *unused)
{
    CUcontext context = NULL;
    (void)unused;
    const struct cushim_api *cu = load_path(fake_path("v12"));
    (void)cu->cuCtxCreate_v4(&context, NULL, 0, 0);
    assert_contains(cushim_last_error(), "12.5");
    assert_contains(cushim_last_error(), "CUDA 12.4");
    const struct cushim_api *other = cushim_open(NULL);
    (void)cu->cuCtxCreate_v4(&context, NULL, 0, 0);
    assert_null(strstr(cushim_last_error(), "CUDA 12.4"));
    cushim_close(other);
}

static void *open_and_close(void *path)
{
    for (int i = 0; i < 20; i++) {
        struct cushim_options options = with_path(path);
        const struct cushim_api *cu = cushim_open(&options);
        if (!cu || !cushim_has(cu, "cuMemAlloc_v2"))
            return NULL;
        (void)cu->cuMemFree_v2(0);
        if (!strstr(cushim_last_error(), "cuMemFree_v2"))
            return NULL;
        cushim_close(cu);
    }
    return path;
}

static void crowd_opens_independently(void *unused)
{
    static const char *const names[] = {"v10", "v11", "v12", "v13"};
    char *paths[COUNT(names)];
    pthread_t threads[COUNT(names)];
    (void)unused;
    for (size_t i = 0; i < COUNT(names); i++) {
        paths[i] = strdup(fake_path(names[i]));
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, paths[i]), 0);
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, paths[i]);
        free(paths[i]);
    }
}

/* ---- fork ---- */

static void table_after_fork(void *table)
{
    int version = 0;
    assert_ptr_equal(cushim_load(NULL), table);
    assert_int_equal(cushim_load(NULL)->cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, GOOD_VERSION);
    assert_sound(cushim_load(NULL));
    assert_good_driver_loads();
    assert_int_equal(cushim_init(cushim_load(NULL)), CUSHIM_OK);
}

static void init_after_fork(void *unused)
{
    (void)unused;
    assert_int_equal(cushim_init(cushim_load(NULL)), CUSHIM_ERROR_FORKED);
    assert_int_equal(cushim_status(cushim_load(NULL)), CUSHIM_OK);
}

static void fork_keeps_table(void *unused)
{
    (void)unused;
    const struct cushim_api *table = load_path(fake_path(GOOD));
    run_in_child(table_after_fork, (void *)(uintptr_t)table, NULL);
    assert_int_equal(cushim_init(cushim_load(NULL)), CUSHIM_OK);
    run_in_child(init_after_fork, NULL, NULL);
}

/* ---- without a driver ---- */

/* Every slot of a table without a driver, called; those that take pointers get NULL. */
static void call_all(void *unused)
{
    (void)unused;
    const struct cushim_api *table = load_path("/nonexistent/libcuda.so.1");
    struct cushim_entry entry;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        cushim_last_error_clear();
        int code = call_with_zeros(table_slot(table, i));
        int expected = CUDA_ERROR_NOT_INITIALIZED;
        if (strcmp(entry.symbol, "cuInit") == 0)
            expected = CUDA_ERROR_NO_DEVICE;
        else if (strcmp(entry.symbol, "cuDriverGetVersion") == 0 ||
                 strcmp(entry.name, "cuGetErrorName") == 0 ||
                 strcmp(entry.name, "cuGetErrorString") == 0)
            expected = CUDA_ERROR_INVALID_VALUE; /* their output is NULL here */
        if (code != expected)
            fail_msg("%s: %d, not %d", entry.symbol, code, expected);
        if (expected != CUDA_ERROR_INVALID_VALUE)
            assert_contains(cushim_last_error(), entry.symbol);
    }
}

/* The calls that every CUDA program begins with, by their own types. */
static void calls_without_driver(void *unused)
{
    int version = -1, count = -1;
    CUdevice device = -1;
    CUcontext context = NULL;
    CUdeviceptr pointer = 7;
    void *function = &version;
    const char *text = NULL;
    (void)unused;
    const struct cushim_api *cu = load_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cu->cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cu->cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 0);
    assert_int_equal(cu->cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(count, -1);
    assert_int_equal(cu->cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cu->cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_null(context);
    assert_int_equal(cu->cuMemAlloc_v2(&pointer, 64), CUDA_ERROR_NOT_INITIALIZED);
    assert_true(pointer == 7);
    assert_int_equal(cu->cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cu->cuGetProcAddress_v2("cuInit", &function, 12000, 0, NULL),
                     CUDA_ERROR_NOT_INITIALIZED);
    assert_ptr_equal(function, &version);
    assert_int_equal(cu->cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_NO_DEVICE");
    assert_int_equal(cu->cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
    assert_true(strlen(text) > 0);
}

/* A structure passed by value, in a call that does nothing, leaves the stack as it was. */
static void by_value_without_driver(void *unused)
{
    CUdeviceptr pointer = 7;
    CUipcMemHandle handle;
    (void)unused;
    memset(&handle, 0x5a, sizeof handle);
    const struct cushim_api *cu = load_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cu->cuIpcOpenMemHandle_v2(&pointer, handle, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_true(pointer == 7);
}

static void silently(void *unused)
{
    (void)unused;
    (void)load_path("/nonexistent/libcuda.so.1")->cuInit(0);
    (void)cushim_message(cushim_load(NULL));
}

/* ---- */

struct child {
    const char *name;
    void (*body)(void *);
};

static const struct child children[] = {
    {"same table twice", same_table},
    {"later options ignored", later_options_ignored},
    {"failure is kept", failure_is_kept},
    {"failure is retried", failure_is_retried},
    {"retries do not grow", retries_do_not_grow},
    {"a crowd retries", crowd_retries},
    {"cushim_get loads with the defaults", get_loads_with_defaults},
    {"wrong options never give NULL", wrong_options_never_null},
    {"close leaves it", close_leaves_it},
    {"never calls cuInit", never_inits},
    {"a crowd loads once", crowd_loads_once},
    {"a call names the driver", call_names_the_driver},
    {"a crowd opens independently", crowd_opens_independently},
    {"fork keeps the table", fork_keeps_table},
    {"typed calls without a driver", calls_without_driver},
    {"by value without a driver", by_value_without_driver},
    {"silent", silently},
    {"every slot without a driver", call_all}, /* the last: not on every processor */
};

static void test_child(void **state)
{
    const struct child *child = *state;
    char output[TEXT_SIZE];
    run_in_child(child->body, NULL, output);
    assert_string_equal(output, "");
}

static struct CMUnitTest tests[COUNT(children)];

int main(void)
{
    unsetenv("CUSHIM_LIBCUDA");
    size_t count = COUNT(children) - (can_call_with_zeros() ? 0 : 1);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){children[i].name, test_child, NULL, NULL,
                                       (void *)(uintptr_t)&children[i]};
    return _cmocka_run_group_tests("load", tests, count, NULL, NULL);
}
