/* SPDX-License-Identifier: MIT */
/* Clusters, cooperative launches, attributes, packed parameters, occupancy. */
#include <string.h>

/* CUSHIM_LAUNCH checks every launch. */
#define CUSHIM_CHECK_LAUNCHES
#include "test_launch_fake.h"

static const size_t sizes[] = {4, 8};

#define LAUNCH(cu, function, launch) CUSHIM_LAUNCH((cu), handle_of(function), (launch), 7, 8LL)

static void assert_refused(CUresult code, CUresult expected, const char *words)
{
    assert_int_equal(code, expected);
    ERROR_SAYS("cushim_launch_check: ", words);
    assert_int_equal(fake.launches, 0);
}

/* ---- clusters ---- */

static void test_cluster(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(8, 4),
                                   .block = CUSHIM_DIM(64),
                                   .cluster = CUSHIM_DIM(4, 2)};
    CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    (void)state;
    own.value.priority = -3;
    launch.attributes = &own;
    launch.attribute_count = 1;
    launch.cooperative = true;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
        assert_string_equal(fake.call, "cuLaunchKernelEx");
        assert_memory_equal(fake.grid, ((unsigned[]){8, 4, 1}), sizeof fake.grid);
        assert_memory_equal(fake.values[1], &(long long){8}, 8);
        assert_int_equal(fake.attribute_count, 3);
        assert_int_equal(fake.launch_attributes[0].value.priority, -3);
        assert_int_equal(fake.launch_attributes[1].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        assert_int_equal(fake.launch_attributes[1].value.clusterDim.x, 4);
        assert_int_equal(fake.launch_attributes[1].value.clusterDim.y, 2);
        assert_int_equal(fake.launch_attributes[1].value.clusterDim.z, 1);
        assert_int_equal(fake.launch_attributes[2].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
        assert_int_equal(fake.launch_attributes[2].value.cooperative, 1);
    }
    cushim_close(cu);
}

static void test_cluster_refused(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(8, 3),
                                   .block = CUSHIM_DIM(64),
                                   .cluster = CUSHIM_DIM(4, 2)};
    (void)state;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_INVALID_VALUE,
                   "cluster: y is 2, which does not divide the grid's 3");
    launch.cluster[1] = 1;
    launch.cluster[2] = 0;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_INVALID_VALUE, "cluster: z is 0");
    memcpy(launch.cluster, ((size_t[]){16, 1, 1}), sizeof launch.cluster);
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_INVALID_VALUE,
                   "cluster: x is 16, which does not divide the grid's 8");
    launch.grid[0] = 16;
    fake.active_clusters = 0;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_INVALID_CLUSTER_SIZE,
                   "cluster: 16 x 1 x 1 blocks of saxpy do not fit device 0");
    fake.attributes[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] = 0;
    fake.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 8;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_NOT_SUPPORTED,
                   "cluster: device 0 has compute capability 8.0, clusters begin with 9.0");
    cushim_close(cu);
    cu = open_fake(11040, NULL);
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
                   "cluster: cuLaunchKernelEx is not available: it came with CUDA 11.6");
    cushim_close(cu);
}

static void test_attributes_refused(void **state)
{
    CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    const struct cushim_api *cu = open_fake(11040, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(8),
                                   .block = CUSHIM_DIM(64),
                                   .attributes = &own,
                                   .attribute_count = 1};
    (void)state;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
                   "attributes: cuLaunchKernelEx is not available");
    cushim_close(cu);
}

/* ---- cooperative ---- */

static void test_cooperative(void **state)
{
    static const char *const no_own_call[] = {"cuLaunchCooperativeKernel", NULL};
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(264),
                                   .block = CUSHIM_DIM(64),
                                   .cooperative = true};
    const struct cushim_api *cu = open_fake(9020, NULL);
    (void)state;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_string_equal(fake.call, "cuLaunchCooperativeKernel");
    assert_int_equal(fake.grid[0], 264);
    cushim_close(cu);
    cu = open_fake(13000, no_own_call);
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_string_equal(fake.call, "cuLaunchKernelEx");
    cushim_close(cu);
}

static void test_cooperative_refused(void **state)
{
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(265),
                                   .block = CUSHIM_DIM(64),
                                   .cooperative = true};
    const struct cushim_api *cu = open_fake(13000, NULL);
    (void)state;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                   "grid: 265 blocks cannot run at once, as cooperative ones do; device 0 holds "
                   "264 (2 on each of 132 multiprocessors)");
    fake.attributes[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 0;
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_NOT_SUPPORTED,
                   "cooperative: device 0");
    cushim_close(cu);
    cu = open_fake(8000, NULL);
    assert_refused(LAUNCH(cu, &function, &launch), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
                   "cooperative: cuLaunchCooperativeKernel is not available");
    cushim_close(cu);
}

/* ---- packed ---- */

