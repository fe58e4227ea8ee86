/* SPDX-License-Identifier: MIT */
/* Loading, logs, names and linking on a fake driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test_module_fake.h"

#define NOT_WRITTEN ((CUmodule)(void *)&marker)

static int marker;

/* ---- loading */

static void test_load(void **state)
{
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("8.4", "sm_90", "vecadd");
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NULL, other = NULL;
    CUfunction function = NULL;
    uintptr_t value = 7;
    char *exact = malloc(strlen(ptx)); /* no NUL behind it */
    memcpy(exact, ptx, strlen(ptx));
    assert_int_equal(cushim_module_load(cu, exact, strlen(ptx), NULL, &result, &module), 0);
    free(exact);
    assert_string_equal(result.error_log, "");
    assert_string_equal(result.info_log, "info: compiled\n");
    assert_true(result.wall_ms > 0.4f && result.wall_ms < 0.6f);
    cushim_jit_result_release(&result);
    cushim_jit_result_release(&result);
    cushim_jit_result_release(NULL);
    assert_true(module_fake_had(CU_JIT_TARGET_FROM_CUCONTEXT, &value));
    assert_false(module_fake_had(CU_JIT_OPTIMIZATION_LEVEL, &value));

    assert_int_equal(cushim_module_load(cu, ptx, strlen(ptx) + 1, NULL, NULL, &other), 0);
    assert_int_equal(cushim_module_unload(cu, other), 0);
    assert_int_equal(cushim_module_function(cu, module, "vecadd", &function), 0);
    assert_non_null(function);
    module_fake.fails = "cuModuleUnload";
    module_fake.code = CUDA_ERROR_UNKNOWN;
    module_refused(cushim_module_unload(cu, module), CUDA_ERROR_UNKNOWN, "cushim_module_unload",
                   "cuModuleUnload");
    module_fake.fails = NULL;
    assert_int_equal(cushim_module_unload(cu, module), 0);
    assert_int_equal(cushim_module_unload(cu, NULL), 0);
    assert_int_equal(module_fake.modules, 0);
    module_fake.fails = "cuModuleUnload";
    module_fake.code = CUDA_ERROR_DEINITIALIZED;
    assert_int_equal(cushim_module_unload(cu, module), 0);
    cushim_close(cu);
}

static void test_options(void **state)
{
    const CUjit_option extra[] = {CU_JIT_FAST_COMPILE, CU_JIT_WALL_TIME};
    void *values[] = {(void *)1, NULL};
    uintptr_t value = 0;
    CUmodule module = NOT_WRITTEN;
    struct cushim_jit_result result = {.size = sizeof result};
    (void)state;
    const struct cushim_api *cu = module_fake_open(11080);
    const char *ptx = module_fake_ptx("7.0", "sm_70", "f");
    const size_t bytes = strlen(ptx);
    struct cushim_jit_options options = {.size = sizeof options,
                                         .optimisation = CUSHIM_JIT_OPTIMISATION_0,
                                         .fallback = CUSHIM_JIT_PREFER_BINARY,
                                         .max_registers = 32,
                                         .threads_per_block = 256,
                                         .target = 80,
                                         .cache_mode = CU_JIT_CACHE_OPTION_CA,
                                         .debug_info = true,
                                         .line_info = true,
                                         .verbose = true,
                                         .log_bytes = 16,
                                         .extra_count = 1,
                                         .extra_options = extra,
                                         .extra_values = values};
    assert_int_equal(cushim_module_load(cu, ptx, bytes, &options, &result, &module), 0);
    static const struct {
        CUjit_option option;
        uintptr_t value;
    } expected[] = {{CU_JIT_OPTIMIZATION_LEVEL, 0},
                    {CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY},
                    {CU_JIT_MAX_REGISTERS, 32},
                    {CU_JIT_THREADS_PER_BLOCK, 256},
                    {CU_JIT_TARGET, 80},
                    {CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CA},
                    {CU_JIT_GENERATE_DEBUG_INFO, 1},
                    {CU_JIT_GENERATE_LINE_INFO, 1},
                    {CU_JIT_LOG_VERBOSE, 1},
                    {CU_JIT_FAST_COMPILE, 1}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(module_fake_had(expected[i].option, &value));
        assert_int_equal(value, expected[i].value);
    }
    assert_false(module_fake_had(CU_JIT_TARGET_FROM_CUCONTEXT, &value));
    /* A log that does not fit is cut, and ends. */
    assert_string_equal(result.info_log, "info: compiled\n");
    cushim_jit_result_release(&result);
    assert_int_equal(cushim_module_unload(cu, module), 0);

    const struct cushim_jit_options good = options;
    module = NOT_WRITTEN;
#define REFUSED(member, bad, code, words)                                                          \
    do {                                                                                           \
        options = good;                                                                            \
        options.member = bad;                                                                      \
        module_refused(cushim_module_load(cu, ptx, bytes, &options, &result, &module), code,       \
                       "cushim_module_load", words);                                               \
        assert_string_equal(result.error_log, "");                                                 \
        cushim_jit_result_release(&result);                                                        \
    } while (0)
    REFUSED(size, 1, CUDA_ERROR_INVALID_VALUE, "options: size: 1 ");
    REFUSED(optimisation, (enum cushim_jit_optimisation)9, CUDA_ERROR_INVALID_VALUE,
            "optimisation is 9");
    REFUSED(fallback, (enum cushim_jit_fallback)3, CUDA_ERROR_INVALID_VALUE, "fallback is 3");
    REFUSED(cache_mode, 5, CUDA_ERROR_INVALID_VALUE, "cache_mode is 5");
    REFUSED(log_bytes, SIZE_MAX, CUDA_ERROR_INVALID_VALUE, "log_bytes");
    REFUSED(position_independent, true, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
            "position_independent came with CUDA 12.0, and the driver is 11.8");
    REFUSED(extra_count, 2, CUDA_ERROR_INVALID_VALUE, "extra_options[1] is 2");
    REFUSED(extra_count, 1000, CUDA_ERROR_INVALID_VALUE, "extra_count 1000");
    REFUSED(extra_values, NULL, CUDA_ERROR_INVALID_VALUE, "extra_values is NULL");
    assert_ptr_equal(module, NOT_WRITTEN);
    assert_int_equal(module_fake.modules, 0);
    cushim_close(cu);
}

