/* SPDX-License-Identifier: MIT */
/* Modules: images right and wrong, what is in them, and the options of the assembler. */
#define _POSIX_C_SOURCE 200809L
#include "conform.h"

#include <stdlib.h>

static void try_image(const char *what, const char *image)
{
    CUmodule module = (CUmodule)&module;
    CUresult code = EACH(cu->cuModuleLoadData(&module, image), "%s", what);
    VALUE("module=%s", module == (CUmodule)&module ? "untouched" : module ? "some" : "NULL");
    if (code == CUDA_SUCCESS)
        MUST(cu->cuModuleUnload(module));
}

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
#define EMPTY ".visible .entry empty()\n{\n ret;\n}\n"

static void good(void)
{
    try_image("plain", HEAD EMPTY);
    try_image("no entries", HEAD);
    try_image("version 3.2 sm_30", ".version 3.2\n.target sm_30\n.address_size 64\n" EMPTY);
    try_image("version 4.0 sm_20", ".version 4.0\n.target sm_20\n.address_size 64\n" EMPTY);
    try_image("version 7.8 sm_90", ".version 7.8\n.target sm_90\n.address_size 64\n" EMPTY);
    try_image("version 9.0 sm_90", ".version 9.0\n.target sm_90\n.address_size 64\n" EMPTY);
    try_image("version 8.0 sm_90a", ".version 8.0\n.target sm_90a\n.address_size 64\n" EMPTY);
    try_image("without address size", ".version 6.0\n.target sm_50\n" EMPTY);
    try_image("comments", "// a\n/* b */ " HEAD "/* c */" EMPTY "// d");
    try_image("leading space", "\n\n  \t" HEAD EMPTY);
}

static void targets(void)
{
    try_image("sm_100", ".version 8.7\n.target sm_100\n.address_size 64\n" EMPTY);
    try_image("sm_120", ".version 8.7\n.target sm_120\n.address_size 64\n" EMPTY);
    try_image("sm_80a", ".version 8.0\n.target sm_80a\n.address_size 64\n" EMPTY);
    try_image("sm_999", ".version 8.0\n.target sm_999\n.address_size 64\n" EMPTY);
    try_image("sm_90 in version 6.0", ".version 6.0\n.target sm_90\n.address_size 64\n" EMPTY);
    try_image("no target", ".version 6.0\n.address_size 64\n" EMPTY);
    try_image("address size 32", ".version 6.0\n.target sm_50\n.address_size 32\n" EMPTY);
    try_image("debug target", ".version 6.0\n.target sm_50, debug\n.address_size 64\n" EMPTY);
}

static void versions(void)
{
    try_image("version 9.9", ".version 9.9\n.target sm_50\n.address_size 64\n" EMPTY);
    try_image("version 99.0", ".version 99.0\n.target sm_50\n.address_size 64\n" EMPTY);
    try_image("version 1.0", ".version 1.0\n.target sm_10\n.address_size 64\n" EMPTY);
    try_image("no version", ".target sm_50\n.address_size 64\n" EMPTY);
    try_image("version word", ".version six\n.target sm_50\n.address_size 64\n" EMPTY);
    try_image("version 9.1", ".version 9.1\n.target sm_50\n.address_size 64\n" EMPTY);
}

static void bad(void)
{
    try_image("empty text", "");
    try_image("space", " \n");
    try_image("nonsense", "this is no PTX");
    try_image("syntax error", HEAD ".visible .entry a()\n{\n nonsense;\n}\n");
    try_image("undeclared register", HEAD ".visible .entry a()\n{\n mov.u32 %r1, 1;\n ret;\n}\n");
    try_image("wrong type",
              HEAD ".visible .entry a()\n{\n .reg .u32 x;\n mov.u64 x, 1;\n ret;\n}\n");
    try_image("truncated", HEAD ".visible .entry a()\n{\n ret;");
    try_image("truncated in the head", ".version 6.");
    try_image("unknown directive", HEAD ".nothing\n" EMPTY);
    try_image("twice the same", HEAD EMPTY EMPTY);
    try_image("undefined function",
              HEAD ".extern .func f();\n.visible .entry a()\n{\n call f;\n ret;\n}\n");
    try_image("undefined label", HEAD ".visible .entry a()\n{\n bra nowhere;\n ret;\n}\n");
    try_image("no final return", HEAD ".visible .entry a()\n{\n}\n");
}

