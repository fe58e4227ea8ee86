/* SPDX-License-Identifier: MIT */
/* Multiprocessors of a device, divided by what each group asks for. */
#include "memory_test.h"

#define BACKFILL CU_DEV_SM_RESOURCE_GROUP_BACKFILL

static CUdevResource whole;
static unsigned all, usual; /* of the device: multiprocessors, and how many a group has at least */

static bool begin(void)
{
    int major = 0;
    if (!CUSHIM_HAS(cu, cuDevSmResourceSplit)) {
        skip();
        return false;
    }
    OK(cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    OK(cu->cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    all = whole.sm.smCount;
    usual = major >= 9 ? 8 : 2;
    return true;
}

static CUresult split(CUdevResource *parts, unsigned count, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groups)
{
    return cu->cuDevSmResourceSplit(parts, count, &whole, NULL, 0, groups);
}

/* A split of one group, by its first four fields. */
static CUresult one(unsigned count, unsigned together, unsigned flags)
{
    CUdevResource part;
    CU_DEV_SM_RESOURCE_GROUP_PARAMS group = {
        .smCount = count, .coscheduledSmCount = together, .flags = flags};
    return split(&part, 1, &group);
}

static void test_groups(void **state)
{
    CUdevResource parts[2], rest;
    CU_DEV_SM_RESOURCE_GROUP_PARAMS groups[] = {{.smCount = 10, .coscheduledSmCount = 2},
                                                {.smCount = 4, .coscheduledSmCount = 2}};
    (void)state;
    if (!begin())
        return;
    OK(cu->cuDevSmResourceSplit(parts, 2, &whole, &rest, 0, groups));
    assert_int_equal(parts[0].type, CU_DEV_RESOURCE_TYPE_SM);
    assert_int_equal(parts[0].sm.smCount, 10);
    assert_int_equal(parts[0].sm.smCoscheduledAlignment, 2);
    assert_int_equal(parts[1].sm.smCount, 4);
    assert_int_equal(rest.type, CU_DEV_RESOURCE_TYPE_SM);
    assert_int_equal(rest.sm.smCount, all - 14);
    assert_int_equal(groups[0].smCount, 10);
    assert_int_equal(groups[1].smCount, 4);
}

/* A group with no count is told one. */
static void test_discovery(void **state)
{
    CUdevResource parts[2], rest;
    CU_DEV_SM_RESOURCE_GROUP_PARAMS groups[] = {{0}, {.coscheduledSmCount = 2}};
    (void)state;
    if (!begin())
        return;
    OK(split(NULL, 2, groups));
    assert_int_equal(groups[0].smCount, all - all % usual);
    assert_int_equal(groups[0].coscheduledSmCount, 0);
    assert_int_equal(groups[1].smCount, all % usual / 2 * 2);
    groups[0] = (CU_DEV_SM_RESOURCE_GROUP_PARAMS){.smCount = 8, .coscheduledSmCount = 2};
    groups[1] = (CU_DEV_SM_RESOURCE_GROUP_PARAMS){.coscheduledSmCount = 2, .flags = BACKFILL};
    OK(cu->cuDevSmResourceSplit(parts, 2, &whole, &rest, 0, groups));
    assert_int_equal(groups[1].smCount, all - 8);
    assert_int_equal(parts[1].sm.smCount, all - 8);
    assert_int_equal(parts[1].sm.flags, BACKFILL);
    assert_int_equal(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
    /* Nothing is left for the second, which may be told, but not be made. */
    groups[0] = (CU_DEV_SM_RESOURCE_GROUP_PARAMS){.smCount = all, .coscheduledSmCount = 2};
    groups[1] = (CU_DEV_SM_RESOURCE_GROUP_PARAMS){.coscheduledSmCount = 2};
    GIVES(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(parts, 2, groups));
    OK(split(NULL, 2, groups));
    assert_int_equal(groups[1].smCount, 0);
}

static void test_refused(void **state)
{
    CUdevResource part, other;
    CU_DEV_SM_RESOURCE_GROUP_PARAMS group = {.smCount = 8, .coscheduledSmCount = 2};
    CU_DEV_SM_RESOURCE_GROUP_PARAMS two[] = {{.coscheduledSmCount = 2},
                                             {.smCount = 2, .coscheduledSmCount = 2}};
    (void)state;
    if (!begin())
        return;
    other = whole;
    other.type = CU_DEV_RESOURCE_TYPE_INVALID;
    GIVES(CUDA_ERROR_INVALID_VALUE, split(&part, 0, &group));
    GIVES(CUDA_ERROR_INVALID_VALUE, split(&part, 1, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDevSmResourceSplit(&part, 1, NULL, NULL, 0, &group));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDevSmResourceSplit(&part, 1, &whole, NULL, 1, &group));
    GIVES(CUDA_ERROR_INVALID_RESOURCE_TYPE,
          cu->cuDevSmResourceSplit(&part, 1, &other, NULL, 0, &group));
    GIVES(CUDA_ERROR_INVALID_VALUE, one(all + 2, 2, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, one(7, 2, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, one(8, 34, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, one(8, 2, 0x80));
    GIVES(CUDA_ERROR_INVALID_VALUE, one(10, 4, 0)); /* no multiple, or too many together */
    /* All are taken, and nothing is written. */
    GIVES(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(NULL, 2, two));
    assert_int_equal(two[0].smCount, 0);
}

/* Parts are what green contexts are made of. */
static void test_contexts(void **state)
{
    CUdevResource parts[2], told;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CU_DEV_SM_RESOURCE_GROUP_PARAMS groups[] = {{.coscheduledSmCount = 2},
                                                {.coscheduledSmCount = 2}};
    (void)state;
    if (!begin())
        return;
    groups[0].smCount = usual;
    OK(split(parts, 2, groups));
    OK(cu->cuDevResourceGenerateDesc(&description, &parts[0], 1));
    OK(cu->cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cu->cuGreenCtxGetDevResource(green, &told, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(told.sm.smCount, usual);
    OK(cu->cuGreenCtxDestroy(green));
}

static const struct CMUnitTest tests[] = {MEMORY_TEST(test_groups), MEMORY_TEST(test_discovery),
                                          MEMORY_TEST(test_refused), MEMORY_TEST(test_contexts)};
MEMORY_MAIN("split", tests)