static void refuse_load(const struct cushim_api *cu, const void *data, size_t bytes,
                        CUresult expected, const char *words)
{
    CUmodule module = NOT_WRITTEN;
    struct cushim_jit_result result = {.size = sizeof result};
    module_refused(cushim_module_load(cu, data, bytes, NULL, &result, &module), expected,
                   "cushim_module_load", words);
    assert_ptr_equal(module, NOT_WRITTEN);
    cushim_jit_result_release(&result);
    assert_int_equal(module_fake.modules, 0);
}

static void test_load_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NOT_WRITTEN;
    unsigned char cubin[208], fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    const char *ptx = module_fake_ptx("9.0", "sm_90", "f");
    refuse_load(cu, ptx, strlen(ptx), CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                ".version 9.0, which is newer than the driver's CUDA 12.4 reads");
    ptx = module_fake_ptx("8.0", "sm_90", "syntax_error");
    module_refused(cushim_module_load(cu, ptx, strlen(ptx), NULL, &result, &module),
                   CUDA_ERROR_INVALID_PTX, "cushim_module_load",
                   "line 4; error : near 'syntax_error'");
    assert_string_equal(result.error_log,
                        "ptxas application ptx input, line 4; error : near 'syntax_error'\n");
    assert_true(result.wall_ms > 0);
    cushim_jit_result_release(&result);
    refuse_load(cu, cubin, module_fake_elf(cubin, 2, 190, 0x6007802, 0x41),
                CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the device has compute capability 9.0, and the cubin is for sm_120");
    refuse_load(cu, fatbin, 16, CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the device has compute capability 9.0, and the fatbin has nothing for it");
    module_fake.fails = "cuModuleLoadDataEx";
    module_fake.code = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    refuse_load(cu, fatbin, 16, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                "the PTX in it is newer than the driver's CUDA 12.4 reads");
    module_fake.fails = NULL;
    refuse_load(cu, cubin, module_fake_elf(cubin, 1, 62, 0, 0), CUDA_ERROR_INVALID_IMAGE,
                "object of the host can be linked");
    refuse_load(cu, "!<arch>\n", 8, CUDA_ERROR_INVALID_IMAGE, "library of the host");
    refuse_load(cu, NULL, 8, CUDA_ERROR_INVALID_VALUE, "data is NULL");
    refuse_load(cu, "", 0, CUDA_ERROR_INVALID_VALUE, "data has 0 bytes");
    module_refused(cushim_module_load(cu, ptx, 60, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_module_load", "module is NULL");
    module_fake_set(NULL);
    ptx = module_fake_ptx("8.0", "sm_90", "f");
    refuse_load(cu, ptx, strlen(ptx), CUDA_ERROR_INVALID_CONTEXT, "no usable context");
    module_fake.fails = "cuModuleLoadDataEx";
    module_fake.code = CUDA_ERROR_OUT_OF_MEMORY;
    refuse_load(cu, ptx, strlen(ptx), CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY (2)");
    cushim_close(cu);
    cu = open_path("/nonexistent/libcuda.so.1");
    refuse_load(cu, ptx, strlen(ptx), CUDA_ERROR_NOT_INITIALIZED, "cuModuleLoadDataEx");
    cushim_close(cu);
}

/* A file is read in pieces, the first of 64 KiB; the kernel is far behind that. */
static void test_load_long_file(void **state)
{
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("8.4", "sm_90", "f"), *target = strstr(ptx, ".target");
    size_t start = (size_t)(strchr(target, '\n') + 1 - ptx), more = 300000;
    char *text = malloc(strlen(ptx) + more);
    CUmodule module = NULL;
    CUfunction function = NULL;
    (void)state;
    assert_non_null(text);
    memcpy(text, ptx, start);
    memset(text + start, '\n', more);
    memcpy(text + start + more, ptx + start, strlen(ptx) - start);
    make_folder();
    const char *path = write_file("long.ptx", text, strlen(ptx) + more);
    assert_int_equal(cushim_module_load_file(cu, path, NULL, NULL, &module), CUDA_SUCCESS);
    assert_int_equal(cushim_module_function(cu, module, "f", &function), CUDA_SUCCESS);
    free(text);
    remove_folder();
    cushim_close(cu);
}

static void test_load_file(void **state)
{
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NOT_WRITTEN;
    const char *ptx = module_fake_ptx("8.4", "sm_90", "f");
    make_folder();
#define FILE_REFUSED(path, code, words)                                                            \
    do {                                                                                           \
        module_refused(cushim_module_load_file(cu, path, NULL, &result, &module), code,            \
                       "cushim_module_load_file", words);                                          \
        cushim_jit_result_release(&result);                                                        \
    } while (0)
    FILE_REFUSED(in_folder("missing.ptx"), CUDA_ERROR_FILE_NOT_FOUND, "missing.ptx: No such file");
    FILE_REFUSED(make_folder(), CUDA_ERROR_OPERATING_SYSTEM, "not a regular file");
    FILE_REFUSED(write_file("empty.ptx", "", 0), CUDA_ERROR_INVALID_VALUE, "empty.ptx has 0 bytes");
    FILE_REFUSED(NULL, CUDA_ERROR_INVALID_VALUE, "path is NULL");
    FILE_REFUSED("", CUDA_ERROR_INVALID_VALUE, "path is an empty string");
#ifndef _WIN32
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    FILE_REFUSED(in_folder("pipe"), CUDA_ERROR_OPERATING_SYSTEM, "not a regular file");
#endif
    assert_ptr_equal(module, NOT_WRITTEN);
    assert_int_equal(
        cushim_module_load_file(cu, write_file("good.ptx", ptx, strlen(ptx)), NULL, NULL, &module),
        0);
    assert_int_equal(cushim_module_unload(cu, module), 0);
    remove_folder();
    cushim_close(cu);
}

/* ---- names */

static void test_missing_names(void **state)
{
    static const int versions[] = {11040, 12020, 12040};
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        const struct cushim_api *cu = module_fake_open(versions[i]);
        CUmodule module = NULL;
        CUfunction function = (CUfunction)(void *)&marker;
        const char *ptx = module_fake_ptx("7.0", "sm_70", "_Z6reducePf");
        assert_int_equal(cushim_module_load(cu, ptx, strlen(ptx), NULL, NULL, &module), 0);
        /* From 12.4 the driver lists what there is. */
        static const char *const near[][2] = {{"reduce", "; nearest: _Z6reducePf"},
                                              {"edu", "; nearest: _Z6reducePf"},
                                              {"ed", "; there is: _Z6reducePf"},
                                              {"_Z6ReducePf", "; nearest: _Z6reducePf"},
                                              {"quite_another", "; there is: _Z6reducePf"}};
        for (size_t j = 0; j < COUNT(near); j++) {
            module_refused(cushim_module_function(cu, module, near[j][0], &function),
                           CUDA_ERROR_NOT_FOUND, "cushim_module_function",
                           ": no kernel has that name (cuModuleGetFunction)");
            const char *listed = strstr(cushim_last_error(), near[j][1]);
            assert_int_equal(module_fake.named, versions[i] >= 12040); /* of one kernel, once */
            module_fake.named = 0;
            assert_int_equal(!!listed, versions[i] >= 12040);
        }
        module_refused(cushim_module_function(cu, NULL, "a", &function), CUDA_ERROR_INVALID_HANDLE,
                       "cushim_module_function", "module is NULL");
        module_refused(cushim_module_function(cu, module, NULL, &function),
                       CUDA_ERROR_INVALID_VALUE, "cushim_module_function", "name is NULL");
        module_refused(cushim_module_function(cu, module, "", &function), CUDA_ERROR_INVALID_VALUE,
                       "cushim_module_function", "name is an empty string");
        module_refused(cushim_module_function(cu, module, "a", NULL), CUDA_ERROR_INVALID_VALUE,
                       "cushim_module_function", "function is NULL");
        assert_ptr_equal(function, (void *)&marker);
        assert_int_equal(cushim_module_unload(cu, module), 0);
        cushim_close(cu);
    }
}

static void test_no_table(void **state)
{
    struct cushim_jit_result result = {.size = sizeof result}, small = {.size = 8};
    struct cushim_cubin cubin = {0};
    CUmodule module = NOT_WRITTEN;
    CUfunction function = NULL;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
#define NO_TABLE(call, helper) module_refused(call, CUDA_ERROR_INVALID_VALUE, helper, "cu is NULL")
    NO_TABLE(cushim_module_load(NULL, "a", 1, NULL, &result, &module), "cushim_module_load");
    assert_string_equal(result.error_log, "");
    cushim_jit_result_release(&result);
    NO_TABLE(cushim_module_load_file(NULL, "a", NULL, NULL, &module), "cushim_module_load_file");
    NO_TABLE(cushim_module_unload(NULL, module), "cushim_module_unload");
    NO_TABLE(cushim_module_function(NULL, module, "a", &function), "cushim_module_function");
    NO_TABLE(cushim_cubin_link(NULL, NULL, 0, NULL, NULL, &cubin), "cushim_cubin_link");
    NO_TABLE(cushim_module_link(NULL, NULL, 0, NULL, NULL, &module), "cushim_module_link");
    NO_TABLE(cushim_library_load(NULL, "a", 1, NULL, NULL, &library), "cushim_library_load");
    NO_TABLE(cushim_library_unload(NULL, library), "cushim_library_unload");
    NO_TABLE(cushim_library_kernel(NULL, library, "a", &kernel), "cushim_library_kernel");
    module_refused(cushim_module_load(cu, "a", 1, NULL, &small, &module), CUDA_ERROR_INVALID_VALUE,
                   "cushim_module_load", "result: size: 8 ");
    small.error_log = small.info_log = (char *)NOT_WRITTEN; /* as on a stack */
    cushim_jit_result_release(&small);
    assert_ptr_equal(module, NOT_WRITTEN);
    cushim_close(cu);
}

/* ---- linking */

static void test_link(void **state)
{
    unsigned char object[208];
    struct cushim_cubin cubin = {0};
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NULL;
    CUfunction function;
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *one = module_fake_ptx("8.4", "sm_90", "one");
    const char *two = module_fake_ptx("8.4", "sm_90", "two");
    make_folder();
    struct cushim_link_input inputs[] = {
        {.size = sizeof inputs[0], .data = one, .bytes = strlen(one)},
        {.size = sizeof inputs[0], .path = write_file("two.ptx", two, strlen(two))},
        {.size = sizeof inputs[0],
         .data = object,
         .bytes = module_fake_elf(object, 1, 62, 0, 0),
         .name = "an object"},
        {.size = sizeof inputs[0], .data = "!<arch>\n", .bytes = 8, .name = "lib.a"},
    };
    assert_int_equal(cushim_cubin_link(cu, inputs, COUNT(inputs), NULL, &result, &cubin), 0);
    assert_contains(module_fake.inputs, "1:input 0 1:");
    assert_contains(module_fake.inputs, inputs[1].path);
    assert_contains(module_fake.inputs, "two.ptx 3:an object 4:lib.a ");
    assert_true(result.wall_ms > 2.4f && result.wall_ms < 2.6f);
    struct cushim_image image = {.size = sizeof image};
    assert_int_equal(cushim_image_describe(cubin.data, cubin.bytes, &image), 0);
    assert_int_equal(image.arch, 90);
    cushim_jit_result_release(&result);
    cushim_cubin_release(&cubin);
    cushim_cubin_release(&cubin);
    cushim_cubin_release(NULL);
    assert_int_equal(cushim_module_link(cu, inputs, 2, NULL, &result, &module), 0);
    assert_string_equal(result.info_log, "info: compiled\n"); /* the linker's, not the load's */
    assert_true(result.wall_ms > 2.4f && result.wall_ms < 2.6f);
    cushim_jit_result_release(&result);
    assert_int_equal(cushim_module_function(cu, module, "one", &function), 0);
    assert_int_equal(cushim_module_function(cu, module, "two", &function), 0);
    assert_int_equal(cushim_module_unload(cu, module), 0);

#define LINK_REFUSED(given, count, code, words)                                                    \
    do {                                                                                           \
        module_refused(cushim_cubin_link(cu, given, count, NULL, &result, &cubin), code,           \
                       "cushim_cubin_link", words);                                                \
        assert_null(cubin.data);                                                                   \
        cushim_jit_result_release(&result);                                                        \
    } while (0)
    LINK_REFUSED(NULL, 1, CUDA_ERROR_INVALID_VALUE, "inputs is NULL");
    LINK_REFUSED(inputs, 0, CUDA_ERROR_INVALID_VALUE, "count is 0; pass at least one input");
    LINK_REFUSED(inputs, SIZE_MAX, CUDA_ERROR_OUT_OF_MEMORY, "count: no memory");
    inputs[2].size = 8;
    LINK_REFUSED(inputs, 4, CUDA_ERROR_INVALID_VALUE, "inputs: size: 8 ");
    inputs[2].size = sizeof inputs[0];
    inputs[3].bytes = 5;
    LINK_REFUSED(inputs, 4, CUDA_ERROR_INVALID_IMAGE, "inputs[3]: lib.a: 5 bytes of text");
    inputs[3].data = NULL;
    LINK_REFUSED(inputs, 4, CUDA_ERROR_INVALID_VALUE, "inputs[3]: lib.a is NULL");
    inputs[3].path = "/nonexistent/a.o";
    LINK_REFUSED(inputs, 4, CUDA_ERROR_FILE_NOT_FOUND, "inputs[3]: /nonexistent/a.o");
    inputs[3].data = one;
    LINK_REFUSED(inputs, 4, CUDA_ERROR_INVALID_VALUE, "inputs[3]: both");
    const char *wrong = module_fake_ptx("8.4", "sm_90", "syntax_error");
    inputs[1] = (struct cushim_link_input){
        .size = sizeof inputs[0], .data = wrong, .bytes = strlen(wrong), .name = "wrong"};
    LINK_REFUSED(inputs, 2, CUDA_ERROR_INVALID_PTX, "wrong: cuLinkAddData_v2");
    static const char *const calls[] = {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        module_fake.fails = calls[i];
        module_fake.code = CUDA_ERROR_OUT_OF_MEMORY;
        LINK_REFUSED(inputs, 1, CUDA_ERROR_OUT_OF_MEMORY, calls[i]);
    }
    module_fake.fails = "cuModuleLoadDataEx";
    module = NULL;
    module_refused(cushim_module_link(cu, inputs, 1, NULL, NULL, &module), CUDA_ERROR_OUT_OF_MEMORY,
                   "cushim_module_link",
                   "the linked cubin: cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY (2)");
    assert_null(module);
    module_fake.fails = NULL;
    module_refused(cushim_cubin_link(cu, inputs, 1, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_cubin_link", "cubin is NULL");
    module_refused(cushim_module_link(cu, inputs, 1, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_module_link", "module is NULL");
    remove_folder();
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),           cmocka_unit_test(test_options),
        cmocka_unit_test(test_load_fails),     cmocka_unit_test(test_load_file),
        cmocka_unit_test(test_load_long_file), cmocka_unit_test(test_missing_names),
        cmocka_unit_test(test_link),           cmocka_unit_test(test_no_table),
    };
    return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
