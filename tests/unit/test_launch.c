/* SPDX-License-Identifier: MIT */
/* Launching: what arrives at the driver, what is refused and how, and what is remembered. */
#include <pthread.h>
#include <string.h>

/* CUSHIM_LAUNCH checks every launch. */
#define CUSHIM_CHECK_LAUNCHES
#include "test_launch_fake.h"

static const size_t sizes[] = {4, sizeof(CUdeviceptr), 1, 4};
static const struct cushim_launch plain = {
    .size = sizeof plain, .grid = CUSHIM_DIM(3, 2), .block = CUSHIM_DIM(128)};

/* A good launch of a function with the parameters above, changed by the test. */
#define LAUNCH(cu, function, launch)                                                               \
    CUSHIM_LAUNCH((cu), handle_of(function), (launch), 7, (CUdeviceptr)8, (char)'c', 1.5f)

/* It is refused with this code, and neither the driver nor anything else is touched. */
#define REFUSED(code, call, ...)                                                                   \
    do {                                                                                           \
        unsigned launches_ = fake.launches, opt_ins_ = fake.opt_ins;                               \
        assert_int_equal((call), (code));                                                          \
        ERROR_SAYS("cushim_launch_", __VA_ARGS__);                                                 \
        assert_int_equal(fake.launches, launches_);                                                \
        assert_int_equal(fake.opt_ins, opt_ins_);                                                  \
    } while (0)

/* ---- what arrives ---- */

static void test_values_arrive(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = plain;
    (void)state;
    launch.shared = 100;
    launch.stream = (CUstream)&launch;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_string_equal(fake.call, "cuLaunchKernel");
    assert_memory_equal(fake.grid, ((unsigned[]){3, 2, 1}), sizeof fake.grid);
    assert_memory_equal(fake.block, ((unsigned[]){128, 1, 1}), sizeof fake.block);
    assert_int_equal(fake.shared, 100);
    assert_ptr_equal(fake.stream, &launch);
    assert_memory_equal(fake.values[0], &(int){7}, 4);
    assert_memory_equal(fake.values[1], &(CUdeviceptr){8}, sizeof(CUdeviceptr));
    assert_int_equal(fake.values[2][0], 'c');
    assert_memory_equal(fake.values[3], &(float){1.5f}, 4);
    assert_string_equal(cushim_last_error(), "");
    cushim_close(cu);
}

/* Evaluated once; structures, constants, arrays, expressions; none; as many as can be. */
static void test_kinds_of_arguments(void **state)
{
    struct pair {
        int a;
        short b;
    };
    const struct pair pair = {1, 2};
    const int constant = 5;
    int array[3] = {0}, counter = 0;
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function =
        fake_function_of(4, (const size_t[]){sizeof pair, 4, sizeof(int *), 4});
    (void)state;
    assert_int_equal(
        CUSHIM_LAUNCH(cu, handle_of(&function), &plain, pair, constant, array, ++counter),
        CUDA_SUCCESS);
    assert_int_equal(counter, 1);
    assert_memory_equal(fake.values[0], &pair, sizeof pair);
    assert_memory_equal(fake.values[1], &constant, sizeof constant);
    assert_memory_equal(fake.values[2], &(int *){array}, sizeof(int *));
    assert_memory_equal(fake.values[3], &counter, sizeof counter);

    struct fake_function none = fake_function_of(0, NULL);
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&none), &plain), CUDA_SUCCESS);
    size_t ones[32];
    for (size_t i = 0; i < COUNT(ones); i++)
        ones[i] = 4;
    struct fake_function many = fake_function_of(COUNT(ones), ones);
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&many), &plain, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                   12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                                   28, 29, 30, 31, 32),
                     CUDA_SUCCESS);
    for (int i = 0; i < 32; i++)
        assert_memory_equal(fake.values[i], &(int){i + 1}, 4);
    cushim_close(cu);
}

static void test_pointers(void **state)
{
    int a = 1, b = 2;
    void *pointers[] = {&a, &b};
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(2, (const size_t[]){4, 4});
    CUfunction handle = handle_of(&function);
    (void)state;
    assert_int_equal(cushim_launch_kernel(cu, handle, &plain, pointers, NULL, 2), CUDA_SUCCESS);
    assert_memory_equal(fake.values[1], &b, 4);
    /* The number of arguments is compared when the driver refuses, or by cushim_launch_check. */
    REFUSED(CUDA_ERROR_INVALID_VALUE, cushim_launch_check(cu, handle, &plain, NULL, 1),
            "cushim_launch_check: arguments: 1 given; saxpy takes 2, of 4, 4 bytes");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cushim_launch_kernel(cu, handle, &plain, NULL, NULL, 2),
            "pointers is NULL");
    pointers[1] = NULL;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cushim_launch_kernel(cu, handle, &plain, pointers, NULL, 2),
            "pointers: number 2 is NULL");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cushim_launch_kernel(cu, NULL, &plain, NULL, NULL, 0),
            "function is NULL");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cushim_launch_kernel(cu, handle, NULL, NULL, NULL, 0),
            "launch is NULL");
    cushim_close(cu);
}

