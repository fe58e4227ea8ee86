/* SPDX-License-Identifier: MIT */
/*
 * call DRIVER CALLS TURNS THREADS MODULE...
 *
 * Calls a function of the driver in each of the ways that the modules (way.c) know, in turns, from
 * that many threads at once, and prints for each turn one line: picoseconds a call, a column for
 * each module. bench.py also runs it in callgrind, which counts the instructions of way_call.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "way.h"

typedef bool prepare_fn(void *library);
typedef long call_fn(long calls);

struct work {
    pthread_barrier_t *together;
    call_fn *call;
    long calls;
    long long nanoseconds;
};

static void *thread(void *user)
{
    struct work *work = user;
    pthread_barrier_wait(work->together);
    long long start = clock_now();
    work->call(work->calls);
    work->nanoseconds = clock_now() - start;
    return NULL;
}

/* Nanoseconds of one turn, the mean of all threads. */
static long long turn(call_fn *call, long calls, unsigned threads)
{
    pthread_barrier_t together;
    pthread_t ids[256];
    struct work works[256];
    long long sum = 0;
    pthread_barrier_init(&together, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        works[i] = (struct work){.together = &together, .call = call, .calls = calls};
        if (pthread_create(&ids[i], NULL, thread, &works[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += works[i].nanoseconds;
    }
    pthread_barrier_destroy(&together);
    return sum / threads;
}

static void *symbol(void *module, const char *name)
{
    void *found = module ? dlsym(module, name) : NULL;
    if (!found) {
        fprintf(stderr, "call: %s\n", dlerror());
        exit(1);
    }
    return found;
}

int main(int count, char **arguments)
{
    long calls = count > 5 ? atol(arguments[2]) : 0, turns = count > 5 ? atol(arguments[3]) : 0;
    long threads = count > 5 ? atol(arguments[4]) : 0;
    call_fn *call[16];
    int ways = count - 5;
    if (calls < 1 || turns < 1 || threads < 1 || threads > 256 || ways > 16) {
        fprintf(stderr, "usage: call DRIVER CALLS TURNS THREADS MODULE...\n");
        return 2;
    }
    void *driver = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    for (int i = 0; i < ways; i++) {
        void *module = dlopen(arguments[5 + i], RTLD_NOW | RTLD_LOCAL);
        void *address = symbol(module, "way_prepare");
        prepare_fn *prepare;
        memcpy(&prepare, &address, sizeof prepare);
        address = symbol(module, "way_call");
        memcpy(&call[i], &address, sizeof call[i]);
        if (!driver || !prepare(driver) || call[i](1) != 0) {
            fprintf(stderr, "call: %s cannot call it\n", arguments[5 + i]);
            return 1;
        }
    }
    for (long number = 0; number < turns; number++)
        for (int i = 0; i < ways; i++)
            printf("%lld%c", turn(call[i], calls, (unsigned)threads) * 1000 / calls,
                   i + 1 < ways ? ' ' : '\n');
    return 0;
}
