/* SPDX-License-Identifier: MIT */
/* Device list, properties and attributes: answers, sentences, outputs untouched on failure. */
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>

#include "fake_contexts.h"

#define UNTOUCHED 0x5a5a5a5a

static void test_list(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    CUdevice devices[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    int count = UNTOUCHED;
    assert_int_equal(cushim_device_list(cu, devices, 3, &count), CUDA_SUCCESS);
    assert_int_equal(count, FAKE_DEVICES);
    assert_int_equal(devices[0], 0);
    assert_int_equal(devices[1], 1);
    assert_int_equal(devices[2], UNTOUCHED);

    devices[1] = UNTOUCHED;
    assert_int_equal(cushim_device_list(cu, devices, 1, NULL), CUDA_SUCCESS);
    assert_int_equal(devices[1], UNTOUCHED);
    assert_int_equal(cushim_device_list(cu, NULL, 0, &count), CUDA_SUCCESS);
    assert_int_equal(count, FAKE_DEVICES);

    assert_int_equal(cushim_device_list(cu, NULL, 4, &count), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_list: devices is NULL");
    assert_contains(cushim_last_error(), "4");
    assert_int_equal(cushim_device_list(cu, devices, -2, &count), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_list: capacity is -2");
    cushim_close(cu);
}

/* Whichever call fails: its code, the helper's name, nothing written. */
static void test_list_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    for (int at = 1;; at++) {
        CUdevice devices[2] = {UNTOUCHED, UNTOUCHED};
        int count = UNTOUCHED;
        fake.fail_at = at;
        fake.fail_code = CUDA_ERROR_UNKNOWN;
        CUresult code = cushim_device_list(cu, devices, 2, &count);
        if (fake.fail_at > 0) {
            assert_int_equal(at, 4); /* a count and two devices */
            break;
        }
        assert_int_equal(code, CUDA_ERROR_UNKNOWN);
        assert_contains(cushim_last_error(), "cushim_device_list: cuDeviceGet");
        assert_int_equal(count, UNTOUCHED);
        assert_int_equal(devices[0], UNTOUCHED);
    }
    cushim_close(cu);
}

static void test_init_fails(void **state)
{
    static const int codes[] = {100, 802, 803, 804, 999, 46};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        char number[16];
        int count = UNTOUCHED, value = UNTOUCHED;
        struct cushim_device_properties properties = {.size = sizeof properties,
                                                      .major = UNTOUCHED};
        const struct cushim_api *cu = fake_open(12040);
        fake.init_code = (CUresult)codes[i];
        snprintf(number, sizeof number, "%d", codes[i]);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(cushim_device_list(cu, NULL, 0, &count), codes[i]);
            assert_contains(cushim_last_error(), "cushim_device_list: ");
            assert_contains(cushim_last_error(), number);
        }
        assert_int_equal(cushim_device_attribute(cu, 0, 1, &value, NULL), codes[i]);
        assert_contains(cushim_last_error(), "cushim_device_attribute: ");
        assert_int_equal(cushim_device_describe(cu, 0, &properties), codes[i]);
        assert_contains(cushim_last_error(), "cushim_device_describe: ");
        assert_int_equal(count, UNTOUCHED);
        assert_int_equal(value, UNTOUCHED);
        assert_int_equal(properties.major, UNTOUCHED);
        assert_string_equal(fake.calls, "cuInit cuInit cuInit cuInit ");
        cushim_close(cu);
    }
}

static void test_no_driver(void **state)
{
    int count = UNTOUCHED;
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cushim_device_list(cu, NULL, 0, &count), CUDA_ERROR_NO_DEVICE);
    assert_contains(cushim_last_error(), "cushim_device_list: ");
    assert_contains(cushim_last_error(), "/nonexistent/libcuda.so.1");
    assert_int_equal(count, UNTOUCHED);
    cushim_close(cu);
}

static void expect_forked(void *cu)
{
    int count = UNTOUCHED;
    assert_int_equal(cushim_device_list(cu, NULL, 0, &count), CUDA_ERROR_NOT_INITIALIZED);
    assert_contains(cushim_last_error(), "cushim_device_list: ");
    assert_contains(cushim_last_error(), "fork");
    assert_int_equal(count, UNTOUCHED);
}

