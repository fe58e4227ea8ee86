/* SPDX-License-Identifier: MIT */
/* Sequences of calls: any entry of the registry, in any order, with any handle, from one thread or
 * two, in the simulated driver in this process. A process for each sequence: errors of a device
 * stay until its process ends. README.md says how to run it. */
#include "fuzz_api.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cushim/sim.h>

#include "fuzz_api_kernels.h"
#include "fuzz_api_state.h"

enum { STUCK_SECONDS = 40, WAIT_SECONDS = 3 };

static struct {
    unsigned long long seed, count;
    unsigned calls, seconds, threads;
    bool trace;
} options = {.seed = 1, .count = 100, .calls = 1500};

/* --- Callbacks --- */

static _Thread_local struct fuzz *running;

static void CUDA_CB host_function(void *user)
{
    (void)user;
}

static void CUDA_CB stream_callback(CUstream stream, CUresult status, void *user)
{
    (void)stream, (void)status, (void)user;
}

/* The driver's lock is not held here: a call inside a call. */
static size_t CUDA_CB shared_of_block(int size)
{
    struct fuzz *f = running;
    if (f && f->depth < 2 && fuzz_below(f, 4) == 0) {
        struct fuzz inner = {.cu = f->cu,
                             .random = fuzz_next(f),
                             .depth = f->depth + 1,
                             .waits = f->waits,
                             .frees = f->frees};
        fuzz_one(&inner);
        running = f;
    }
    return (size_t)size * 4;
}

static CUresult CUDA_CB recaptured(void *user, CUgraphNode node, const CUgraphNodeParams *old,
                                   const CUgraphNodeParams *made, CUgraphRecaptureStatus status)
{
    (void)user, (void)node, (void)old, (void)made, (void)status;
    return CUDA_SUCCESS;
}

void *fuzz_function(struct fuzz *f, const char *type)
{
    if (fuzz_below(f, 16) == 0)
        return NULL;
    if (strcmp(type, "CUhostFn") == 0)
        return (void *)(uintptr_t)host_function;
    if (strcmp(type, "CUstreamCallback") == 0)
        return (void *)(uintptr_t)stream_callback;
    if (strcmp(type, "CUoccupancyB2DSize") == 0)
        return (void *)(uintptr_t)shared_of_block;
    if (strcmp(type, "CUgraphRecaptureCallback") == 0)
        return (void *)(uintptr_t)recaptured;
    return NULL;
}

/* --- A sequence --- */

static bool has(const char *symbol, const char *part)
{
    return strstr(symbol, part);
}

/* Calls that would end the sequence's state all too often, or make it wait for ever. */
static bool left_out(struct fuzz *f, const char *symbol)
{
    if (has(symbol, "WaitValue"))
        return !f->waits;
    if (!f->frees && (has(symbol, "Free") || has(symbol, "Unload") || has(symbol, "CtxDe") ||
                      has(symbol, "PrimaryCtxRe")))
        return true;
    if (has(symbol, "CtxDestroy") || has(symbol, "PrimaryCtxRe") || has(symbol, "CtxDetach"))
        return fuzz_below(f, 12) != 0;
    if (has(symbol, "Destroy") || has(symbol, "Free") || has(symbol, "Unload") ||
        has(symbol, "Pop") || has(symbol, "SetCurrent") || has(symbol, "Unregister"))
        return fuzz_below(f, 3) != 0;
    return has(symbol, "cuCoredump") || has(symbol, "GraphicsD3D");
}

void fuzz_one(struct fuzz *f)
{
    const struct fuzz_call *call;
    do
        call = &fuzz_calls[fuzz_below(f, (unsigned)fuzz_call_count)];
    while (left_out(f, call->symbol));
    running = f;
    if (options.trace)
        fprintf(stderr, "%u: %s\n", f->depth, call->symbol);
    CUresult result = call->call(f);
    if (options.trace)
        fprintf(stderr, "%u: %s: %d\n", f->depth, call->symbol, result);
    while (f->block_count > 0)
        free(f->blocks[--f->block_count]);
}

static void *sequence(void *user)
{
    struct fuzz *f = user;
    for (unsigned i = 0; i < options.calls; i++)
        fuzz_one(f);
    return NULL;
}

