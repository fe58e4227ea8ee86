/* SPDX-License-Identifier: MIT */
/*
 * Everything that threads may do at once, for ThreadSanitizer: first calls of a process, loads,
 * opens, look-ups, closes and helpers from sixteen threads. Each thread checks a sample of each
 * table that it sees, so a table that is published before it is complete is found.
 *
 *     threads ROUNDS SIMULATED FAKE...
 *
 * SIMULATED is a simulated driver, for the helpers; "-" leaves the helpers out. Of the fakes, those
 * with a + before their paths are held by this program and unloaded by the threads: what a thread
 * unloads is then not the last reference (plugins.c has the last one). The variable CUSHIM_THREADS
 * takes the place of ROUNDS: the whole form has 2000.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/cuda.h>
#include <cushim/cushim.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

enum { THREADS = 16, STEP = 53, FIRST_SLOT = 2 };

static pthread_barrier_t barrier;
static _Atomic int wrong;
static int rounds, path_count;
static char **paths;
static const char *simulated;
static const struct cushim_api *seen[THREADS];

__attribute__((format(printf, 1, 2))) static void is_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (atomic_fetch_add(&wrong, 1) < 10) {
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
}

/* Every 53rd slot, from the thread's own on: the export itself, or a stub that names its symbol. */
static void check_table(const struct cushim_api *cu, size_t number, void *library)
{
    if (cu->size != sizeof *cu)
        is_wrong("a table of %zu bytes", (size_t)cu->size);
    for (size_t i = number % STEP; i < cushim_entry_count(); i += STEP) {
        struct cushim_entry entry;
        struct cushim_slot slot = cushim_slot_at(cu, i);
        CUresult(CUDAAPI * stub)(void), expected = CUDA_ERROR_NOT_INITIALIZED;
        void *address;
        memcpy(&address, (const char *)cu + (FIRST_SLOT + i) * sizeof address, sizeof address);
        memcpy(&stub, &address, sizeof stub);
        if (!cushim_entry_at(i, &entry) || !address) {
            is_wrong("slot %zu is empty", i);
        } else if (slot.state == CUSHIM_STATE_AVAILABLE) {
            if (address != slot.address || (library && address != dlsym(library, entry.symbol)))
                is_wrong("slot of %s is %p", entry.symbol, address);
        } else if (strncmp(entry.name, "cuGetError", 10) != 0 &&
                   strcmp(entry.name, "cuDriverGetVersion") != 0 &&
                   strcmp(entry.name, "cuInit") != 0) {
            if (slot.state != CUSHIM_STATE_NO_DRIVER)
                expected = slot.state == CUSHIM_STATE_NEWER ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                                                            : CUDA_ERROR_NOT_SUPPORTED;
            CUresult code = stub();
            if (code != expected)
                is_wrong("stub of %s returns %d, not %d", entry.symbol, (int)code, (int)expected);
            if (strncmp(cushim_last_error(), entry.symbol, strlen(entry.symbol)) != 0)
                is_wrong("stub of %s notes: %s", entry.symbol, cushim_last_error());
        }
    }
}

static void look_up(const struct cushim_api *cu)
{
    char text[256];
    enum cushim_state state;
    enum cushim_proc_status why;
    struct cushim_attempt attempt = {.size = sizeof attempt};
    (void)cushim_proc(cu, "cuCtxCreate", 13000, CUSHIM_STREAM_LEGACY, &why);
    (void)cushim_proc(cu, "cuMemAlloc", 12040, CUSHIM_STREAM_PTSZ, &why);
    bool has = cushim_has(cu, "cuMemAlloc_v2");
    (void)cushim_reason(cu, "cuMemAlloc_v2", &state, text, sizeof text);
    if (has != (state == CUSHIM_STATE_AVAILABLE) || has != CUSHIM_HAS(cu, cuMemAlloc_v2))
        is_wrong("look-ups differ: %d, %d", has, (int)state);
    bool tried = cushim_attempt_at(cu, 0, &attempt);
    (void)cushim_path(cu);
    (void)cushim_remarks(cu);
    if (!*cushim_message(cu) || !tried)
        is_wrong("no message, or no attempt");
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, body, (void *)i))
            abort();
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the first calls of a process, through the drop-in and through cushim_load ---- */

static int expected_version;

/* The drop-in's functions, for all threads but each fourth. */
static void call_first(size_t number)
{
#ifndef THREADS_NO_DROPIN
    int version = -1;
    const char *name = NULL;
    if (number % 4 == 1 && (cuDriverGetVersion(&version) || version != expected_version))
        is_wrong("version %d", version);
    else if (number % 4 == 2 && (cuGetErrorName(CUDA_ERROR_NO_DEVICE, &name) ||
                                 strcmp(name, "CUDA_ERROR_NO_DEVICE") != 0))
        is_wrong("cuGetErrorName");
    else if (number % 4 == 3 && cuInit(0) != (expected_version ? 0 : CUDA_ERROR_NO_DEVICE))
        is_wrong("cuInit");
#else
    (void)number;
#endif
}

static void *first(void *argument)
{
    size_t number = (size_t)argument;
    pthread_barrier_wait(&barrier);
    call_first(number);
    seen[number] = cushim_load(NULL);
    look_up(seen[number]);
    check_table(seen[number], number, NULL);
    (void)cushim_init(seen[number]);
    return NULL;
}

