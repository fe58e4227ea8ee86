/* SPDX-License-Identifier: MIT */
/* Modules, libraries and linked images: what is taken, what is found in them, what they cost. */
#include "memory_test.h"

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

static CUmodule loaded(const char *text)
{
    CUmodule module = NULL;
    OK(cu->cuModuleLoadData(&module, text));
    return module;
}

/* A variable is found by its name, visible or not: compilers make those of files static. */
static void test_static_variables(void **state)
{
    CUmodule module = loaded(HEAD ".const .align 4 .u32 hidden = 5;\n"
                                  ".global .align 4 .u32 counter;\n"
                                  ".visible .entry k()\n{\n .reg .u32 a;\n"
                                  " ld.const.u32 a, [hidden];\n st.global.u32 [counter], a;\n"
                                  " ret;\n}\n");
    CUfunction function;
    CUdeviceptr address;
    size_t size;
    uint32_t value = 0;
    (void)state;
    OK(cu->cuModuleGetGlobal_v2(&address, &size, module, "hidden"));
    assert_int_equal(size, 4);
    OK(cu->cuMemsetD32_v2(address, 6, 1));
    OK(cu->cuModuleGetFunction(&function, module, "k"));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu->cuModuleGetGlobal_v2(&address, &size, module, "counter"));
    OK(cu->cuMemcpyDtoH_v2(&value, address, sizeof value));
    assert_int_equal(value, 6);
    OK(cu->cuModuleUnload(module));
}

/* Old compilers' text, without an address size. */
static void test_old_text(void **state)
{
    CUmodule module = loaded(".version 1.4\n.target sm_10, map_f64_to_f32\n"
                             ".entry k (.param .u64 p)\n{\n.reg .u16 %h<3>;\n.reg .u32 %r<3>;\n"
                             ".reg .u64 %d<2>;\nmov.u16 %h1, %ntid.x;\n"
                             "mul.wide.u16 %r1, %h1, %h1;\nld.param.u64 %d1, [p];\n"
                             "st.global.u32 [%d1+0], %r1;\nexit;\n}\n");
    CUfunction function;
    CUdeviceptr memory = memory_of(4);
    uint32_t value = 0;
    (void)state;
    OK(cu->cuModuleGetFunction(&function, module, "k"));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, (void *[]){&memory}, NULL));
    OK(cu->cuMemcpyDtoH_v2(&value, memory, sizeof value));
    assert_int_equal(value, 64);
    OK(cu->cuMemFree_v2(memory));
    OK(cu->cuModuleUnload(module));
}

/* The device's own target, with and without a letter, by the loader and the linker. */
static void test_targets(void **state)
{
    static char text[] = HEAD ".visible .entry k()\n{\n ret;\n}\n";
    const uintptr_t wrong = 0x10050; /* sm_80a: there is none */
    int major, minor;
    (void)state;
    OK(cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    OK(cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    for (int i = 0; i < 2; i++) {
        CUjit_option option = CU_JIT_TARGET;
        uintptr_t letter = i && major >= 9 ? 0x10000 : 0;
        void *value = (void *)(letter + (uintptr_t)(10 * major + minor)), *bad = (void *)wrong;
        CUmodule module;
        CUlinkState link;
        void *cubin;
        size_t size;
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuModuleLoadDataEx(&module, text, 1, &option, &bad));
        OK(cu->cuModuleLoadDataEx(&module, text, 1, &option, &value));
        OK(cu->cuModuleUnload(module));
        OK(cu->cuLinkCreate_v2(1, &option, &value, &link));
        OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, sizeof text, "k", 0, NULL, NULL));
        OK(cu->cuLinkComplete(link, &cubin, &size));
        OK(cu->cuModuleLoadData(&module, cubin));
        OK(cu->cuModuleUnload(module));
        OK(cu->cuLinkDestroy(link));
    }
}

static int registers_of(CUmodule module)
{
    CUfunction function;
    int value = -1;
    OK(cu->cuModuleGetFunction(&function, module, "k"));
    OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    return value;
}

