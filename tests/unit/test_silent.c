/* SPDX-License-Identifier: MIT */
/* What helpers hand out if the driver returns success and writes nothing: zero or NULL, and never
 * what was in memory before. */
#include <string.h>

#include "fake_silent.h"

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/feature.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#define UNTOUCHED ((void *)(uintptr_t)0x5a5a5a5a)
#define SOMETHING ((void *)(uintptr_t)0x1000)

static const char ptx[] = ".version 6.4\n.target sm_50\n.address_size 64\n";

static void test_version(void **state)
{
    (void)state;
    silent.version = 0;
    const struct cushim_api *cu = silent_open();
    assert_failed(cu, CUSHIM_ERROR_VERSION_INVALID);
    assert_contains(cushim_message(cu), "its cuDriverGetVersion returns version 0");
    cushim_close(cu);
}

static void test_devices(void **state)
{
    CUdevice devices[2] = {-7, -7};
    int count = -7, value = -7;
    (void)state;
    silent_fail("cuDeviceGetUuid", CUDA_ERROR_NOT_SUPPORTED);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_device_list(cu, devices, 2, &count), CUDA_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(devices[0], -7);
    assert_int_equal(cushim_device_attribute(cu, 0, 16, &value, NULL), CUDA_SUCCESS);
    assert_int_equal(value, 0);
    struct cushim_device_properties all = {.size = sizeof all, .total_memory = 7, .major = 7};
    assert_int_equal(cushim_device_describe(cu, 0, &all), CUDA_SUCCESS);
    assert_true(all.size == sizeof all && all.total_memory == 0);
    assert_int_equal(all.major, -1); /* not known */
    assert_int_equal(all.virtual_memory, -1);
    assert_string_equal(all.name, "");
    assert_string_equal(all.pci_bus_id, "");
    assert_string_equal(all.uuid, "");
    cushim_close(cu);
}

static void test_contexts(void **state)
{
    CUcontext context = UNTOUCHED;
    struct cushim_primary primary = {.size = sizeof primary, .flags = 7, .active = true};
    (void)state;
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_primary_retain(cu, 0, &context), CUDA_SUCCESS);
    assert_null(context);
    assert_int_equal(cushim_primary_describe(cu, 0, &primary), CUDA_SUCCESS);
    assert_int_equal(primary.retained, 0); /* of no devices none is counted */
    assert_int_equal(primary.flags, 0);
    assert_false(primary.active);
    context = UNTOUCHED;
    assert_int_equal(cushim_context_create(cu, 0, NULL, &context), CUDA_SUCCESS);
    assert_null(context);
    assert_int_equal(cushim_context_synchronize(cu, NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "no context is current on this thread");
    cushim_close(cu);

    silent_fail("cuDevicePrimaryCtxRetain", CUDA_ERROR_INVALID_DEVICE);
    cu = silent_open();
    assert_int_equal(cushim_primary_retain(cu, 5, &context), CUDA_ERROR_INVALID_DEVICE);
    assert_string_equal(cushim_last_error(), "cushim_primary_retain: device is 5, which "
                                             "cuDevicePrimaryCtxRetain does not know");
    cushim_close(cu);
}

static void test_memory(void **state)
{
    CUdeviceptr address = 7;
    (void)state;
    silent_fail("cuMemAllocAsync", CUDA_ERROR_NOT_SUPPORTED);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_SUCCESS);
    assert_true(address == 0);
    /* The device is 0, and has no pools. */
    address = 7;
    assert_int_equal(cushim_memory_alloc_async(cu, 64, NULL, &address), CUDA_SUCCESS);
    assert_true(address == 0);
    assert_int_equal(silent.device, 0);
    struct cushim_pointer pointer, nothing = {.size = sizeof nothing, .ordinal = -1};
    memset(&pointer, 0x5a, sizeof pointer);
    pointer.size = sizeof pointer;
    assert_int_equal(cushim_pointer_describe(cu, 64, &pointer), CUDA_SUCCESS);
    assert_int_equal(pointer.type, 0);
    assert_true(!pointer.device && !pointer.host && !pointer.base && !pointer.bytes);
    assert_true(!pointer.context && !pointer.pool && !pointer.id && !pointer.managed);
    assert_int_equal(pointer.ordinal, nothing.ordinal);
    cushim_close(cu);

    silent_fail("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY);
    cu = silent_open();
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "; bytes: 64, and 0 of 0 are free");
    cushim_close(cu);
}

static void expect_launch(const struct cushim_api *cu, const struct cushim_launch *launch,
                          size_t count, CUresult code, const char *words)
{
    assert_int_equal(cushim_launch_check(cu, SOMETHING, launch, NULL, count), code);
    assert_contains(cushim_last_error(), words);
}

static void test_launches(void **state)
{
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(32)};
    size_t block = 7, grid = 7, each = 7, all = 7;
    (void)state;
    const struct cushim_api *cu = silent_open();
    expect_launch(cu, &launch, 0, CUDA_ERROR_INVALID_VALUE,
                  "block: x is 32; device 0 has at most 0");
    assert_int_equal(silent.device, 0);
    silent.attribute = 1024;
    expect_launch(cu, &launch, 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                  "the function can have 0 in a block (it uses 0 registers a thread)");
    cushim_close(cu);

    silent_fail("cuFuncGetAttribute", CUDA_ERROR_NOT_SUPPORTED);
    cu = silent_open();
    expect_launch(cu, &launch, 1, CUDA_ERROR_INVALID_VALUE,
                  "arguments: 1 given; the function takes 0");
    launch.cooperative = true;
    expect_launch(cu, &launch, 0, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                  "device 0 holds 0 (0 on each of 1024 multiprocessors)");
    launch.cooperative = false;
    launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;
    expect_launch(cu, &launch, 0, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  "cluster: 1 x 1 x 1 blocks of the function do not fit device 0");
    assert_int_equal(cushim_launch_block_size(cu, SOMETHING, 0, NULL, 0, &block, &grid),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_contains(cushim_last_error(), "no block of it fits device 0");
    assert_true(block == 7 && grid == 7);
    assert_int_equal(cushim_launch_occupancy(cu, SOMETHING, &launch, &each, &all), CUDA_SUCCESS);
    assert_true(each == 0 && all == 0);
    cushim_close(cu);
}

