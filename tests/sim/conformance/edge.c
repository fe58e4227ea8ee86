/* SPDX-License-Identifier: MIT */
/* What simulator and devices were once said to disagree on: objects behind queued work, twice
 * destroyed, old code, odd images. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "conform.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static const char fetches[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".const .align 4 .u32 hidden = 5;\n.global .align 4 .u32 counter;\n"
    ".visible .entry fetch(.param .u64 p, .param .u64 o)\n{\n"
    " .reg .u64 t, a;\n .reg .u32 v<4>;\n .reg .f32 x;\n ld.param.u64 t, [o];\n"
    " ld.param.u64 a, [p];\n mov.f32 x, 0f40200000;\n"
    " tex.1d.v4.u32.f32 {v0, v1, v2, v3}, [t, {x}];\n st.global.u32 [a], v0;\n ret;\n}\n"
    ".visible .entry draw(.param .u64 p, .param .u64 o)\n{\n"
    " .reg .u64 s, a;\n .reg .u32 v;\n ld.param.u64 s, [o];\n ld.param.u64 a, [p];\n"
    " suld.b.1d.b32.trap {v}, [s, {8}];\n st.global.u32 [a], v;\n ret;\n}\n";

static CUmodule loaded(void)
{
    CUmodule module = NULL;
    MUST(cu->cuModuleLoadData(&module, fetches));
    return module;
}

static CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    MUST(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static CUDA_RESOURCE_DESC texels(void)
{
    static const uint32_t values[4] = {1, 2, 9, 4};
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    MUST(cu->cuArray3DCreate(&resource.res.array.hArray, &shape));
    MUST(cu->cuMemcpyHtoA(resource.res.array.hArray, 0, values, sizeof values));
    return resource;
}

/* Destroyed while the launch that reads it waits. */
static void behind_launch(bool surface)
{
    CUDA_RESOURCE_DESC resource = texels();
    CUDA_TEXTURE_DESC texture;
    CUtexObject object = 0;
    CUstream stream = conform_stream();
    CUdeviceptr memory = conform_memory(4);
    CUmodule module = loaded();
    struct gate gate;
    void *values[] = {&memory, &object};
    memset(&texture, 0, sizeof texture);
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    texture.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
    if (surface)
        MUST(cu->cuSurfObjectCreate(&object, &resource));
    else
        MUST(cu->cuTexObjectCreate(&object, &resource, &texture, NULL));
    CUfunction function = kernel(module, surface ? "draw" : "fetch");
    MUST(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, values, NULL));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("texel=%u", conform_read(memory));
    MUST(cu->cuMemsetD32(memory, 0, 1));
    MUST(cu->cuCtxSynchronize());
    gate_close(&gate, stream);
    MUST(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, values, NULL));
    if (surface)
        CALL(cu->cuSurfObjectDestroy(object));
    else
        CALL(cu->cuTexObjectDestroy(object));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("texel=%u", conform_read(memory));
}

static void texture_behind_launch(void)
{
    behind_launch(false);
}

static void surface_behind_launch(void)
{
    behind_launch(true);
}

static void texture_twice(void)
{
    CUDA_RESOURCE_DESC resource = texels();
    CUDA_TEXTURE_DESC texture, told;
    CUtexObject object = 0;
    memset(&texture, 0, sizeof texture);
    MUST(cu->cuTexObjectCreate(&object, &resource, &texture, NULL));
    CALL(cu->cuTexObjectDestroy(object));
    CALL(cu->cuTexObjectDestroy(object));
    CALL(cu->cuTexObjectGetTextureDesc(&told, object));
    CALL(cu->cuTexObjectDestroy(0));
    CALL(cu->cuTexObjectDestroy(0x123456789));
}