static void too_much(void)
{
    try_image("shared 49152", HEAD ".visible .entry a()\n{\n .shared .b8 x[49152];\n .reg .u32 r;\n"
                                   " st.shared.u32 [x], r;\n ret;\n}\n");
    try_image("shared 49153", HEAD ".visible .entry a()\n{\n .shared .b8 x[49156];\n .reg .u32 r;\n"
                                   " st.shared.u32 [x], r;\n ret;\n}\n");
    try_image("parameters 4352", HEAD ".visible .entry a(.param .b8 x[4352])\n{\n ret;\n}\n");
    try_image("parameters 4353", HEAD ".visible .entry a(.param .b8 x[4353])\n{\n ret;\n}\n");
    try_image("constant 65536", HEAD ".visible .const .b8 x[65536];\n" EMPTY);
    try_image("constant 65537", HEAD ".visible .const .b8 x[65537];\n" EMPTY);
}

static void newer_features(void)
{
    try_image(
        "redux below its target",
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry a()\n{\n .reg .u32 x;\n"
        " redux.sync.add.u32 x, x, 0xffffffff;\n ret;\n}\n");
    try_image("nanosleep below its target",
              HEAD ".visible .entry a()\n{\n nanosleep.u32 1;\n ret;\n}\n");
    try_image("nanosleep below its version",
              ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry a()\n{\n"
              " nanosleep.u32 1;\n ret;\n}\n");
    try_image(
        "shfl without sync for sm_70",
        ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry a()\n{\n .reg .u32 x;\n"
        " shfl.idx.b32 x, x, 0, 31;\n ret;\n}\n");
}

static void misuse(void)
{
    CUmodule module = (CUmodule)&module;
    CALL(cu->cuModuleLoadData(NULL, conform_ptx));
    CALL(cu->cuModuleLoadData(&module, NULL));
    VALUE("touched=%d", module != (CUmodule)&module);
    CALL(cu->cuModuleUnload(NULL));
    CALL(cu->cuModuleLoad(&module, "/no/such/file"));
    CALL(cu->cuModuleLoad(&module, "/"));
    CALL(cu->cuModuleLoad(&module, "/dev/null"));
    CALL(cu->cuModuleLoad(&module, ""));
    CALL(cu->cuModuleLoad(&module, NULL));
    CALL(cu->cuModuleLoad(NULL, "/no/such/file"));
    CALL(cu->cuModuleLoadFatBinary(&module, NULL));
    CALL(cu->cuModuleLoadFatBinary(&module, conform_ptx));
}

static void binaries(void)
{
    static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    static const uint32_t fatbin[64] = {0xba55ed50, 0x00100001, 0, 0};
    static const uint32_t wrapper[8] = {0x466243b1, 1, 0, 0, 0, 0, 0, 0};
    CUmodule module = NULL;
    CALL(cu->cuModuleLoadData(&module, elf));
    CALL(cu->cuModuleLoadData(&module, fatbin));
    CALL(cu->cuModuleLoadFatBinary(&module, fatbin));
    (void)wrapper;
}

static void from_file(void)
{
    char path[] = "/tmp/conformance-XXXXXX";
    int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    if (!out)
        return;
    fputs(conform_ptx, out);
    fclose(out);
    conform_step("cuModuleLoad(&module, a file)");
    conform_result(cu->cuModuleLoad(&module, path));
    CALL(cu->cuModuleGetFunction(&function, module, "empty"));
    CALL(cu->cuModuleUnload(module));
    remove(path);
}

static void functions(void)
{
    CUmodule module = conform_module();
    CUfunction function = (CUfunction)&function, again = NULL;
    CALL(cu->cuModuleGetFunction(&function, module, "nothing"));
    VALUE("touched=%d", function != (CUfunction)&function);
    CALL(cu->cuModuleGetFunction(&function, module, ""));
    CALL(cu->cuModuleGetFunction(&function, module, "counter"));
    CALL(cu->cuModuleGetFunction(&function, module, NULL));
    CALL(cu->cuModuleGetFunction(NULL, module, "empty"));
    CALL(cu->cuModuleGetFunction(&function, NULL, "empty"));
    CALL(cu->cuModuleGetFunction(&function, module, "empty"));
    CALL(cu->cuModuleGetFunction(&again, module, "empty"));
    VALUE("same=%d", function == again);
    CALL(cu->cuModuleGetFunction(&again, module, "Empty"));
    CALL(cu->cuModuleGetFunction(&again, module, "empty "));
}

static void globals(void)
{
    CUmodule module = conform_module();
    CUdeviceptr address = 77, again = 0;
    size_t size = 77;
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "counter"));
    VALUE("size=%zu word=%u", size, conform_read(address));
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "bytes"));
    VALUE("size=%zu", size);
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "table"));
    VALUE("size=%zu", size);
    CALL(cu->cuModuleGetGlobal(&again, NULL, module, "table"));
    VALUE("same=%d", address == again);
    CALL(cu->cuModuleGetGlobal(NULL, &size, module, "table"));
    CALL(cu->cuModuleGetGlobal(NULL, NULL, module, "table"));
    address = 77;
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "nothing"));
    VALUE("touched=%d", address != 77);
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "empty"));
    CALL(cu->cuModuleGetGlobal(&address, &size, module, NULL));
    CALL(cu->cuModuleGetGlobal(&address, &size, NULL, "table"));
    CALL(cu->cuModuleGetGlobal(&address, &size, module, "dynamic"));
    MUST(cu->cuModuleGetGlobal(&address, &size, module, "counter"));
    CALL(cu->cuMemsetD32(address, 8, 1));
    CALL(cu->cuMemFree(address));
    CUDA_MEMCPY2D unused;
    memset(&unused, 0, sizeof unused);
    CALL(cu->cuMemsetD32(address, 8, 2));
    CALL(cu->cuMemGetAddressRange(&again, &size, address));
}

