/* SPDX-License-Identifier: MIT */
/* Events: create, record, wait, ask, elapsed time over the ABIs. */
#include "test_stream_fake.h"

static void test_create_and_record(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    CUevent event = NULL;
    (void)state;
    assert_int_equal(cushim_event_create(cu, CU_EVENT_BLOCKING_SYNC, &event), CUDA_SUCCESS);
    assert_ptr_equal(event, AN_EVENT);
    assert_int_equal(fake.flags, CU_EVENT_BLOCKING_SYNC);
    assert_int_equal(cushim_event_record(cu, event, A_STREAM), CUDA_SUCCESS);
    assert_int_equal(cushim_event_destroy(cu, event), CUDA_SUCCESS);
    assert_calls(" cuEventCreate cuEventRecord cuEventDestroy_v2");
    assert_int_equal(cushim_event_destroy(cu, NULL), CUDA_SUCCESS);
    let_fail("cuEventDestroy_v2", CUDA_ERROR_DEINITIALIZED);
    assert_int_equal(cushim_event_destroy(cu, event), CUDA_SUCCESS);
    fake.calls[0] = '\0';

    event = NULL;
    FAILS(cushim_event_create(cu, 8, &event), CUDA_ERROR_INVALID_VALUE, "flags: 0x8 ");
    FAILS(cushim_event_create(cu, CU_EVENT_INTERPROCESS, &event), CUDA_ERROR_INVALID_VALUE,
          "flags: 0x4 has CU_EVENT_INTERPROCESS without CU_EVENT_DISABLE_TIMING");
    FAILS(cushim_event_create(cu, 0, NULL), CUDA_ERROR_INVALID_VALUE, "event: NULL");
    FAILS(cushim_event_record(cu, NULL, A_STREAM), CUDA_ERROR_INVALID_HANDLE, "event: NULL");
    assert_calls("");
    let_fail("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cushim_event_create(cu, 0, &event), CUDA_ERROR_OUT_OF_MEMORY, "cuEventCreate: ");
    assert_null(event);
    cushim_close(cu);
}

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
    FAILS(cushim_event_elapsed(cu, NULL, AN_END, &time), CUDA_ERROR_INVALID_HANDLE, "start: NULL");
    FAILS(cushim_event_elapsed(cu, AN_EVENT, NULL, &time), CUDA_ERROR_INVALID_HANDLE, "end: NULL");
    FAILS(cushim_event_elapsed(cu, AN_EVENT, AN_END, NULL), CUDA_ERROR_INVALID_VALUE,
          "milliseconds: NULL");
    assert_true(time == 1);
    cushim_close(cu);
}

/* Done, running, failed. */
static void test_query(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    bool done = true;
    (void)state;
    let_fail("cuEventQuery", CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_event_query(cu, AN_EVENT, &done), CUDA_SUCCESS);
    assert_false(done);
    let_fail(NULL, 0);
    assert_int_equal(cushim_event_query(cu, AN_EVENT, &done), CUDA_SUCCESS);
    assert_true(done);
    FAILS(cushim_event_query(cu, NULL, &done), CUDA_ERROR_INVALID_HANDLE, "event: NULL");
    FAILS(cushim_event_query(cu, AN_EVENT, NULL), CUDA_ERROR_INVALID_VALUE, "done: NULL");
    let_fail("cuEventQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    FAILS(cushim_event_query(cu, AN_EVENT, &done), CUDA_ERROR_ILLEGAL_ADDRESS,
          "cushim_event_query: cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_true(done);
    cushim_close(cu);
}

static void test_synchronize(void **state)
{
    const struct cushim_api *cu = open_version(13000);
    (void)state;
    assert_int_equal(cushim_event_synchronize(cu, AN_EVENT), CUDA_SUCCESS);
    assert_calls(" cuEventSynchronize");
    FAILS(cushim_event_synchronize(cu, NULL), CUDA_ERROR_INVALID_HANDLE, "event: NULL");
    assert_calls("");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_and_record),
        cmocka_unit_test(test_elapsed),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_synchronize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
