/* SPDX-License-Identifier: MIT */
/* Kernels with malloc and free of their own: their heap lives as long as its context, and is of no
 * use to the host. */
#include "memory_test.h"

static const char plain[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                            ".visible .entry nothing() {\nret;\n}\n";

static const char *program, *library;
static CUcontext context;
static CUmodule module;

static void open_context(void)
{
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    OK(cu->cuModuleLoad(&module, TEST_FOLDER "/heap.ptx"));
}

static void close_context(void)
{
    OK(cu->cuCtxDestroy_v2(context));
}

static void launch(const char *name, unsigned blocks, unsigned threads, uint64_t a, uint64_t b)
{
    void *params[] = {&a, &b};
    CUfunction function;
    OK(cu->cuModuleGetFunction(&function, module, name));
    OK(cu->cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
}

static void run(const char *name, unsigned blocks, unsigned threads, uint64_t a, uint64_t b)
{
    launch(name, blocks, threads, a, b);
    OK(cu->cuCtxSynchronize());
}

static uint64_t word_at(CUdeviceptr address)
{
    uint64_t word;
    OK(cu->cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

static CUdeviceptr zeros(size_t size)
{
    CUdeviceptr address = memory_of(size);
    OK(cu->cuMemsetD8_v2(address, 0, size));
    return address;
}

static void test_list(void **state)
{
    (void)state;
    open_context();
    CUdeviceptr head = zeros(8), out = zeros(16);
    run("build", 20, 128, head, 0);
    assert_true(word_at(head) != 0);
    run("build", 20, 128, head, 0);
    run("walk", 1, 1, head, out);
    assert_int_equal(word_at(out), 2 * (uint64_t)2560 * 2559 / 2);
    assert_int_equal(word_at(out + 8), 5120);
    assert_int_equal(word_at(head), 0);
    close_context();
}

static void test_objects(void **state)
{
    enum { COUNT = 1536 };
    static unsigned areas[COUNT];
    (void)state;
    open_context();
    CUdeviceptr out = zeros(sizeof areas), wrong = zeros(8);
    run("shapes", COUNT / 128, 128, out, 0);
    OK(cu->cuMemcpyDtoH_v2(areas, out, sizeof areas));
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(areas[i], i % 3 ? i * i : i * (i + 1) / 2);
    run("over_aligned", 8, 64, wrong, 0);
    assert_int_equal(word_at(wrong), 0);
    close_context();
}

static unsigned blocks_there(size_t size, unsigned threads)
{
    CUdeviceptr out = zeros(8);
    run("take_all", threads > 128 ? threads / 128 : 1, threads > 128 ? 128 : threads, size, out);
    unsigned count = (unsigned)word_at(out);
    OK(cu->cuMemFree_v2(out));
    return count;
}

static size_t heap_limit(void)
{
    size_t value = 0;
    OK(cu->cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    return value;
}

/* Exhausting it is no error, and all that was given back is there again. */
static void test_limit(void **state)
{
    (void)state;
    open_context();
    size_t before = memory_free_bytes();
    assert_int_equal(heap_limit(), 8 * MIB);
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 * MIB));
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 8 * MIB));
    assert_int_equal(memory_free_bytes(), before);
    assert_in_range(blocks_there(8000, 1), 1000, 8 * MIB / 8000);
    assert_in_range(blocks_there(8000, 1), 1000, 8 * MIB / 8000);
    assert_int_equal(memory_free_bytes(), before - 8 * MIB);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 * MIB));
    assert_int_equal(heap_limit(), 8 * MIB);
    close_context();
    open_context();
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 * MIB));
    assert_in_range(blocks_there(8000, 1), 4000, 32 * MIB / 8000);
    close_context();
    open_context(); /* more than the device has */
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 2 * DEVICE_MEMORY));
    CUdeviceptr out = zeros(8);
    size_t size = 64;
    void *params[] = {&size, &out};
    CUfunction function;
    OK(cu->cuModuleGetFunction(&function, module, "take_all"));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY,
          cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 8 * MIB));
    assert_in_range(blocks_there(8000, 1), 1000, 8 * MIB / 8000);
    close_context();
}

static void test_many_threads(void **state)
{
    (void)state;
    open_context();
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(blocks_there(2000, 2048), 4000, 2048 * 4194);
    /* An eighth of the heap, 512 of the blocks before, rests wherever the threads' order left it.
     * Each may cost one large block. */
    assert_in_range(blocks_there(8000, 1), 8 * MIB / 8000 - 512, 8 * MIB / 8000);
    close_context();
}

/* Neither modules without malloc nor blocks that nobody touched take memory. */
static void test_footprint(void **state)
{
    CUfunction function;
    (void)state;
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    OK(cu->cuModuleLoadData(&module, plain));
    OK(cu->cuModuleGetFunction(&function, module, "nothing"));
    size_t before = memory_free_bytes();
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu->cuCtxSynchronize());
    assert_int_equal(memory_free_bytes(), before);
    OK(cu->cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 128 * MIB));
    OK(cu->cuModuleLoad(&module, TEST_FOLDER "/heap.ptx"));
    CUdeviceptr out = zeros(8);
    size_t resident = memory_resident();
    run("keep", 1, 1, out, 0);
    assert_true(memory_resident() < resident + MIB);
    assert_int_equal(word_at(out) % 16, 0);
    close_context();
}