static void references(void)
{
    CUtexref texture = NULL;
    CUsurfref surface = NULL;
    CALL(cu->cuModuleGetTexRef(&texture, conform_module(), "nothing"));
    CALL(cu->cuModuleGetTexRef(NULL, conform_module(), "nothing"));
    CALL(cu->cuModuleGetTexRef(&texture, conform_module(), NULL));
    CALL(cu->cuModuleGetSurfRef(&surface, conform_module(), "nothing"));
    CALL(cu->cuModuleGetTexRef(&texture, NULL, "nothing"));
}

static void enumerated(void)
{
    CUmodule module = conform_module();
    CUfunction list[32] = {0};
    unsigned count = 77;
    CALL(cu->cuModuleGetFunctionCount(&count, module));
    VALUE("count=%u", count);
    CALL(cu->cuModuleGetFunctionCount(NULL, module));
    CALL(cu->cuModuleGetFunctionCount(&count, NULL));
    CALL(cu->cuModuleEnumerateFunctions(list, 32, module));
    VALUE("filled=%d", !!list[0]);
    CALL(cu->cuModuleEnumerateFunctions(list, 1, module));
    CALL(cu->cuModuleEnumerateFunctions(list, 0, module));
    CALL(cu->cuModuleEnumerateFunctions(NULL, 1, module));
}

static void twice(void)
{
    CUmodule a = NULL, b = NULL;
    CUfunction fa = NULL, fb = NULL;
    CUdeviceptr ga = 0, gb = 0;
    CALL(cu->cuModuleLoadData(&a, conform_ptx));
    CALL(cu->cuModuleLoadData(&b, conform_ptx));
    VALUE("differ=%d", a != b);
    CALL(cu->cuModuleGetFunction(&fa, a, "empty"));
    CALL(cu->cuModuleGetFunction(&fb, b, "empty"));
    VALUE("differ=%d", fa != fb);
    CALL(cu->cuModuleGetGlobal(&ga, NULL, a, "counter"));
    CALL(cu->cuModuleGetGlobal(&gb, NULL, b, "counter"));
    VALUE("differ=%d", ga != gb);
    CALL(cu->cuModuleUnload(a));
    CALL(cu->cuLaunchKernel(fb, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuModuleUnload(b));
}

static void other_context(void)
{
    CUmodule module = conform_module();
    CUfunction function = NULL;
    CUdeviceptr address = 0;
    CUcontext other = conform_context();
    CALL(cu->cuModuleGetFunction(&function, module, "empty"));
    CALL(cu->cuModuleGetGlobal(&address, NULL, module, "counter"));
    CALL(cu->cuModuleUnload(module));
    CALL(cu->cuCtxDestroy(other));
}

static char error_log[512], info_log[512];

static void options_good(void)
{
    CUmodule module = NULL;
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_WALL_TIME,        CU_JIT_LOG_VERBOSE};
    void *values[] = {error_log, (void *)512, info_log, (void *)512, NULL, (void *)1};
    CALL(cu->cuModuleLoadDataEx(&module, conform_ptx, 6, keys, values));
    VALUE("errors=%d info=%d", error_log[0] != 0, info_log[0] != 0);
    NOTE("error size=%d", (int)(uintptr_t)values[1]);
    void *bad_values[] = {error_log, (void *)512, info_log, (void *)512, NULL, (void *)1};
    CALL(cu->cuModuleLoadDataEx(&module, HEAD "nonsense\n", 6, keys, bad_values));
    VALUE("errors=%d size=%d", error_log[0] != 0, (uintptr_t)bad_values[1] > 1);
    CALL(cu->cuModuleLoadDataEx(&module, conform_ptx, 0, NULL, NULL));
    CALL(cu->cuModuleLoadDataEx(&module, conform_ptx, 1, NULL, NULL));
    CALL(cu->cuModuleLoadDataEx(&module, conform_ptx, 0, keys, values));
    CALL(cu->cuModuleLoadDataEx(&module, NULL, 0, NULL, NULL));
    CALL(cu->cuModuleLoadDataEx(NULL, conform_ptx, 0, NULL, NULL));
}