static void test_fork(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    assert_int_equal(cushim_device_list(cu, NULL, 0, NULL), CUDA_SUCCESS);
    run_in_child(expect_forked, (void *)cu, NULL);
    cushim_close(cu);
}

/* ---- attributes ---- */

static void test_names(void **state)
{
    struct cushim_attribute attribute, other;
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    assert_true(cushim_attribute_count() > 150);
    for (size_t i = 0; i < cushim_attribute_count(); i++) {
        enum cushim_answer answer, named;
        int value = UNTOUCHED, same = UNTOUCHED;
        assert_true(cushim_attribute_at(i, &attribute));
        assert_true(attribute.number > 0);
        /* 0, not known; else later than the oldest headers, which cannot tell. */
        assert_true(attribute.since == 0 || (attribute.since > 11070 && attribute.since % 10 == 0));
        assert_int_equal(cushim_device_attribute(cu, 0, attribute.number, &value, &answer),
                         CUDA_SUCCESS);
        assert_int_equal(cushim_device_attribute_named(cu, 0, attribute.name, &same, &named),
                         CUDA_SUCCESS);
        assert_true(same == value && named == answer);
        assert_true(i == 0 ||
                    (cushim_attribute_at(i - 1, &other) && other.number <= attribute.number));
    }
    attribute.number = UNTOUCHED;
    assert_false(cushim_attribute_at(cushim_attribute_count(), &attribute));
    assert_false(cushim_attribute_at(0, NULL));
    assert_int_equal(attribute.number, UNTOUCHED);
    /* MAX ends the enum, and changes. */
    static const char *const none[] = {"MAX", "", "CU_DEVICE_ATTRIBUTE_", "warp_size", NULL};
    for (size_t i = 0; i < COUNT(none); i++) {
        int value = UNTOUCHED;
        assert_int_equal(cushim_device_attribute_named(cu, 0, none[i], &value, NULL),
                         CUDA_ERROR_INVALID_VALUE);
        assert_contains(cushim_last_error(), "is no device attribute that this build knows");
    }
    cushim_close(cu);
}

static const struct {
    const char *name;
    int number, since;
} known[] = {
    {"MAX_THREADS_PER_BLOCK", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0},
    {"CU_DEVICE_ATTRIBUTE_WARP_SIZE", CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0},
    {"SHARED_MEMORY_PER_BLOCK", 8, 0},
    {"CLUSTER_LAUNCH", CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 11080},
    {"MULTICAST_SUPPORTED", CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 12010},
    /* 93 in 11.7, 122 from 12.0, where 93 has another name */
    {"CAN_USE_64_BIT_STREAM_MEM_OPS", 122, 0},
    {"CAN_USE_64_BIT_STREAM_MEM_OPS_V1", 93, 0},
    {"CAN_USE_64_BIT_STREAM_MEM_OPS_V2", 122, 0},
};

static void test_known_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        const char *name = known[i].name;
        bool found = false;
        for (size_t j = 0; j < cushim_attribute_count() && !found; j++) {
            struct cushim_attribute attribute;
            assert_true(cushim_attribute_at(j, &attribute));
            const char *end = strstr(attribute.name, name);
            found = end && strcmp(end, name) == 0 && attribute.number == known[i].number &&
                    attribute.since == known[i].since;
        }
        if (!found)
            fail_msg("%s", name);
    }
}

/* The fake: 90 is refused though its release has it, 91 is NOT_SUPPORTED, from 120 none is known.
 */
