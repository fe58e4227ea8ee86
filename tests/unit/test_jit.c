/* SPDX-License-Identifier: MIT */
/* What the driver's compiler is given, option by option, and what is made of its code and logs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_silent.h"
#include "helpers/jit.h"

#include <cushim/error.h>
#include <cushim/module.h>

static const char ptx[] = ".version 8.4\n.target sm_90a\n.address_size 64\n",
                  low[] = ".version 9.1\n.target sm_50\n";

enum { MOST_OPTIONS = 96 };

/* The compiler: what it was given, and what it answers. */
static struct {
    CUresult code;
    const char *error, *info; /* logs, which it cuts to the room there is */
    float wall;
    unsigned count, calls;
    CUjit_option options[MOST_OPTIONS];
    void *values[MOST_OPTIONS];
    bool clean; /* the room for logs was all zero */
} compiler;

static void *compiler_value(CUjit_option option)
{
    for (unsigned i = 0; i < compiler.count; i++)
        if (compiler.options[i] == option)
            return compiler.values[i];
    fail_msg("no option %d", (int)option);
    return NULL;
}

static void compiler_write(CUjit_option buffer, CUjit_option size, const char *text)
{
    char *log = compiler_value(buffer);
    const size_t room = (size_t)(uintptr_t)compiler_value(size);
    for (size_t i = 0; i <= room; i++) /* one byte is kept back */
        compiler.clean = compiler.clean && !log[i];
    memcpy(log, text, strlen(text) < room ? strlen(text) : room);
}

static CUresult CUDAAPI compile(CUmodule *module, const void *image, unsigned count,
                                CUjit_option *options, void **values)
{
    assert_true(count <= MOST_OPTIONS);
    compiler.calls++;
    compiler.count = count;
    compiler.clean = true;
    memcpy(compiler.options, options, count * sizeof *options);
    memcpy(compiler.values, values, count * sizeof *values);
    assert_non_null(image);
    compiler_write(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, compiler.error);
    compiler_write(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, compiler.info);
    for (unsigned i = 0; i < count; i++)
        if (options[i] == CU_JIT_WALL_TIME)
            memcpy(&values[i], &compiler.wall, sizeof compiler.wall);
    *module = compiler.code ? NULL : (CUmodule)(void *)&compiler;
    return compiler.code;
}

static const struct cushim_api *open_compiler(int version)
{
    silent_reset();
    memset(&compiler, 0, sizeof compiler);
    compiler.error = compiler.info = "";
    silent.version = version;
    silent.capability = 86;
    silent_use("cuModuleLoadDataEx", (silent_fn *)compile);
    cushim_last_error_clear();
    return silent_open();
}

static CUresult load_image(const struct cushim_api *cu, const void *image, size_t bytes,
                           const struct cushim_jit_options *options,
                           struct cushim_jit_result *result)
{
    CUmodule module = NULL;
    CUresult code = cushim_module_load(cu, image, bytes, options, result, &module);
    assert_true(module == (code ? NULL : (CUmodule)(void *)&compiler));
    return code;
}

static CUresult load(const struct cushim_api *cu, const struct cushim_jit_options *options)
{
    return load_image(cu, ptx, sizeof ptx, options, NULL);
}

/* ---- what it is given */

struct given {
    CUjit_option option;
    uintptr_t value;
};

