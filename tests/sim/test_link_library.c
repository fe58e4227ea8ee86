/* SPDX-License-Identifier: MIT */
/* Archives as inputs of the linker: cuLink* of a driver in this process. The codes of what is no
 * library, and what the device runtime's functions return, are an H100's with driver 580. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <cushim/sim.h>

#include "fatbin_format.h"

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define GIVES(code, call) assert_int_equal((call), (code))
#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
#define MAGIC "!<arch>\n"

static const struct cushim_api *cu;
static char errors[4096];

/* It has the thread's number less one of a function that others define. */
static char caller[] =
    HEAD ".extern .func (.param .b32 r) less_one(.param .b32 x);\n"
         ".visible .entry k(.param .u64 p)\n{\n .reg .u64 b;\n .reg .u32 a;\n"
         " { .param .b32 i, o;\n st.param.b32 [i], 43;\n call (o), less_one, (i);\n"
         " ld.param.b32 a, [o]; }\n ld.param.u64 b, [p];\n st.global.u32 [b], a;\n ret;\n}\n";
static const char callee[] =
    HEAD ".visible .func (.param .b32 r) less_one(.param .b32 x)\n{\n .reg .u32 a;\n"
         " ld.param.b32 a, [x];\n sub.u32 a, a, 1;\n st.param.b32 [r], a;\n ret;\n}\n";
/* Each block adds one for all blocks, waits for them, and keeps what it then sees. */
static char grid[] =
    HEAD ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 x);\n"
         ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 x, .param .b32 y);\n"
         ".visible .entry k(.param .u64 p, .param .u32 scope, .param .u64 change,\n"
         "                  .param .u32 flags)\n{\n"
         " .reg .u64 b, c, h;\n .reg .u32 a, f;\n"
         " ld.param.u64 b, [p];\n ld.param.u32 a, [scope];\n ld.param.u32 f, [flags];\n"
         " red.global.add.u32 [b], 1;\n"
         " { .param .b32 i;\n .param .b64 o;\n st.param.b32 [i], a;\n"
         " call (o), cudaCGGetIntrinsicHandle, (i);\n ld.param.b64 h, [o]; }\n"
         " mov.u32 a, %ctaid.x;\n mul.wide.u32 c, a, 24;\n add.u64 c, c, b;\n"
         " st.global.u64 [c+8], h;\n"
         " ld.param.u64 b, [change];\n add.u64 h, h, b;\n"
         " { .param .b64 i;\n .param .b32 j, o;\n st.param.b64 [i], h;\n st.param.b32 [j], f;\n"
         " call (o), cudaCGSynchronize, (i, j);\n ld.param.b32 a, [o]; }\n"
         " st.global.u32 [c+16], a;\n"
         " ld.param.u64 b, [p];\n ld.volatile.global.u32 a, [b];\n st.global.u32 [c+20], a;\n"
         " ret;\n}\n";
struct block {
    uint64_t handle;
    uint32_t code, seen;
};
enum { BLOCKS = 50, THREADS = 40, ROUNDS = 5 };
/* What tells libcudadevrt from other archives is the name of its object. */
static char device_runtime[] = MAGIC "cuda_device_runtime.o/";

static int begin(void **state)
{
    CUcontext context;
    (void)state;
    cu = cushim_sim_open(NULL);
    assert_non_null(cu);
    OK(cu->cuInit(0));
    OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu->cuCtxSetCurrent(context));
    return 0;
}

/* A link with one text in it. */
static CUlinkState link_of(char *text)
{
    static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    static void *values[2];
    CUlinkState link = NULL;
    values[0] = errors;
    values[1] = (void *)sizeof errors;
    memset(errors, 0, sizeof errors);
    OK(cu->cuLinkCreate_v2(2, options, values, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "t", 0, NULL, NULL));
    return link;
}

static CUresult add(CUlinkState link, const void *library, size_t size)
{
    return cu->cuLinkAddData_v2(link, CU_JIT_INPUT_LIBRARY, (void *)library, size, "l", 0, NULL,
                                NULL);
}

/* The kernel of a finished link. */
static CUfunction kernel(CUlinkState link, CUmodule *module)
{
    CUfunction function = NULL;
    void *image = NULL;
    OK(cu->cuLinkComplete(link, &image, NULL));
    OK(cu->cuModuleLoadData(module, image));
    OK(cu->cuModuleGetFunction(&function, *module, "k"));
    OK(cu->cuLinkDestroy(link));
    return function;
}

/* An archive with one fatbin in it, at an odd address; its size. */
static size_t archive(char *to, uint16_t kind, const char *payload, size_t size)
{
    struct fatbin_entry entry = {
        .kind = kind, .header_size = sizeof entry, .padded_size = size, .architecture = 50};
    struct fatbin_header header = {.magic = FATBIN_MAGIC,
                                   .version = 1,
                                   .header_size = sizeof header,
                                   .size = sizeof entry + size};
    size_t used = (size_t)sprintf(to, MAGIC "a.o/ and what else there is ");
    used += 1 - used % 2;
    memcpy(to + used, &header, sizeof header);
    memcpy(to + used + sizeof header, &entry, sizeof entry);
    memcpy(to + used + sizeof header + sizeof entry, payload, size);
    return used + sizeof header + sizeof entry + size;
}