static void test_launch_1d(void **state)
{
    (void)state;
    struct cushim_launch launch = cushim_launch_2d(100, 65, 32, 8, NULL);
    assert_int_equal(launch.size, sizeof launch);
    assert_memory_equal(launch.grid, ((size_t[]){4, 9, 1}), sizeof launch.grid);
    assert_memory_equal(launch.block, ((size_t[]){32, 8, 1}), sizeof launch.block);
    launch = cushim_launch_3d(100, 65, 9, 32, 8, 2, NULL);
    assert_memory_equal(launch.grid, ((size_t[]){4, 9, 5}), sizeof launch.grid);
    assert_memory_equal(launch.block, ((size_t[]){32, 8, 2}), sizeof launch.block);
    assert_true(cushim_launch_2d(9, 0, 4, 4, NULL).grid[1] == 0);
    assert_true(cushim_launch_3d(9, 9, 9, 4, 4, 0, NULL).grid[2] == 0);
    assert_true(cushim_launch_1d(1000, 256, NULL).grid[0] == 4);
    assert_true(cushim_launch_1d(1024, 256, NULL).grid[0] == 4);
    assert_true(cushim_launch_1d(SIZE_MAX, 2, NULL).grid[0] == SIZE_MAX / 2 + 1);
    assert_true(cushim_launch_1d(0, 256, NULL).grid[0] == 0);
    assert_true(cushim_launch_1d(9, 0, NULL).grid[0] == 0);
}

/* ---- refusals ---- */

static void test_wrong_arguments(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(2, (const size_t[]){8, 4});
    CUfunction handle = handle_of(&function);
    (void)state;
    /* Whether or not something is remembered of the function. */
    for (int round = 0; round < 2; round++) {
        REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle, &plain, 1, 2),
                "arguments: number 1 has 4 bytes; the parameter of saxpy has 8");
        REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle, &plain, 1LL, 2LL),
                "arguments: number 2 has 8 bytes", "has 4");
        REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle, &plain, 1LL, 2, 3),
                "arguments: 3 given; saxpy takes 2, of 8, 4 bytes");
        REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle, &plain), "0 given");
        fake.name = NULL;
        REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle, &plain), "the function takes");
        fake.name = "saxpy";
        assert_int_equal(CUSHIM_LAUNCH(cu, handle, &plain, 1LL, 2), CUDA_SUCCESS);
    }
    cushim_close(cu);
}