static const struct {
    int driver, number;
    enum cushim_answer answer;
    CUresult code; /* where no answer is asked for */
    const char *words;
} answers[] = {
    {12040, 1, CUSHIM_ANSWER_VALUE, CUDA_SUCCESS, ""},
    {12040, 18, CUSHIM_ANSWER_VALUE, CUDA_SUCCESS, ""}, /* 0 */
    {12040, 90, CUSHIM_ANSWER_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED, "number: 90, CU_DEVICE_ATT"},
    {12040, 91, CUSHIM_ANSWER_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED, "number: 91, CU_DEVICE_ATT"},
    {12040, 144, CUSHIM_ANSWER_UNKNOWN, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
     "CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED: the driver, of CUDA 12.4, does not know"},
    /* Its release is not known, but it is old: it is the device that lacks it. */
    {11040, 90, CUSHIM_ANSWER_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED, "this device does not have"},
    {8000, 90, CUSHIM_ANSWER_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED, "this device does not have"},
    {12040, 9999, CUSHIM_ANSWER_UNKNOWN, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "number: 9999"},
    {12040, -1, CUSHIM_ANSWER_UNKNOWN, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "number: -1"},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(answers); i++) {
        const struct cushim_api *cu = fake_open(answers[i].driver);
        int expected = answers[i].number == 18 ? 0 : 1000 + answers[i].number;
        bool has = answers[i].answer == CUSHIM_ANSWER_VALUE;
        int value = UNTOUCHED;
        enum cushim_answer answer = (enum cushim_answer)99;
        assert_int_equal(cushim_device_attribute(cu, 1, answers[i].number, &value, &answer),
                         CUDA_SUCCESS);
        assert_int_equal(answer, answers[i].answer);
        assert_int_equal(value, has ? expected : UNTOUCHED);

        value = UNTOUCHED;
        assert_int_equal(cushim_device_attribute(cu, 1, answers[i].number, &value, NULL),
                         answers[i].code);
        assert_int_equal(value, has ? expected : UNTOUCHED);
        if (!has) {
            assert_contains(cushim_last_error(), "cushim_device_attribute: number: ");
            assert_contains(cushim_last_error(), answers[i].words);
        }
        cushim_close(cu);
    }
}