static void test_no_library(void **state)
{
    static char zeros[64], cut[2048], alone[] = HEAD ".visible .entry k() { ret; }\n";
    CUlinkState link = link_of(alone);
    size_t size = archive(cut, FATBIN_KIND_PTX, callee, sizeof callee);
    CUmodule module = NULL;
    (void)state;
    GIVES(CUDA_ERROR_UNKNOWN, add(link, zeros, sizeof zeros));
    assert_string_equal(errors, "fatal   : unexpected archive format");
    GIVES(CUDA_ERROR_UNKNOWN, add(link, callee, sizeof callee));
    GIVES(CUDA_ERROR_UNKNOWN, add(link, MAGIC, strlen(MAGIC) - 1));
    GIVES(CUDA_ERROR_INVALID_IMAGE, add(link, MAGIC, strlen(MAGIC)));
    for (size_t less = 1; less < size - strlen(MAGIC); less++)
        GIVES(CUDA_ERROR_INVALID_IMAGE, add(link, cut, size - less));
    GIVES(CUDA_ERROR_INVALID_VALUE, add(link, NULL, 10));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND,
          cu->cuLinkAddFile_v2(link, CU_JIT_INPUT_LIBRARY, "/none.a", 0, NULL, NULL));
    kernel(link, &module); /* it goes on without them */
    OK(cu->cuModuleUnload(module));
}

static void test_ptx(void **state)
{
    static char library[2048];
    size_t size = archive(library, FATBIN_KIND_PTX, callee, sizeof callee);
    CUlinkState link = link_of(caller);
    CUmodule module = NULL;
    CUdeviceptr word = 0;
    unsigned result = 0;
    (void)state;
    OK(add(link, library, size));
    memset(library, 0, sizeof library); /* the caller's own again */
    CUfunction function = kernel(link, &module);
    OK(cu->cuMemAlloc_v2(&word, 4));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&word}, NULL));
    OK(cu->cuMemcpyDtoH_v2(&result, word, 4));
    assert_int_equal(result, 42);
    OK(cu->cuMemFree_v2(word));
    OK(cu->cuModuleUnload(module));
}

/* It is passed over. What only it has is missing, and the link says so. */
static void test_machine_code(void **state)
{
    static char library[2048], code[64];
    size_t size = archive(library, FATBIN_KIND_CUBIN, code, sizeof code);
    CUlinkState link = link_of(caller);
    void *image = NULL;
    (void)state;
    OK(add(link, library, size));
    GIVES(CUDA_ERROR_INVALID_SOURCE, cu->cuLinkComplete(link, &image, NULL));
    assert_non_null(strstr(errors, "'less_one'"));
    assert_non_null(strstr(errors, "kernels that launch kernels are not simulated"));
    OK(cu->cuLinkDestroy(link));
}

static void test_device_runtime_twice(void **state)
{
    CUlinkState link = link_of(grid);
    void *image = NULL;
    (void)state;
    OK(add(link, device_runtime, sizeof device_runtime));
    GIVES(CUDA_ERROR_INVALID_SOURCE, add(link, device_runtime, sizeof device_runtime));
    GIVES(CUDA_ERROR_INVALID_SOURCE, cu->cuLinkComplete(link, &image, NULL));
    OK(cu->cuLinkDestroy(link));
}

/* Launch, and see that all blocks have the same handle and code. */
static void launch(CUfunction function, bool cooperative, uint32_t scope, uint64_t change,
                   uint32_t flags, const struct block *wanted)
{
    enum { STRIDE = 24 }; /* in grid */
    CUdeviceptr memory = 0;
    void *params[] = {&memory, &scope, &change, &flags};
    OK(cu->cuMemAlloc_v2(&memory, 8 + STRIDE * BLOCKS));
    OK(cu->cuMemsetD8_v2(memory, 0, 8 + STRIDE * BLOCKS));
    if (cooperative)
        OK(cu->cuLaunchCooperativeKernel(function, BLOCKS / 5, 5, 1, THREADS / 2, 2, 1, 0, NULL,
                                         params));
    else
        OK(cu->cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    for (int i = 0; i < (cooperative ? BLOCKS / 5 : BLOCKS); i++) {
        struct block got;
        OK(cu->cuMemcpyDtoH_v2(&got, memory + 8 + STRIDE * (size_t)i, sizeof got));
        assert_int_equal(got.handle, wanted->handle);
        assert_int_equal(got.code, wanted->code);
        if (wanted->seen)
            assert_int_equal(got.seen, wanted->seen);
    }
    OK(cu->cuMemFree_v2(memory));
}

static void test_device_runtime(void **state)
{
    const uint64_t handle = 0x7ffffffffffff;
    const struct block good = {handle, 0, BLOCKS * THREADS}, bad = {handle, 999, 0},
                       none = {0, 999, 0};
    CUlinkState link = link_of(grid);
    CUmodule module = NULL;
    (void)state;
    OK(add(link, device_runtime, sizeof device_runtime));
    CUfunction function = kernel(link, &module);
    for (unsigned i = 0; i < ROUNDS; i++)
        launch(function, true, 1, 0, i % 2, &good);
    launch(function, true, 1, 0, 2, &bad);
    launch(function, true, 1, 0, 7, &bad);
    launch(function, true, 1, (uint64_t)-1, 0, &bad);
    for (uint32_t scope = 0; scope < 4; scope++) {
        launch(function, false, scope, 0, 0, &none);
        launch(function, false, scope, handle, 0, &none);
        if (scope != 1)
            launch(function, true, scope, 0, 0, &none);
    }
    OK(cu->cuModuleUnload(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),     cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_machine_code),   cmocka_unit_test(test_device_runtime_twice),
        cmocka_unit_test(test_device_runtime),
    };
    return cmocka_run_group_tests_name("link_library", tests, begin, NULL);
}
