/* SPDX-License-Identifier: MIT */
/* What is destroyed while queued work or another thread still uses it: the work is done as on a
 * device, and nothing crashes. */
#include "memory_test.h"

#include <pthread.h>
#include <time.h>

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 state = 7;\n"
    /* Counts in *p, n times. */
    ".visible .entry busy(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .u64 a;\n .reg .u32 i, m;\n .reg .pred q;\n"
    " ld.param.u64 a, [p];\n ld.param.u32 m, [n];\n mov.u32 i, 0;\n"
    "L: st.global.u32 [a], i;\n add.u32 i, i, 1;\n setp.le.u32 q, i, m;\n @q bra L;\n ret;\n}\n"
    /* *p = state */
    ".visible .entry copy(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v;\n"
    " ld.param.u64 a, [p];\n ld.global.u32 v, [state];\n st.global.u32 [a], v;\n ret;\n}\n"
    /* *p = texel 2 of o */
    ".visible .entry fetch(.param .u64 p, .param .u64 o)\n{\n"
    " .reg .u64 t, a;\n .reg .u32 v<4>;\n .reg .f32 x;\n"
    " ld.param.u64 t, [o];\n ld.param.u64 a, [p];\n"
    " mov.f32 x, 0f40200000;\n tex.1d.v4.u32.f32 {v0, v1, v2, v3}, [t, {x}];\n st.global.u32 [a], "
    "v0;\n ret;\n}\n"
    /* *p = texel 2 of what is bound */
    ".visible .global .texref bound;\n"
    ".visible .entry read(.param .u64 p)\n{\n"
    " .reg .u64 a;\n .reg .u32 v<4>;\n .reg .f32 x;\n"
    " ld.param.u64 a, [p];\n mov.f32 x, 0f40200000;\n"
    " tex.1d.v4.u32.f32 {v0, v1, v2, v3}, [bound, {x}];\n st.global.u32 [a], v0;\n ret;\n}\n"
    /* The same of a surface. */
    ".visible .entry draw(.param .u64 p, .param .u64 o)\n{\n"
    " .reg .u64 s, a;\n .reg .u32 v;\n"
    " ld.param.u64 s, [o];\n ld.param.u64 a, [p];\n"
    " suld.b.1d.b32.trap {v}, [s, {8}];\n st.global.u32 [a], v;\n ret;\n}\n";

static void sleep_ms(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static CUfunction kernel_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    OK(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static void launch(CUfunction function, CUstream stream, void **values)
{
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, values, NULL));
}

static void *open_later(void *gate)
{
    sleep_ms(50);
    memory_gate_open(gate);
    return NULL;
}

/* --- Objects behind queued work --- */

struct scene { /* a stream that runs nothing yet, and what its work will use */
    CUmodule module;
    CUstream stream;
    struct memory_gate gate;
    CUdeviceptr answer;
    CUarray array;
    CUtexObject texture;
    CUsurfObject surface;
};

static void scene_array(struct scene *scene)
{
    static const uint32_t texels[4] = {1, 2, 9, 4};
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    OK(cu->cuArray3DCreate_v2(&scene->array, &shape));
    OK(cu->cuMemcpyHtoA_v2(scene->array, 0, texels, sizeof texels));
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = scene->array;
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    OK(cu->cuTexObjectCreate(&scene->texture, &resource, &texture, NULL));
    OK(cu->cuSurfObjectCreate(&scene->surface, &resource));
}

static void scene_open(struct scene *scene)
{
    OK(cu->cuModuleLoadData(&scene->module, text));
    scene->answer = memory_of(4);
    OK(cu->cuMemsetD32_v2(scene->answer, 0, 1));
    scene_array(scene);
    OK(cu->cuStreamCreate(&scene->stream, CU_STREAM_NON_BLOCKING));
    memory_gate_close(&scene->gate, scene->stream);
}

static void scene_expect(struct scene *scene, uint32_t expected)
{
    uint32_t answer = 0;
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemcpyDtoH_v2(&answer, scene->answer, sizeof answer));
    assert_int_equal(answer, expected);
}

static void scene_close(struct scene *scene)
{
    if (scene->texture)
        OK(cu->cuTexObjectDestroy(scene->texture));
    if (scene->surface)
        OK(cu->cuSurfObjectDestroy(scene->surface));
    if (scene->array)
        OK(cu->cuArrayDestroy(scene->array));
    if (scene->module)
        OK(cu->cuModuleUnload(scene->module));
    if (scene->stream)
        OK(cu->cuStreamDestroy_v2(scene->stream));
    OK(cu->cuMemFree_v2(scene->answer));
}

