/* SPDX-License-Identifier: MIT */
/*
 * Ways of a process to begin, to multiply and to end, with cushim in use: process MODE. The driver
 * is the one that CUSHIM_LIBCUDA names. Each mode prints what went wrong and ends with 1, or prints
 * "done" from wherever it ends and leaves with 0.
 */
#include <atomic>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/memory.h>

static const struct cushim_api *cu;
static bool has_device; /* the driver does what helpers ask */

[[noreturn]] static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, cushim_last_error());
    _exit(1);
}

static void check(bool good, const char *what)
{
    if (!good)
        fail(what);
}

/* Helpers from start to end: they work, or fail with words. */
static void work()
{
    cushim_device_scope gpu;
    CUdeviceptr memory = 0;
    char bytes[4] = {1, 2, 3, 4}, back[4] = {};
    CUresult code = cushim_device_enter(cu, 0, &gpu);
    check((code == CUDA_SUCCESS) == has_device, "cushim_device_enter");
    if (code != CUDA_SUCCESS) {
        check(*cushim_last_error() != '\0', "the sentence of cushim_device_enter");
        return;
    }
    check(cushim_memory_alloc(cu, sizeof bytes, &memory) == 0 &&
              cushim_copy_to_device(cu, memory, bytes, sizeof bytes) == 0 &&
              cushim_copy_to_host(cu, back, memory, sizeof back) == 0 &&
              memcmp(bytes, back, sizeof back) == 0 && cushim_memory_free(cu, memory) == 0 &&
              cushim_device_leave(&gpu) == 0,
          "helpers");
}

/* At the end of a process the driver may be gone already: any code will do, a crash will not. */
static void work_late()
{
    cushim_device_scope gpu;
    CUdeviceptr memory = 0;
    int count = 0;
    (void)cushim_init(cu);
    (void)cushim_device_list(cu, nullptr, 0, &count);
    if (cushim_device_enter(cu, 0, &gpu) == CUDA_SUCCESS) {
        if (cushim_memory_alloc(cu, 64, &memory) == CUDA_SUCCESS)
            (void)cushim_memory_free(cu, memory);
        (void)cushim_device_leave(&gpu);
    }
    (void)cu->cuCtxSynchronize();
    check(*cushim_message(cu) != '\0' && cu->cuGetErrorName, "a late call");
    (void)cushim_last_error();
}

static void load()
{
    cu = cushim_load(nullptr);
    has_device = cushim_init(cu) == CUSHIM_OK && cu->cuCtxGetDevice &&
                 cushim_has(cu, "cuDevicePrimaryCtxRetain");
}

static void done()
{
    if (write(1, "done\n", 5) != 5)
        _exit(1);
}

/* Runs in a child, which ends with exit and its handlers; waits for it. */
static void in_child(void (*body)())
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        body();
        exit(0);
    }
    check(waitpid(child, &status, 0) == child && status == 0, "the child");
}

/* ---- fork and exec ---- */

static void load_and_work()
{
    load();
    work();
}

static void fork_before()
{
    in_child(load_and_work);
    load_and_work();
    done();
}

static void init_and_work()
{
    has_device = cushim_init(cu) == CUSHIM_OK && cushim_has(cu, "cuDevicePrimaryCtxRetain");
    work();
}

static void fork_after_load()
{
    cu = cushim_load(nullptr);
    in_child(init_and_work);
    init_and_work();
    done();
}

static void child_of_init()
{
    bool failed = cushim_status(cu) != CUSHIM_OK;
    enum cushim_status status = cushim_init(cu);
    check(failed || status == CUSHIM_ERROR_FORKED, "cushim_init in a child");
    has_device = false;
    work();
    /* A table of the child's own is no way around it. */
    cushim_options options = {};
    options.size = sizeof options;
    options.path = getenv("CUSHIM_LIBCUDA");
    const cushim_api *own = cushim_open(&options);
    check(failed || cushim_init(own) == CUSHIM_ERROR_FORKED, "a new table in a child");
    cushim_close(own);
}

static void fork_after_init()
{
    load_and_work();
    atexit(work_late); /* runs in the child, too */
    in_child(child_of_init);
    work();
    done();
}

static std::atomic<bool> enough_loads;

static void *load_in_thread(void *)
{
    cushim_options options = {};
    options.size = sizeof options;
    options.path = getenv("CUSHIM_LIBCUDA");
    while (!enough_loads)
        cushim_close(cushim_open(&options));
    return nullptr;
}

static void load_alone()
{
    check(cushim_load(nullptr), "a load in the child");
}

