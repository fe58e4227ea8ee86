/* SPDX-License-Identifier: MIT */
/* Modules on a real GPU: loading, logs, linking, names, libraries; nothing is left. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cushim/context.h>
#include <cushim/module.h>

#include "device.h"

static const char fill[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 value = 7;\n"
    ".visible .entry fill(.param .u64 out)\n{\n"
    "  .reg .b64 %rd<3>;\n  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  ld.global.u32 %r1, [value];\n  st.global.u32 [%rd2], %r1;\n  ret;\n}\n";
static const char caller[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                             ".extern .func (.param .b32 result) callee (.param .b32 a);\n"
                             ".visible .entry call(.param .u64 out)\n{\n"
                             "  .reg .b64 %rd<3>;\n  .reg .b32 %r<3>;\n"
                             "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd2, %rd1;\n"
                             "  mov.u32 %r1, 41;\n"
                             "  { .param .b32 a; .param .b32 result; st.param.b32 [a], %r1;\n"
                             "    call.uni (result), callee, (a); ld.param.b32 %r2, [result]; }\n"
                             "  st.global.u32 [%rd2], %r2;\n  ret;\n}\n";
static const char callee[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                             ".visible .func (.param .b32 result) callee (.param .b32 a)\n{\n"
                             "  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [a];\n"
                             "  add.u32 %r2, %r1, 1;\n  st.param.b32 [result], %r2;\n  ret;\n}\n";

static const struct cushim_api *cu;
static const struct cushim_api *table;
static CUdeviceptr out;

/* A helper that must be refused with a code and words. */
static void refused(int line, CUresult got, CUresult expected, const char *words)
{
    printf("line %d: %d: %s\n", line, (int)got, cushim_last_error());
    if (got != expected || !strstr(cushim_last_error(), words)) {
        fprintf(stderr, "%s:%d: %d, not %d, or no \"%s\": %s\n", __FILE__, line, (int)got,
                (int)expected, words, cushim_last_error());
        exit(1);
    }
}
#define REFUSED(call, code, words) refused(__LINE__, call, code, words)

