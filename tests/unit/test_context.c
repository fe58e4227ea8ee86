/* SPDX-License-Identifier: MIT */
/* Contexts on a fake driver: counts, ABIs by age, stacks kept on every path, refusals. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>

#include "fake_contexts.h"

#define NOT_WRITTEN ((CUcontext)(void *)&marker)

static int marker;

static CUcontext create(const struct cushim_api *cu)
{
    CUcontext context = NULL;
    assert_int_equal(cushim_context_create(cu, 0, NULL, &context), CUDA_SUCCESS);
    assert_non_null(context);
    return context;
}

static void assert_refused(CUresult got, CUresult expected, const char *helper, const char *words)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", cushim_last_error());
    if (got != expected)
        fail_msg("%d, not %d: %s", (int)got, (int)expected, sentence);
    assert_int_equal(strncmp(sentence, helper, strlen(helper)), 0);
    assert_int_equal(sentence[strlen(helper)], ':');
    assert_contains(sentence, words);
}

static const char *text_of(const void *pointer)
{
    static char text[32];
#ifdef _WIN32
    snprintf(text, sizeof text, "context: 0x%p", pointer);
#else
    snprintf(text, sizeof text, "context: %p", pointer);
#endif
    return text;
}

/* ---- primary ---- */

static void test_primary_counts(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    CUcontext one = NULL, two = NULL;
    struct cushim_primary how = {.size = sizeof how};
    assert_refused(cushim_primary_release(cu, 0), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_primary_release", "device: 0");
    fake.primary_retains[0] = 1; /* the runtime's: never ours to release */
    assert_refused(cushim_primary_release(cu, 0), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_primary_release", "device: 0");
    assert_int_equal(fake.primary_retains[0], 1);

    assert_int_equal(cushim_primary_retain(cu, 0, &one), CUDA_SUCCESS);
    assert_int_equal(cushim_primary_retain(cu, 0, &two), CUDA_SUCCESS);
    assert_ptr_equal(one, two);
    assert_int_equal(fake.primary_retains[0], 3);
    assert_int_equal(fake_depth(), 0);
    assert_int_equal(cushim_primary_describe(cu, 0, &how), CUDA_SUCCESS);
    assert_int_equal(how.retained, 2);
    assert_true(how.active);
    assert_int_equal(cushim_primary_describe(cu, 1, &how), CUDA_SUCCESS);
    assert_int_equal(how.retained, 0);
    assert_false(how.active);
    assert_refused(cushim_primary_release(cu, 1), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_primary_release", "device: 1");

    assert_int_equal(cushim_primary_release(cu, 0), CUDA_SUCCESS);
    assert_int_equal(cushim_primary_release(cu, 0), CUDA_SUCCESS);
    assert_refused(cushim_primary_release(cu, 0), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_primary_release", "device: 0");
    assert_int_equal(fake.primary_retains[0], 1);
    assert_contains(fake.calls, "cuDevicePrimaryCtxRelease_v2");
    cushim_close(cu);
}

static void test_primary_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    CUcontext context = NOT_WRITTEN, primary = NULL;
    struct cushim_primary how = {.size = sizeof how, .retained = 99};
    assert_refused(cushim_primary_retain(cu, 5, &context), CUDA_ERROR_INVALID_DEVICE,
                   "cushim_primary_retain", "device is 5; the driver has 2");
    assert_refused(cushim_primary_retain(cu, 0, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_primary_retain", "context is NULL");
    assert_refused(cushim_primary_describe(cu, -1, &how), CUDA_ERROR_INVALID_DEVICE,
                   "cushim_primary_describe", "device is -1");
    assert_refused(cushim_primary_describe(cu, 0, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_primary_describe", "primary is NULL");
    assert_ptr_equal(context, NOT_WRITTEN);
    assert_int_equal(how.retained, 99);

    /* A release that the driver refuses is not counted: it can be tried again. */
    assert_int_equal(cushim_primary_retain(cu, 1, &primary), CUDA_SUCCESS);
    fake.fail_at = 1;
    fake.fail_code = CUDA_ERROR_UNKNOWN;
    assert_refused(cushim_primary_release(cu, 1), CUDA_ERROR_UNKNOWN, "cushim_primary_release",
                   "cuDevicePrimaryCtxRelease_v2: CUDA_ERROR_UNKNOWN (999)");
    assert_int_equal(cushim_primary_release(cu, 1), CUDA_SUCCESS);
    assert_int_equal(fake.primary_retains[1], 0);

    /* At the end of the process it is done. */
    assert_int_equal(cushim_primary_retain(cu, 1, &primary), CUDA_SUCCESS);
    fake.fail_at = 1;
    fake.fail_code = CUDA_ERROR_DEINITIALIZED;
    assert_int_equal(cushim_primary_release(cu, 1), CUDA_SUCCESS);
    assert_refused(cushim_primary_release(cu, 1), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_primary_release", "device: 1");
    cushim_close(cu);
}

static void test_primary_old_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(10020);
    CUcontext context = NULL;
    assert_int_equal(cushim_primary_retain(cu, 0, &context), CUDA_SUCCESS);
    assert_int_equal(cushim_primary_release(cu, 0), CUDA_SUCCESS);
    assert_contains(fake.calls, "cuDevicePrimaryCtxRelease ");
    assert_int_equal(fake.primary_retains[0], 0);
    cushim_close(cu);
}

enum { RETAINERS = 8, RETAINS = 500 };

static void *retain_and_release(void *cu)
{
    for (int i = 0; i < RETAINS; i++) {
        CUcontext context = NULL;
        if (cushim_primary_retain(cu, 0, &context) != CUDA_SUCCESS)
            return NULL;
        if (i % 2 && (cushim_primary_release(cu, 0) || cushim_primary_release(cu, 0)))
            return NULL;
    }
    return cu;
}

static void test_primary_threads(void **state)
{
    pthread_t threads[RETAINERS];
    struct cushim_primary how = {.size = sizeof how};
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    for (int i = 0; i < RETAINERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, (void *)cu), 0);
    for (int i = 0; i < RETAINERS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, cu);
    }
    assert_int_equal(cushim_primary_describe(cu, 0, &how), CUDA_SUCCESS);
    assert_int_equal(how.retained, 0);
    assert_int_equal(fake.primary_retains[0], 0);
    cushim_close(cu);
}

/* ---- create ---- */

static const struct {
    int driver;
    const char *lacks, *call;
} creations[] = {
    {11020, NULL, "cuCtxCreate_v2"}, {11040, NULL, "cuCtxCreate_v3"},
    {12040, NULL, "cuCtxCreate_v3"}, {12050, NULL, "cuCtxCreate_v4"},
    {13000, NULL, "cuCtxCreate_v4"}, {13000, "cuCtxCreate_v4", "cuCtxCreate_v3"},
};

static void test_create_by_age(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(creations); i++) {
        fake.lacks = creations[i].lacks;
        const struct cushim_api *cu = fake_open(creations[i].driver);
        struct cushim_context_options options = {.size = sizeof options,
                                                 .flags = CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST};
        CUcontext context = NULL, below = create(cu);
        assert_int_equal(cu->cuCtxPushCurrent(below), CUDA_SUCCESS);
        assert_int_equal(cushim_context_create(cu, 1, &options, &context), CUDA_SUCCESS);
        assert_contains(fake.calls, creations[i].call);
        assert_int_equal(fake.flags, options.flags);
        assert_int_equal(fake.affinities, 0);
        assert_int_equal(fake_depth(), 1);
        assert_ptr_equal(fake_at(0), below);
        assert_true(fake_is_live(context));
        assert_int_equal(cushim_context_destroy(cu, context), CUDA_SUCCESS);
        assert_int_equal(cushim_context_destroy(cu, below), CUDA_SUCCESS);
        assert_int_equal(fake_live(), 0);
        assert_int_equal(fake_depth(), 0);
        cushim_close(cu);
    }
    fake.lacks = NULL;
}

static void test_affinity(void **state)
{
    static const int drivers[] = {11040, 12040, 13000};
    CUcontext context = NOT_WRITTEN;
    struct cushim_context_options options = {.size = sizeof options, .sm_count = 12};
    (void)state;
    for (size_t i = 0; i < COUNT(drivers); i++) {
        const struct cushim_api *cu = fake_open(drivers[i]);
        assert_int_equal(cushim_context_create(cu, 0, &options, &context), CUDA_SUCCESS);
        assert_int_equal(fake.affinities, 1);
        assert_int_equal(fake.affinity.type, CU_EXEC_AFFINITY_TYPE_SM_COUNT);
        assert_int_equal(fake.affinity.param.smCount.val, 12);
        assert_int_equal(cushim_context_destroy(cu, context), CUDA_SUCCESS);
        context = NOT_WRITTEN;
        assert_refused(cushim_context_create(cu, 1, &options, &context),
                       CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "cushim_context_create",
                       "options: sm_count: 12: device 1");
        assert_ptr_equal(context, NOT_WRITTEN);
        cushim_close(cu);
    }
    const struct cushim_api *cu = fake_open(11020);
    assert_refused(cushim_context_create(cu, 0, &options, &context),
                   CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "cushim_context_create",
                   "options: sm_count: cuCtxCreate_v3 is not available: it came with CUDA 11.4");
    assert_ptr_equal(context, NOT_WRITTEN);
    assert_string_equal(fake.calls, "cuInit ");
    cushim_close(cu);
}

static void test_cig(void **state)
{
    CUcontext context = NOT_WRITTEN;
    struct cushim_context_options options = {
        .size = sizeof options, .cig_type = 1, .cig_data = &marker};
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    assert_int_equal(cushim_context_create(cu, 0, &options, &context), CUDA_SUCCESS);
    assert_true(fake.had_cig);
    assert_int_equal(fake.cig.sharedDataType, 1);
    assert_ptr_equal(fake.cig.sharedData, &marker);
    assert_int_equal(fake.affinities, 0);
    assert_int_equal(cushim_context_destroy(cu, context), CUDA_SUCCESS);

    context = NOT_WRITTEN;
    options.cig_data = NULL;
    assert_refused(cushim_context_create(cu, 0, &options, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "options: cig_type is 1, but cig_data is NULL");
    options.cig_data = &marker;
    options.sm_count = 4;
    assert_refused(cushim_context_create(cu, 0, &options, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "options: sm_count 4 and cig_type 1");
    options.sm_count = 0;
    cushim_close(cu);

    cu = fake_open(12040);
    assert_refused(cushim_context_create(cu, 0, &options, &context),
                   CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "cushim_context_create",
                   "options: cig_type: cuCtxCreate_v4 is not available: it came with CUDA 12.5");
    cushim_close(cu);
    fake.lacks = "cuCtxCreate_v4";
    cu = fake_open(13000);
    assert_refused(cushim_context_create(cu, 0, &options, &context), CUDA_ERROR_NOT_SUPPORTED,
                   "cushim_context_create", "does not export it");
    assert_ptr_equal(context, NOT_WRITTEN);
    assert_int_equal(fake_live(), 0);
    fake.lacks = NULL;
    cushim_close(cu);
}

static void test_create_bad_input(void **state)
{
    CUcontext context = NOT_WRITTEN;
    struct cushim_context_options options = {.size = 3};
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    assert_refused(cushim_context_create(cu, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "context is NULL");
    assert_refused(cushim_context_create(cu, 0, &options, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "options: size: 3");
    assert_refused(cushim_context_create(cu, 2, NULL, &context), CUDA_ERROR_INVALID_DEVICE,
                   "cushim_context_create", "device is 2; the driver has 2");
    options = (struct cushim_context_options){.size = sizeof options, .flags = 0xbeef};
    assert_refused(cushim_context_create(cu, 0, &options, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "flags 0xbeef");
    assert_ptr_equal(context, NOT_WRITTEN);
    assert_int_equal(fake_depth(), 0);
    cushim_close(cu);

    cu = open_path("/nonexistent/libcuda.so.1");
    context = NOT_WRITTEN;
    assert_refused(cushim_context_create(cu, 0, NULL, &context), CUDA_ERROR_NO_DEVICE,
                   "cushim_context_create", "/nonexistent/libcuda.so.1");
    assert_refused(cushim_primary_retain(cu, 0, &context), CUDA_ERROR_NO_DEVICE,
                   "cushim_primary_retain", "/nonexistent/libcuda.so.1");
    assert_refused(cushim_context_synchronize(cu, NULL), CUDA_ERROR_NOT_INITIALIZED,
                   "cushim_context_synchronize", "cuCtxGetCurrent is not available");
    assert_ptr_equal(context, NOT_WRITTEN);
    cushim_close(cu);
}

static void test_destroy(void **state)
{
    CUcontext primary = NULL;
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    fake_forget();
    assert_int_equal(cushim_context_destroy(cu, NULL), CUDA_SUCCESS);
    assert_string_equal(fake.calls, "");
    CUcontext context = create(cu);
    fake.fail_at = 1;
    fake.fail_code = CUDA_ERROR_DEINITIALIZED;
    assert_int_equal(cushim_context_destroy(cu, context), CUDA_SUCCESS);
    assert_int_equal(cushim_context_destroy(cu, context), CUDA_SUCCESS);
    assert_refused(cushim_context_destroy(cu, context), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_context_destroy", text_of(context));

    assert_int_equal(cushim_primary_retain(cu, 0, &primary), CUDA_SUCCESS);
    fake_forget();
    assert_refused(cushim_context_destroy(cu, primary), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_context_destroy", "is the primary one of device 0");
    assert_string_equal(fake.calls, "");
    assert_int_equal(cushim_primary_release(cu, 0), CUDA_SUCCESS);
    cushim_close(cu);
}

/* ---- instances ---- */

/* Adversary 18: what one instance left retained is nothing of the next, also at the same address.
 */
static void test_closed_with_retains(void **state)
{
    CUcontext context = NULL;
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct cushim_primary how = {.size = sizeof how};
        const struct cushim_api *cu = fake_open(12040);
        assert_int_equal(cushim_primary_describe(cu, 0, &how), CUDA_SUCCESS);
        assert_int_equal(how.retained, 0);
        assert_refused(cushim_primary_release(cu, 0), CUDA_ERROR_INVALID_CONTEXT,
                       "cushim_primary_release", "device: 0");
        assert_int_equal(cushim_primary_retain(cu, 0, &context), CUDA_SUCCESS);
        cushim_close_unload(cu);
    }
}

static void test_no_table(void **state)
{
    CUcontext context = NULL;
    struct cushim_primary how = {.size = sizeof how};
    struct cushim_scope scope = {.context = NOT_WRITTEN};
    (void)state;
    assert_refused(cushim_primary_retain(NULL, 0, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_primary_retain", "cu is NULL");
    assert_refused(cushim_primary_release(NULL, 0), CUDA_ERROR_INVALID_VALUE,
                   "cushim_primary_release", "cu is NULL");
    assert_refused(cushim_primary_describe(NULL, 0, &how), CUDA_ERROR_INVALID_VALUE,
                   "cushim_primary_describe", "cu is NULL");
    assert_refused(cushim_context_create(NULL, 0, NULL, &context), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_create", "cu is NULL");
    assert_refused(cushim_context_destroy(NULL, NOT_WRITTEN), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_destroy", "cu is NULL");
    assert_refused(cushim_context_synchronize(NULL, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_context_synchronize", "cu is NULL");
    assert_refused(cushim_scope_enter(NULL, NOT_WRITTEN, &scope), CUDA_ERROR_INVALID_VALUE,
                   "cushim_scope_enter", "cu is NULL");
    assert_int_equal(cushim_scope_leave(&scope, CUDA_SUCCESS), CUDA_SUCCESS);
}

/* ---- gone ---- */

/* A driver that makes anything current, and falls over later. */
static void test_gone(void **state)
{
    struct cushim_scope scope;
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    CUcontext below = create(cu), gone = create(cu), primary = NULL;
    assert_int_equal(cu->cuCtxPushCurrent(below), CUDA_SUCCESS);
    assert_int_equal(cushim_context_destroy(cu, gone), CUDA_SUCCESS);
    fake.takes_gone = true;
    for (int round = 0; round < 2; round++) {
        const char *words = text_of(gone);
        assert_refused(cushim_scope_enter(cu, gone, &scope), CUDA_ERROR_INVALID_CONTEXT,
                       "cushim_scope_enter", words);
        assert_null(scope.cu);
        assert_refused(cushim_context_synchronize(cu, gone), CUDA_ERROR_INVALID_CONTEXT,
                       "cushim_context_synchronize", words);
        assert_refused(cushim_context_destroy(cu, gone), CUDA_ERROR_INVALID_CONTEXT,
                       "cushim_context_destroy", words);
        assert_int_equal(fake_depth(), 1);
        assert_ptr_equal(fake_at(0), below);
        assert_int_equal(fake_live(), 1);
        /* And a primary one after its last release. */
        assert_int_equal(cushim_primary_retain(cu, 1, &primary), CUDA_SUCCESS);
        assert_int_equal(cushim_primary_release(cu, 1), CUDA_SUCCESS);
        gone = primary;
    }
    assert_int_equal(cushim_context_destroy(cu, below), CUDA_SUCCESS);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primary_counts),
        cmocka_unit_test(test_primary_fails),
        cmocka_unit_test(test_primary_old_driver),
        cmocka_unit_test(test_primary_threads),
        cmocka_unit_test(test_create_by_age),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_cig),
        cmocka_unit_test(test_create_bad_input),
        cmocka_unit_test(test_destroy),
        cmocka_unit_test(test_closed_with_retains),
        cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_gone),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