static void test_wrong_shapes(void **state)
{
    static const CUlaunchAttribute ignored = {.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
    static const struct {
        struct cushim_launch launch;
        CUresult code;
        const char *words;
    } wrong[] = {
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {0, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: x is 0"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {32, 0, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: y is 0"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 0}, .block = {32, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: z is 0; it is at least 1: if there is nothing to do, skip the launch"},
        {{.size = sizeof(struct cushim_launch), .grid = {0x80000000u, 1, 1}, .block = {32, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: x is 2147483648; device 0 has at most 2147483647"},
#if SIZE_MAX > UINT32_MAX
        {{.size = sizeof(struct cushim_launch), .grid = {0x100000001, 1, 1}, .block = {32, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: x is 4294967297"},
        {{.size = sizeof(struct cushim_launch),
          .grid = {1, 1, 1},
          .block = {32, 1, 1},
          .shared = 0x100000000},
         CUDA_ERROR_INVALID_VALUE,
         "shared: 4294967296 bytes"},
#endif
        {{.size = sizeof(struct cushim_launch), .grid = {1, 65536, 1}, .block = {32, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: y is 65536; device 0 has at most 65535"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {1, 1, 65}},
         CUDA_ERROR_INVALID_VALUE,
         "block: z is 65"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {33, 32, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: 33 x 32 x 1 are 1056 threads; device 0 has at most 1024"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {SIZE_MAX, 2, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: x is"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {769, 1, 1}},
         CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
         "769 threads; saxpy can have 768 in a block (it uses 80 registers a thread)"},
        {{.size = sizeof(struct cushim_launch),
          .grid = {1, 1, 1},
          .block = {32, 1, 1},
          .shared = 232448},
         CUDA_ERROR_INVALID_VALUE,
         "shared: 232448 bytes; device 0 has at most 231424 for a block of saxpy, which itself "
         "uses 1024"},
        {{.size = sizeof(struct cushim_launch),
          .grid = {1, 1, 1},
          .block = {32, 1, 1},
          .attribute_count = 1},
         CUDA_ERROR_INVALID_VALUE,
         "attributes is NULL"},
        {{.size = sizeof(struct cushim_launch),
          .grid = {1, 1, 1},
          .block = {32, 1, 1},
          .attribute_count = 17,
          .attributes = &ignored},
         CUDA_ERROR_INVALID_VALUE,
         "attribute_count is 17; pass at most"},
    };
    static char bytes[8];
    void *pointers[] = {bytes, bytes, bytes, bytes};
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    (void)state;
    function.threads = 768;
    function.registers = 80;
    function.static_shared = 1024;
    function.dynamic_now = 49152 - 1024;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        REFUSED(wrong[i].code, LAUNCH(cu, &function, &wrong[i].launch), "cushim_launch_check",
                wrong[i].words);
        /* The driver refuses, and then cushim looks for the reason. */
        fake.next[0] = wrong[i].code;
        fake.launches = 0;
        assert_int_equal(
            cushim_launch_kernel(cu, handle_of(&function), &wrong[i].launch, pointers, sizes, 4),
            wrong[i].code);
        ERROR_SAYS("cushim_launch_kernel", wrong[i].words);
        fake.launches = 0;
    }
    fake.next[0] = CUDA_SUCCESS;
    /* A block of 0 makes a grid of 0: the sentence is about what the caller wrote. */
    const struct cushim_launch no_block = cushim_launch_1d(100, 0, NULL);
    REFUSED(CUDA_ERROR_INVALID_VALUE, LAUNCH(cu, &function, &no_block), "block: x is 0");
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_SUCCESS);
    cushim_close(cu);
}

static void test_no_context_and_no_driver(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    (void)state;
    fake.device_code = CUDA_ERROR_INVALID_CONTEXT;
    REFUSED(CUDA_ERROR_INVALID_CONTEXT, LAUNCH(cu, &function, &plain),
            "cushim_launch_check: no context is current on this thread");
    cushim_close(cu);
    cu = open_path("/nonexistent/libcuda.so.1");
    REFUSED(CUDA_ERROR_NOT_INITIALIZED, LAUNCH(cu, &function, &plain), "there is no CUDA driver");
    cushim_close(cu);
}

/* A driver that cannot tell of parameters, or not of this function's, stops nothing. */
static void test_driver_cannot_tell(void **state)
{
    static const char *const no_info[] = {"cuFuncGetParamInfo", NULL};
    const struct cushim_api *cu = open_fake(12020, no_info);
    struct fake_function function = fake_function_of(1, (const size_t[]){4});
    (void)state;
    for (int round = 0; round < 2; round++)
        assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &plain, 1LL, 2), CUDA_SUCCESS);
    /* A kernel that does not say what it has itself may have all that there is. */
    function.static_shared = -1;
    struct cushim_launch full = plain;
    full.shared = (size_t)fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK];
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &full, 1), CUDA_SUCCESS);
    /* Nor one of which nothing but that is known. */
    function.dynamic_now = -1;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = -1;
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &full, 1), CUDA_SUCCESS);
    full.shared++;
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &full, 1), CUDA_ERROR_INVALID_VALUE);
    /* One that tells only what it has itself leaves the rest, or nothing. */
    const int own[] = {1024, (int)full.shared - 2, (int)full.shared - 1, (int)full.shared + 7};
    const size_t all = full.shared - 1;
    for (size_t i = 0; i < COUNT(own); i++) {
        function.static_shared = own[i];
        full.shared = (size_t)own[i] < all ? all - (size_t)own[i] : 0;
        assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &full, 1), CUDA_SUCCESS);
        full.shared++;
        assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &full, 1),
                         CUDA_ERROR_INVALID_VALUE);
    }
    assert_int_equal(fake.opt_ins, 0);
    for (size_t i = 0; i < COUNT(fake.attributes); i++)
        fake.attributes[i] = -1;
    function.threads = function.static_shared = function.dynamic_now = -1;
    struct cushim_launch odd = {
        .size = sizeof odd, .grid = CUSHIM_DIM(70000, 70000), .block = CUSHIM_DIM(2000)};
    for (int round = 0; round < 2; round++)
        assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &odd, 1), CUDA_SUCCESS);
    odd.grid[0] = UINT32_MAX; /* what the driver's type holds, and no more */
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &odd, 1), CUDA_SUCCESS);
    assert_int_equal(fake.grid[0], UINT32_MAX);
    odd.grid[0]++;
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&function), &odd, 1), CUDA_ERROR_INVALID_VALUE);
    cushim_close(cu);
}

/* ---- shared memory ---- */