static void surface_twice(void)
{
    CUDA_RESOURCE_DESC resource = texels(), told;
    CUsurfObject object = 0;
    MUST(cu->cuSurfObjectCreate(&object, &resource));
    CALL(cu->cuSurfObjectDestroy(object));
    CALL(cu->cuSurfObjectDestroy(object));
    CALL(cu->cuSurfObjectGetResourceDesc(&told, object));
    CALL(cu->cuTexObjectDestroy(object));
}

static void texture_reference(void)
{
    static const char bound[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                ".visible .global .texref bound;\n";
    CUmodule module = NULL;
    CUtexref reference = NULL;
    MUST(cu->cuModuleLoadData(&module, bound));
    MUST(cu->cuModuleGetTexRef(&reference, module, "bound"));
    CALL(cu->cuTexRefSetArray(reference, NULL, CU_TRSA_OVERRIDE_FORMAT));
}

static void graph_in_capture(void)
{
    CUstream stream = conform_stream();
    CUgraph graph = NULL, captured = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node;
    size_t count = 99;
    MUST(cu->cuGraphCreate(&graph, 0));
    MUST(cu->cuGraphAddEmptyNode(&node, graph, NULL, 0));
    MUST(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuStreamEndCapture(stream, &captured));
    if (captured)
        MUST(cu->cuGraphGetNodes(captured, NULL, &count));
    VALUE("nodes=%zu", count);
}

static void *end_elsewhere(void *stream)
{
    CUgraph graph;
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    return NULL;
}

static void capture_ended_elsewhere(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr memory = 0;
    CUgraph graph = NULL;
    pthread_t thread;
    MUST(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (pthread_create(&thread, NULL, end_elsewhere, stream) == 0)
        pthread_join(thread, NULL);
    CALL(cu->cuMemAlloc(&memory, 64));
    CALL(cu->cuStreamEndCapture(stream, &graph));
}

static CUgraphNode host_node(CUgraph graph, const CUgraphNode *after)
{
    static struct gate gate = {1, 0};
    CUDA_HOST_NODE_PARAMS params = {gate_wait, &gate};
    CUgraphNode node = NULL;
    MUST(cu->cuGraphAddHostNode(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

static CUgraphNode fill_node(CUgraph graph, CUdeviceptr memory, const CUgraphNode *after)
{
    CUDA_MEMSET_NODE_PARAMS params = {.dst = memory, .elementSize = 4, .width = 1, .height = 1};
    CUgraphNode node = NULL;
    MUST(cu->cuGraphAddMemsetNode(&node, graph, after, after ? 1 : 0, &params, ctx));
    return node;
}

static CUgraph graph_of(void)
{
    CUgraph graph = NULL;
    MUST(cu->cuGraphCreate(&graph, 0));
    return graph;
}

/* A fill and a host function after it; then two host functions, after one another and not. */
static void update_type(void)
{
    CUdeviceptr memory = conform_memory(64);
    CUgraph first = graph_of(), chain = graph_of(), apart = graph_of(), more = graph_of();
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node = fill_node(first, memory, NULL);
    host_node(first, &node);
    node = host_node(chain, NULL);
    host_node(chain, &node);
    host_node(apart, NULL);
    host_node(apart, NULL);
    node = fill_node(more, memory, NULL);
    node = host_node(more, &node);
    host_node(more, &node);
    MUST(cu->cuGraphInstantiateWithFlags(&exec, first, 0));
    CALL(cu->cuGraphExecUpdate(exec, chain, &info));
    VALUE("result=%d", (int)info.result);
    CALL(cu->cuGraphExecUpdate(exec, apart, &info));
    VALUE("result=%d", (int)info.result);
    CALL(cu->cuGraphExecUpdate(exec, more, &info));
    VALUE("result=%d", (int)info.result);
}

static void child_of_another_shape(void)
{
    CUgraph inner = graph_of(), outer = graph_of();
    CUgraphExec exec = NULL;
    CUgraphNode child;
    host_node(inner, NULL);
    MUST(cu->cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    MUST(cu->cuGraphInstantiateWithFlags(&exec, outer, 0));
    CALL(cu->cuGraphExecChildGraphNodeSetParams(exec, child, inner));
    host_node(inner, NULL);
    CALL(cu->cuGraphExecChildGraphNodeSetParams(exec, child, inner));
}

static void CUDA_CB count_end(void *counter)
{
    ++*(atomic_int *)counter;
}

static void user_object_gone(void)
{
    static atomic_int ended;
    CUuserObject object = NULL;
    MUST(cu->cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CALL(cu->cuUserObjectRelease(object, 2));
    CALL(cu->cuUserObjectRelease(object, 1));
    CALL(cu->cuUserObjectRelease(object, 1));
    CALL(cu->cuUserObjectRetain(object, 1));
}

/* An ELF file of machine code that holds nothing. */
static void empty_cubin(void)
{
    CUmodule module = NULL;
    Elf64_Ehdr *cubin = calloc(1, 8192);
    memcpy(cubin->e_ident, ELFMAG, SELFMAG);
    cubin->e_ident[EI_CLASS] = ELFCLASS64;
    cubin->e_ident[EI_DATA] = ELFDATA2LSB;
    cubin->e_machine = 190;
    cubin->e_shnum = 1;
    CALL(cu->cuModuleLoadData(&module, cubin));
    cubin->e_machine = EM_X86_64;
    CALL(cu->cuModuleLoadData(&module, cubin));
    free(cubin);
}

static void register_rights(void)
{
    char *room = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CALL(cu->cuMemHostRegister(room, (size_t)1 << 46, 0));
    CALL(cu->cuMemHostRegister((void *)(uintptr_t)4096, 4096, 0));
    mprotect(room + 8192, 4096, PROT_NONE);
    CALL(cu->cuMemHostRegister(room, 65536, 0));
    mprotect(room + 8192, 4096, PROT_READ);
    CALL(cu->cuMemHostRegister(room, 65536, 0));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostRegister(room, 65536, CU_MEMHOSTREGISTER_READ_ONLY));
    munmap(room + 4096, 4096);
    CALL(cu->cuMemHostRegister(room + 8192, 65536, 0));
}

static void batch_with_a_wrong_copy(void)
{
    CUdeviceptr a = conform_memory(4096), b = conform_memory(4096), to[3], from[3];
    size_t sizes[3] = {100, 100, (size_t)1 << 40}, first = 0;
    CUstream stream = conform_stream();
    CUmemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    MUST(cu->cuMemsetD8Async(a, 7, 4096, stream));
    MUST(cu->cuMemsetD8Async(b, 0, 4096, stream));
    for (size_t i = 0; i < 3; i++) {
        to[i] = b + 1024 * i;
        from[i] = a + 1024 * i;
    }
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 3, &attributes, &first, 1, stream));
    CALL(cu->cuStreamSynchronize(stream));
}

static void static_variables(void)
{
    CUmodule module = loaded();
    CUdeviceptr address = 0;
    size_t size = 0;
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "hidden"));
    VALUE("size=%zu", size);
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "counter"));
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "nothing"));
}

