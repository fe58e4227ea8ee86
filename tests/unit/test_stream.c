/* SPDX-License-Identifier: MIT */
/* Host callbacks and elapsed time: which ABI is called, what is refused, what is written. */
#include "test_stream_fake.h"

/* ---- callbacks ---- */

static void CUDA_CB count_up(void *user)
{
    ++*(int *)user;
}

static void test_callback(void **state)
{
    int count = 0;
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    assert_int_equal(cushim_stream_callback(cu, A_STREAM, count_up, &count), CUDA_SUCCESS);
    assert_calls(" cuLaunchHostFunc");
    assert_true(fake.function == count_up && fake.user == &count);
    FAILS(cushim_stream_callback(cu, A_STREAM, NULL, &count), CUDA_ERROR_INVALID_VALUE,
          "function is NULL");
    cushim_close(cu);
}

/* The older form, which is called after errors too, and whose memory is freed in every case. */
static void test_callback_before_10_0(void **state)
{
    int count = 0;
    const struct cushim_api *cu = open_version(9020);
    (void)state;
    assert_int_equal(cushim_stream_callback(cu, A_STREAM, count_up, &count), CUDA_SUCCESS);
    assert_calls(" cuStreamAddCallback");
    fake.callback(A_STREAM, CUDA_SUCCESS, fake.user);
    assert_int_equal(count, 1);
    assert_int_equal(cushim_stream_callback(cu, A_STREAM, count_up, &count), CUDA_SUCCESS);
    fake.callback(A_STREAM, CUDA_ERROR_ILLEGAL_ADDRESS, fake.user);
    assert_int_equal(count, 1);
    let_fail("cuStreamAddCallback", CUDA_ERROR_INVALID_HANDLE);
    FAILS(cushim_stream_callback(cu, A_STREAM, count_up, &count), CUDA_ERROR_INVALID_HANDLE,
          "cushim_stream_callback: cuStreamAddCallback: ");
    cushim_close(cu);
}

/* ---- events ---- */

static void test_elapsed(void **state)
{
    float time = 0;
    const struct cushim_api *cu = open_version(12040);
    (void)state;
    assert_int_equal(cushim_event_elapsed(cu, AN_EVENT, AN_END, &time), CUDA_SUCCESS);
    assert_true(time == 2.5f);
    cushim_close(cu);
    cu = open_version(12080);
    assert_int_equal(cushim_event_elapsed(cu, AN_EVENT, AN_END, &time), CUDA_SUCCESS);
    assert_true(time == 3.5f);
    assert_calls(" cuEventElapsedTime_v2");
    time = 1;
    let_fail("cuEventElapsedTime_v2", CUDA_ERROR_NOT_READY);
    FAILS(cushim_event_elapsed(cu, AN_EVENT, AN_END, &time), CUDA_ERROR_NOT_READY,
          "cushim_event_elapsed: start, end: the work before one is not done yet");
    let_fail("cuEventElapsedTime_v2", CUDA_ERROR_INVALID_HANDLE);
    FAILS(cushim_event_elapsed(cu, AN_EVENT, AN_END, &time), CUDA_ERROR_INVALID_HANDLE,
          "CU_EVENT_DISABLE_TIMING");
    FAILS(cushim_event_elapsed(cu, NULL, AN_END, &time), CUDA_ERROR_INVALID_HANDLE,
          "start is NULL");
    FAILS(cushim_event_elapsed(cu, AN_EVENT, NULL, &time), CUDA_ERROR_INVALID_HANDLE,
          "end is NULL");
    FAILS(cushim_event_elapsed(cu, AN_EVENT, AN_END, NULL), CUDA_ERROR_INVALID_VALUE,
          "milliseconds is NULL");
    assert_true(time == 1);
    cushim_close(cu);
}

static void test_without_driver(void **state)
{
    float time = 0;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    (void)state;
    FAILS(cushim_event_elapsed(cu, AN_EVENT, AN_END, &time), CUDA_ERROR_NOT_INITIALIZED,
          "cushim_event_elapsed: cuEventElapsedTime is not available: there is no CUDA driver");
    FAILS(cushim_stream_callback(cu, NULL, count_up, NULL), CUDA_ERROR_NOT_INITIALIZED,
          "cuLaunchHostFunc is not available: there is no CUDA driver");
    cushim_close(cu);
}

static void test_without_table(void **state)
{
    float time = 0;
    CUgraphExec exec = NULL;
    (void)state;
    FAILS(cushim_stream_callback(NULL, NULL, count_up, NULL), CUDA_ERROR_INVALID_VALUE,
          "cu is NULL");
    FAILS(cushim_event_elapsed(NULL, AN_EVENT, AN_END, &time), CUDA_ERROR_INVALID_VALUE,
          "cu is NULL");
    FAILS(cushim_capture_begin(NULL, A_STREAM, CU_STREAM_CAPTURE_MODE_GLOBAL),
          CUDA_ERROR_INVALID_VALUE, "cushim_capture_begin: cu is NULL");
    FAILS(cushim_capture_cancel(NULL, A_STREAM), CUDA_ERROR_INVALID_VALUE, "cu is NULL");
    FAILS(cushim_graph_instantiate(NULL, NULL, 0, &exec), CUDA_ERROR_INVALID_VALUE, "cu is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callback),      cmocka_unit_test(test_callback_before_10_0),
        cmocka_unit_test(test_elapsed),       cmocka_unit_test(test_without_driver),
        cmocka_unit_test(test_without_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