static CUresult CUDAAPI two(void *holder, size_t *count)
{
    (void)holder;
    *count = 2;
    return CUDA_SUCCESS;
}

/* Two parameters, of which the driver does not tell more. */
static void test_parameters(void **state)
{
    const struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(32)};
    (void)state;
    silent.attribute = 1024;
    silent_fail("cuFuncGetAttribute", CUDA_ERROR_NOT_SUPPORTED);
    silent_use("cuFuncGetParamCount", (silent_fn *)two);
    const struct cushim_api *cu = silent_open();
    expect_launch(cu, &launch, 1, CUDA_ERROR_INVALID_VALUE,
                  "arguments: 1 given; the function takes 2, of 0, 0 bytes");
    cushim_close(cu);
}

static void test_modules(void **state)
{
    CUmodule module = UNTOUCHED;
    CUlibrary library = UNTOUCHED;
    CUfunction function = UNTOUCHED;
    CUkernel kernel = UNTOUCHED;
    struct cushim_jit_result result = {.size = sizeof result, .wall_ms = 7};
    (void)state;
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_module_load(cu, ptx, sizeof ptx, NULL, &result, &module), CUDA_SUCCESS);
    assert_null(module);
    assert_true(result.wall_ms == 0 && !*result.error_log && !*result.info_log);
    cushim_jit_result_release(&result);
    assert_int_equal(cushim_library_load(cu, ptx, sizeof ptx, NULL, NULL, &library), CUDA_SUCCESS);
    assert_null(library);
    assert_int_equal(cushim_module_function(cu, SOMETHING, "name", &function), CUDA_SUCCESS);
    assert_null(function);
    assert_int_equal(cushim_library_kernel(cu, SOMETHING, "name", &kernel), CUDA_SUCCESS);
    assert_null(kernel);
    cushim_close(cu);

    silent_fail("cuModuleGetFunction", CUDA_ERROR_NOT_FOUND);
    silent_fail("cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND);
    silent_fail("cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU);
    cu = silent_open();
    assert_int_equal(cushim_module_function(cu, SOMETHING, "a", &function), CUDA_ERROR_NOT_FOUND);
    assert_string_equal(cushim_last_error(), "cushim_module_function: name: a: no kernel has that "
                                             "name (cuModuleGetFunction)");
    assert_int_equal(cushim_library_kernel(cu, SOMETHING, "a", &kernel), CUDA_ERROR_NOT_FOUND);
    assert_string_equal(cushim_last_error(), "cushim_library_kernel: name: a: no kernel has that "
                                             "name (cuLibraryGetKernel)");
    assert_int_equal(cushim_module_load(cu, ptx, sizeof ptx, NULL, NULL, &module),
                     CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_null(strstr(cushim_last_error(), "compute capability")); /* that is not known */
    cushim_close(cu);
}

static void test_streams(void **state)
{
    float milliseconds = 7;
    CUgraphExec exec = UNTOUCHED;
    (void)state;
    silent_fail("cuStreamEndCapture", CUDA_ERROR_NOT_SUPPORTED);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_event_elapsed(cu, SOMETHING, SOMETHING, &milliseconds), CUDA_SUCCESS);
    assert_true(milliseconds == 0);
    assert_int_equal(cushim_capture_cancel(cu, SOMETHING), CUDA_SUCCESS); /* nothing is captured */
    assert_int_equal(cushim_graph_instantiate(cu, SOMETHING, 0, &exec), CUDA_SUCCESS);
    assert_null(exec);
    cushim_close(cu);
}

/* Of every feature that a device decides, and not by a minimum of 0. */
static void test_features(void **state)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    size_t lacking = 0;
    (void)state;
    const struct cushim_api *cu = silent_open();
    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        enum cushim_support support;
        char text[512];
        cushim_feature_reason(cu, 0, facts.feature, &support, text, sizeof text);
        if (support != CUSHIM_UNSUPPORTED_DEVICE)
            continue;
        lacking++;
        if (!facts.attribute)
            assert_contains(text, ", and device 0 has 0.0");
        else if (facts.attribute_mask)
            assert_contains(text, " is 0, without the bits ");
        else
            assert_contains(text, " is 0");
    }
    assert_true(lacking > 10);
    cushim_close(cu);
}

static int reset(void **state)
{
    (void)state;
    silent_reset();
    cushim_last_error_clear();
    return 0;
}

#define SILENT(test) cmocka_unit_test_setup(test, reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SILENT(test_version), SILENT(test_devices),  SILENT(test_contexts),
        SILENT(test_memory),  SILENT(test_launches), SILENT(test_parameters),
        SILENT(test_modules), SILENT(test_streams),  SILENT(test_features),
    };
    return cmocka_run_group_tests_name("silent", tests, NULL, NULL);
}
