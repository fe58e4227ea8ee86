/* SPDX-License-Identifier: MIT */
/* Libraries for all contexts, on a fake driver. */
#include <string.h>

#include "test_module_fake.h"

#define NOT_WRITTEN ((CUlibrary)(void *)&marker)
static int marker;

static void test_load(void **state)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    uintptr_t value;
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("8.4", "sm_90", "vecadd");
    module_fake_set(NULL); /* none is needed */
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library), 0);
    assert_non_null(library);
    assert_false(module_fake_had(CU_JIT_TARGET_FROM_CUCONTEXT, &value));
    assert_int_equal(cushim_library_kernel(cu, library, "vecadd", &kernel), 0);
    assert_non_null(kernel);
    module_refused(cushim_library_kernel(cu, library, "vecad", &kernel), CUDA_ERROR_NOT_FOUND,
                   "cushim_library_kernel",
                   "no kernel has that name (cuLibraryGetKernel); nearest: vecadd");
    module_refused(cushim_library_kernel(cu, NULL, "vecadd", &kernel), CUDA_ERROR_INVALID_HANDLE,
                   "cushim_library_kernel", "library is NULL");
    module_refused(cushim_library_kernel(cu, library, "", &kernel), CUDA_ERROR_INVALID_VALUE,
                   "cushim_library_kernel", "name is an empty string");
    module_refused(cushim_library_kernel(cu, library, "vecadd", NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_library_kernel", "kernel is NULL");
    module_fake.fails = "cuLibraryUnload";
    module_fake.code = CUDA_ERROR_UNKNOWN;
    module_refused(cushim_library_unload(cu, library), CUDA_ERROR_UNKNOWN, "cushim_library_unload",
                   "cuLibraryUnload");
    module_fake.fails = NULL;
    assert_int_equal(cushim_library_unload(cu, library), 0);
    assert_int_equal(cushim_library_unload(cu, NULL), 0);
    assert_int_equal(module_fake.libraries, 0);
    module_fake.fails = "cuLibraryUnload";
    module_fake.code = CUDA_ERROR_DEINITIALIZED;
    assert_int_equal(cushim_library_unload(cu, library), 0);
    cushim_close(cu);
}

static void test_older_driver(void **state)
{
    CUlibrary library = NOT_WRITTEN;
    (void)state;
    const struct cushim_api *cu = module_fake_open(11080);
    const char *ptx = module_fake_ptx("7.8", "sm_80", "vecadd");
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library),
                   CUDA_ERROR_NOT_SUPPORTED, "cushim_library_load",
                   "cuLibraryLoadData is not available: it came with CUDA 12.0");
    assert_contains(cushim_last_error(), "load a module in each context (cushim_module_load)");
    assert_ptr_equal(library, NOT_WRITTEN);
    assert_int_equal(module_fake.modules, 0);
    cushim_close(cu);
    cu = open_path("/nonexistent/libcuda.so.1");
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library),
                   CUDA_ERROR_NOT_INITIALIZED, "cushim_library_load",
                   "cuLibraryLoadData is not available: there is no CUDA driver");
    cushim_close(cu);
}

static void test_load_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    CUlibrary library = NOT_WRITTEN;
    struct cushim_jit_result result = {.size = sizeof result};
    const char *ptx = module_fake_ptx("9.0", "sm_90", "f");
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                   CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "cushim_library_load", ".version 9.0");
    cushim_jit_result_release(&result);
    ptx = module_fake_ptx("7.0", "sm_90", "syntax_error");
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                   CUDA_ERROR_INVALID_PTX, "cushim_library_load", "near 'syntax_error'");
    assert_contains(result.error_log, "syntax_error");
    cushim_jit_result_release(&result);
    module_refused(cushim_library_load(cu, "", 0, NULL, NULL, &library), CUDA_ERROR_INVALID_VALUE,
                   "cushim_library_load", "data has 0 bytes");
    module_refused(cushim_library_load(cu, "", 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_library_load", "library is NULL");
    assert_ptr_equal(library, NOT_WRITTEN);
    assert_int_equal(module_fake.modules + module_fake.libraries, 0);
    cushim_close(cu);
}

/* As real drivers do: the load is a success, the log has the errors, and later calls fail. */
static void test_late_errors(void **state)
{
    CUlibrary library = NOT_WRITTEN;
    struct cushim_jit_result result = {.size = sizeof result};
    (void)state;
    const struct cushim_api *cu = module_fake_open(12040);
    const char *ptx = module_fake_ptx("7.0", "sm_90", "syntax_error");
    module_fake.late = true;
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library),
                   CUDA_ERROR_INVALID_PTX, "cushim_library_load",
                   "cuLibraryGetModule: CUDA_ERROR_INVALID_PTX (218)");
    assert_contains(cushim_last_error(), "near 'syntax_error'");
    assert_contains(result.error_log, "syntax_error");
    assert_ptr_equal(library, NOT_WRITTEN);
    assert_int_equal(module_fake.libraries, 0);
    cushim_jit_result_release(&result);
    module_fake.terse = true;
    module_refused(cushim_library_load(cu, ptx, strlen(ptx), NULL, NULL, &library),
                   CUDA_ERROR_INVALID_PTX, "cushim_library_load", "the log: ?");
    module_fake.terse = false;
    module_fake_set(NULL);
    assert_int_equal(cushim_library_load(cu, ptx, strlen(ptx), NULL, &result, &library), 0);
    assert_contains(result.error_log, "syntax_error");
    assert_true(result.wall_ms > 0);
    cushim_jit_result_release(&result);
    assert_int_equal(cushim_library_unload(cu, library), 0);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_older_driver),
        cmocka_unit_test(test_load_fails),
        cmocka_unit_test(test_late_errors),
    };
    return cmocka_run_group_tests_name("module_library", tests, NULL, NULL);
}
