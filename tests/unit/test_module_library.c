/* SPDX-License-Identifier: MIT */
/* Libraries for all contexts, of the driver's own and by modules, on a fake driver. */
#include <string.h>

#include "test_module_fake.h"

static void assert_context(uintptr_t number)
{
    assert_ptr_equal(module_fake_current(), module_fake_context(number));
    assert_int_equal(module_fake_depth(), number ? 1 : 0);
}

static void test_of_driver(void **state)
{
    struct cushim_library library = {0};
    CUfunction function = NULL;
    CUkernel kernel = NULL;
    CUmodule module = NULL;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    uintptr_t value;
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("8.4", "sm_90", "vecadd");
    module_fake_set(NULL); /* none is needed */
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library), 0);
    assert_non_null(library.library);
    assert_int_equal(library.module_count, 0);
    assert_false(module_fake_had(CU_JIT_TARGET_FROM_CUCONTEXT, &value));
    assert_int_equal(cushim_library_kernel(cu, &library, "vecadd", &kernel), 0);
    assert_int_equal(cushim_library_function(cu, &library, "vecadd", &function), 0);
    assert_int_equal(cushim_library_module(cu, &library, &module), 0);
    assert_int_equal(cushim_library_global(cu, &library, "counter", &address, &bytes), 0);
    assert_int_equal(bytes, 4);
    module_refused(cushim_library_function(cu, &library, "vecad", &function), CUDA_ERROR_NOT_FOUND,
                   "cushim_library_function",
                   "no kernel has that name (cuLibraryGetKernel); nearest: vecadd");
    module_refused(cushim_library_kernel(cu, &library, "vecad", &kernel), CUDA_ERROR_NOT_FOUND,
                   "cushim_library_kernel", "nearest: vecadd");
    module_refused(cushim_library_global(cu, &library, "count", &address, &bytes),
                   CUDA_ERROR_NOT_FOUND, "cushim_library_global", "nearest: counter");
    module_fake.fails = "cuKernelGetFunction";
    module_fake.code = CUDA_ERROR_INVALID_CONTEXT;
    module_refused(cushim_library_function(cu, &library, "vecadd", &function),
                   CUDA_ERROR_INVALID_CONTEXT, "cushim_library_function", "cuKernelGetFunction");
    module_fake.fails = "cuLibraryUnload";
    module_fake.code = CUDA_ERROR_UNKNOWN;
    module_refused(cushim_library_unload(cu, &library), CUDA_ERROR_UNKNOWN, "cushim_library_unload",
                   "cuLibraryUnload");
    assert_non_null(library.library);
    module_fake.fails = NULL;
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    assert_int_equal(cushim_library_unload(cu, NULL), 0);
    assert_int_equal(module_fake.libraries, 0);
    module_refused(cushim_library_function(cu, &library, "vecadd", &function),
                   CUDA_ERROR_INVALID_HANDLE, "cushim_library_function", "library: not loaded");
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library), 0);
    module_fake.fails = "cuLibraryUnload";
    module_fake.code = CUDA_ERROR_DEINITIALIZED;
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    cushim_close(cu);
}