/* What most calls need, so that they get further than their first check. */
static void begin(struct fuzz *f)
{
    const struct cushim_api *cu = f->cu;
    static const char *const functions[] = {"nothing", "store", "spin", "sample"};
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function;
    CUtexref reference;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUgraph graph;
    cu->cuInit(0);
    cu->cuCtxCreate_v2(&context, 0, 0);
    fuzz_remember(fuzz_kind_CUcontext, (uintptr_t)context);
    if (cu->cuModuleLoadData(&module, fuzz_kernels[0]) != CUDA_SUCCESS)
        abort();
    fuzz_remember(fuzz_kind_CUmodule, (uintptr_t)module);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (cu->cuModuleGetFunction(&function, module, functions[i]) == CUDA_SUCCESS)
            fuzz_remember(fuzz_kind_CUfunction, (uintptr_t)function);
    if (cu->cuModuleGetTexRef(&reference, module, "tex") == CUDA_SUCCESS)
        fuzz_remember(fuzz_kind_CUtexref, (uintptr_t)reference);
    for (int i = 0; i < 3; i++) {
        if (cu->cuMemAlloc_v2(&memory, 4096) == CUDA_SUCCESS)
            fuzz_remember(fuzz_kind_CUdeviceptr_v2, memory);
        if (cu->cuStreamCreate(&stream, i % 2 ? CU_STREAM_NON_BLOCKING : 0) == CUDA_SUCCESS)
            fuzz_remember(fuzz_kind_CUstream, (uintptr_t)stream);
        if (cu->cuEventCreate(&event, 0) == CUDA_SUCCESS)
            fuzz_remember(fuzz_kind_CUevent, (uintptr_t)event);
        if (cu->cuGraphCreate(&graph, 0) == CUDA_SUCCESS)
            fuzz_remember(fuzz_kind_CUgraph, (uintptr_t)graph);
    }
}

/* Such a sequence may be stuck for ever, by rights. */
static bool may_wait(unsigned long long seed)
{
    return seed % 32 == 31;
}

/* In a process of its own. */
static void run(unsigned long long seed)
{
    struct cushim_sim_options sim = {.size = sizeof sim,
                                     .devices = 2,
                                     .memory = (size_t)128 << 20,
                                     .workers = 2,
                                     .time_limit_ms = 200};
    struct fuzz threads[2] = {
        {.random = seed << 8, .waits = may_wait(seed), .frees = seed % 4 != 3}};
    pthread_t other;
    bool two = options.threads ? options.threads > 1 : seed % 2 == 0;
    threads[0].cu = cushim_sim_open(&sim);
    if (!threads[0].cu)
        exit(2);
    threads[1] = threads[0];
    threads[1].random++;
    begin(&threads[0]);
    if (two && pthread_create(&other, NULL, sequence, &threads[1]) != 0)
        exit(2);
    sequence(&threads[0]);
    if (two)
        pthread_join(other, NULL);
}

/* --- All of them --- */

static void show(FILE *output)
{
    char line[4096];
    rewind(output);
    while (fgets(line, sizeof line, output))
        fputs(line, stdout);
}

/* Whether the sequence was survived. */
static bool survived(unsigned long long seed)
{
    int status = 0;
    FILE *output = options.trace ? NULL : tmpfile();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (output)
            dup2(fileno(output), STDERR_FILENO);
        alarm(may_wait(seed) ? WAIT_SECONDS : STUCK_SECONDS);
        run(seed);
        _exit(0);
    }
    bool good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == 0;
    bool stuck = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (stuck && may_wait(seed))
        good = true;
    if (!good) {
        printf("seed %llu: %s %d\n", seed,
               stuck                 ? "stuck, signal"
               : WIFSIGNALED(status) ? "signal"
                                     : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (output && !stuck)
            show(output);
        fflush(stdout);
    }
    if (output)
        fclose(output);
    return good;
}

static bool read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        unsigned long long value = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
        if (strcmp(argv[i], "--trace") == 0) {
            options.trace = true;
            continue;
        }
        if (strcmp(argv[i], "--seed") == 0)
            options.seed = value;
        else if (strcmp(argv[i], "--count") == 0)
            options.count = value;
        else if (strcmp(argv[i], "--calls") == 0)
            options.calls = (unsigned)value;
        else if (strcmp(argv[i], "--seconds") == 0)
            options.seconds = (unsigned)value;
        else if (strcmp(argv[i], "--threads") == 0)
            options.threads = (unsigned)value;
        else
            return false;
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned long long found = 0, done = 0;
    time_t start = time(NULL);
    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: fuzz_api [--seed N] [--count N] [--calls N] [--seconds N] "
                        "[--threads 1|2] [--trace]\n");
        return 2;
    }
    while (options.seconds ? time(NULL) - start < (time_t)options.seconds : done < options.count)
        found += !survived(options.seed + done++);
    printf("%llu sequences from seed %llu, %llu findings\n", done, options.seed, found);
    return found > 0;
}