#define OLD_BODY " {\n.reg .u32 r;\nmov.u32 r, 1;\nexit;\n}\n"
static void old_text(void)
{
    static const char *const texts[] = {
        ".version 1.4\n.target sm_10\n.entry k" OLD_BODY,
        ".version 1.0\n.target sm_10\n.entry k" OLD_BODY,
        ".version 1.4\n.target sm_12, map_f64_to_f32\n.entry k" OLD_BODY,
        ".version 1.4\n.target sm_13, map_f64_to_f32\n.entry k" OLD_BODY,
        ".version 1.0\n.target sm_13\n.entry k" OLD_BODY,
        ".version 2.0\n.target sm_20\n.entry k" OLD_BODY,
        ".version 1.4\n.target sm_20\n.entry k" OLD_BODY,
        ".version 2.2\n.target sm_20\n.address_size 64\n.entry k" OLD_BODY,
        ".version 2.3\n.target sm_10\n.address_size 64\n.entry k" OLD_BODY,
        ".version 1.4\n.target sm_10\n.visible .entry k" OLD_BODY,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CUmodule module = NULL;
        EACH(cu->cuModuleLoadData(&module, texts[i]), "old text %zu", i);
    }
}

static void targets_with_letters(void)
{
    static char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                         ".visible .entry k()\n{\n ret;\n}\n";
    static const uintptr_t targets[] = {0,       90,  0x1005a, 0x2005a, 80,
                                        0x10050, 100, 0x3005a, 0x4005a};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        CUjit_option option = CU_JIT_TARGET;
        void *value = (void *)targets[i];
        CUmodule module = NULL;
        EACH(cu->cuModuleLoadDataEx(&module, text, 1, &option, &value), "target %zx",
             (size_t)targets[i]);
    }
}