/* Exactly these, behind the logs' four, which are checked alike. */
static void check_given(const struct given *given, size_t count, size_t log_bytes)
{
    static const CUjit_option logs[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                        CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    assert_memory_equal(compiler.options, logs, sizeof logs);
    assert_true((uintptr_t)compiler.values[1] == log_bytes - 1);
    assert_true((uintptr_t)compiler.values[3] == log_bytes - 1);
    assert_true(compiler.values[0] && compiler.values[0] != compiler.values[2]);
    assert_true(compiler.clean);
    assert_int_equal(compiler.count, count + 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(compiler.options[4 + i], given[i].option);
        assert_true((uintptr_t)compiler.values[4 + i] == given[i].value);
    }
}

#define GIVEN(log_bytes, ...)                                                                      \
    check_given((const struct given[]){__VA_ARGS__}, COUNT(((const struct given[]){__VA_ARGS__})), \
                log_bytes)

static void test_options(void **state)
{
    static const CUjit_option extra[] = {CU_JIT_FTZ, CU_JIT_LTO};
    void *const values[] = {(void *)7, (void *)9};
    const struct cushim_jit_options all = {.size = sizeof all,
                                           .optimisation = CUSHIM_JIT_OPTIMISATION_4,
                                           .fallback = CUSHIM_JIT_PREFER_BINARY,
                                           .max_registers = 33,
                                           .threads_per_block = 257,
                                           .target = 90,
                                           .cache_mode = CU_JIT_CACHE_OPTION_CA,
                                           .debug_info = true,
                                           .line_info = true,
                                           .verbose = true,
                                           .position_independent = true,
                                           .log_bytes = 1000,
                                           .extra_count = 2,
                                           .extra_options = extra,
                                           .extra_values = values};
    (void)state;
    const struct cushim_api *cu = open_compiler(12000);
    assert_int_equal(load(cu, NULL), CUDA_SUCCESS);
    GIVEN(16384, {CU_JIT_LOG_VERBOSE, 0}, {CU_JIT_WALL_TIME, 0}, {CU_JIT_TARGET_FROM_CUCONTEXT, 0});
    assert_int_equal(load(cu, &all), CUDA_SUCCESS);
    GIVEN(1000, {CU_JIT_LOG_VERBOSE, 1}, {CU_JIT_WALL_TIME, 0}, {CU_JIT_TARGET, 90},
          {CU_JIT_OPTIMIZATION_LEVEL, 4}, {CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY},
          {CU_JIT_MAX_REGISTERS, 33}, {CU_JIT_THREADS_PER_BLOCK, 257},
          {CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CA}, {CU_JIT_GENERATE_DEBUG_INFO, 1},
          {CU_JIT_GENERATE_LINE_INFO, 1}, {CU_JIT_POSITION_INDEPENDENT_CODE, 1}, {CU_JIT_FTZ, 7},
          {CU_JIT_LTO, 9});
    /* A cubin is not compiled: of all that, it takes the logs. */
    unsigned char cubin[64] = "\177ELF\2";
    cubin[16] = 2;
    cubin[18] = 190;
    assert_int_equal(load_image(cu, cubin, sizeof cubin, &all, NULL), CUDA_SUCCESS);
    GIVEN(1000, {CU_JIT_LOG_VERBOSE, 1}, {CU_JIT_WALL_TIME, 0});
    cushim_close(cu);
}

/* The first value that is refused, the last that is not, and the sentence. */
static void test_bounds(void **state)
{
    static const CUjit_option extra[CUSHIM_JIT_MOST_EXTRA + 1] = {CU_JIT_FTZ};
    static void *const values[CUSHIM_JIT_MOST_EXTRA + 1];
    static const struct {
        struct cushim_jit_options options;
        const char *words; /* NULL: it is taken */
    } rows[] = {
        {{.optimisation = CUSHIM_JIT_OPTIMISATION_4}, NULL},
        {{.optimisation = CUSHIM_JIT_OPTIMISATION_4 + 1}, "options: optimisation is 6"},
        {{.optimisation = (enum cushim_jit_optimisation) - 1}, "options: optimisation is -1"},
        {{.fallback = CUSHIM_JIT_PREFER_BINARY}, NULL},
        {{.fallback = CUSHIM_JIT_PREFER_BINARY + 1}, "options: fallback is 3"},
        {{.cache_mode = CU_JIT_CACHE_OPTION_CA}, NULL},
        {{.cache_mode = CU_JIT_CACHE_OPTION_CA + 1}, "options: cache_mode is 3"},
        {{.log_bytes = ((size_t)1 << 30) + 1},
         "options: log_bytes 1073741825 is more than 1073741824"},
        {{.extra_count = CUSHIM_JIT_MOST_EXTRA, .extra_options = extra, .extra_values = values},
         NULL},
        {{.extra_count = CUSHIM_JIT_MOST_EXTRA + 1, .extra_options = extra, .extra_values = values},
         "options: extra_count 65 is more than 64"},
        {{.extra_count = 1, .extra_options = extra},
         "options: extra_count 1, but extra_values is NULL"},
        {{.extra_count = 1, .extra_values = values},
         "options: extra_count 1, but extra_options is NULL"},
        {{.position_independent = true}, NULL},
    };
    (void)state;
    const struct cushim_api *cu = open_compiler(12000);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cushim_jit_options options = rows[i].options;
        char words[256];
        options.size = sizeof options;
        compiler.calls = 0;
        cushim_last_error_clear();
        assert_int_equal(load(cu, &options),
                         rows[i].words ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        assert_int_equal(compiler.calls, rows[i].words ? 0 : 1);
        snprintf(words, sizeof words, "cushim_module_load: %s", rows[i].words);
        assert_string_equal(cushim_last_error(), rows[i].words ? words : "");
    }
    for (int option = CU_JIT_MAX_REGISTERS; option <= CU_JIT_FTZ; option++) {
        const CUjit_option both[] = {CU_JIT_LTO, (CUjit_option)option};
        const struct cushim_jit_options options = {.size = sizeof options,
                                                   .extra_count = 2,
                                                   .extra_options = both,
                                                   .extra_values = values};
        const bool own = option >= CU_JIT_WALL_TIME && option <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
        char words[256];
        assert_int_equal(load(cu, &options), own ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        snprintf(words, sizeof words,
                 "cushim_module_load: options: extra_options[1] is %d: logs and wall time are in "
                 "the result",
                 option);
        if (own)
            assert_string_equal(cushim_last_error(), words);
        const CUjit_option reversed[] = {(CUjit_option)option, CU_JIT_LTO};
        struct cushim_jit_options first = options;
        first.extra_options = reversed;
        assert_int_equal(load(cu, &first), own ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    }
    const struct cushim_jit_options most = {.size = sizeof most, .log_bytes = (size_t)1 << 30};
    assert_int_not_equal(load(cu, &most), CUDA_ERROR_INVALID_VALUE); /* there may be no memory */
    cushim_close(cu);

    const struct cushim_jit_options moved = {.size = sizeof moved, .position_independent = true};
    cu = open_compiler(11990);
    assert_int_equal(load(cu, &moved), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_string_equal(cushim_last_error(), "cushim_module_load: options: position_independent "
                                             "came with CUDA 12.0, and the driver is 11.99");
    cushim_close(cu);
}

/* ---- logs and time */

static void test_log_sizes(void **state)
{
    static const size_t sizes[][2] = {{0, 16384}, {1, 16}, {15, 16}, {16, 16}, {17, 17}, {99, 99}};
    char longest[20000];
    (void)state;
    const struct cushim_api *cu = open_compiler(13000);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    compiler.error = compiler.info = longest;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct cushim_jit_options options = {.size = sizeof options,
                                                   .log_bytes = sizes[i][0]};
        struct cushim_jit_result result = {.size = sizeof result};
        assert_int_equal(load_image(cu, ptx, sizeof ptx, &options, &result), CUDA_SUCCESS);
        GIVEN(sizes[i][1], {CU_JIT_LOG_VERBOSE, 0}, {CU_JIT_WALL_TIME, 0},
              {CU_JIT_TARGET_FROM_CUCONTEXT, 0});
        assert_int_equal(strlen(result.error_log), sizes[i][1] - 1);
        assert_int_equal(strlen(result.info_log), sizes[i][1] - 1);
        cushim_jit_result_release(&result);
        assert_true(result.size == sizeof result && !result.error_log && !result.info_log);
    }
    cushim_close(cu);
}

static void test_wall(void **state)
{
    static const float walls[][2] = {{0, 0},           {-1, 0},   {1.5f, 1.5f}, {0.5f, 0.5f},
                                     {9.9e8f, 9.9e8f}, {1e9f, 0}, {2e9f, 0}};
    (void)state;
    const struct cushim_api *cu = open_compiler(13000);
    for (size_t i = 0; i <= COUNT(walls); i++) {
        struct cushim_jit_result result = {.size = sizeof result, .wall_ms = 7};
        compiler.wall = i < COUNT(walls) ? walls[i][0] : NAN;
        assert_int_equal(load_image(cu, ptx, sizeof ptx, NULL, &result), CUDA_SUCCESS);
        assert_true(result.wall_ms == (i < COUNT(walls) ? walls[i][1] : 0));
        cushim_jit_result_release(&result);
    }
    cushim_close(cu);
}

static void expect_words(const struct cushim_api *cu, const void *image, size_t bytes,
                         CUresult code, const char *words)
{
    compiler.code = code;
    assert_int_equal(load_image(cu, image, bytes, NULL, NULL), code);
    assert_string_equal(cushim_last_error(), words);
}

#define INVALID "cushim_module_load: data: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218), "

/* The line of the log that the sentence has. */
static void test_lines(void **state)
{
    static const struct {
        const char *error, *info, *line;
    } rows[] = {
        {"", "", ""},
        {"one", "two", "; the log: one"},
        {"", "two", "; the log: two"},
        {"\n\none\ntwo", "", "; the log: one"},
        {"one\r\ntwo", "", "; the log: one"},
        {"one\nerror: two\nerror: three", "", "; the log: error: two"},
        {"error one\nerror two", "", "; the log: error one"},
        {"errox\nerror", "", "; the log: error"},
        {"warning\nerrors", "", "; the log: errors"},
        {"\n", "two", ""}, /* it has no line that is not empty */
    };
    (void)state;
    const struct cushim_api *cu = open_compiler(13000);
    char words[1024], most[512], plain[256];
    snprintf(plain, sizeof plain, INVALID "%s", cushim_error_string(CUDA_ERROR_INVALID_PTX));
    for (size_t i = 0; i < COUNT(rows); i++) {
        compiler.error = rows[i].error;
        compiler.info = rows[i].info;
        snprintf(words, sizeof words, "%s%s", plain, rows[i].line);
        expect_words(cu, low, sizeof low, CUDA_ERROR_INVALID_PTX, words);
    }
    for (size_t length = 399; length <= 402; length++) {
        memset(most, 'y', sizeof most);
        most[length] = '\0';
        compiler.error = most;
        snprintf(words, sizeof words, "%s; the log: %.400s", plain, most);
        expect_words(cu, low, sizeof low, CUDA_ERROR_INVALID_PTX, words);
    }
    cushim_close(cu);
}

/* ---- why */

static void test_why(void **state)
{
    static const char equal[] = ".version 9.1\n.target sm_86", none[] = ".version 9.1\n";
    static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
    unsigned char cubin[64] = "\177ELF\2";
    cubin[16] = 2;
    cubin[18] = 190;
    cubin[48] = 90;
    const struct {
        const void *image;
        size_t bytes;
        CUresult code;
        const char *why;
    } rows[] = {
        {ptx, sizeof ptx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
         ": the PTX has .version 8.4, which is newer than the driver's CUDA 12.8 reads"},
        {fatbin, sizeof fatbin, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
         ": the PTX in it is newer than the driver's CUDA 12.8 reads"},
        {ptx, sizeof ptx, CUDA_ERROR_INVALID_PTX,
         ": the device has compute capability 8.6, and the PTX is for sm_90a"},
        {low, sizeof low, CUDA_ERROR_INVALID_PTX, ""},
        {equal, sizeof equal, CUDA_ERROR_INVALID_PTX, ""},
        {none, sizeof none, CUDA_ERROR_INVALID_PTX, ""},
        {low, sizeof low, CUDA_ERROR_NO_BINARY_FOR_GPU,
         ": the device has compute capability 8.6, and the PTX is for sm_50"},
        {none, sizeof none, CUDA_ERROR_NO_BINARY_FOR_GPU,
         ": the device has compute capability 8.6, and the PTX has nothing for it"},
        {fatbin, sizeof fatbin, CUDA_ERROR_NO_BINARY_FOR_GPU,
         ": the device has compute capability 8.6, and the fatbin has nothing for it"},
        {cubin, sizeof cubin, CUDA_ERROR_NO_BINARY_FOR_GPU,
         ": the device has compute capability 8.6, and the cubin is for sm_90"},
        {ptx, sizeof ptx, CUDA_ERROR_INVALID_IMAGE, ""},
    };
    (void)state;
    const struct cushim_api *cu = open_compiler(12080);
    char words[1024];
    for (int known = 1; known >= 0; known--) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            const bool of_device = strstr(rows[i].why, "capability");
            snprintf(words, sizeof words,
                     "cushim_module_load: data: cuModuleLoadDataEx: %s (%d), %s%s",
                     cushim_error_name(rows[i].code), (int)rows[i].code,
                     cushim_error_string(rows[i].code), known || !of_device ? rows[i].why : "");
            expect_words(cu, rows[i].image, rows[i].bytes, rows[i].code, words);
        }
        cushim_close(cu);
        cu = open_compiler(12080);
        silent_fail("cuCtxGetDevice", CUDA_ERROR_NOT_SUPPORTED); /* no device is known */
        cushim_close(cu);
        cu = silent_open();
    }
    cushim_close(cu);
}

/* Codes that are no answer about the image. */
static void test_codes(void **state)
{
    static const CUresult plain[] = {CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NOT_SUPPORTED,
                                     CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER};
    char words[512];
    (void)state;
    const struct cushim_api *cu = open_compiler(13000);
    compiler.error = "a line";
    for (size_t i = 0; i < COUNT(plain); i++) {
        snprintf(words, sizeof words, "cushim_module_load: cuModuleLoadDataEx: %s (%d), %s",
                 cushim_error_name(plain[i]), (int)plain[i], cushim_error_string(plain[i]));
        expect_words(cu, ptx, sizeof ptx, plain[i], words);
    }
    expect_words(cu, ptx, sizeof ptx, CUDA_ERROR_INVALID_CONTEXT,
                 "cushim_module_load: cuModuleLoadDataEx: no usable context is current on this "
                 "thread");
    expect_words(cu, ptx, sizeof ptx, (CUresult)12345,
                 "cushim_module_load: data: cuModuleLoadDataEx: unknown error (12345), unknown; "
                 "the log: a line");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),   cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_log_sizes), cmocka_unit_test(test_wall),
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_why),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