static void test_texture_object(void **state)
{
    struct scene scene;
    CUDA_TEXTURE_DESC texture;
    (void)state;
    scene_open(&scene);
    launch(kernel_of(scene.module, "fetch"), scene.stream,
           (void *[]){&scene.answer, &scene.texture});
    OK(cu->cuTexObjectDestroy(scene.texture));
    /* For calls it is gone. */
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuTexObjectGetTextureDesc(&texture, scene.texture));
    scene.texture = 0;
    memory_gate_open(&scene.gate);
    scene_expect(&scene, 9);
    scene_close(&scene);
}

static void test_surface_object(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    launch(kernel_of(scene.module, "draw"), scene.stream,
           (void *[]){&scene.answer, &scene.surface});
    OK(cu->cuSurfObjectDestroy(scene.surface));
    scene.surface = 0;
    memory_gate_open(&scene.gate);
    scene_expect(&scene, 9);
    scene_close(&scene);
}

/* Four texels, the third of which is `value`. */
static CUarray bind_array(CUtexref reference, uint32_t value)
{
    uint32_t texels[4] = {1, 2, value, 4};
    CUDA_ARRAY_DESCRIPTOR shape = {4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUarray array = NULL;
    OK(cu->cuArrayCreate_v2(&array, &shape));
    OK(cu->cuMemcpyHtoA_v2(array, 0, texels, sizeof texels));
    OK(cu->cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    OK(cu->cuTexRefSetFlags(reference, CU_TRSF_READ_AS_INTEGER));
    return array;
}

/* A launch sees what was bound when it was asked for. */
static void test_reference_rebound(void **state)
{
    struct scene scene;
    CUtexref reference = NULL;
    CUarray arrays[3];
    CUdeviceptr second = memory_of(4);
    uint32_t value = 0;
    (void)state;
    scene_open(&scene);
    OK(cu->cuModuleGetTexRef(&reference, scene.module, "bound"));
    arrays[0] = bind_array(reference, 7);
    launch(kernel_of(scene.module, "read"), scene.stream, (void *[]){&scene.answer});
    arrays[1] = bind_array(reference, 8);
    launch(kernel_of(scene.module, "read"), scene.stream, (void *[]){&second});
    arrays[2] = bind_array(reference, 6);
    memory_gate_open(&scene.gate);
    scene_expect(&scene, 7);
    OK(cu->cuMemcpyDtoH_v2(&value, second, sizeof value));
    assert_int_equal(value, 8);
    launch(kernel_of(scene.module, "read"), scene.stream, (void *[]){&scene.answer});
    scene_expect(&scene, 6);
    for (int i = 0; i < 3; i++)
        OK(cu->cuArrayDestroy(arrays[i]));
    OK(cu->cuMemFree_v2(second));
    scene_close(&scene);
}

/* Calls that wait for the work, which another thread lets run. */
static void test_waiting_ends(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        struct scene scene;
        pthread_t opener;
        uint32_t *host = NULL;
        CUdeviceptr more = memory_of(4);
        OK(cu->cuMemHostAlloc((void **)&host, 4, 0));
        CUdeviceptr target = (CUdeviceptr)(uintptr_t)host;
        *host = 0;
        scene_open(&scene);
        if (what == 0) /* the array under a texture */
            launch(kernel_of(scene.module, "fetch"), scene.stream,
                   (void *[]){&target, &scene.texture});
        else /* the module, and memory that it writes */
            launch(kernel_of(scene.module, "copy"), scene.stream,
                   (void *[]){what == 1 ? &target : &more});
        OK(cu->cuMemcpyDtoHAsync_v2(host, what == 2 ? more : target, 4, scene.stream));
        assert_int_equal(pthread_create(&opener, NULL, open_later, &scene.gate), 0);
        if (what == 0) {
            OK(cu->cuArrayDestroy(scene.array));
            scene.array = NULL;
        } else if (what == 1) {
            OK(cu->cuModuleUnload(scene.module));
            scene.module = NULL;
        }
        OK(cu->cuMemFree_v2(more));
        pthread_join(opener, NULL);
        OK(cu->cuStreamSynchronize(scene.stream));
        assert_int_equal(*host, what == 0 ? 9 : 7);
        OK(cu->cuMemFreeHost(host));
        scene_close(&scene);
    }
}

/* An event, a stream and an executable graph: what they began goes on. */
static void test_not_waiting_ends(void **state)
{
    struct scene scene;
    CUstream other;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    (void)state;
    scene_open(&scene);
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(kernel_of(scene.module, "fetch"), other, (void *[]){&scene.answer, &scene.texture});
    OK(cu->cuStreamEndCapture(other, &graph));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuEventCreate(&event, 0));
    OK(cu->cuEventRecord(event, scene.stream));
    OK(cu->cuStreamWaitEvent(other, event, 0));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuGraphLaunch(exec, other));
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuTexObjectDestroy(scene.texture));
    OK(cu->cuStreamDestroy_v2(other));
    OK(cu->cuStreamDestroy_v2(scene.stream));
    scene.texture = 0;
    scene.stream = NULL;
    memory_gate_open(&scene.gate);
    scene_expect(&scene, 9);
    scene_close(&scene);
}