static void test_opt_in(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct cushim_launch launch = plain;
    (void)state;
    function.static_shared = 1024;
    function.dynamic_now = 48128;
    launch.shared = 48128;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 0);
    launch.shared = 100000;
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, sizes, 4),
                     CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 0);
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 1);
    assert_int_equal(function.dynamic_now, 231424);
    launch.shared = 231424;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 1);

    /* Set back by somebody else: noticed by the driver's refusal. */
    function.dynamic_now = 48128;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 2);
    cushim_close(cu);

    cu = open_fake(8000, NULL);
    function.dynamic_now = -1;
    launch.shared = 49153;
    REFUSED(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, LAUNCH(cu, &function, &launch), "shared",
            "cuFuncSetAttribute", "9.0");
    launch.shared = 48128;
    assert_int_equal(LAUNCH(cu, &function, &launch), CUDA_SUCCESS);
    cushim_close(cu);
}

/* A CUkernel cast to CUfunction: launched as it is, asked about as its function. */
static void test_kernel_as_function(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    struct fake_function kernel = {.of_kernel = &function};
    struct cushim_launch launch = plain;
    (void)state;
    launch.shared = 65536;
    assert_int_equal(LAUNCH(cu, &kernel, &launch), CUDA_SUCCESS);
    assert_memory_equal(fake.values[1], &(CUdeviceptr){8}, sizeof(CUdeviceptr));
    assert_int_equal(function.dynamic_now, 232448);
    launch.block[0] = 1025;
    REFUSED(CUDA_ERROR_INVALID_VALUE, LAUNCH(cu, &kernel, &launch), "block: x is 1025");
    REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle_of(&kernel), &plain, 1),
            "1 given; saxpy takes 4");
    cushim_close(cu);
}

/* A driver that knows the number of parameters is not asked for one more. */
static void test_parameter_count(void **state)
{
    const struct cushim_api *cu = open_fake(13020, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    (void)state;
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_SUCCESS);
    REFUSED(CUDA_ERROR_INVALID_VALUE, CUSHIM_LAUNCH(cu, handle_of(&function), &plain, 1),
            sizeof(CUdeviceptr) == 8 ? "1 given; saxpy takes 4, of 4, 8, 1, 4 bytes"
                                     : "1 given; saxpy takes 4, of 4, 4, 1, 4 bytes");
    struct fake_function none = fake_function_of(0, NULL);
    assert_int_equal(CUSHIM_LAUNCH(cu, handle_of(&none), &plain), CUDA_SUCCESS);
    cushim_close(cu);
}

/* ---- the switch for debug builds ---- */

/* Without it a launch costs the driver's call and nothing else. */
static void test_unchecked(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    static char bytes[8];
    void *pointers[] = {bytes, bytes, bytes, bytes};
    (void)state;
    assert_int_equal(cushim_launch_kernel(cu, handle_of(&function), &plain, pointers, sizes, 4),
                     CUDA_SUCCESS);
    assert_int_equal(fake.asked, 0);
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_SUCCESS);
    assert_true(fake.asked > 0);
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cushim_launch_kernel(NULL, handle_of(&function), &plain, pointers, sizes, 4),
            "cushim_launch_kernel: cu is NULL");
    struct cushim_launch small = plain;
    small.size = 8;
    REFUSED(CUDA_ERROR_INVALID_VALUE, LAUNCH(cu, &function, &small), "launch: size: 8 ");
    cushim_close(cu);
}

/* ---- the driver's own refusals ---- */

static void test_driver_refuses(void **state)
{
    const struct cushim_api *cu = open_fake(13000, NULL);
    struct fake_function function = fake_function_of(COUNT(sizes), sizes);
    (void)state;
    fake.next[0] = CUDA_ERROR_INVALID_VALUE;
    fake.next[1] = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_ERROR_INVALID_VALUE);
    ERROR_SAYS("cushim_launch_kernel: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1)", "saxpy",
               "grid 3 x 2 x 1", "block 128 x 1 x 1", "0 bytes of shared memory");
    assert_int_equal(fake.launches, 1);
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_ERROR_ILLEGAL_ADDRESS);
    ERROR_SAYS("cushim_launch_kernel: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_SUCCESS);

    /* A function that has become another one since: the true reason. */
    function.threads = 64;
    fake.next[3] = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    ERROR_SAYS("128 threads; saxpy can have 64");
    cushim_close(cu);

    cu = open_fake(13000, NULL);
    function.threads = 1024;
    fake.next[0] = CUDA_ERROR_INVALID_HANDLE;
    assert_int_equal(LAUNCH(cu, &function, &plain), CUDA_ERROR_INVALID_HANDLE);
    ERROR_SAYS("cushim_launch_kernel: function 0x", "does not belong to the current context");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_kinds_of_arguments),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_launch_1d),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_no_context_and_no_driver),
        cmocka_unit_test(test_driver_cannot_tell),
        cmocka_unit_test(test_opt_in),
        cmocka_unit_test(test_kernel_as_function),
        cmocka_unit_test(test_parameter_count),
        cmocka_unit_test(test_unchecked),
        cmocka_unit_test(test_driver_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
