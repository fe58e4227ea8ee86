/* SPDX-License-Identifier: MIT */
/*
 * Several copies of cushim in one process, in plugins that sixteen threads open and close. The
 * program itself has one copy more. What is unloaded here may be the last reference, to a plugin
 * and to a driver, so the system's loader frees what it knew of them.
 *
 *     plugins ROUNDS DRIVER UNLOADED PLUGIN...
 *
 * DRIVER is what the variable CUSHIM_LIBCUDA names for all copies; UNLOADED is opened and unloaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/cushim.h>

enum { THREADS = 16 };

static pthread_barrier_t barrier;
static _Atomic int wrong;
static int rounds, plugin_count;
static char **plugins, *unloaded;

static void *run(void *argument)
{
    size_t number = (size_t)argument;
    pthread_barrier_wait(&barrier);
    const struct cushim_api *own = cushim_load(NULL);
    for (int i = 0; i < rounds; i++) {
        const struct cushim_api *(*use)(const char *);
        void *plugin =
            dlopen(plugins[(number + (size_t)i) % (size_t)plugin_count], RTLD_NOW | RTLD_LOCAL);
        void *address = plugin ? dlsym(plugin, "plugin_use") : NULL;
        memcpy(&use, &address, sizeof use);
        const struct cushim_api *theirs = use ? use(unloaded) : NULL;
        int version = 0;
        if (!theirs || theirs == own || theirs->cuDriverGetVersion(&version) || version != 12040 ||
            theirs->cuMemAlloc_v2 != own->cuMemAlloc_v2) {
            fprintf(stderr, "plugin: %s\n", plugin ? "another answer" : dlerror());
            wrong++;
        }
        if (plugin)
            dlclose(plugin);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    if (count < 5) {
        fprintf(stderr, "usage: %s ROUNDS DRIVER UNLOADED PLUGIN...\n", arguments[0]);
        return 2;
    }
    const char *whole = getenv("CUSHIM_THREADS");
    rounds = atoi(whole && *whole ? whole : arguments[1]);
    setenv("CUSHIM_LIBCUDA", arguments[2], 1);
    unloaded = arguments[3];
    plugins = arguments + 4;
    plugin_count = count - 4;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i))
            abort();
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("plugins: %d opened, wrong %d\n", rounds * THREADS, wrong);
    return wrong != 0;
}