static void test_by_modules(void **state)
{
    struct cushim_library library = {0};
    CUfunction one = NULL, two = NULL, again = NULL;
    CUkernel kernel = NULL;
    CUmodule module = NULL;
    (void)state;
    const struct cushim_api *cu = module_fake_open(11080);
    const char *ptx = module_fake_ptx("7.8", "sm_80", "vecadd");
    char copy[1024];
    memcpy(copy, ptx, strlen(ptx));
    assert_int_equal(cushim_library_load(cu, copy, strlen(ptx), NULL, NULL, &library), 0);
    memset(copy, 0, sizeof copy); /* the library has its own */
    assert_null(library.library);
    assert_int_equal(library.module_count, 1);
    assert_ptr_equal(library.modules[0].context, module_fake_context(1));
    assert_int_equal(cushim_library_function(cu, &library, "vecadd", &one), 0);
    module_fake_set(module_fake_context(2));
    assert_int_equal(cushim_library_function(cu, &library, "vecadd", &two), 0);
    assert_int_equal(cushim_library_function(cu, &library, "vecadd", &again), 0);
    assert_ptr_not_equal(one, two);
    assert_ptr_equal(again, two);
    assert_int_equal(module_fake.modules, 2);
    assert_int_equal(cushim_library_module(cu, &library, &module), 0);
    assert_ptr_equal(module, library.modules[1].module);
    assert_int_equal(cushim_library_global(cu, &library, "counter", NULL, NULL), 0);
    module_refused(cushim_library_kernel(cu, &library, "vecadd", &kernel),
                   CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "cushim_library_kernel", "CUDA 12.0");
    module_refused(cushim_library_function(cu, &library, "vecad", &one), CUDA_ERROR_NOT_FOUND,
                   "cushim_library_function", "nearest: vecadd");
    module_fake_set(NULL);
    module_refused(cushim_library_function(cu, &library, "vecadd", &one),
                   CUDA_ERROR_INVALID_CONTEXT, "cushim_library_function", "no context is current");
    module_fake_set(module_fake_context(3));
    module_fake.fails = "cuModuleLoadDataEx";
    module_fake.code = CUDA_ERROR_OUT_OF_MEMORY;
    module_refused(cushim_library_function(cu, &library, "vecadd", &one), CUDA_ERROR_OUT_OF_MEMORY,
                   "cushim_library_function", "cuModuleLoadDataEx");
    assert_int_equal(library.module_count, 2);
    module_fake.fails = "cuModuleUnload";
    module_fake.code = CUDA_ERROR_UNKNOWN;
    module_refused(cushim_library_unload(cu, &library), CUDA_ERROR_UNKNOWN, "cushim_library_unload",
                   "cuModuleUnload");
    assert_int_equal(library.module_count, 2);
    assert_context(3);
    module_fake.fails = NULL;
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    assert_context(3);
    assert_int_equal(module_fake.modules, 0);
    assert_null(library.state);

    /* A context that is gone took its module along. */
    ptx = module_fake_ptx("7.8", "sm_80", "vecadd");
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library), 0);
    module_fake.fails = "cuCtxPushCurrent_v2";
    module_fake.code = CUDA_ERROR_INVALID_CONTEXT;
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    assert_context(3);
    cushim_close(cu);
}

static void test_load_fails(void **state)
{
    static const int versions[] = {11080, 12040};
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        const struct cushim_api *cu = module_fake_open(versions[i]);
        struct cushim_library library = {.module_count = 99};
        struct cushim_jit_result result;
        const char *ptx = module_fake_ptx("9.0", "sm_90", "f");
        module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                       CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "cushim_library_load", ".version 9.0");
        cushim_jit_result_release(&result);
        ptx = module_fake_ptx("7.0", "sm_90", "syntax_error");
        module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                       CUDA_ERROR_INVALID_PTX, "cushim_library_load", "near 'syntax_error'");
        assert_contains(result.error_log, "syntax_error");
        cushim_jit_result_release(&result);
        module_refused(cushim_library_load(cu, "", 0, NULL, NULL, &library),
                       CUDA_ERROR_INVALID_VALUE, "cushim_library_load", "data: empty");
        module_refused(cushim_library_load(cu, "", 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                       "cushim_library_load", "library: NULL");
        module_refused(cushim_library_load_file(cu, "/nonexistent/a.ptx", NULL, NULL, &library),
                       CUDA_ERROR_FILE_NOT_FOUND, "cushim_library_load_file",
                       "path: /nonexistent/a.ptx");
        assert_int_equal(library.module_count, 99);
        assert_int_equal(module_fake.modules + module_fake.libraries, 0);
        module_refused(cushim_library_function(cu, NULL, "f", NULL), CUDA_ERROR_INVALID_VALUE,
                       "cushim_library_function", "library: NULL");
        cushim_close(cu);
    }
}

/* As real drivers do: the load is a success, the log has the errors, and what is asked for fails.
 */
static void test_late_errors(void **state)
{
    struct cushim_library library = {.module_count = 99};
    struct cushim_jit_result result;
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("7.0", "sm_90", "syntax_error");
    module_fake.late = true;
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                   CUDA_ERROR_INVALID_PTX, "cushim_library_load",
                   "cuLibraryGetModule: CUDA_ERROR_INVALID_PTX (218)");
    assert_contains(cushim_last_error(), "near 'syntax_error'");
    assert_contains(result.error_log, "syntax_error");
    assert_int_equal(library.module_count, 99);
    assert_int_equal(module_fake.libraries, 0);
    cushim_jit_result_release(&result);
    module_fake_set(NULL);
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library), 0);
    assert_contains(result.error_log, "syntax_error");
    cushim_jit_result_release(&result);
    assert_int_equal(cushim_library_unload(cu, &library), 0);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_driver),
        cmocka_unit_test(test_by_modules),
        cmocka_unit_test(test_load_fails),
        cmocka_unit_test(test_late_errors),
    };
    return cmocka_run_group_tests_name("module_library", tests, NULL, NULL);
}
