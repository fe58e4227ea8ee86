/* SPDX-License-Identifier: MIT */
/* Capture and graphs: which ABI is called, what is refused, what is written. */
#include <string.h>

#include <cushim/error.h>

#include "test_stream_fake.h"

/* ---- capture ---- */

static void test_capture(void **state)
{
    const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL;
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    assert_int_equal(cushim_capture_begin(cu, A_STREAM, global), CUDA_SUCCESS);
    assert_calls(" cuStreamBeginCapture_v2");
    FAILS(cushim_capture_begin(cu, CU_STREAM_LEGACY, global), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "stream: CU_STREAM_LEGACY");
    FAILS(cushim_capture_begin(cu, A_STREAM, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE,
          "mode: 3");
    let_fail("cuStreamBeginCapture_v2", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cushim_capture_begin(cu, NULL, global), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "stream: NULL is the legacy default stream");
    cushim_close(cu);

    cu = open_version(10000);
    assert_int_equal(cushim_capture_begin(cu, A_STREAM, global), CUDA_SUCCESS);
    assert_calls(" cuStreamBeginCapture");
    FAILS(cushim_capture_begin(cu, A_STREAM, CU_STREAM_CAPTURE_MODE_RELAXED),
          CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
          "cushim_capture_begin: cuStreamBeginCapture_v2 is not available: it came with CUDA 10.1");
    cushim_close(cu);
    cu = open_version(9000);
    FAILS(cushim_capture_begin(cu, A_STREAM, global), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
          "cushim_capture_begin: cuStreamBeginCapture is not available: it came with CUDA 10.0");
    CUgraphExec exec = NULL;
    FAILS(cushim_graph_instantiate(cu, A_GRAPH, 0, &exec), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
          "cushim_graph_instantiate: cuGraphInstantiate is not available: it came with CUDA 10.0");
    cushim_close(cu);
}

static void test_capture_cancel(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    fake.capture = CU_STREAM_CAPTURE_STATUS_NONE;
    assert_int_equal(cushim_capture_cancel(cu, A_STREAM), CUDA_SUCCESS);
    assert_calls(" cuStreamIsCapturing");
    fake.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(cushim_capture_cancel(cu, A_STREAM), CUDA_SUCCESS);
    assert_calls(" cuStreamIsCapturing cuStreamEndCapture cuGraphDestroy");
    let_fail("cuStreamEndCapture", CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    cushim_last_error_clear();
    FAILS(cushim_capture_cancel(cu, A_STREAM), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
          "cushim_capture_cancel: cuStreamEndCapture");
    let_fail("cuStreamEndCapture", CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_int_equal(cushim_capture_cancel(cu, A_STREAM), CUDA_SUCCESS);
    fake.capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    let_fail("cuStreamEndCapture", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cushim_capture_cancel(cu, A_STREAM), CUDA_SUCCESS);
    cushim_close(cu);
}

/* What failed first is what a program reports, whatever the end of the capture adds. */
static void test_first_sentence(void **state)
{
    static const CUresult ends[] = {CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                                    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD};
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    fake.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const CUresult expected = i == 2 ? ends[i] : CUDA_SUCCESS;
        if (ends[i] != CUDA_SUCCESS)
            let_fail("cuStreamEndCapture", ends[i]);
        cushim_error_explain(CUDA_ERROR_LAUNCH_FAILED, "stream", "cuMemsetD32Async");
        assert_int_equal(cushim_capture_cancel(cu, A_STREAM), expected);
        assert_contains(cushim_last_error(), "stream: cuMemsetD32Async: CUDA_ERROR_LAUNCH_FAILED");
        cushim_last_error_clear();
        if (ends[i] != CUDA_SUCCESS)
            let_fail("cuStreamEndCapture", ends[i]);
        assert_int_equal(cushim_capture_cancel(cu, A_STREAM), expected);
        assert_int_equal(*cushim_last_error() != '\0', expected != CUDA_SUCCESS);
    }
    cushim_close(cu);
}

/* ---- graphs ---- */

static void test_graph_instantiate(void **state)
{
    static const struct {
        int version;
        const char *call;
    } drivers[] = {
        {13000, " cuGraphInstantiateWithParams"},
        {11040, " cuGraphInstantiateWithFlags"},
        {11030, " cuGraphInstantiate_v2"},
        {10020, " cuGraphInstantiate"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(drivers); i++) {
        CUgraphExec exec = NULL;
        const struct cushim_api *cu = open_version(drivers[i].version);
        assert_int_equal(cushim_graph_instantiate(cu, A_GRAPH, 0, &exec), CUDA_SUCCESS);
        assert_ptr_equal(exec, AN_EXEC);
        assert_calls(drivers[i].call);

        unsigned long long flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        CUresult code = cushim_graph_instantiate(cu, A_GRAPH, flags, &exec);
        if (drivers[i].version >= 11040) {
            assert_int_equal(code, CUDA_SUCCESS);
            assert_int_equal(fake.graph_flags, flags);
        } else {
            FAILS(code, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "cuGraphInstantiateWithFlags is");
        }
        exec = NULL;
        fake.finding = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        fake.log = "node 3 is a cycle";
        let_fail(drivers[i].call + 1, CUDA_ERROR_INVALID_VALUE);
        FAILS(cushim_graph_instantiate(cu, A_GRAPH, 0, &exec), CUDA_ERROR_INVALID_VALUE,
              drivers[i].call + 1);
        if (drivers[i].version != 11040)
            assert_contains(cushim_last_error(), "cycle");
        assert_null(exec);
        fake.log = "";
        let_fail(drivers[i].call + 1, CUDA_ERROR_INVALID_VALUE);
        FAILS(cushim_graph_instantiate(cu, A_GRAPH, 0, &exec), CUDA_ERROR_INVALID_VALUE,
              drivers[i].call + 1);
        assert_null(strchr(cushim_last_error(), '\1')); /* nothing behind the log */
        cushim_close(cu);
    }
}

static void test_graph_refused(void **state)
{
    CUgraphExec exec = NULL;
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    FAILS(cushim_graph_instantiate(cu, NULL, 0, &exec), CUDA_ERROR_INVALID_VALUE, "graph is NULL");
    FAILS(cushim_graph_instantiate(cu, A_GRAPH, 0, NULL), CUDA_ERROR_INVALID_VALUE, "exec is NULL");
    assert_calls("");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture),        cmocka_unit_test(test_capture_cancel),
        cmocka_unit_test(test_first_sentence), cmocka_unit_test(test_graph_instantiate),
        cmocka_unit_test(test_graph_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
