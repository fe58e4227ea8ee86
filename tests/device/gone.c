/* SPDX-License-Identifier: MIT */
/* On a real device: what the driver and the helpers say of contexts that are gone or never were,
 * and in a forked child. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include <cushim/device.h>

#include "parts.h"

/* A blob of nothing: refused by the driver, one way or another. */
static void create_cig(void)
{
    static char blob[4096];
    CUcontext context = NULL;
    struct cushim_context_options options = {
        .size = sizeof options, .cig_type = 2, .cig_data = blob};
    CUresult code = SHOW(cushim_context_create(cu, 0, &options, &context));
    CHECK((code == CUDA_SUCCESS) == !!context);
    CHECK(!current());
}

static void primary_gone(void)
{
    CUcontext context = NULL, popped = NULL;
    struct cushim_scope scope;
    CALL(cushim_primary_retain(cu, 0, &context));
    CALL(cu->cuCtxPushCurrent(context));
    CALL(cushim_primary_release(cu, 0));
    printf("  still on the stack: %s\n", current() == context ? "yes" : "no");
    SHOW(cushim_context_synchronize(cu, NULL));
    SHOW(cushim_context_synchronize(cu, context));
    SHOW(cushim_context_destroy(cu, context));
    if (SHOW(cushim_scope_enter(cu, context, &scope)) == CUDA_SUCCESS)
        CALL(cushim_scope_leave(&scope, CUDA_SUCCESS));
    CALL(cu->cuCtxPopCurrent(&popped));
    CHECK(popped == context && !current());
}

static void *destroy_on_thread(void *context)
{
    CALL(cushim_context_destroy(cu, context));
    return NULL;
}

static void destroyed_elsewhere(void)
{
    pthread_t thread;
    CUcontext base = create(), context = create(), now = NULL;
    struct cushim_scope scope;
    CALL(cu->cuCtxPushCurrent(base));
    CALL(cushim_scope_enter(cu, context, &scope));
    CHECK(!pthread_create(&thread, NULL, destroy_on_thread, context));
    CHECK(!pthread_join(thread, NULL));
    SHOW(cu->cuCtxGetCurrent(&now));
    printf("  current: %s\n", now == context ? "the one that is gone" : now ? "another" : "none");
    SHOW(cushim_context_synchronize(cu, NULL));
    SHOW(cushim_scope_leave(&scope, CUDA_SUCCESS));
    CHECK(current() == base);
    CALL(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    CHECK(!current());
    CALL(cushim_context_destroy(cu, base));
}

static CUcontext gone(void)
{
    CUcontext context = create();
    CALL(cushim_context_destroy(cu, context));
    return context;
}

static void destroy_twice(void)
{
    SHOW(cushim_context_destroy(cu, gone()));
}

static void use_gone(void)
{
    CUcontext context = gone();
    struct cushim_scope scope;
    SHOW(cushim_context_synchronize(cu, context));
    CHECK(SHOW(cushim_scope_enter(cu, context, &scope)) != CUDA_SUCCESS);
    CHECK(!current());
}

static void never_one(void)
{
    static char text[4096];
    SHOW(cushim_context_destroy(cu, (CUcontext)(void *)text));
    CHECK(!current());
}

static void twice_on_the_stack(void)
{
    CUcontext context = create(), now = NULL;
    CALL(cu->cuCtxPushCurrent(context));
    CALL(cu->cuCtxPushCurrent(context));
    CALL(cushim_context_destroy(cu, context));
    SHOW(cu->cuCtxGetCurrent(&now));
    printf("  current: %s\n", now ? "the one that is gone" : "none");
    SHOW(cu->cuCtxPopCurrent(&now));
    CHECK(!current());
}

static void in_child(void)
{
    CUcontext context = NULL, kept = (CUcontext)(void *)&context;
    struct cushim_scope scope;
    CUdevice device = 0;
    int count = 77;
    context = kept;
    alarm(20);
    CHECK(SHOW(cushim_device_list(cu, &device, 1, &count)) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(SHOW(cushim_primary_retain(cu, 0, &context)) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(SHOW(cushim_primary_release(cu, 0)) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(SHOW(cushim_context_create(cu, 0, NULL, &context)) == CUDA_ERROR_NOT_INITIALIZED);
    SHOW(cu->cuCtxGetCurrent(&context));
    SHOW(cushim_scope_enter(cu, kept, &scope));
    SHOW(cu->cuCtxPopCurrent(&context));
    SHOW(cushim_context_synchronize(cu, NULL));
    CHECK(count == 77);
    fflush(stdout);
    _exit(0); /* what a tool does at the end is for a process that may use CUDA */
}

static void forked(void)
{
    CUcontext context = NULL;
    int status = 0;
    CALL(cushim_primary_retain(cu, 0, &context));
    CALL(cu->cuCtxPushCurrent(context));
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        in_child();
    CHECK(waitpid(child, &status, 0) == child);
    printf("  child: wait status %d\n", status);
    CHECK(status == 0);
    CALL(cushim_context_synchronize(cu, NULL)); /* the parent goes on */
    CALL(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    CALL(cushim_primary_release(cu, 0));
}

static const struct part parts[] = {
    {"forked child", forked, false},
    {"CIG without data", create_cig, true},
    {"primary gone", primary_gone, true},
    {"destroyed by another thread", destroyed_elsewhere, true},
    {"twice on the stack", twice_on_the_stack, true},
    {"destroyed twice", destroy_twice, true},
    {"used when gone", use_gone, false},
    {"no context", never_one, true},
};

int main(int count, char **arguments)
{
    return run_parts(parts, sizeof parts / sizeof *parts, count, arguments);
}