/* Memory that is freed under a kernel whose stream is destroyed: wrong, but never a crash. */
static void test_freed_under_kernel(void **state)
{
    CUmodule module;
    CUstream one, other;
    CUdeviceptr memory, more;
    uint32_t times = 3000000;
    (void)state;
    OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemAllocAsync(&memory, MIB, one));
    launch(kernel_of(module, "busy"), one, (void *[]){&memory, &times});
    sleep_ms(30); /* it runs, and has its address */
    OK(cu->cuStreamDestroy_v2(one));
    OK(cu->cuMemFreeAsync(memory, other));
    OK(cu->cuStreamSynchronize(other));
    OK(cu->cuMemAllocAsync(&more, 4096, other));
    OK(cu->cuMemFreeAsync(more, other));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuStreamDestroy_v2(other));
    OK(cu->cuModuleUnload(module));
}

/* --- Memory that goes while a kernel uses it --- */

struct writer { /* a kernel that counts in memory, for some time */
    CUmodule module;
    CUstream stream;
    CUevent end;
    uint32_t times;
};

/* The kernel of a fast machine gets more to do, until it is seen at work. */
static void writer_start(struct writer *writer, CUdeviceptr memory)
{
    CUresult result = CUDA_SUCCESS;
    OK(cu->cuModuleLoadData(&writer->module, text));
    OK(cu->cuStreamCreate(&writer->stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&writer->end, 0));
    for (writer->times = 500000; !result && writer->times < 1U << 30;) {
        writer->times *= 2;
        launch(kernel_of(writer->module, "busy"), writer->stream,
               (void *[]){&memory, &writer->times});
        OK(cu->cuEventRecord(writer->end, writer->stream));
        sleep_ms(20); /* it runs, and has its address */
        result = cu->cuEventQuery(writer->end);
    }
    assert_int_equal(result, CUDA_ERROR_NOT_READY);
}

static void writer_end(struct writer *writer)
{
    OK(cu->cuStreamSynchronize(writer->stream));
    OK(cu->cuEventDestroy_v2(writer->end));
    OK(cu->cuStreamDestroy_v2(writer->stream));
    OK(cu->cuModuleUnload(writer->module));
}

/* These calls wait for the kernel. */
static void test_freed_while_running(void **state)
{
    struct writer writer;
    CUdeviceptr device = memory_of(64);
    void *pinned = NULL;
    uint32_t *own = aligned_alloc(4096, 4096);
    (void)state;
    writer_start(&writer, device);
    OK(cu->cuMemFree_v2(device));
    OK(cu->cuEventQuery(writer.end));
    writer_end(&writer);

    OK(cu->cuMemHostAlloc(&pinned, 64, 0));
    writer_start(&writer, (CUdeviceptr)(uintptr_t)pinned);
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuEventQuery(writer.end));
    writer_end(&writer);

    OK(cu->cuMemHostRegister_v2(own, 4096, 0));
    writer_start(&writer, (CUdeviceptr)(uintptr_t)own);
    OK(cu->cuMemHostUnregister(own));
    OK(cu->cuEventQuery(writer.end));
    assert_int_equal(*own, writer.times);
    free(own);
    writer_end(&writer);
}

/* A mapping that goes, its memory and its addresses: the kernel ends as it can, and nothing
 * crashes. */
static void test_unmapped_while_running(void **state)
{
    struct writer writer;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr place = 0;
    (void)state;
    OK(cu->cuMemCreate(&handle, 2 * MIB, &prop, 0));
    OK(cu->cuMemAddressReserve(&place, 2 * MIB, 0, 0, 0));
    OK(cu->cuMemMap(place, 2 * MIB, 0, handle, 0));
    OK(cu->cuMemSetAccess(place, 2 * MIB, &access, 1));
    writer_start(&writer, place);
    OK(cu->cuMemUnmap(place, 2 * MIB));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemAddressFree(place, 2 * MIB));
    writer_end(&writer);
}

