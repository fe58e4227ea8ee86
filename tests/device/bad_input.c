/* SPDX-License-Identifier: MIT */
/* Bad input for contexts, devices, memory, streams and events, on a real device; see refuse.h for
 * what is demanded of every refusal. Modules and launches are in bad_code.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include <cushim/device.h>
#include <cushim/memory.h>
#include <cushim/stream.h>

#include "refuse.h"

enum { SIZE = 4096 };

/* What outputs hold before: none may be written. */
#define UNTOUCHED 0x5eed
static unsigned char bytes[2 * SIZE];
#define NOT_A_CONTEXT ((CUcontext)(void *)bytes)

static CUcontext make(void)
{
    CUcontext context = NULL;
    OK(cushim_context_create(cu, 0, NULL, &context));
    return context;
}

static const char *hex(const char *argument, const void *pointer)
{
    static char text[64];
    snprintf(text, sizeof text, "%s: %p", argument, pointer);
    return text;
}

/* ---- devices and contexts ---- */

static void null_and_none(void)
{
    CUcontext context = NOT_A_CONTEXT;
    struct cushim_scope scope;
    struct cushim_primary state = {.size = sizeof state, .retained = UNTOUCHED};
    struct cushim_device_properties about = {.size = 0, .major = UNTOUCHED};
    int value = UNTOUCHED, count = UNTOUCHED;
    CUdevice device = UNTOUCHED;

    REFUSED(cushim_device_list(cu, NULL, 2, &count),
            "devices is NULL; pass an array of 2, the capacity");
    REFUSED(cushim_device_list(cu, &device, -1, &count), "capacity is -1");
    REFUSED(cushim_device_describe(cu, 0, NULL), "properties is NULL");
    REFUSED(cushim_device_describe(cu, 0, &about), "properties: size: 0");
    about.size = sizeof about;
    REFUSED(cushim_device_describe(cu, 99, &about), "device is 99");
    REFUSED(cushim_device_attribute(cu, -1, 1, &value, NULL), "device is -1");
    REFUSED(cushim_device_attribute(cu, 0, 1, NULL, NULL), "value is NULL");
    REFUSED(cushim_device_attribute(cu, 0, 9999, &value, NULL), "number: 9999");
    REFUSED(cushim_device_attribute_named(cu, 0, NULL, &value, NULL), "name: NULL");
    REFUSED(cushim_device_attribute_named(cu, 0, "NO_SUCH", &value, NULL), "name: \"NO_SUCH\"");

    REFUSED(cushim_primary_retain(cu, 0, NULL), "context is NULL");
    REFUSED(cushim_primary_retain(cu, 99, &context), "device is 99");
    REFUSED(cushim_primary_release(cu, 0), "device: 0", "not retained");
    REFUSED(cushim_primary_describe(cu, 0, NULL), "primary is NULL");
    REFUSED(cushim_primary_describe(cu, 99, &state), "device is 99");

    REFUSED(cushim_context_synchronize(cu, NULL), "no context is current");
    REFUSED(cushim_scope_enter(cu, NULL, &scope), "context is NULL");
    CHECK(!scope.cu);
    CHECK(context == NOT_A_CONTEXT && state.retained == UNTOUCHED && about.major == UNTOUCHED &&
          value == UNTOUCHED && count == UNTOUCHED && device == UNTOUCHED);
}

static void creation(void)
{
    CUcontext base = make(), context = NOT_A_CONTEXT;
    struct cushim_context_options options = {.size = 1};
    OK(cu->cuCtxPushCurrent(base));
    REFUSED(cushim_context_create(cu, 0, NULL, NULL), "context is NULL");
    REFUSED(cushim_context_create(cu, 99, NULL, &context), "device is 99");
    REFUSED(cushim_context_create(cu, 0, &options, &context), "options: size: 1");
    options = (struct cushim_context_options){.size = sizeof options, .flags = 0xbeef00};
    REFUSED(cushim_context_create(cu, 0, &options, &context), "flags 0xbeef00");
    options = (struct cushim_context_options){.size = sizeof options, .cig_type = 1};
    REFUSED(cushim_context_create(cu, 0, &options, &context), "cig_type is 1", "cig_data is NULL");
    options.cig_data = bytes;
    options.sm_count = 8;
    REFUSED(cushim_context_create(cu, 0, &options, &context), "sm_count 8 and cig_type 1");
    REFUSED(cushim_scope_enter(cu, base, NULL), "scope is NULL");
    CHECK(context == NOT_A_CONTEXT);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, base));
}