/* Each round is a process, because a process has one first call. */
static void first_calls(void)
{
    for (int i = 0; i < rounds; i++) {
        expected_version = i % 4 == 3 ? 0 : 12040;
        setenv("CUSHIM_LIBCUDA", expected_version ? paths[0] : "/nonexistent", 1);
        pid_t child = fork();
        int status = -1;
        if (!child) {
            run(first);
            for (size_t j = 1; j < THREADS; j++)
                if (seen[j] != seen[0])
                    is_wrong("two tables are process-wide");
            exit(wrong != 0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status)
            is_wrong("first calls, round %d: status %x", i, (unsigned)status);
    }
}

/* ---- opens and closes ---- */

static void *open_and_close(void *argument)
{
    size_t number = (size_t)argument;
    pthread_barrier_wait(&barrier);
    const struct cushim_api *shared = cushim_load(NULL);
    for (int i = 0; i < rounds; i++) {
        const char *path = paths[(number + (size_t)i) % (size_t)path_count];
        bool held = *path == '+';
        struct cushim_options options = {.size = sizeof options, .path = path + held};
        options.order = (enum cushim_order)(i % 2);
        const struct cushim_api *own = cushim_open(&options);
        if (!own)
            abort();
        look_up(own);
        (void)cushim_init(own);
        void *library = cushim_path(own) ? dlopen(cushim_path(own), RTLD_NOW | RTLD_NOLOAD) : NULL;
        check_table(own, number + (size_t)i, library);
        check_table(shared, number + (size_t)i, NULL);
        if (library)
            dlclose(library);
        (held ? cushim_close_unload : cushim_close)(own);
    }
    return NULL;
}

/* ---- helpers, on a driver that does what they ask ---- */

static const char twice[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                            ".visible .entry twice(.param .u64 at)\n{\n"
                            " .reg .u32 %r<2>;\n .reg .u64 %a;\n ld.param.u64 %a, [at];\n"
                            " ld.global.u32 %r0, [%a];\n add.u32 %r1, %r0, %r0;\n"
                            " st.global.u32 [%a], %r1;\n ret;\n}\n";
static const struct cushim_api *driver;

static void *help(void *argument)
{
    unsigned number = (unsigned)(size_t)argument + 1, result = 0;
    const struct cushim_api *cu = driver;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < rounds / 10 + 1; i++) {
        struct cushim_device_scope gpu;
        struct cushim_launch launch = cushim_launch_1d(1, 1, NULL);
        struct cushim_device_properties facts = {.size = sizeof facts};
        CUmodule module = NULL;
        CUfunction function = NULL;
        CUdeviceptr at = 0;
        bool good =
            CUSHIM_CHECK(cushim_device_enter(cu, (CUdevice)(number % 2), &gpu)) &&
            CUSHIM_CHECK(cushim_device_describe(cu, (CUdevice)(number % 2), &facts)) &&
            CUSHIM_CHECK(cushim_module_load(cu, twice, sizeof twice, NULL, NULL, &module)) &&
            CUSHIM_CHECK(cushim_module_function(cu, module, "twice", &function)) &&
            CUSHIM_CHECK(cushim_memory_alloc(cu, sizeof number, &at)) &&
            CUSHIM_CHECK(cushim_copy_to_device(cu, at, &number, sizeof number)) &&
            CUSHIM_CHECK(CUSHIM_LAUNCH(cu, function, &launch, at)) &&
            CUSHIM_CHECK(cushim_copy_to_host(cu, &result, at, sizeof result)) &&
            CUSHIM_CHECK(cushim_memory_free(cu, at)) &&
            CUSHIM_CHECK(cushim_module_unload(cu, module)) &&
            CUSHIM_CHECK(cushim_device_leave(&gpu));
        /* Errors of one thread are no other thread's. */
        bool alone = cushim_module_function(cu, NULL, "nothing", &function) != CUDA_SUCCESS &&
                     strstr(cushim_last_error(), "cushim_module_function");
        if (!good || result != 2 * number || !alone)
            is_wrong("helpers, thread %u: %u, %s", number, result, cushim_last_error());
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: %s ROUNDS SIMULATED FAKE...\n", arguments[0]);
        return 2;
    }
    const char *whole = getenv("CUSHIM_THREADS");
    rounds = atoi(whole && *whole ? whole : arguments[1]);
    simulated = arguments[2];
    paths = arguments + 3;
    path_count = count - 3;
    pthread_barrier_init(&barrier, NULL, THREADS);
    first_calls();
    printf("first calls: %d processes, wrong %d\n", rounds, wrong);
    fflush(stdout);
    setenv("CUSHIM_LIBCUDA", paths[0], 1);
    for (int i = 0; i < path_count; i++)
        if (*paths[i] == '+' && !dlopen(paths[i] + 1, RTLD_NOW))
            return 2;
    run(open_and_close);
    printf("opens: %d, wrong %d\n", rounds * THREADS, wrong);
    fflush(stdout);
    if (strcmp(simulated, "-") != 0) {
        struct cushim_options options = {.size = sizeof options, .path = simulated};
        driver = cushim_open(&options);
        if (!driver || cushim_init(driver) != CUSHIM_OK)
            is_wrong("%s: %s", simulated, cushim_last_error());
        else
            run(help);
        printf("helpers: %d rounds, wrong %d\n", (rounds / 10 + 1) * THREADS, wrong);
    }
    return wrong != 0;
}