static unsigned launch(CUfunction function)
{
    unsigned value = 0;
    void *arguments[] = {&out};
    CALL(table->cuMemsetD32_v2(out, 0, 1));
    CALL(table->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(table->cuMemcpyDtoH_v2(&value, out, sizeof value));
    return value;
}

static void load(void)
{
    struct cushim_jit_result result = {.size = sizeof result};
    struct cushim_jit_options options = {.size = sizeof options,
                                         .optimisation = CUSHIM_JIT_OPTIMISATION_1,
                                         .max_registers = 32,
                                         .line_info = true,
                                         .verbose = true,
                                         .cache_mode = CU_JIT_CACHE_OPTION_CA};
    CUmodule module;
    CUfunction function;
    CUdeviceptr value;
    size_t bytes;
    char *exact = malloc(sizeof fill - 1);
    memcpy(exact, fill, sizeof fill - 1);
    OK(cushim_module_load(cu, exact, sizeof fill - 1, NULL, &result, &module));
    free(exact);
    printf("PTX: %.3f ms, error log \"%s\", info log \"%s\"\n", (double)result.wall_ms,
           result.error_log, result.info_log);
    cushim_jit_result_release(&result);
    OK(cushim_module_function(cu, module, "fill", &function));
    CHECK(launch(function) == 7);
    OK(cu->cuModuleGetGlobal(&value, &bytes, module, "value"));
    CHECK(bytes == 4);
    CALL(table->cuMemsetD32_v2(value, 9, 1));
    CHECK(launch(function) == 9);
    REFUSED(cushim_module_function(cu, module, "Fill", &function), CUDA_ERROR_NOT_FOUND,
            cushim_has(cu, "cuModuleEnumerateFunctions") ? "nearest: fill" : "name: Fill");
    OK(cushim_module_unload(cu, module));
    OK(cushim_module_load(cu, fill, sizeof fill, &options, &result, &module));
    printf("with options: %.3f ms, info log \"%s\"\n", (double)result.wall_ms, result.info_log);
    CHECK(result.info_log[0]);
    cushim_jit_result_release(&result);
    OK(cushim_module_unload(cu, module));
}

static void load_fails(void)
{
    static const char wrong[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                ".visible .entry f()\n{\n  deliberate error;\n}\n";
    static const char newer[] = ".version 19.0\n.target sm_50\n.address_size 64\n"
                                ".visible .entry f()\n{\n  ret;\n}\n";
    static const char other[] = ".version 8.7\n.target sm_120\n.address_size 64\n"
                                ".visible .entry f()\n{\n  ret;\n}\n";
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module;
    CUlibrary library;
    REFUSED(cushim_module_load(cu, wrong, sizeof wrong, NULL, &result, &module),
            CUDA_ERROR_INVALID_PTX, "deliberate");
    CHECK(strstr(result.error_log, "line 6"));
    printf("failed: %.3f ms, \"%s\"\n", (double)result.wall_ms, result.error_log);
    cushim_jit_result_release(&result);
    REFUSED(cushim_module_load(cu, newer, sizeof newer, NULL, NULL, &module),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ".version 19.0");
    CUresult code = cushim_module_load(cu, other, sizeof other, NULL, NULL, &module);
    printf("PTX for sm_120: %d: %s\n", (int)code, cushim_last_error());
    if (code == CUDA_SUCCESS)
        OK(cushim_module_unload(cu, module));
    CUlibrary raw = NULL;
    CUkernel kernel;
    CUmodule its;
    code = table->cuLibraryLoadData(&raw, wrong, NULL, NULL, 0, NULL, NULL, 0);
    printf("the driver itself, wrong PTX: cuLibraryLoadData %d\n", (int)code);
    if (code == CUDA_SUCCESS) {
        printf("  cuLibraryGetModule %d\n", (int)table->cuLibraryGetModule(&its, raw));
        printf("  cuLibraryGetKernel %d\n", (int)table->cuLibraryGetKernel(&kernel, raw, "f"));
        CALL(table->cuLibraryUnload(raw));
    }
    if (cushim_has(cu, "cuLibraryLoadData")) {
        REFUSED(cushim_library_load(cu, wrong, sizeof wrong, NULL, &result, &library),
                CUDA_ERROR_INVALID_PTX, "deliberate");
        CHECK(strstr(result.error_log, "line 6"));
        cushim_jit_result_release(&result);
    }
    REFUSED(cushim_module_load(cu, fill, sizeof fill - 10, NULL, NULL, &module),
            CUDA_ERROR_INVALID_PTX, "");
    REFUSED(cushim_module_load_file(cu, "/nonexistent/a.ptx", NULL, NULL, &module),
            CUDA_ERROR_FILE_NOT_FOUND, "/nonexistent/a.ptx");
}

static void link_two(void)
{
    const struct cushim_link_input inputs[] = {{.size = sizeof inputs[0],
                                                .data = caller,
                                                .bytes = sizeof caller - 1,
                                                .name = "caller.ptx"},
                                               {.size = sizeof inputs[0],
                                                .data = callee,
                                                .bytes = sizeof callee - 1,
                                                .name = "callee.ptx"}};
    struct cushim_jit_result result = {.size = sizeof result};
    struct cushim_cubin cubin;
    struct cushim_image image = {.size = sizeof image};
    CUmodule module;
    CUfunction function;
    CUresult code;
    OK(cushim_cubin_link(cu, inputs, 2, NULL, &result, &cubin));
    printf("linked: %zu bytes, %.3f ms, info log \"%s\"\n", cubin.bytes, (double)result.wall_ms,
           result.info_log);
    cushim_jit_result_release(&result);
    OK(cushim_image_describe(cubin.data, cubin.bytes, &image));
    printf("cubin: sm_%d\n", image.arch);
    CHECK(image.kind == CUSHIM_IMAGE_CUBIN);
    OK(cushim_module_load(cu, cubin.data, cubin.bytes, NULL, NULL, &module));
    OK(cushim_module_function(cu, module, "call", &function));
    CHECK(launch(function) == 42);
    OK(cushim_module_unload(cu, module));
    /* A cubin for another GPU, as far as its header says. */
    unsigned char *bytes = cubin.data;
    bytes[bytes[7] == 0x41 ? 49 : 48] = 75;
    REFUSED(cushim_module_load(cu, cubin.data, cubin.bytes, NULL, NULL, &module),
            CUDA_ERROR_NO_BINARY_FOR_GPU, "for sm_75");
    cushim_cubin_release(&cubin);
    OK(cushim_module_link(cu, inputs, 2, NULL, NULL, &module));
    OK(cushim_module_function(cu, module, "call", &function));
    CHECK(launch(function) == 42);
    OK(cushim_module_unload(cu, module));
    code = cushim_cubin_link(cu, inputs, 1, NULL, &result, &cubin);
    printf("without the second: %d: %s\n", (int)code, cushim_last_error());
    CHECK(code != CUDA_SUCCESS && strstr(result.error_log, "callee"));
    cushim_jit_result_release(&result);
}

static void libraries(void)
{
    CUlibrary library;
    CUkernel kernel;
    struct cushim_jit_result result = {.size = sizeof result};
    CUresult code = cushim_library_load(cu, fill, sizeof fill - 1, NULL, &result, &library);
    cushim_jit_result_release(&result);
    if (code == CUDA_ERROR_NOT_SUPPORTED) {
        printf("%s\n", cushim_last_error());
        return;
    }
    OK(code);
    OK(cushim_library_kernel(cu, library, "fill", &kernel));
    CHECK(launch((CUfunction)(void *)kernel) == 7);
    REFUSED(cushim_library_kernel(cu, library, "flil", &kernel), CUDA_ERROR_NOT_FOUND,
            "name: flil: no kernel has that name");
    OK(cushim_library_unload(cu, library));
}

int main(void)
{
    CUcontext context, current = NULL;
    size_t before, after, whole;
    /* What the driver compiled before must not stand in for it. */
    CHECK(setenv("CUDA_CACHE_DISABLE", "1", 1) == 0);
    table = device_or_skip();
    cu = cushim_load(NULL);
    OK(cushim_primary_retain(cu, 0, &context));
    OK(cu->cuCtxPushCurrent(context));
    CALL(table->cuMemAlloc_v2(&out, 4));
    load(); /* what the driver keeps once and for all */
    CALL(table->cuMemGetInfo_v2(&before, &whole));
    load();
    load_fails();
    link_two();
    libraries();
    CALL(table->cuMemGetInfo_v2(&after, &whole));
    printf("free memory: %zu before, %zu after\n", before, after);
    CALL(table->cuCtxGetCurrent(&current));
    CHECK(current == context);
    CALL(table->cuMemFree_v2(out));
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_primary_release(cu, 0));
    return 0;
}
