/* SPDX-License-Identifier: MIT */
/* What drivers do rarely: one device, a name that is none, a value beside a refusal, a call that
 * fails where others of its kind succeeded. */
#include <string.h>

#include "fake_silent.h"

#include <cushim/compat.h>
#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/module.h>

#define SOMETHING ((void *)(uintptr_t)0x1000)

static CUresult CUDAAPI count_one(unsigned *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI tell_device(CUdevice *device, int ordinal)
{
    *device = 7 + ordinal;
    return CUDA_SUCCESS;
}

/* A single device is listed, and refused by its numbers. */
static void test_one_device(void **state)
{
    CUdevice device = -1;
    int count = 0, value = 0;
    (void)state;
    silent_reset();
    silent_use("cuDeviceGetCount", (silent_fn *)count_one);
    silent_use("cuDeviceGet", (silent_fn *)tell_device);
    silent_fail("cuDeviceGetAttribute", CUDA_ERROR_INVALID_DEVICE);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_device_list(cu, &device, 1, &count), CUDA_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(device, 7);
    assert_int_equal(cushim_device_attribute(cu, 5, 1, &value, NULL), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(cushim_last_error(), "device: 5 is not one of the driver's 1, 0 to 0");
    cushim_close(cu);
}

static CUresult CUDAAPI refuse_with_value(int *value)
{
    *value = 5;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* What a driver writes beside a refusal is no value. */
static void test_refused_value(void **state)
{
    struct cushim_device_properties properties = {.size = sizeof properties};
    (void)state;
    silent_reset();
    silent_use("cuDeviceGetAttribute", (silent_fn *)refuse_with_value);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_device_describe(cu, 0, &properties), CUDA_SUCCESS);
    assert_int_equal(properties.multiprocessors, -1);
    assert_int_equal(properties.warp_size, -1);
    cushim_close(cu);
}

/* A kernel whose name is NULL is in no list, and a failure has its sentence. */
static void test_names(void **state)
{
    CUfunction function = NULL;
    CUkernel kernel = NULL;
    (void)state;
    silent_reset();
    silent_use("cuModuleGetFunctionCount", (silent_fn *)count_one);
    silent_use("cuLibraryGetKernelCount", (silent_fn *)count_one);
    silent_fail("cuModuleGetFunction", CUDA_ERROR_NOT_FOUND);
    silent_fail("cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_module_function(cu, SOMETHING, "name", &function),
                     CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_library_kernel(cu, SOMETHING, "name", &kernel), CUDA_ERROR_NOT_FOUND);
    cushim_close(cu);
    silent_reset();
    silent_fail("cuModuleGetFunction", CUDA_ERROR_OUT_OF_MEMORY);
    silent_fail("cuLibraryGetKernel", CUDA_ERROR_OUT_OF_MEMORY);
    cu = silent_open();
    assert_int_equal(cushim_module_function(cu, SOMETHING, "name", &function),
                     CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuModuleGetFunction: CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(cushim_library_kernel(cu, SOMETHING, "name", &kernel),
                     CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuLibraryGetKernel: CUDA_ERROR_OUT_OF_MEMORY");
    cushim_close(cu);
}

/* Versions of drivers that are none; a last number that is left out is 0. */
static void test_versions(void **state)
{
    static const char *const wrong[] = {"",       "x",       "535",       ".535.1",  "535.",
                                        "535..1", "535.1.",  "535.104x",  "535x",    "535x1",
                                        " 535.1", "+535.1",  "-535.1",    "535.-1",  "535. 1",
                                        "a.1",    "535.b.1", "535.104:5", "535.1.c", "535.1.1.1"};
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    size_t short_ones = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(cushim_driver_release(wrong[i]), 0);
    assert_true(cushim_driver_release("535.104") > 0);
    for (size_t i = 0; cushim_toolkit_at(i, &toolkit); i++) {
        char longer[64];
        const char *dot = toolkit.linux_driver ? strchr(toolkit.linux_driver, '.') : NULL;
        if (!dot || strchr(dot + 1, '.'))
            continue;
        strcpy(longer, toolkit.linux_driver);
        assert_int_equal(cushim_driver_release(strcat(longer, ".0")),
                         cushim_driver_release(toolkit.linux_driver));
        short_ones++;
    }
    assert_true(short_ones > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_refused_value),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests_name("rare", tests, NULL, NULL);
}
