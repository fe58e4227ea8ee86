/* SPDX-License-Identifier: MIT */
/*
 * Threads that load, open, ask, fail and close at once. For ThreadSanitizer, which does not know
 * the lock of the system's loader: what a thread unloads must not be the last reference. So the
 * program holds the libraries that are given with a + before their paths, and the others stay.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim.h"

enum { THREADS = 16, ROUNDS = 20 };

static int path_count;
static char **paths;
static pthread_barrier_t barrier;
static const struct cushim_api *seen[THREADS];
static _Atomic int wrong;

static void use(const struct cushim_api *cu)
{
    char text[256];
    enum cushim_proc_status why;
    CUdeviceptr pointer = 0;
    CUcontext context = NULL;
    (void)cu->cuMemFree_v2(pointer);
    wrong += !strstr(cushim_last_error(), "cuMemFree_v2");
    (void)cu->cuCtxCreate_v4(&context, NULL, 0, 0);
    (void)cushim_last_error();
    (void)cushim_proc(cu, "cuCtxCreate", 13000, CUSHIM_STREAM_LEGACY, &why);
    (void)cushim_has(cu, "cuMemAlloc_v2");
    (void)cushim_reason(cu, "cuMemAlloc_v2", NULL, text, sizeof text);
    (void)cushim_path(cu);
    (void)cushim_init(cu);
    wrong += *cushim_message(cu) == '\0';
}

static void *run(void *argument)
{
    size_t number = (size_t)argument;
    pthread_barrier_wait(&barrier);
    const struct cushim_api *cu = cushim_load(NULL);
    seen[number] = cu;
    use(cu);
    for (int i = 0; i < ROUNDS; i++) {
        const char *path = paths[(number + (size_t)i) % (size_t)path_count];
        bool held = *path == '+';
        struct cushim_options options = {.size = sizeof options, .path = path + held};
        const struct cushim_api *own = cushim_open(&options);
        if (!own)
            abort();
        use(own);
        use(cu);
        if (held)
            cushim_close_unload(own);
        else
            cushim_close(own);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    path_count = count - 1;
    paths = arguments + 1;
    for (int i = 0; i < path_count; i++)
        if (*paths[i] == '+' && !dlopen(paths[i] + 1, RTLD_NOW))
            return 2;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 1; i < THREADS; i++)
        wrong += seen[i] != seen[0];
    printf("wrong %d\n", wrong);
    return wrong != 0;
}
