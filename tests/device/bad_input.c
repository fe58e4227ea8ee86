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
    struct cushim_primary_state state = {.retained = UNTOUCHED};
    struct cushim_context_properties of = {.size = 0, .id = UNTOUCHED};
    struct cushim_device_properties about = {.size = 0, .major = UNTOUCHED};
    size_t actual = UNTOUCHED;
    int value = UNTOUCHED, count = UNTOUCHED;
    CUdevice device = UNTOUCHED;

    REFUSED(cushim_device_list(cu, NULL, 2, &count), "devices: NULL, but its capacity is 2");
    REFUSED(cushim_device_list(cu, &device, -1, &count), "capacity: -1");
    REFUSED(cushim_device_describe(cu, 0, NULL), "properties: NULL");
    REFUSED(cushim_device_describe(cu, 0, &about), "properties: size 0");
    about.size = sizeof about;
    REFUSED(cushim_device_describe(cu, 99, &about), "device: 99");
    REFUSED(cushim_device_attribute(cu, -1, 1, &value, NULL), "device: -1");
    REFUSED(cushim_device_attribute(cu, 0, 1, NULL, NULL), "value: NULL");
    REFUSED(cushim_device_attribute(cu, 0, 9999, &value, NULL), "number: 9999");
    REFUSED(cushim_device_attribute_named(cu, 0, NULL, &value, NULL), "name: NULL");
    REFUSED(cushim_device_attribute_named(cu, 0, "NO_SUCH", &value, NULL), "name: \"NO_SUCH\"");

    REFUSED(cushim_primary_retain(cu, 0, NULL), "context: NULL");
    REFUSED(cushim_primary_retain(cu, 99, &context), "device: 99");
    REFUSED(cushim_primary_release(cu, 0), "device: 0", "not retained");
    REFUSED(cushim_primary_query(cu, 0, NULL), "state: NULL");
    REFUSED(cushim_primary_query(cu, 99, &state), "device: 99");
    REFUSED(cushim_primary_set_flags(cu, 0, 0x10000), "flags: 0x10000");

    REFUSED(cushim_context_push(cu, NULL), "context: NULL");
    REFUSED(cushim_context_pop(cu, &context), "empty");
    REFUSED(cushim_context_current(cu, NULL), "context: NULL");
    REFUSED(cushim_context_attach(cu, NULL), "context: NULL");
    REFUSED(cushim_context_synchronize(cu, NULL), "no context is current");
    REFUSED(cushim_context_describe(cu, NULL, NULL), "properties: NULL");
    REFUSED(cushim_context_describe(cu, NULL, &of), "properties: size 0");
    REFUSED(cushim_context_set_limit(cu, NULL, CU_LIMIT_STACK_SIZE, 1, &actual),
            "no context is current");
    REFUSED(cushim_scope_enter(cu, NULL, &scope), "context: NULL");
    CHECK(!scope.cu);
    CHECK(context == NOT_A_CONTEXT && state.retained == UNTOUCHED && of.id == UNTOUCHED &&
          about.major == UNTOUCHED && actual == UNTOUCHED && value == UNTOUCHED &&
          count == UNTOUCHED && device == UNTOUCHED);
}

static void creation(void)
{
    CUcontext base = make(), context = NOT_A_CONTEXT;
    struct cushim_context_options options = {.size = 1};
    size_t actual = UNTOUCHED;
    OK(cushim_context_push(cu, base));
    REFUSED(cushim_context_create(cu, 0, NULL, NULL), "context: NULL");
    REFUSED(cushim_context_create(cu, 99, NULL, &context), "device: 99");
    REFUSED(cushim_context_create(cu, 0, &options, &context), "options: size 1");
    options = (struct cushim_context_options){.size = sizeof options, .flags = 0xbeef00};
    REFUSED(cushim_context_create(cu, 0, &options, &context), "flags 0xbeef00");
    options = (struct cushim_context_options){.size = sizeof options, .cig_type = 1};
    REFUSED(cushim_context_create(cu, 0, &options, &context), "cig_type is 1", "cig_data is NULL");
    options.cig_data = bytes;
    options.sm_count = 8;
    REFUSED(cushim_context_create(cu, 0, &options, &context), "sm_count 8 and cig_type 1");
    REFUSED(cushim_context_set_limit(cu, base, (CUlimit)999, 1, &actual), "limit: 999, value: 1");
    REFUSED(cushim_scope_enter(cu, base, NULL), "scope: NULL");
    CHECK(context == NOT_A_CONTEXT && actual == UNTOUCHED);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, base));
}