/* A context that is gone, or never was, while another is current. */
static void refuse_context(CUcontext gone)
{
    struct cushim_scope scope;
    CUcontext here = NULL;
    const char *words = hex("context", gone);
    OK(cu->cuCtxGetCurrent(&here));
    REFUSED(cushim_scope_enter(cu, gone, &scope), words);
    CHECK(!scope.cu);
    REFUSED(cushim_context_synchronize(cu, gone), words);
    REFUSED(cushim_context_destroy(cu, gone), words);
    CHECK(here != gone);
}

static void gone(void)
{
    CUcontext here = make(), gone = make();
    OK(cu->cuCtxPushCurrent(here));
    OK(cushim_context_destroy(cu, gone));
    refuse_context(gone);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

static void released(void)
{
    CUcontext here = make(), primary = NULL;
    OK(cu->cuCtxPushCurrent(here));
    OK(cushim_primary_retain(cu, 0, &primary));
    REFUSED(cushim_context_destroy(cu, primary), hex("context", primary), "primary one");
    OK(cushim_primary_release(cu, 0));
    refuse_context(primary);
    REFUSED(cushim_primary_release(cu, 0), "device: 0", "not retained");
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

static void never(void)
{
    CUcontext here = make();
    OK(cu->cuCtxPushCurrent(here));
    refuse_context(NOT_A_CONTEXT);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

/* ---- memory ---- */

static void sizes_and_null(void)
{
    CUcontext here = make();
    CUdeviceptr address = UNTOUCHED;
    OK(cu->cuCtxPushCurrent(here));
    REFUSED(cushim_memory_alloc(cu, 0, &address), "bytes is 0; ask for at least 1");
    REFUSED(cushim_memory_alloc(cu, 1, NULL), "address is NULL");
    REFUSED(cushim_memory_alloc(cu, SIZE_MAX, &address), "bytes: 18446744073709551615");
    REFUSED(cushim_memory_alloc_async(cu, 0, NULL, &address), "bytes is 0; ask for at least 1");
    REFUSED(cushim_memory_alloc_async(cu, SIZE_MAX, NULL, &address), "18446744073709551615");
    REFUSED(cushim_pointer_describe(cu, 16, NULL), "pointer is NULL");
    CHECK(address == UNTOUCHED);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

static void addresses(void)
{
    CUcontext here = make();
    CUdeviceptr memory = 0;
    OK(cu->cuCtxPushCurrent(here));
    OK(cushim_memory_alloc(cu, SIZE, &memory));
    memset(bytes, 8, sizeof bytes);
    /* The driver's refusal, with the values. */
    REFUSED(cushim_copy_to_host(cu, bytes, 16, 3), "cuMemcpyDtoH_v2: ", "bytes: 3");
    REFUSED(cushim_memory_free(cu, 16), "cuMemFree_v2: ", "address: 0x10");
    REFUSED(cushim_fill_32(cu, 16, 0, 5), "cuMemsetD32_v2: ", "dst: 0x10", "5 elements");
    REFUSED(cushim_copy_to_host(cu, bytes, memory + SIZE - 2, SIZE),
            "; src has 2 bytes up to the end of its block of 4096");
    REFUSED(cushim_copy_to_device(cu, memory, bytes, SIZE + 1), "; dst has 4096 bytes up to");
    REFUSED(cushim_fill_32(cu, memory + 4, 0, SIZE / 4), "; dst has 4092 bytes up to the end");
    REFUSED(cushim_copy_to_device(cu, 0, bytes, 1), "dst is 0; pass an address");
    REFUSED(cushim_copy_to_host(cu, NULL, memory, 1), "dst is 0; pass an address");
    REFUSED(cushim_fill_32_async(cu, memory, 0, SIZE_MAX / 2, NULL), "count: 9223372036854775807");
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == 8);
    OK(cushim_memory_free(cu, memory));
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

/* ---- streams ---- */

static void streams(void)
{
    CUcontext here = make();
    CUgraphExec exec = (CUgraphExec)(void *)bytes;
    float time = UNTOUCHED;
    OK(cu->cuCtxPushCurrent(here));
    REFUSED(cushim_stream_callback(cu, NULL, NULL, NULL), "function is NULL");
    REFUSED(cushim_event_elapsed(cu, NULL, NULL, &time), "start is NULL");
    REFUSED(cushim_capture_begin(cu, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), "stream: NULL");
    REFUSED(cushim_capture_begin(cu, NULL, (CUstreamCaptureMode)9), "mode: 9");
    REFUSED(cushim_graph_instantiate(cu, NULL, 0, &exec), "graph is NULL");
    CHECK(exec == (CUgraphExec)(void *)bytes && time == UNTOUCHED);
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

/* ---- after the context is gone ---- */

static void use_memory_and_streams(void)
{
    CUdeviceptr address = UNTOUCHED;
    REFUSED(cushim_memory_alloc(cu, 64, &address), "cuMemAlloc_v2: ", "bytes: 64");
    REFUSED(cushim_memory_alloc_async(cu, 64, NULL, &address), "");
    REFUSED(cushim_context_synchronize(cu, NULL), "");
    CHECK(address == UNTOUCHED);
}

/* Current when it was destroyed: none is, then. */
static void after_destroy(void)
{
    CUcontext context = make();
    OK(cu->cuCtxPushCurrent(context));
    OK(cushim_context_synchronize(cu, NULL));
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, context));
    use_memory_and_streams();
}

static void *destroy_on_thread(void *context)
{
    OK(cushim_context_destroy(cu, context));
    return NULL;
}

/* Destroyed by another thread: still current, and of no use. */
static void destroyed_elsewhere(void)
{
    pthread_t thread;
    CUcontext context = make();
    OK(cu->cuCtxPushCurrent(context));
    CHECK(!pthread_create(&thread, NULL, destroy_on_thread, context));
    CHECK(!pthread_join(thread, NULL));
    use_memory_and_streams();
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
}

/* ---- in a forked child ---- */

static CUcontext parents;
static CUdeviceptr parents_memory;

static void child(void)
{
    CUcontext context = NOT_A_CONTEXT;
    CUdeviceptr address = UNTOUCHED;
    int count = UNTOUCHED;
    REFUSED_IN_CHILD(cushim_device_list(cu, NULL, 0, &count), "fork");
    REFUSED_IN_CHILD(cushim_primary_retain(cu, 0, &context), "fork");
    REFUSED_IN_CHILD(cushim_primary_release(cu, 0), "fork");
    REFUSED_IN_CHILD(cushim_context_create(cu, 0, NULL, &context), "fork");
    REFUSED_IN_CHILD(cushim_context_synchronize(cu, NULL), "fork");
    REFUSED_IN_CHILD(cushim_memory_alloc(cu, 64, &address), "cuMemAlloc_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_memory_free(cu, parents_memory), "cuMemFree_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_copy_to_device(cu, parents_memory, bytes, 4),
                     "cuMemcpyHtoD_v2: ", "fork");
    CHECK(context == NOT_A_CONTEXT && address == UNTOUCHED && count == UNTOUCHED);
}

static void forked(void)
{
    parents = make();
    OK(cu->cuCtxPushCurrent(parents));
    OK(cushim_memory_alloc(cu, SIZE, &parents_memory));
    refuse_in_child(child);
    OK(cushim_copy_to_device(cu, parents_memory, bytes, SIZE)); /* the parent goes on */
    OK(cushim_memory_free(cu, parents_memory));
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, parents));
}

int main(void)
{
    static const struct refuse_part parts[] = {
        {"NULL, and no context", null_and_none},
        {"creation", creation},
        {"a context that is gone", gone},
        {"a primary context that was released", released},
        {"no context at all", never},
        {"sizes, and NULL for memory", sizes_and_null},
        {"addresses", addresses},
        {"streams and events", streams},
        {"after the context was destroyed", after_destroy},
        {"destroyed by another thread", destroyed_elsewhere},
        {"in a forked child", forked},
    };
    return refuse_all(parts, sizeof parts / sizeof *parts);
}
