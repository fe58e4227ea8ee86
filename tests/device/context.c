/* SPDX-License-Identifier: MIT */
/* On a real device: contexts live, float and end as the helpers say, bad input is refused, and what
 * was current stays so. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include <cushim/device.h>

#include "parts.h"

/* ---- devices ---- */

static void devices(void)
{
    CUdevice all[16];
    int count = 0;
    CALL(cushim_device_list(cu, all, 16, &count));
    CHECK(count > 0);
    for (int i = 0; i < count && i < 16; i++) {
        struct cushim_device_properties p = {.size = sizeof p};
        CALL(cushim_device_describe(cu, all[i], &p));
        printf("  %d: %s, %s, %s, %zu bytes, %d.%d, %d multiprocessors, block %d (%d %d %d), "
               "shared %d/%d, clusters %d, pools %d\n",
               i, p.name, p.uuid, p.pci_bus_id, p.total_memory, p.major, p.minor, p.multiprocessors,
               p.max_threads_per_block, p.max_block[0], p.max_block[1], p.max_block[2],
               p.shared_memory_per_block, p.shared_memory_per_block_optin, p.cluster_launch,
               p.memory_pools);
        CHECK(p.name[0] && p.uuid[0] && p.pci_bus_id[0] && p.total_memory && p.warp_size == 32);
    }
    CHECK(!current());
}