/* A context that is gone, or never was, while another is current. */
static void refuse_context(CUcontext gone)
{
    struct cushim_scope scope;
    struct cushim_context_properties of = {.size = sizeof of, .id = UNTOUCHED};
    size_t actual = UNTOUCHED;
    CUcontext here = NULL;
    const char *words = hex("context", gone);
    OK(cushim_context_current(cu, &here));
    REFUSED(cushim_context_push(cu, gone), words);
    REFUSED(cushim_context_set(cu, gone), words);
    REFUSED(cushim_scope_enter(cu, gone, &scope), words);
    CHECK(!scope.cu);
    REFUSED(cushim_context_synchronize(cu, gone), words);
    REFUSED(cushim_context_describe(cu, gone, &of), words);
    REFUSED(cushim_context_set_limit(cu, gone, CU_LIMIT_STACK_SIZE, 4096, &actual), words);
    REFUSED(cushim_context_attach(cu, gone), words);
    REFUSED(cushim_context_detach(cu, gone), words);
    REFUSED(cushim_context_destroy(cu, gone), words);
    REFUSED(cushim_peer_enable(cu, gone, here), words);
    REFUSED(cushim_peer_enable(cu, here, gone), hex("peer", gone));
    REFUSED(cushim_peer_disable(cu, here, gone), hex("peer", gone));
    REFUSED(cushim_copy_peer(cu, 16, gone, 32, here, 4), hex("dst_context", gone));
    REFUSED(cushim_copy_peer_async(cu, 16, here, 32, gone, 4, NULL), hex("src_context", gone));
    CHECK(of.id == UNTOUCHED && actual == UNTOUCHED);
}