/* Forks while others load. The library itself is loaded before: of one that another thread's dlopen
 * has half relocated, glibc gives the child that half, and no caller can tell. */
static void fork_within_loads()
{
    pthread_t threads[4];
    cushim_options options = {};
    options.size = sizeof options;
    options.path = getenv("CUSHIM_LIBCUDA");
    cushim_close(cushim_open(&options));
    for (pthread_t &thread : threads)
        check(pthread_create(&thread, nullptr, load_in_thread, nullptr) == 0, "a thread");
    for (int i = 0; i < 50; i++)
        in_child(load_alone);
    enough_loads = true;
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    done();
}

static char *self;

static void exec_after_init()
{
    load_and_work();
    CUcontext context;
    (void)cushim_primary_retain(cu, 0, &context);
    execl(self, self, "fork-before", nullptr);
    fail("execl");
}

/* ---- ends ---- */

static void *exit_here(void *)
{
    work();
    done();
    exit(0);
}

static void *work_until_the_end(void *)
{
    for (;;)
        work_late();
}

static void exit_from_thread()
{
    pthread_t thread;
    load_and_work();
    atexit(work_late);
    check(pthread_create(&thread, nullptr, exit_here, nullptr) == 0, "a thread");
    for (;;)
        pause();
}

/* The process ends while another thread is within helpers. */
static void exit_beside_work()
{
    pthread_t thread;
    load_and_work();
    check(pthread_create(&thread, nullptr, work_until_the_end, nullptr) == 0, "a thread");
    usleep(10000);
    done();
    exit(0);
}

static void *work_and_end(void *)
{
    usleep(10000);
    work();
    done();
    return nullptr;
}

static void main_ends_first()
{
    pthread_t thread;
    load_and_work();
    check(pthread_create(&thread, nullptr, work_and_end, nullptr) == 0, "a thread");
    pthread_detach(thread);
    pthread_exit(nullptr);
}

static void exit_handlers()
{
    atexit(work_late); /* runs after the driver's handlers */
    load_and_work();
    atexit(work_late); /* runs before them */
    at_quick_exit(work_late);
    done();
}

static void quick()
{
    load_and_work();
    at_quick_exit(work_late);
    done();
    quick_exit(0);
}

struct late {
    ~late()
    {
        if (cu)
            work_late();
    }
};

/* Only what a mode touches is constructed, so these cost the other modes nothing. */
static void static_destructors()
{
    static late before;
    load_and_work();
    static late after;
    done();
}

static void *touch(void *)
{
    thread_local late own;
    (void)&own;
    work();
    return nullptr;
}

static void thread_destructors()
{
    pthread_t thread;
    load_and_work();
    touch(nullptr);
    check(pthread_create(&thread, nullptr, touch, nullptr) == 0, "a thread");
    pthread_join(thread, nullptr);
    done();
}

/* The host never releases, and never closes. */
static void nothing_closed()
{
    load_and_work();
    cushim_options options = {};
    options.size = sizeof options;
    options.path = getenv("CUSHIM_LIBCUDA");
    for (int i = 0; i < 40; i++) {
        const cushim_api *own = cushim_open(&options);
        check(own && *cushim_message(own), "cushim_open");
        if (i == 0 && has_device) {
            CUcontext context;
            CUdeviceptr memory;
            check(cushim_init(own) == CUSHIM_OK && cushim_primary_retain(own, 0, &context) == 0 &&
                      own->cuCtxSetCurrent(context) == 0 &&
                      cushim_memory_alloc(own, 4096, &memory) == 0,
                  "helpers");
        }
    }
    done();
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)();
    } modes[] = {
        {"fork-before", fork_before},
        {"fork-after-load", fork_after_load},
        {"fork-after-init", fork_after_init},
        {"fork-within-loads", fork_within_loads},
        {"exec", exec_after_init},
        {"exit-from-thread", exit_from_thread},
        {"exit-beside-work", exit_beside_work},
        {"main-ends-first", main_ends_first},
        {"exit-handlers", exit_handlers},
        {"quick-exit", quick},
        {"static-destructors", static_destructors},
        {"thread-destructors", thread_destructors},
        {"nothing-closed", nothing_closed},
    };
    self = arguments[0];
    for (const auto &mode : modes) {
        if (count == 2 && strcmp(arguments[1], mode.name) == 0) {
            mode.run();
            return 0;
        }
        if (count == 1)
            puts(mode.name);
    }
    return count == 1 ? 0 : 2;
}