/* What the driver says of every number, and what that is called here. */
static void attributes(void)
{
    unsigned answers[3] = {0, 0, 0};
    for (int number = -1; number < 200; number++) {
        int raw = -1, value = -1;
        enum cushim_answer answer;
        CUresult code = table->cuDeviceGetAttribute(&raw, (CUdevice_attribute)number, 0);
        CALL(cushim_device_attribute(cu, 0, number, &value, &answer));
        answers[answer]++;
        CHECK((code == CUDA_SUCCESS) == (answer == CUSHIM_ANSWER_VALUE));
        CHECK(answer == CUSHIM_ANSWER_VALUE ? value == raw : value == -1);
        if (code != CUDA_SUCCESS && answer == CUSHIM_ANSWER_UNSUPPORTED)
            printf("  number %d: code %d: unsupported\n", number, (int)code);
    }
    for (size_t i = 0; i < cushim_attribute_count(); i++) {
        struct cushim_attribute attribute;
        int value = -1;
        enum cushim_answer answer;
        CHECK(cushim_attribute_at(i, &attribute));
        CALL(cushim_device_attribute_named(cu, 0, attribute.name, &value, &answer));
        if (answer != CUSHIM_ANSWER_VALUE)
            printf("  %s (%d, since %d): %s\n", attribute.name, attribute.number, attribute.since,
                   answer == CUSHIM_ANSWER_UNKNOWN ? "unknown" : "unsupported");
        /* The registry and this driver agree on the driver's age. */
        if (answer == CUSHIM_ANSWER_UNKNOWN)
            CHECK(attribute.since > cushim_driver_version(cu));
    }
    printf("  %u values, %u unsupported, %u unknown\n", answers[0], answers[1], answers[2]);
    int value = 7;
    CHECK(SHOW(cushim_device_attribute(cu, 0, 9999, &value, NULL)) ==
          CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    CHECK(SHOW(cushim_device_attribute(cu, 99, 1, &value, NULL)) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(SHOW(cushim_device_attribute_named(cu, 0, "NO_SUCH", &value, NULL)) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(value == 7);
}

/* ---- primary ---- */

static void primary(void)
{
    CUcontext one = NULL, two = NULL;
    struct cushim_primary state = {.size = sizeof state};
    CALL(cushim_primary_describe(cu, 0, &state));
    CHECK(!state.active && !state.retained);
    CHECK(SHOW(cushim_primary_release(cu, 0)) == CUDA_ERROR_INVALID_CONTEXT);
    shown("the driver itself", table->cuDevicePrimaryCtxRelease_v2(0));
    CALL(cushim_primary_retain(cu, 0, &one));
    CALL(cushim_primary_retain(cu, 0, &two));
    CHECK(one && one == two && !current());
    CALL(cushim_primary_describe(cu, 0, &state));
    CHECK(state.active && state.retained == 2);
    CHECK(SHOW(cushim_context_destroy(cu, one)) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(SHOW(cushim_primary_retain(cu, 99, &two)) == CUDA_ERROR_INVALID_DEVICE);
    CALL(cushim_primary_release(cu, 0));
    CALL(cushim_primary_describe(cu, 0, &state));
    CHECK(state.active);
    CALL(cushim_primary_release(cu, 0));
    CALL(cushim_primary_describe(cu, 0, &state));
    CHECK(!state.active && !state.retained);
    CHECK(SHOW(cushim_primary_release(cu, 0)) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(cushim_primary_retain(cu, 0, &one)); /* and again */
    CALL(cushim_primary_release(cu, 0));
    CHECK(!current());
}

/* ---- contexts of one's own ---- */

static void create_own(void)
{
    CUcontext base = create(), context = NULL;
    struct cushim_context_options options = {.size = sizeof options};
    CALL(cu->cuCtxPushCurrent(base));
    options.flags = CU_CTX_SCHED_YIELD;
    CALL(cushim_context_create(cu, 0, &options, &context));
    CHECK(current() == base);
    CALL(cushim_context_synchronize(cu, context));
    CALL(cushim_context_synchronize(cu, NULL));
    CHECK(current() == base);
    CALL(cushim_context_destroy(cu, context));
    CHECK(current() == base);

    context = (CUcontext)(void *)&options;
    options.flags = 0xbeef00;
    CHECK(SHOW(cushim_context_create(cu, 0, &options, &context)) == CUDA_ERROR_INVALID_VALUE);
    options = (struct cushim_context_options){.size = sizeof options, .sm_count = 8};
    CUresult code = SHOW(cushim_context_create(cu, 0, &options, &context));
    if (code == CUDA_SUCCESS) /* under MPS */
        CALL(cushim_context_destroy(cu, context));
    else
        CHECK(context == (CUcontext)(void *)&options);
    CHECK(SHOW(cushim_context_create(cu, 99, NULL, &context)) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(SHOW(cushim_context_create(cu, 0, NULL, NULL)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(current() == base);
    CALL(cushim_context_destroy(cu, base));
    CHECK(!current());
}

static void two_contexts(void)
{
    CUcontext a = create(), b = create(), popped = NULL;
    CHECK(!current());
    CALL(cu->cuCtxPushCurrent(a));
    CHECK(current() == a);
    CALL(cu->cuCtxPushCurrent(b));
    CHECK(current() == b);
    CALL(cu->cuCtxSetCurrent(a));
    CALL(cu->cuCtxPopCurrent(&popped));
    CHECK(popped == a && current() == a);
    CALL(cu->cuCtxPopCurrent(&popped));
    CHECK(popped == a && !current());
    CALL(cushim_context_destroy(cu, a));
    CALL(cushim_context_destroy(cu, b));
    CALL(cushim_context_destroy(cu, NULL));
}

static void scopes(void)
{
    CUcontext a = create(), b = create(), c = create(), popped = NULL;
    struct cushim_scope outer, inner;
    CALL(cu->cuCtxPushCurrent(a));
    CALL(cushim_scope_enter(cu, b, &outer));
    CALL(cushim_scope_enter(cu, b, &inner)); /* again, the current one */
    CALL(cu->cuCtxSetCurrent(c));            /* what cudaSetDevice does */
    CALL(cushim_scope_leave(&inner, CUDA_SUCCESS));
    CHECK(current() == b);
    CALL(cu->cuCtxPushCurrent(c));
    CALL(cu->cuCtxPushCurrent(a));
    CALL(cushim_scope_leave(&outer, CUDA_SUCCESS));
    CALL(cushim_scope_enter(cu, b, &outer));
    CALL(cushim_context_destroy(cu, b));
    CALL(cushim_scope_leave(&outer, CUDA_SUCCESS));
    CALL(cu->cuCtxPopCurrent(&popped));
    CHECK(popped == a && !current()); /* just as deep as before */
    CALL(cushim_context_destroy(cu, a));
    CALL(cushim_context_destroy(cu, c));
}

static void use_counts(void)
{
    CUcontext context = NULL, same = NULL;
    CALL(cu->cuCtxCreate_v2(&context, 0, 0));
    CALL(cu->cuCtxAttach(&same, 0));
    CHECK(same == context);
    CALL(cu->cuCtxDetach(context));
    CHECK(current() == context);
    CALL(cu->cuCtxDetach(context));
    CHECK(!current());
}

/* ---- threads ---- */

static void *own_thread(void *context)
{
    CUcontext popped = NULL;
    CUdeviceptr memory = 0;
    CHECK(!current());
    CALL(cu->cuCtxPushCurrent(context));
    CALL(table->cuMemAlloc_v2(&memory, 4096));
    CALL(cushim_context_synchronize(cu, NULL));
    CALL(table->cuMemFree_v2(memory));
    CALL(cu->cuCtxPopCurrent(&popped));
    CHECK(popped == context && !current());
    return NULL;
}

static void floating(void)
{
    pthread_t threads[4];
    CUcontext context = create(), popped = NULL;
    CALL(cu->cuCtxPushCurrent(context));
    for (int i = 0; i < 4; i++) /* on several stacks at once */
        CHECK(!pthread_create(&threads[i], NULL, own_thread, context));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(threads[i], NULL));
    CALL(cu->cuCtxPopCurrent(&popped)); /* floats */
    CHECK(!pthread_create(&threads[0], NULL, own_thread, popped));
    CHECK(!pthread_join(threads[0], NULL));
    CALL(cushim_context_destroy(cu, context));
}

/* ---- what is left ---- */

static size_t free_memory(void)
{
    size_t available = 0, total = 0;
    CALL(table->cuMemGetInfo_v2(&available, &total));
    return available;
}

static void leaks(void)
{
    CUcontext base = create();
    CALL(cu->cuCtxPushCurrent(base));
    CALL(cushim_context_destroy(cu, create())); /* what the driver keeps after the first */
    size_t before = free_memory();
    for (int i = 0; i < 20; i++) {
        CUcontext context = create(), bad = NULL;
        CHECK(cushim_context_create(cu, 99, NULL, &bad) != CUDA_SUCCESS);
        CALL(cushim_context_destroy(cu, context));
    }
    size_t after = free_memory();
    printf("  20 contexts: %zu bytes free before, %zu after\n", before, after);
    CHECK(before <= after + (1 << 20));
    CALL(cushim_context_destroy(cu, base));
}

static const struct part parts[] = {
    {"devices", devices, false},
    {"attributes", attributes, false},
    {"primary", primary, false},
    {"create", create_own, false},
    {"two contexts", two_contexts, false},
    {"scopes", scopes, false},
    {"use counts", use_counts, false},
    {"floating", floating, false},
    {"leaks", leaks, false},
};

int main(int count, char **arguments)
{
    return run_parts(parts, sizeof parts / sizeof *parts, count, arguments);
}