/* Each by a name, the first of them too. */
static void test_attribute_fails(void **state)
{
    struct cushim_attribute attribute;
    const struct cushim_api *cu = fake_open(12040);
    (void)state;
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    for (size_t i = 0; i < cushim_attribute_count(); i++) {
        int value = UNTOUCHED;
        assert_true(cushim_attribute_at(i, &attribute));
        fake.fails = "cuDeviceGetAttribute";
        fake.fail_code = CUDA_ERROR_INVALID_VALUE;
        CUresult code = cushim_device_attribute(cu, 0, attribute.number, &value, NULL);
        fake.fails = NULL;
        assert_int_equal(code, attribute.since <= 12040 ? CUDA_ERROR_NOT_SUPPORTED
                                                        : CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
        assert_int_equal(value, UNTOUCHED);
        assert_contains(cushim_last_error(), ", CU_DEVICE_ATTRIBUTE_"); /* of several, one */
    }
    cushim_close(cu);
}

static void test_attribute_by_name(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    int value = UNTOUCHED;
    enum cushim_answer answer = (enum cushim_answer)99;
    assert_int_equal(cushim_device_attribute_named(cu, 0, "WARP_SIZE", &value, NULL), CUDA_SUCCESS);
    assert_int_equal(value, 1010);
    assert_int_equal(
        cushim_device_attribute_named(cu, 0, "HOST_MEMORY_POOLS_SUPPORTED", &value, &answer),
        CUDA_SUCCESS);
    assert_int_equal(answer, CUSHIM_ANSWER_UNKNOWN);
    assert_int_equal(value, 1010);

    assert_int_equal(cushim_device_attribute_named(cu, 0, "WRAP_SIZE", &value, &answer),
                     CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_attribute_named: name: \"WRAP_SIZE\"");
    assert_int_equal(cushim_device_attribute_named(cu, 0, NULL, &value, &answer),
                     CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_attribute_named: name: NULL");
    assert_int_equal(value, 1010);
    cushim_close(cu);
}

static void test_attribute_bad_input(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    int value = UNTOUCHED;
    enum cushim_answer answer = (enum cushim_answer)99;
    assert_int_equal(cushim_device_attribute(cu, 7, 1, &value, &answer), CUDA_ERROR_INVALID_DEVICE);
    assert_string_equal(cushim_last_error(),
                        "cushim_device_attribute: device is 7; the driver has 2, numbered from 0");
    assert_int_equal(cushim_device_attribute(cu, 0, 1, NULL, &answer), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_attribute: value is NULL");
    fake_forget();
    fake.fail_at = 1;
    fake.fail_code = CUDA_ERROR_UNKNOWN;
    assert_int_equal(cushim_device_attribute(cu, 0, 1, &value, &answer), CUDA_ERROR_UNKNOWN);
    assert_contains(cushim_last_error(), "cushim_device_attribute: cuDeviceGetAttribute: ");
    assert_int_equal(value, UNTOUCHED);
    assert_int_equal(answer, 99);
    cushim_close(cu);
}

/* ---- properties ---- */

static void test_describe(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    struct cushim_device_properties properties = {.size = sizeof properties};
    assert_int_equal(cushim_device_describe(cu, 0, &properties), CUDA_SUCCESS);
    assert_int_equal(properties.size, sizeof properties);
    assert_string_equal(properties.name, "Fake 0");
    assert_string_equal(properties.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_string_equal(properties.pci_bus_id, "0000:00:00.0");
    assert_true(properties.total_memory == FAKE_MEMORY);
    assert_int_equal(properties.major, 1075);
    assert_int_equal(properties.minor, 1076);
    assert_int_equal(properties.max_block[2], 1004);
    assert_int_equal(properties.max_grid[0], 1005);
    assert_int_equal(properties.integrated, 0);
    assert_int_equal(properties.cluster_launch, -1); /* number 120 */

    assert_int_equal(cushim_device_describe(cu, 1, &properties), CUDA_SUCCESS);
    assert_contains(properties.uuid, "MIG-01122334-");
    cushim_close(cu);

    cu = fake_open(9000);
    assert_int_equal(cushim_device_describe(cu, 1, &properties), CUDA_SUCCESS);
    assert_string_equal(properties.uuid, "");
    cushim_close(cu);
    cu = fake_open(11020);
    assert_int_equal(cushim_device_describe(cu, 1, &properties), CUDA_SUCCESS);
    assert_string_equal(properties.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    cushim_close(cu);
}

static void test_describe_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    struct cushim_device_properties properties, before;
    memset(&properties, 0x5a, sizeof properties);
    properties.size = sizeof properties;
    before = properties;
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    int tolerated = 0;
    for (int at = 1;; at++) {
        fake.fail_at = at;
        fake.fail_code = CUDA_ERROR_UNKNOWN;
        CUresult code = cushim_device_describe(cu, 0, &properties);
        if (fake.fail_at > 0)
            break;
        if (code == CUDA_SUCCESS) { /* no UUID, no PCI bus id */
            tolerated++;
            properties = before;
            continue;
        }
        assert_int_equal(code, CUDA_ERROR_UNKNOWN);
        assert_contains(cushim_last_error(), "cushim_device_describe: cuDevice");
        assert_memory_equal(&properties, &before, sizeof before);
    }
    assert_int_equal(tolerated, 3);
    fake.fail_at = 0;
    properties = before;
    assert_int_equal(cushim_device_describe(cu, 2, &properties), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(cushim_last_error(), "cushim_device_describe: device is 2; ");
    assert_memory_equal(&properties, &before, sizeof before);
    properties.size = 0;
    assert_int_equal(cushim_device_describe(cu, 0, &properties), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_describe: properties: size: 0 ");
    assert_int_equal(cushim_device_describe(cu, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_describe: properties is NULL");
    cushim_close(cu);
}

/* ---- enter and leave ---- */

static void test_enter(void **state)
{
    struct cushim_primary how = {.size = sizeof how};
    struct cushim_device_scope gpu;
    CUcontext now = NULL;
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    assert_int_equal(cushim_device_enter(cu, 1, &gpu), CUDA_SUCCESS);
    assert_true(gpu.cu == cu && gpu.device == 1 && gpu.context);
    assert_int_equal(cu->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, gpu.context);
    assert_int_equal(cushim_primary_describe(cu, 1, &how), CUDA_SUCCESS);
    assert_int_equal(how.retained, 1);
    assert_int_equal(cushim_device_leave(&gpu), CUDA_SUCCESS);
    assert_null(gpu.cu);
    assert_int_equal(cushim_device_leave(&gpu), CUDA_SUCCESS); /* left already */
    assert_int_equal(fake_depth(), 0);
    assert_int_equal(cushim_primary_describe(cu, 1, &how), CUDA_SUCCESS);
    assert_int_equal(how.retained, 0);
    assert_false(how.active);
    cushim_close(cu);
}

/* Whichever call fails first, its code and its sentence are what leaving returns, and nothing is
 * left behind. */
static void test_enter_fails(void **state)
{
    (void)state;
    for (int at = 1;; at++) {
        struct cushim_device_scope gpu;
        const struct cushim_api *cu = fake_open(12040);
        assert_int_equal(cushim_init(cu), CUSHIM_OK);
        fake_forget();
        fake.fail_at = at;
        fake.fail_code = CUDA_ERROR_UNKNOWN;
        fake.fails = at % 2 ? NULL : "cuDevicePrimaryCtxRelease_v2"; /* what clears up, too */
        CUresult code = cushim_device_enter(cu, 0, &gpu);
        bool through = code == CUDA_SUCCESS;
        fake.primary_retains[0] -= fake.fails && fake.primary_retains[0] && !through;
        fake.fails = NULL;
        if (!through) {
            assert_string_equal(gpu.outcome.message, cushim_last_error());
            assert_contains(gpu.outcome.message, "cushim_device_enter: cu");
            assert_contains(gpu.outcome.message, "CUDA_ERROR_UNKNOWN");
            assert_null(gpu.cu);
        }
        fake.fail_at = 0;
        assert_int_equal(cushim_device_leave(&gpu), code);
        assert_int_equal(gpu.outcome.code, code);
        assert_int_equal(fake_depth(), 0);
        assert_int_equal(fake.primary_retains[0], 0);
        cushim_close(cu);
        if (through && at > 8)
            break;
    }
}

static void test_first_failure_stays(void **state)
{
    struct cushim_device_scope gpu;
    (void)state;
    const struct cushim_api *cu = fake_open(12040);
    assert_int_equal(cushim_device_enter(cu, 0, &gpu), CUDA_SUCCESS);
    assert_false(CUSHIM_KEEP(&gpu.outcome, cushim_device_list(cu, NULL, -3, NULL)));
    assert_false(CUSHIM_KEEP(&gpu.outcome, cushim_device_list(cu, NULL, 3, NULL)));
    assert_true(CUSHIM_KEEP(&gpu.outcome, cushim_device_list(cu, NULL, 0, NULL)));
    fake_forget();
    fake.fail_at = 1;
    fake.fail_code = CUDA_ERROR_UNKNOWN;
    assert_int_equal(cushim_device_leave(&gpu), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(gpu.outcome.message, "cushim_device_list: capacity is -3; pass 0 or more");
    assert_int_equal(fake_depth(), 0);
    assert_int_equal(fake.primary_retains[0], 0);
    cushim_close(cu);
}

static void test_enter_refused(void **state)
{
    struct cushim_device_scope gpu;
    (void)state;
    memset(&gpu, 0x5a, sizeof gpu); /* as on a stack: no caller prepares it */
    const struct cushim_api *cu = fake_open(12040);
    assert_int_equal(cushim_device_enter(cu, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_device_enter: scope is NULL");
    assert_int_equal(cushim_device_leave(NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_device_enter(NULL, 0, &gpu), CUDA_ERROR_INVALID_VALUE);
    assert_contains(gpu.outcome.message, "cushim_device_enter: cu is NULL");
    assert_int_equal(cushim_device_leave(&gpu), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_device_enter(cu, 9, &gpu), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(gpu.outcome.message, "device is 9; the driver has 2");
    cushim_close(cu);

    cu = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cushim_device_enter(cu, 0, &gpu), CUDA_ERROR_NO_DEVICE);
    assert_contains(gpu.outcome.message, "/nonexistent/libcuda.so.1");
    assert_int_equal(cushim_device_leave(&gpu), CUDA_ERROR_NO_DEVICE);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_fails),
        cmocka_unit_test(test_init_fails),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_known_names),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_attribute_by_name),
        cmocka_unit_test(test_attribute_fails),
        cmocka_unit_test(test_attribute_bad_input),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_describe_fails),
        cmocka_unit_test(test_enter),
        cmocka_unit_test(test_enter_fails),
        cmocka_unit_test(test_first_failure_stays),
        cmocka_unit_test(test_enter_refused),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
