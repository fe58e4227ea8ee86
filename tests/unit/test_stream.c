/* SPDX-License-Identifier: MIT */
/* Streams and host callbacks: which ABI is called, what is refused, what is written. */
#include "test_stream_fake.h"

/* ---- streams ---- */

static void test_stream_create(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    CUstream stream = NULL;
    int least = 9, greatest = 9;
    (void)state;
    assert_int_equal(cushim_stream_create(cu, CU_STREAM_NON_BLOCKING, 0, &stream), CUDA_SUCCESS);
    assert_ptr_equal(stream, A_STREAM);
    assert_int_equal(fake.flags, CU_STREAM_NON_BLOCKING);
    assert_calls(" cuStreamCreate");
    static const int asked[] = {-5, -1, CUSHIM_PRIORITY_GREATEST, CUSHIM_PRIORITY_LEAST};
    static const int got[] = {-5, -1, -5, 0};
    for (size_t i = 0; i < COUNT(asked); i++) {
        fake.priority = 0; /* which takes the call without priority */
        assert_int_equal(cushim_stream_create(cu, 0, asked[i], &stream), CUDA_SUCCESS);
        assert_int_equal(fake.priority, got[i]);
    }
    assert_int_equal(cushim_stream_priorities(cu, &least, &greatest), CUDA_SUCCESS);
    assert_true(least == 0 && greatest == -5);
    assert_int_equal(cushim_stream_priorities(cu, NULL, NULL), CUDA_SUCCESS);
    cushim_close(cu);
}

static void test_stream_create_refused(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    CUstream stream = NULL;
    (void)state;
    FAILS(cushim_stream_create(cu, 0, -6, &stream), CUDA_ERROR_INVALID_VALUE,
          "cushim_stream_create: priority: -6 is outside the device's range, 0 (least) to -5");
    FAILS(cushim_stream_create(cu, 0, 1, &stream), CUDA_ERROR_INVALID_VALUE, "priority: 1 ");
    assert_calls(" cuCtxGetStreamPriorityRange cuCtxGetStreamPriorityRange");
    FAILS(cushim_stream_create(cu, 6, 0, &stream), CUDA_ERROR_INVALID_VALUE, "flags: 0x6 ");
    FAILS(cushim_stream_create(cu, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE, "stream: NULL");
    assert_calls("");
    let_fail("cuStreamCreate", CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cushim_stream_create(cu, 0, 0, &stream), CUDA_ERROR_INVALID_CONTEXT,
          "cushim_stream_create: cuStreamCreate: CUDA_ERROR_INVALID_CONTEXT (201)");
    let_fail("cuCtxGetStreamPriorityRange", CUDA_ERROR_INVALID_CONTEXT);
    int least = 9;
    FAILS(cushim_stream_create(cu, 0, -1, &stream), CUDA_ERROR_INVALID_CONTEXT, "PriorityRange");
    FAILS(cushim_stream_priorities(cu, &least, NULL), CUDA_ERROR_INVALID_CONTEXT, "PriorityRange");
    assert_int_equal(least, 9);
    assert_null(stream);
    cushim_close(cu);
}

static void test_stream_destroy(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    assert_int_equal(cushim_stream_destroy(cu, NULL), CUDA_SUCCESS);
    FAILS(cushim_stream_destroy(cu, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE,
          "stream: CU_STREAM_LEGACY is the driver's own");
    FAILS(cushim_stream_destroy(cu, CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE,
          "stream: CU_STREAM_PER_THREAD");
    assert_calls("");
    assert_int_equal(cushim_stream_destroy(cu, A_STREAM), CUDA_SUCCESS);
    let_fail("cuStreamDestroy_v2", CUDA_ERROR_DEINITIALIZED);
    assert_int_equal(cushim_stream_destroy(cu, A_STREAM), CUDA_SUCCESS);
    let_fail("cuStreamDestroy_v2", CUDA_ERROR_INVALID_HANDLE);
    FAILS(cushim_stream_destroy(cu, A_STREAM), CUDA_ERROR_INVALID_HANDLE, "cuStreamDestroy_v2");
    cushim_close(cu);
}

/* Done, running, failed. */
static void test_query(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    bool done = false;
    (void)state;
    assert_int_equal(cushim_stream_query(cu, A_STREAM, &done), CUDA_SUCCESS);
    assert_true(done);
    let_fail("cuStreamQuery", CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_stream_query(cu, A_STREAM, &done), CUDA_SUCCESS);
    assert_false(done);
    let_fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    done = true;
    FAILS(cushim_stream_query(cu, A_STREAM, &done), CUDA_ERROR_ILLEGAL_ADDRESS,
          "cushim_stream_query: cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_true(done);
    FAILS(cushim_stream_query(cu, A_STREAM, NULL), CUDA_ERROR_INVALID_VALUE, "done: NULL");
    cushim_close(cu);
}

static void test_wait(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    assert_int_equal(cushim_stream_wait(cu, NULL, AN_EVENT), CUDA_SUCCESS);
    assert_int_equal(cushim_stream_synchronize(cu, NULL), CUDA_SUCCESS);
    assert_calls(" cuStreamWaitEvent cuStreamSynchronize");
    FAILS(cushim_stream_wait(cu, NULL, NULL), CUDA_ERROR_INVALID_HANDLE, "event: NULL");
    assert_calls("");
    cushim_close(cu);
}

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
          "function: NULL");
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

static void test_without_driver(void **state)
{
    CUstream stream = NULL;
    bool done = true;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    (void)state;
    FAILS(cushim_stream_create(cu, 0, 0, &stream), CUDA_ERROR_NOT_INITIALIZED,
          "cushim_stream_create: cuStreamCreate is not available: there is no CUDA driver");
    FAILS(cushim_stream_query(cu, NULL, &done), CUDA_ERROR_NOT_INITIALIZED, "no CUDA driver");
    FAILS(cushim_stream_callback(cu, NULL, count_up, NULL), CUDA_ERROR_NOT_INITIALIZED,
          "cuLaunchHostFunc is not available: there is no CUDA driver");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_create),
        cmocka_unit_test(test_stream_create_refused),
        cmocka_unit_test(test_stream_destroy),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_callback_before_10_0),
        cmocka_unit_test(test_without_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