/* A block that a kernel left behind. */
static CUdeviceptr kept(void)
{
    CUdeviceptr out = zeros(8);
    run("keep", 1, 1, out, 0);
    return word_at(out);
}

static void test_host_is_refused(void **state)
{
    char bytes[16] = {0};
    CUdeviceptr base;
    size_t size;
    unsigned type;
    (void)state;
    open_context();
    CUdeviceptr block = kept(), other = zeros(64);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(block));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(bytes, block, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyHtoD_v2(block, bytes, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoD_v2(other, block, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy(block, other, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(block, 0, 16));
    GIVES(CUDA_ERROR_NOT_FOUND, cu->cuMemGetAddressRange_v2(&base, &size, block));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    run("write_to", 1, 16, block, 0);
    close_context();
}

/* Contexts beside each other have heaps of their own; one after the other, they leave nothing. */
static void test_contexts(void **state)
{
    size_t before = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        open_context();
        CUdeviceptr out = zeros(8);
        run("keep", 16, 64, out, 0);
        close_context();
        if (i == 20)
            before = memory_resident();
    }
    assert_true(memory_resident() <= before + MIB);
}

/* Several streams at once, and a graph. */
static void test_streams(void **state)
{
    enum { STREAMS = 4 };
    CUstream streams[STREAMS];
    CUfunction function;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    (void)state;
    open_context();
    CUdeviceptr head = zeros(8), out = zeros(16);
    void *params[] = {&head};
    OK(cu->cuCtxSynchronize()); /* these streams do not wait for the legacy one, which fills */
    OK(cu->cuModuleGetFunction(&function, module, "build"));
    for (int i = 0; i < STREAMS; i++)
        OK(cu->cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < STREAMS * 4; i++)
        OK(cu->cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, streams[i % STREAMS], params, NULL));
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {.func = function,
                                         .gridDimX = 8,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 64,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = params};
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphLaunch(exec, streams[0]));
    OK(cu->cuCtxSynchronize());
    run("walk", 1, 1, head, out);
    assert_int_equal(word_at(out + 8), 512 * (STREAMS * 4 + 1));
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(graph));
    close_context();
}

/* --- Uses that end with a fault --- */
static void use_late(void)
{
    open_context();
    launch("use_late", 1, 1, zeros(16), 0);
}

static void free_twice(void)
{
    open_context();
    launch("free_twice", 1, 1, 0, 0);
}

static void write_behind(void)
{
    open_context();
    launch("write_to", 1, 17, kept(), 0);
}

static void write_when_gone(void)
{
    open_context();
    CUdeviceptr block = kept();
    close_context();
    open_context();
    launch("write_to", 1, 1, block, 0);
}

static void write_to_other(void)
{
    open_context();
    CUdeviceptr block = kept();
    CUcontext first = context;
    CUmodule first_module = module;
    open_context();
    CUcontext second = context;
    CUmodule second_module = module;
    OK(cu->cuCtxSetCurrent(first));
    module = first_module;
    run("write_to", 1, 16, block, 0);
    OK(cu->cuCtxSetCurrent(second));
    module = second_module;
    launch("write_to", 1, 1, block, 0);
}

static const struct {
    void (*run)(void);
    const char *report;
} uses[] = {
    {use_late, "kernel 'use_late', block (0,0,0), thread (0,0,0), PTX line "},
    {use_late, "ld: reads 4 bytes that are no live memory"},
    {free_twice, "call: frees a block of the heap for the second time at 0x"},
    {write_behind, "thread (16,0,0), PTX line "},
    {write_when_gone, "st: writes 4 bytes that are no live memory"},
    {write_to_other, "st: writes 4 bytes that are no live memory"},
};

/* Such a fault is the end of the device in its process: each has a process of its own. */
static int use_it(size_t number)
{
    struct cushim_options options = {.size = sizeof options, .path = library};
    const struct cushim_api *instance = cushim_open(&options);
    cu = instance;
    OK(cu->cuInit(0));
    uses[number].run();
    return cu->cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 1;
}

static void test_wrong_uses(void **state)
{
    char command[8192], text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        snprintf(command, sizeof command, "'%s' '%s' %zu 2>&1", program, library, i);
        FILE *output = popen(command, "r");
        assert_non_null(output);
        text[fread(text, 1, sizeof text - 1, output)] = '\0';
        if (pclose(output) != 0 || !strstr(text, uses[i].report))
            fail_msg("use %zu: %s", i, text);
    }
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_list),
    MEMORY_TEST(test_objects),
    MEMORY_OWN(test_limit, "a heap is used to the last byte"),
    MEMORY_OWN(test_many_threads, "a heap is used to the last byte"),
    MEMORY_TEST(test_footprint),
    MEMORY_OWN(test_host_is_refused, "no use of an address goes unnoticed"),
    MEMORY_OWN(test_wrong_uses, "no use of an address goes unnoticed"),
    MEMORY_TEST(test_contexts),
    MEMORY_TEST(test_streams),
};

int main(int argc, char **argv)
{
    program = argv[0];
    library = argc > 1 ? argv[1] : "";
    if (argc == 3)
        return use_it((size_t)atoi(argv[2]));
    return memory_main(argc, argv, "heap", tests, sizeof tests / sizeof *tests);
}