/* --- Two threads --- */

static void *unload(void *module)
{
    OK(cu->cuCtxSetCurrent(memory_context));
    return (void *)(intptr_t)cu->cuModuleUnload(module);
}

static void test_unloaded_twice(void **state)
{
    uint32_t times = 1000000;
    (void)state;
    for (int i = 0; i < 5; i++) {
        CUmodule module;
        CUdeviceptr memory = memory_of(4);
        pthread_t threads[2];
        void *codes[2];
        OK(cu->cuModuleLoadData(&module, text));
        launch(kernel_of(module, "busy"), NULL, (void *[]){&memory, &times});
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, unload, module), 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], &codes[t]);
        assert_true(!codes[0] || !codes[1]);
        OK(cu->cuMemFree_v2(memory));
    }
}

/* A module with a thousand kernels, for something to compile. */
static char *large_text(void)
{
    char *data = NULL;
    size_t size;
    FILE *file = open_memstream(&data, &size);
    assert_non_null(file);
    fputs(".version 6.0\n.target sm_50\n.address_size 64\n", file);
    for (int i = 0; i < 2000; i++)
        fprintf(file,
                ".visible .entry k%d(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v;\n"
                " ld.param.u64 a, [p];\n ld.global.u32 v, [a];\n add.u32 v, v, %d;\n"
                " st.global.u32 [a], v;\n ret;\n}\n",
                i, i);
    fclose(file);
    return data;
}

static CUcontext doomed;
static CUlinkState doomed_link;

static void *load_large(void *large)
{
    CUmodule module;
    OK(cu->cuCtxSetCurrent(doomed));
    return (void *)(intptr_t)cu->cuModuleLoadData(&module, large);
}

static void *link_large(void *large)
{
    void *cubin;
    size_t size;
    OK(cu->cuCtxSetCurrent(doomed));
    CUresult result = cu->cuLinkAddData_v2(doomed_link, CU_JIT_INPUT_PTX, large, strlen(large) + 1,
                                           "large", 0, NULL, NULL);
    (void)cu->cuLinkComplete(doomed_link, &cubin, &size);
    return (void *)(intptr_t)result;
}

/* A context that ends while another thread compiles for it. */
static void test_context_ends(void **state)
{
    char *large = large_text();
    (void)state;
    for (int i = 0; i < 6; i++) {
        pthread_t thread;
        CUcontext popped;
        OK(cu->cuCtxCreate_v2(&doomed, 0, 0));
        OK(cu->cuLinkCreate_v2(0, NULL, NULL, &doomed_link));
        OK(cu->cuCtxPopCurrent_v2(&popped));
        assert_int_equal(pthread_create(&thread, NULL, i % 2 ? link_large : load_large, large), 0);
        sleep_ms(2 + 2 * i);
        OK(cu->cuCtxDestroy_v2(doomed));
        pthread_join(thread, NULL);
    }
    free(large);
}

/* Threads that use one linker state at a time, and one that destroys it. */
static void test_link_ends(void **state)
{
    char *large = large_text();
    (void)state;
    for (int i = 0; i < 6; i++) {
        pthread_t threads[2];
        doomed = memory_context;
        OK(cu->cuLinkCreate_v2(0, NULL, NULL, &doomed_link));
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, link_large, large), 0);
        sleep_ms(2 + 5 * i);
        OK(cu->cuLinkDestroy(doomed_link));
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
    }
    free(large);
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_texture_object),
    MEMORY_TEST(test_surface_object),
    MEMORY_OWN(test_reference_rebound, "a real driver hangs"),
    MEMORY_OWN(test_waiting_ends, "a real driver hangs"),
    MEMORY_TEST(test_not_waiting_ends),
    MEMORY_OWN(test_freed_under_kernel, "a device may fault"),
    MEMORY_OWN(test_freed_while_running, "it waits by counting"),
    MEMORY_OWN(test_unmapped_while_running, "a device may fault"),
    MEMORY_OWN(test_unloaded_twice, "a real driver hangs"),
    MEMORY_OWN(test_context_ends, "driver 580 crashes at the end of the process"),
    MEMORY_OWN(test_link_ends, "a real driver hangs"),
};
MEMORY_MAIN("lifetimes", tests)