/* A limit of registers holds for what the functions tell, through the linker too. */
static void test_register_limit(void **state)
{
    char *text = NULL;
    size_t size;
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)40, *cubin;
    CUmodule module;
    CUlinkState link;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    assert_non_null(file);
    fputs(HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .u32 r<100>;\n .reg .u64 a;\n"
               " ld.param.u64 a, [p];\n",
          file);
    for (int i = 0; i < 100; i++)
        fprintf(file, " ld.global.u32 r%d, [a + %d];\n", i, 4 * i);
    for (int i = 0; i < 100; i++)
        fprintf(file, " st.global.u32 [a + %d], r%d;\n", 4 * i, 99 - i);
    fputs(" ret;\n}\n", file);
    fclose(file);
    module = loaded(text);
    assert_true(registers_of(module) > 40);
    OK(cu->cuModuleUnload(module));
    OK(cu->cuModuleLoadDataEx(&module, text, 1, &option, &value));
    assert_in_range(registers_of(module), 1, 40);
    OK(cu->cuModuleUnload(module));
    OK(cu->cuLinkCreate_v2(1, &option, &value, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, size + 1, "k", 0, NULL, NULL));
    OK(cu->cuLinkComplete(link, &cubin, &size));
    OK(cu->cuModuleLoadData(&module, cubin));
    assert_in_range(registers_of(module), 1, 40);
    OK(cu->cuModuleUnload(module));
    OK(cu->cuLinkDestroy(link));
    free(text);
}

/* More than 48 KiB, which ptxas refuses, is taken up to what the device has: so by an H200. */
static void test_static_shared(void **state)
{
    CUdevice device;
    int most, value;
    (void)state;
    OK(cu->cuCtxGetDevice(&device));
    OK(cu->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                device));
    for (int size = most - 4096; size <= most + 4; size += size < most ? 4096 : 4) {
        char text[400], log[200] = "", sentence[200];
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof log};
        CUmodule module;
        CUfunction function;
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k()\n{\n .shared .align 4 .b8 x[%d];\n .reg .u32 r;\n"
                      " mov.u32 r, %%tid.x;\n st.shared.u32 [x+%d], r;\n ret;\n}\n",
                 size, size - 4);
        if (size > most) {
            GIVES(CUDA_ERROR_INVALID_PTX,
                  cu->cuModuleLoadDataEx(&module, text, 2, options, values));
            snprintf(sentence, sizeof sentence,
                     "ptxas error   : Entry function 'k' uses too much shared data "
                     "(0x%x bytes, 0x%x max)",
                     (unsigned)size, (unsigned)most);
            assert_non_null(strstr(log, sentence));
            break;
        }
        module = loaded(text);
        OK(cu->cuModuleGetFunction(&function, module, "k"));
        OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  function));
        assert_int_equal(value, size > 49152 ? most - size : 49152 - size);
        OK(cu->cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        OK(cu->cuCtxSynchronize());
        OK(cu->cuModuleUnload(module));
    }
}

/* A variable without initial values, or with few, is memory that nobody has touched. */
static void test_large_variables(void **state)
{
    size_t before = memory_resident();
    (void)state;
    CUmodule module = loaded(HEAD ".visible .global .align 4 .u32 a[25000000];\n"
                                  ".visible .global .align 4 .u32 b[25000000] = {7};\n");
    CUdeviceptr address;
    size_t size;
    uint32_t values[2] = {1, 1};
    OK(cu->cuModuleGetGlobal_v2(&address, &size, module, "b"));
    OK(cu->cuMemcpyDtoH_v2(values, address, sizeof values));
    assert_int_equal(values[0], 7);
    assert_int_equal(values[1], 0);
    assert_true(memory_resident() - before < 20 * MIB || memory_resident() < before);
    OK(cu->cuModuleUnload(module));
}