static void test_packed(void **state)
{
    unsigned char buffer[64];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(3, (const size_t[]){4, 8, 4});
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(2), .block = CUSHIM_DIM(64)};
    (void)state;
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 1), CUDA_SUCCESS);
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 2.0), CUDA_SUCCESS);
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 3.0f), CUDA_SUCCESS);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cushim_launch_packed(cu, handle_of(&function), &launch, &params),
                         CUDA_SUCCESS);
        assert_string_equal(fake.call, "cuLaunchKernel");
        assert_int_equal(fake.packed_size, 20);
        assert_memory_equal(fake.packed, buffer, 20);
        assert_memory_equal(fake.packed + 16, &(float){3.0f}, 4);
    }
    launch.cooperative = true;
    assert_int_equal(cushim_launch_packed(cu, handle_of(&function), &launch, &params),
                     CUDA_SUCCESS);
    assert_string_equal(fake.call, "cuLaunchKernelEx");
    assert_int_equal(fake.packed_size, 20);
    cushim_close(cu);

    cu = open_fake(11040, NULL);
    assert_int_equal(cushim_launch_packed(cu, handle_of(&function), &launch, &params),
                     CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    ERROR_SAYS("cushim_launch_packed: cooperative, params: cuLaunchKernelEx is not available");
    assert_int_equal(fake.launches, 0);
    cushim_close(cu);
}

static void test_packed_nothing(void **state)
{
    struct cushim_params params = {0};
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function none = fake_function_of(0, NULL);
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(2), .block = CUSHIM_DIM(64)};
    (void)state;
    for (int round = 0; round < 2; round++)
        assert_int_equal(cushim_launch_packed(cu, handle_of(&none), &launch, &params),
                         CUDA_SUCCESS);
    assert_int_equal(fake.packed_size, 0);
    cushim_close(cu);
}

static void test_packed_refused(void **state)
{
    unsigned char buffer[64];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(2, (const size_t[]){4, 8});
    CUfunction handle = handle_of(&function);
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(2), .block = CUSHIM_DIM(64)};
    (void)state;
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 1), CUDA_SUCCESS);
    fake.next[0] = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(cushim_launch_packed(cu, handle, &launch, &params), CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("cushim_launch_packed: params: 1 given; saxpy takes 2, of 4, 8 bytes");
    CUSHIM_PARAMS_ADD(&params, 2.0);
    fake.launches = 1;
    assert_int_equal(cushim_launch_packed(cu, handle, &launch, &params), CUDA_SUCCESS);
    cushim_params_add(&params, NULL, 4, 4);
    assert_int_equal(cushim_launch_packed(cu, handle, &launch, &params), CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("cushim_launch_packed: params: parameter 3 could not be added");
    assert_int_equal(cushim_launch_packed(cu, handle, &launch, NULL), CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("params is NULL");
    assert_int_equal(fake.launches, 2);
    cushim_close(cu);
}

/* ---- occupancy ---- */

static size_t CUDA_CB two_bytes_each(int threads)
{
    return (size_t)threads * 2;
}

static void test_block_size(void **state)
{
    size_t block = 0, grid = 0;
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(0, NULL);
    CUfunction handle = handle_of(&function);
    (void)state;
    assert_int_equal(cushim_launch_block_size(cu, handle, 0, NULL, 0, &block, &grid), CUDA_SUCCESS);
    assert_true(block == 768 && grid == 264);
    assert_int_equal(cushim_launch_block_size(cu, handle, 0, two_bytes_each, 256, &block, NULL),
                     CUDA_SUCCESS);
    assert_true(block == 256 && fake.shared == 192);
    assert_int_equal(cushim_launch_block_size(cu, handle, 65536, NULL, 0, &block, NULL),
                     CUDA_SUCCESS);
    assert_true(fake.shared == 65536 && fake.opt_ins == 2);
    assert_int_equal(function.dynamic_now, 49152); /* as before the query */

    block = 5;
    assert_int_equal(cushim_launch_block_size(cu, handle, 300000, NULL, 0, &block, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("cushim_launch_block_size: shared: 300000 bytes");
    assert_int_equal(cushim_launch_block_size(cu, NULL, 0, NULL, 0, &block, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("function is NULL");
    assert_int_equal(cushim_launch_block_size(cu, handle, 0, NULL, 0, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("block is NULL");
    assert_int_equal(cushim_launch_block_size(cu, handle, 0, NULL, SIZE_MAX, &block, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("limit is ");
    assert_true(block == 5);
    cushim_close(cu);
}

static void test_occupancy(void **state)
{
    size_t each = 0, all = 0;
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(0, NULL);
    struct cushim_launch launch = {.size = sizeof launch, .block = CUSHIM_DIM(256)};
    (void)state;
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, &each, &all),
                     CUDA_SUCCESS);
    assert_true(each == 2 && all == 264);
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, NULL, NULL),
                     CUDA_SUCCESS);
    launch.shared = 100000;
    function.dynamic_now = 49152;
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, &each, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(function.dynamic_now, 49152);
    launch.block[0] = 1025;
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, &each, &all),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("cushim_launch_occupancy: block: x is 1025");
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), NULL, &each, &all),
                     CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("launch is NULL");
    assert_true(each == 2 && all == 264);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_cluster_refused),
        cmocka_unit_test(test_attributes_refused),
        cmocka_unit_test(test_cooperative),
        cmocka_unit_test(test_cooperative_refused),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_nothing),
        cmocka_unit_test(test_packed_refused),
        cmocka_unit_test(test_block_size),
        cmocka_unit_test(test_occupancy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