static void widened_load(void)
{
    static const char text[] =
        ".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        " .reg .b64 d;\n .reg .f32 f<5>;\n ld.param.u64 d, [p];\n"
        " .pragma \"used_bytes_mask 3855\";\n ld.global.v4.f32 {f1, f2, f3, f4}, [d+16];\n"
        " add.f32 f1, f1, f3;\n st.global.f32 [d], f1;\n ret;\n}\n";
    CUmodule module = NULL;
    CUdeviceptr memory = conform_memory(28);
    CUfunction function = NULL;
    void *values[] = {&memory};
    MUST(cu->cuModuleLoadData(&module, text));
    MUST(cu->cuModuleGetFunction(&function, module, "k"));
    MUST(cu->cuMemsetD32(memory, 0x40000000, 7));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("sum=%x", conform_read(memory));
}

static void fill_sizes(void)
{
    CUdeviceptr memory = conform_memory(4096);
    CALL(cu->cuMemsetD32(memory, 1, (size_t)1 << 62));
    CALL(cu->cuMemsetD16(memory, 1, (size_t)1 << 63));
    CALL(cu->cuCtxSynchronize());
}

static void pools_elsewhere(void)
{
    static const struct {
        CUmemAllocationType type;
        CUmemLocationType place;
        CUmemAllocationHandleType handles;
    } kinds[] = {
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE},
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST, CU_MEM_HANDLE_TYPE_NONE},
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST,
         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_HANDLE_TYPE_NONE},
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
         CU_MEM_HANDLE_TYPE_NONE},
        {CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUmemPoolProps properties;
        CUmemoryPool pool = NULL;
        memset(&properties, 0, sizeof properties);
        properties.allocType = kinds[i].type;
        properties.location.type = kinds[i].place;
        properties.handleTypes = kinds[i].handles;
        EACH(cu->cuMemPoolCreate(&pool, &properties), "pool %zu", i);
    }
}

static const struct sequence sequences[] = {
    S(texture_behind_launch, PRIMARY),
    S(surface_behind_launch, PRIMARY),
    S(texture_twice, PRIMARY),
    S(surface_twice, PRIMARY),
    S(texture_reference, PRIMARY),
    S(graph_in_capture, PRIMARY),
    S(capture_ended_elsewhere, PRIMARY),
    S(update_type, PRIMARY),
    S(child_of_another_shape, PRIMARY),
    S(user_object_gone, PRIMARY),
    S(empty_cubin, PRIMARY),
    S(register_rights, PRIMARY),
    S(batch_with_a_wrong_copy, PRIMARY),
    S(static_variables, PRIMARY),
    S(old_text, PRIMARY),
    S(targets_with_letters, PRIMARY),
    S(widened_load, PRIMARY),
    S(fill_sizes, PRIMARY),
    S(pools_elsewhere, PRIMARY),
    {NULL, NULL, BARE},
};

const struct family edge_family = {"edge", sequences};