static void small_log(void)
{
    CUmodule module = NULL;
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    for (uintptr_t size = 0; size < 20; size = size ? size * 3 : 1) {
        void *values[] = {error_log, (void *)size};
        memset(error_log, 0, sizeof error_log);
        EACH(cu->cuModuleLoadDataEx(&module, HEAD "nonsense\n", 2, keys, values),
             "a log of %u bytes", (unsigned)size);
        VALUE("length=%zu size=%u", strlen(error_log), (unsigned)(uintptr_t)values[1]);
    }
}

static void option(int key, uintptr_t value)
{
    CUmodule module = NULL;
    CUjit_option keys[] = {(CUjit_option)key};
    void *values[] = {(void *)value};
    CUresult code = EACH(cu->cuModuleLoadDataEx(&module, HEAD EMPTY, 1, keys, values),
                         "option %d value %u", key, (unsigned)value);
    if (code == CUDA_SUCCESS)
        MUST(cu->cuModuleUnload(module));
}

static void options_each(void)
{
    static const int plain[] = {0,  1,  2,  4,  6,  7,  8,  10, 11, 12, 13, 14, 15, 16,
                                20, 21, 22, 23, 24, 29, 30, 31, 32, 33, 34, 35, 40, 99};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        option(plain[i], 1);
}

static void options_values(void)
{
    for (unsigned level = 0; level < 6; level++)
        option(CU_JIT_OPTIMIZATION_LEVEL, level);
    option(CU_JIT_TARGET, 90);
    option(CU_JIT_TARGET, 80);
    option(CU_JIT_TARGET, 100);
    option(CU_JIT_TARGET, 50);
    option(CU_JIT_TARGET, 7);
    option(CU_JIT_MAX_REGISTERS, 0);
    option(CU_JIT_MAX_REGISTERS, 32);
    option(CU_JIT_MAX_REGISTERS, 1000);
    option(CU_JIT_CACHE_MODE, 0);
    option(CU_JIT_CACHE_MODE, 7);
    option(CU_JIT_FALLBACK_STRATEGY, 0);
    option(CU_JIT_FALLBACK_STRATEGY, 5);
    option(CU_JIT_THREADS_PER_BLOCK, 256);
    option(CU_JIT_THREADS_PER_BLOCK, 2048);
}

static void after_unload(void)
{
    CUmodule module = NULL;
    CUdeviceptr address = 0;
    MUST(cu->cuModuleLoadData(&module, conform_ptx));
    MUST(cu->cuModuleGetGlobal(&address, NULL, module, "counter"));
    CALL(cu->cuModuleUnload(module));
    CALL(cu->cuMemsetD32(address, 1, 1));
    CALL(cu->cuCtxSynchronize());
}

static const struct sequence sequences[] = {S(good, PRIMARY),
                                            S(targets, PRIMARY),
                                            S(versions, PRIMARY),
                                            S(bad, PRIMARY),
                                            S(too_much, PRIMARY),
                                            S(newer_features, PRIMARY),
                                            S(misuse, PRIMARY),
                                            S(binaries, PRIMARY),
                                            S(from_file, PRIMARY),
                                            S(functions, PRIMARY),
                                            S(globals, PRIMARY),
                                            S(references, PRIMARY),
                                            S(enumerated, PRIMARY),
                                            S(twice, PRIMARY),
                                            S(other_context, PRIMARY),
                                            S(options_good, PRIMARY),
                                            S(small_log, PRIMARY),
                                            S(options_each, PRIMARY),
                                            S(options_values, PRIMARY),
                                            S(after_unload, PRIMARY),
                                            {0}};
const struct family module_family = {"module", sequences};