/* An instruction that the simulator lacks refuses the kernels that reach it, and no others. */
static void test_lacking_instruction(void **state)
{
    CUmodule module =
        loaded(HEAD ".func deep()\n{\n .reg .b64 d;\n tcgen05.wait::ld.sync.aligned;\n ret;\n}\n"
                    ".func between()\n{\n call deep;\n ret;\n}\n"
                    ".visible .entry tensor()\n{\n call between;\n ret;\n}\n"
                    ".visible .entry plain(.param .u64 p)\n{\n .reg .u64 a;\n"
                    " ld.param.u64 a, [p];\n st.global.u32 [a], 5;\n ret;\n}\n");
    CUfunction function, functions[2];
    CUdeviceptr memory = memory_of(4);
    uint32_t value = 0;
    (void)state;
    OK(cu->cuModuleGetFunction(&function, module, "plain"));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&memory}, NULL));
    OK(cu->cuMemcpyDtoH_v2(&value, memory, sizeof value));
    assert_int_equal(value, 5);
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cu->cuModuleGetFunction(&function, module, "tensor"));
    assert_null(function);
    OK(cu->cuModuleEnumerateFunctions(functions, 2, module));
    GIVES(CUDA_ERROR_NOT_SUPPORTED,
          cu->cuLaunchKernel(functions[0], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuModuleUnload(module));
    /* Without any kernel that runs the module is refused. */
    GIVES(CUDA_ERROR_INVALID_PTX,
          cu->cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n"
                                        ".visible .entry k()\n{\n tcgen05.wait::ld.sync.aligned;\n"
                                        " ret;\n}\n"));
    OK(cu->cuMemFree_v2(memory));
}

/* A kernel's parameters are told where a context is current; a function knows its own anywhere. */
static void test_queries_without_a_context(void **state)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k(.param .u32 a) { ret; }\n";
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    CUcontext context = NULL;
    size_t offset = 7, size = 7;
    int value = 0;
    const char *name = NULL;
    (void)state;
    OK(cu->cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu->cuLibraryGetKernel(&kernel, library, "k"));
    OK(cu->cuKernelGetFunction(&function, kernel));
    OK(cu->cuCtxGetCurrent(&context));
    OK(cu->cuCtxSetCurrent(NULL));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuKernelGetParamInfo(kernel, 0, &offset, &size));
    assert_true(offset == 7 && size == 7);
    OK(cu->cuKernelGetName(&name, kernel));
    OK(cu->cuFuncGetParamInfo(function, 0, &offset, &size));
    assert_true(offset == 0 && size == 4);
    OK(cu->cuFuncGetName(&name, function));
    assert_string_equal(name, "k");
    OK(cu->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuKernelGetParamInfo(kernel, 0, &offset, &size));
    OK(cu->cuLibraryUnload(library));
}

/* What is asked of no kernel, function, library or module. Most of it is an invalid handle; the
 * exceptions are a device's. */
static void test_queries_of_nothing(void **state)
{
    int number;
    unsigned count;
    size_t offset, size;
    const char *name;
    CUdeviceptr address;
    CUkernel kernel;
    CUlibrary library;
    CUmodule module;
    CUfunction function;
    CUfunctionLoadingState loaded;
    void *pointer;
    (void)state;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuKernelGetName(&name, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuFuncGetName(&name, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuKernelGetParamInfo(NULL, 0, &offset, &size));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuFuncGetParamInfo(NULL, 0, &offset, &size));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuFuncGetModule(&module, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuKernelGetFunction(&function, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuKernelGetLibrary(&library, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuKernelGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuKernelSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_NONE, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetKernel(&kernel, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetKernelCount(&count, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryEnumerateKernels(&kernel, 1, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetModule(&module, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetGlobal(&address, &size, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetManaged(&address, &size, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryGetUnifiedFunction(&pointer, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuLibraryUnload(NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuFuncSetAttribute(NULL, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_NONE));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuFuncIsLoaded(&loaded, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuFuncLoad(NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleGetFunctionCount(&count, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleEnumerateFunctions(&function, 1, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleGetFunction(&function, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleGetGlobal_v2(&address, &size, NULL, "x"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuModuleUnload(NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, NULL, 32, 0));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_static_variables),
    MEMORY_TEST(test_old_text),
    MEMORY_TEST(test_targets),
    MEMORY_TEST(test_queries_of_nothing),
    MEMORY_TEST(test_queries_without_a_context),
    MEMORY_TEST(test_static_shared),
    MEMORY_OWN(test_register_limit, "a device's compiler takes fewer registers"),
    MEMORY_OWN(test_large_variables, "what a variable costs the host"),
    MEMORY_OWN(test_lacking_instruction, "a device lacks none"),
};
MEMORY_MAIN("loading", tests)
