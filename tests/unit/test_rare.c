/* SPDX-License-Identifier: MIT */
/* What drivers do rarely: one device, a name that is none, a value beside a refusal, a call that
 * fails where others of its kind succeeded. */
#include <string.h>
#include <unistd.h>

#include "fake_silent.h"

#include <cushim/compat.h>
#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/feature.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

#include "helpers/error.h"
#include "helpers/image.h"
#include "helpers/scope.h"

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
    assert_int_equal(cushim_device_list(cu, NULL, 1, &count), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "devices is NULL; pass an array of 1, the capacity");
    assert_int_equal(cushim_device_attribute(cu, 5, 1, &value, NULL), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(cushim_last_error(), "device is 5; the driver has 1, numbered from 0");
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
    silent_fail("cuDeviceGetPCIBusId", CUDA_ERROR_NOT_SUPPORTED);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_device_describe(cu, 0, &properties), CUDA_SUCCESS);
    assert_int_equal(properties.multiprocessors, -1);
    assert_int_equal(properties.warp_size, -1);
    assert_string_equal(properties.pci_bus_id, "");
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

/* What is asked after a failure does not change its sentence. */
static void test_sentence_stays(void **state)
{
    CUdeviceptr memory = 0;
    (void)state;
    silent_reset();
    silent_fail("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY);
    silent_use("cuMemGetInfo_v2", NULL);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cu->cuMemGetInfo_v2(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED); /* is noted */
    assert_int_equal(cushim_memory_alloc(cu, 64, &memory), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY");
    assert_contains(cushim_last_error(), "; bytes: 64");
    assert_null(strstr(cushim_last_error(), "cuMemGetInfo"));
    cushim_close(cu);
}

static CUresult CUDAAPI be_gone(void)
{
    return CUDA_ERROR_DEINITIALIZED;
}

/* What the driver freed at its end is freed. */
static void test_gone(void **state)
{
    (void)state;
    silent_reset();
    silent_use("cuMemFree_v2", (silent_fn *)be_gone);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_memory_free(cu, 64), CUDA_SUCCESS);
    cushim_close(cu);
}

/* A reason is cut where its buffer ends. */
static void test_feature_cut(void **state)
{
    char whole[512], text[512];
    (void)state;
    silent_reset();
    const struct cushim_api *cu = silent_open();
    cushim_feature_reason(cu, CUSHIM_NO_DEVICE, (enum cushim_feature)0, NULL, whole, sizeof whole);
    const size_t length = strlen(whole);
    assert_true(length > 10);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(text, 'x', sizeof text);
        cushim_feature_reason(cu, CUSHIM_NO_DEVICE, (enum cushim_feature)0, NULL, text, size);
        assert_memory_equal(text, whole, size - 1);
        assert_int_equal(text[size - 1], '\0');
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], 'x');
    }
    cushim_close(cu);
}

static int pushes;

static CUresult CUDAAPI count_push(CUcontext context)
{
    (void)context;
    pushes++;
    return CUDA_SUCCESS;
}

/* A scope that cannot be left keeps the sentence of what failed in it, and pushes nothing. */
static void test_scope(void **state)
{
    (void)state;
    silent_reset();
    silent_fail("cuCtxGetCurrent", CUDA_ERROR_OUT_OF_MEMORY);
    silent_fail("cuCtxSetCurrent", CUDA_ERROR_OUT_OF_MEMORY);
    silent_use("cuCtxPushCurrent_v2", (silent_fn *)count_push);
    const struct cushim_api *cu = silent_open();
    struct cushim_scope scope = {.cu = cu, .context = SOMETHING};
    assert_int_equal(cushim_scope_begin(cu, NULL, "helper", &scope), CUDA_ERROR_INVALID_CONTEXT);
    assert_null(scope.cu);
    scope = (struct cushim_scope){.cu = cu, .context = SOMETHING};
    pushes = 0;
    cushim_last_error_set("what failed");
    assert_int_equal(cushim_scope_end(&scope, "helper", CUDA_ERROR_INVALID_VALUE),
                     CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(), "what failed");
    scope = (struct cushim_scope){.cu = cu, .context = SOMETHING};
    assert_int_equal(cushim_scope_end(&scope, "helper", CUDA_SUCCESS), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "helper: cuCtxSetCurrent: CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(pushes, 0);
    cushim_close(cu);
}

static CUresult CUDAAPI log_one(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log,
                                size_t size)
{
    (void)exec;
    (void)graph;
    (void)node;
    assert_true(size > 2);
    strcpy(log, "x");
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Captures and graphs: a success has no sentence, a failure has one, and a log of one letter is
 * one. */
static void test_streams(void **state)
{
    CUgraphExec exec = NULL;
    (void)state;
    silent_reset();
    silent_fail("cuStreamIsCapturing", CUDA_ERROR_OUT_OF_MEMORY);
    silent_use("cuGraphInstantiate_v2", (silent_fn *)log_one);
    silent_use("cuGraphInstantiateWithFlags", NULL);
    silent_use("cuGraphInstantiateWithParams", NULL);
    const struct cushim_api *cu = silent_open();
    cushim_last_error_clear();
    assert_int_equal(cushim_capture_begin(cu, NULL, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_string_equal(cushim_last_error(), "");
    assert_int_equal(cushim_capture_cancel(cu, SOMETHING), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuStreamIsCapturing: CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(cushim_graph_instantiate(cu, SOMETHING, 0, &exec), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "graph: x (node ");
    cushim_close(cu);
}

static CUresult CUDAAPI refuse_ptx(void)
{
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

/* The sentence of a link that was not begun speaks of no version of PTX. */
static void test_link(void **state)
{
    static const char ptx[] = ".version 6.4\n.target sm_50\n";
    const struct cushim_link_input input = {.size = sizeof input, .data = ptx, .bytes = sizeof ptx};
    struct cushim_cubin cubin = {NULL, 0};
    (void)state;
    silent_reset();
    silent_use("cuLinkCreate_v2", (silent_fn *)refuse_ptx);
    const struct cushim_api *cu = silent_open();
    assert_int_equal(cushim_cubin_link(cu, &input, 1, NULL, NULL, &cubin),
                     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    assert_null(strstr(cushim_last_error(), ".version"));
    cushim_close(cu);
}

static void test_call_length(void **state)
{
    static const struct {
        const char *call;
        int length;
    } rows[] = {{"", 0}, {"_v1", 3}, {"x_v1", 1}, {"xy_v1", 2}, {"x_v2", 4}, {"v1", 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(cushim_error_call_length(rows[i].call), rows[i].length);
}

/* A file is closed that is none, also if it is descriptor 0. */
static void read_folder(void *unused)
{
    struct cushim_image_bytes file = {NULL, 0};
    (void)unused;
    close(0);
    assert_int_not_equal(cushim_image_load_file("helper", "path", "/", &file), CUDA_SUCCESS);
    assert_contains(cushim_last_error(), "not a regular file");
    assert_int_equal(dup(1), 0);
}

static void test_folder(void **state)
{
    (void)state;
    run_in_child(read_folder, NULL, NULL);
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
        cmocka_unit_test(test_one_device),     cmocka_unit_test(test_refused_value),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_versions),
        cmocka_unit_test(test_sentence_stays), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_feature_cut),    cmocka_unit_test(test_scope),
        cmocka_unit_test(test_streams),        cmocka_unit_test(test_link),
        cmocka_unit_test(test_call_length),    cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests_name("rare", tests, NULL, NULL);
}