static void gone(void)
{
    CUcontext here = make(), gone = make();
    OK(cushim_context_push(cu, here));
    OK(cushim_context_destroy(cu, gone));
    refuse_context(gone);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

static void released(void)
{
    CUcontext here = make(), primary = NULL;
    OK(cushim_context_push(cu, here));
    OK(cushim_primary_retain(cu, 0, &primary));
    REFUSED(cushim_context_destroy(cu, primary), hex("context", primary), "primary one");
    OK(cushim_primary_release(cu, 0));
    refuse_context(primary);
    REFUSED(cushim_primary_release(cu, 0), "device: 0", "not retained");
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

static void never(void)
{
    CUcontext here = make();
    OK(cushim_context_push(cu, here));
    refuse_context(NOT_A_CONTEXT);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

/* ---- memory ---- */

static void sizes_and_null(void)
{
    CUcontext here = make();
    CUdeviceptr address = UNTOUCHED;
    void *host = bytes;
    size_t pitch = UNTOUCHED, free_bytes = UNTOUCHED;
    CUarray array = (CUarray)(void *)bytes;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 0, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    struct cushim_growing growing = {.limit = UNTOUCHED};
    CUmemoryPool pool = (CUmemoryPool)(void *)bytes;
    OK(cushim_context_push(cu, here));
    REFUSED(cushim_memory_alloc(cu, 0, &address), "bytes: 0");
    REFUSED(cushim_memory_alloc(cu, 1, NULL), "address: NULL");
    REFUSED(cushim_memory_alloc(cu, SIZE_MAX, &address), "bytes: 18446744073709551615");
    REFUSED(cushim_memory_alloc_managed(cu, 0, 0, &address), "bytes: 0");
    REFUSED(cushim_memory_alloc_managed(cu, 1, 9, &address), "flags: 0x9");
    REFUSED(cushim_memory_alloc_pitched(cu, 0, 1, 4, &address, &pitch), "width: 0");
    REFUSED(cushim_memory_alloc_pitched(cu, 1, 0, 4, &address, &pitch), "height: 0");
    REFUSED(cushim_memory_alloc_pitched(cu, SIZE_MAX / 2, 3, 4, &address, &pitch), "height: 3");
    REFUSED(cushim_memory_alloc_pitched(cu, 4, 4, 3, &address, &pitch), "element: 3");
    REFUSED(cushim_memory_alloc_pitched(cu, 4, 4, 4, &address, NULL), "pitch: NULL");
    REFUSED(cushim_memory_alloc_async(cu, 0, NULL, NULL, &address), "bytes: 0");
    REFUSED(cushim_memory_alloc_async(cu, SIZE_MAX, NULL, NULL, &address), "18446744073709551615");
    REFUSED(cushim_host_alloc(cu, 0, 0, &host), "bytes: 0");
    REFUSED(cushim_host_alloc(cu, 1, 0, NULL), "address: NULL");
    REFUSED(cushim_host_alloc(cu, SIZE_MAX, 0, &host), "18446744073709551615");
    REFUSED(cushim_host_register(cu, NULL, 1, 0), "address: 0");
    REFUSED(cushim_host_register(cu, bytes, 0, 0), "bytes: 0");
    REFUSED(cushim_host_device_address(cu, bytes, NULL), "device: NULL");
    REFUSED(cushim_pointer_describe(cu, 16, NULL), "pointer: NULL");
    REFUSED(cushim_array_create(cu, NULL, &array), "shape: NULL");
    REFUSED(cushim_array_create(cu, &shape, &array), "shape: Width: 0");
    shape.Width = SIZE_MAX / 2;
    shape.Height = 4;
    REFUSED(cushim_array_create(cu, &shape, &array), "Width 9223372036854775807 by Height 4");
    REFUSED(cushim_pool_create(cu, 99, 0, &pool), "device: 99");
    REFUSED(cushim_pool_create(cu, 0, 0, NULL), "pool: NULL");
    REFUSED(cushim_growing_create(cu, 0, 0, 0, &growing), "limit: 0");
    REFUSED(cushim_growing_create(cu, 0, 2, 1, &growing), "size: 2");
    REFUSED(cushim_growing_create(cu, 0, 0, SIZE_MAX, &growing), "limit: 18446744073709551615");
    REFUSED(cushim_growing_grow(cu, NULL, 1), "growing: NULL");
    CHECK(address == UNTOUCHED && host == bytes && pitch == UNTOUCHED && free_bytes == UNTOUCHED &&
          array == (CUarray)(void *)bytes && growing.limit == UNTOUCHED &&
          pool == (CUmemoryPool)(void *)bytes);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

static void past_and_freed(void)
{
    CUcontext here = make();
    CUdeviceptr memory = 0;
    void *host = NULL;
    OK(cushim_context_push(cu, here));
    OK(cushim_memory_alloc(cu, SIZE, &memory));
    OK(cushim_host_alloc(cu, SIZE, 0, &host));
    memset(host, 7, SIZE);
    memset(bytes, 8, sizeof bytes);
    REFUSED(cushim_copy_to_device(cu, memory, bytes, SIZE + 1), "dst: 4097 bytes", "by 1");
    REFUSED(cushim_copy_to_host(cu, bytes, memory + SIZE - 1, 2), "src: 2 bytes", "by 1");
    /* Not in any allocation that cushim knows: the driver's refusal, with the values. */
    REFUSED(cushim_copy_to_host(cu, bytes, memory + SIZE, 3), "cuMemcpyDtoH_v2: ", "bytes: 3");
    REFUSED(cushim_fill_8(cu, 16, 0, 5), "cuMemsetD8_v2: ", "dst: 0x10", "5 elements");
    REFUSED(cushim_memory_free(cu, 16), "cuMemFree_v2: ", "address: 0x10");
    REFUSED(cushim_host_free(cu, bytes), "cuMemFreeHost: ", "address: ");
    REFUSED(cushim_copy_to_host_async(cu, host, memory, SIZE + 2, NULL), "dst: 4098 bytes");
    REFUSED(cushim_copy_on_device(cu, memory + 8, memory, SIZE), "dst: 4096 bytes");
    REFUSED(cushim_copy(cu, memory, (uintptr_t)host, SIZE_MAX), "dst: 18446744073709551615 bytes");
    REFUSED(cushim_copy_to_device(cu, 0, bytes, 1), "dst: 0");
    REFUSED(cushim_copy_to_host(cu, NULL, memory, 1), "dst: 0");
    REFUSED(cushim_fill_8(cu, memory, 0, SIZE + 1), "dst: 4097 bytes");
    REFUSED(cushim_fill_32_async(cu, memory, 0, SIZE_MAX / 2, NULL), "count: 9223372036854775807");
    REFUSED(cushim_fill_2d_16(cu, memory, 63, 0, 16, 2), "pitch: 63");
    REFUSED(cushim_copy_2d(cu, NULL), "copy: NULL");
    REFUSED(cushim_memory_free(cu, memory + 8), "address: ", "8 bytes into");
    REFUSED(cushim_memory_free(cu, (uintptr_t)host), "address: ", "is for cushim_host_free");
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == 8 && ((unsigned char *)host)[i % SIZE] == 7);
    OK(cushim_memory_free(cu, memory));
    OK(cushim_host_free(cu, host));
    REFUSED(cushim_memory_free(cu, memory), "address: ", "freed already");
    REFUSED(cushim_memory_free_async(cu, memory, NULL), "address: ", "freed already");
    REFUSED(cushim_copy_to_device(cu, memory, bytes, 1), "dst: ", "freed already");
    REFUSED(cushim_copy_to_host(cu, bytes, memory, 1), "src: ", "freed already");
    REFUSED(cushim_fill_16(cu, memory, 0, 1), "dst: ", "freed already");
    REFUSED(cushim_host_free(cu, host), "address: ", "freed already");
    CHECK(cushim_memory_live(cu, NULL) == 0);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

/* ---- streams ---- */

static void streams(void)
{
    CUcontext here = make();
    CUstream stream = (CUstream)(void *)bytes;
    CUevent event = (CUevent)(void *)bytes;
    CUgraph graph = (CUgraph)(void *)bytes;
    CUgraphExec exec = (CUgraphExec)(void *)bytes;
    bool done = true;
    float time = UNTOUCHED;
    OK(cushim_context_push(cu, here));
    REFUSED(cushim_stream_create(cu, 0, 0, NULL), "stream: NULL");
    REFUSED(cushim_stream_create(cu, 8, 0, &stream), "flags: 0x8");
    REFUSED(cushim_stream_create(cu, 0, 1000, &stream), "priority: 1000");
    REFUSED(cushim_stream_destroy(cu, CU_STREAM_LEGACY), "stream: CU_STREAM_LEGACY");
    REFUSED(cushim_stream_query(cu, NULL, NULL), "done: NULL");
    REFUSED(cushim_stream_wait(cu, NULL, NULL), "event: NULL");
    REFUSED(cushim_stream_callback(cu, NULL, NULL, NULL), "function: NULL");
    REFUSED(cushim_event_create(cu, 0, NULL), "event: NULL");
    REFUSED(cushim_event_create(cu, 0x100, &event), "flags: 0x100");
    REFUSED(cushim_event_record(cu, NULL, NULL), "event: NULL");
    REFUSED(cushim_event_synchronize(cu, NULL), "event: NULL");
    REFUSED(cushim_event_query(cu, NULL, &done), "event: NULL");
    REFUSED(cushim_event_elapsed(cu, NULL, NULL, &time), "start: NULL");
    REFUSED(cushim_capture_begin(cu, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), "stream: NULL");
    REFUSED(cushim_capture_begin(cu, NULL, (CUstreamCaptureMode)9), "mode: 9");
    REFUSED(cushim_capture_end(cu, NULL, NULL), "graph: NULL");
    REFUSED(cushim_graph_instantiate(cu, NULL, 0, &exec), "graph: NULL");
    REFUSED(cushim_graph_launch(cu, NULL, NULL), "exec: NULL");
    CHECK(stream == (CUstream)(void *)bytes && event == (CUevent)(void *)bytes &&
          graph == (CUgraph)(void *)bytes && exec == (CUgraphExec)(void *)bytes && done &&
          time == UNTOUCHED);
    OK(cushim_context_pop(cu, NULL));
    OK(cushim_context_destroy(cu, here));
}

/* ---- after the context is gone ---- */

static void use_memory_and_streams(void)
{
    CUdeviceptr address = UNTOUCHED;
    void *host = bytes;
    size_t free_bytes = UNTOUCHED;
    CUstream stream = (CUstream)(void *)bytes;
    CUevent event = (CUevent)(void *)bytes;
    REFUSED(cushim_memory_alloc(cu, 64, &address), "cuMemAlloc_v2: ", "bytes: 64");
    REFUSED(cushim_memory_alloc_managed(cu, 64, 0, &address), "64");
    REFUSED(cushim_memory_alloc_async(cu, 64, NULL, NULL, &address), "");
    REFUSED(cushim_host_alloc(cu, 64, 0, &host), "cuMemHostAlloc: ");
    REFUSED(cushim_memory_info(cu, &free_bytes, NULL), "cuMemGetInfo_v2: ");
    REFUSED(cushim_stream_create(cu, 0, 0, &stream), "cuStreamCreate: ");
    REFUSED(cushim_event_create(cu, 0, &event), "cuEventCreate: ");
    REFUSED(cushim_stream_synchronize(cu, NULL), "cuStreamSynchronize: ");
    REFUSED(cushim_context_synchronize(cu, NULL), "");
    CHECK(address == UNTOUCHED && host == bytes && free_bytes == UNTOUCHED &&
          stream == (CUstream)(void *)bytes && event == (CUevent)(void *)bytes);
}

/* Current when it was destroyed: none is, then. */
static void after_destroy(void)
{
    CUcontext context = make();
    OK(cushim_context_push(cu, context));
    OK(cushim_context_synchronize(cu, NULL));
    OK(cushim_context_pop(cu, NULL));
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
    OK(cushim_context_push(cu, context));
    CHECK(!pthread_create(&thread, NULL, destroy_on_thread, context));
    CHECK(!pthread_join(thread, NULL));
    use_memory_and_streams();
    OK(cushim_context_pop(cu, NULL));
}

/* ---- in a forked child ---- */

static CUcontext parents;
static CUdeviceptr parents_memory;

static void child(void)
{
    CUcontext context = NOT_A_CONTEXT;
    CUdeviceptr address = UNTOUCHED;
    CUstream stream = (CUstream)(void *)bytes;
    int count = UNTOUCHED;
    REFUSED_IN_CHILD(cushim_device_list(cu, NULL, 0, &count), "fork");
    REFUSED_IN_CHILD(cushim_primary_retain(cu, 0, &context), "fork");
    REFUSED_IN_CHILD(cushim_primary_release(cu, 0), "fork");
    REFUSED_IN_CHILD(cushim_context_create(cu, 0, NULL, &context), "fork");
    REFUSED_IN_CHILD(cushim_context_current(cu, &context), "fork");
    REFUSED_IN_CHILD(cushim_context_push(cu, parents), "fork");
    REFUSED_IN_CHILD(cushim_context_pop(cu, &context), "fork");
    REFUSED_IN_CHILD(cushim_context_synchronize(cu, NULL), "fork");
    REFUSED_IN_CHILD(cushim_memory_alloc(cu, 64, &address), "cuMemAlloc_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_memory_free(cu, parents_memory), "cuMemFree_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_copy_to_device(cu, parents_memory, bytes, 4),
                     "cuMemcpyHtoD_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_fill_8(cu, parents_memory, 1, 4), "cuMemsetD8_v2: ", "fork");
    REFUSED_IN_CHILD(cushim_stream_create(cu, 0, 0, &stream), "cuStreamCreate: ", "fork");
    CHECK(context == NOT_A_CONTEXT && address == UNTOUCHED && count == UNTOUCHED &&
          stream == (CUstream)(void *)bytes);
}

static void forked(void)
{
    parents = make();
    OK(cushim_context_push(cu, parents));
    OK(cushim_memory_alloc(cu, SIZE, &parents_memory));
    refuse_in_child(child);
    OK(cushim_copy_to_device(cu, parents_memory, bytes, SIZE)); /* the parent goes on */
    OK(cushim_memory_free(cu, parents_memory));
    OK(cushim_context_pop(cu, NULL));
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
        {"past the end, and freed", past_and_freed},
        {"streams and events", streams},
        {"after the context was destroyed", after_destroy},
        {"destroyed by another thread", destroyed_elsewhere},
        {"in a forked child", forked},
    };
    return refuse_all(parts, sizeof parts / sizeof *parts);
}
