/* SPDX-License-Identifier: MIT */
/* Launches at the bounds of every number, and each sentence of a refusal in full. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "test_launch_fake.h"

#include <cushim/error.h>

static const struct cushim_launch plain = {
    .size = sizeof plain, .grid = CUSHIM_DIM(3, 2), .block = CUSHIM_DIM(128)};

static const struct cushim_api *cu;
static struct fake_function function;

static void expect_words(const struct cushim_launch *launch, const size_t *sizes, size_t count,
                         CUresult code, const char *words)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "cushim_launch_check: %s", words);
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), launch, sizes, count), code);
    assert_string_equal(cushim_last_error(), whole);
}

static CUresult launch_it(const struct cushim_launch *launch)
{
    return cushim_launch_kernel(cu, handle_of(&function), launch, NULL, NULL, 0);
}

#if SIZE_MAX > UINT32_MAX
/* Nothing is known of device and function: what the driver's types hold is passed on, and no more.
 */
static void test_numbers(void **state)
{
    struct cushim_launch launch = {.size = sizeof launch};
    size_t *const numbers[] = {&launch.grid[0],  &launch.grid[1],  &launch.grid[2],
                               &launch.block[0], &launch.block[1], &launch.block[2],
                               &launch.shared};
    (void)state;
    for (size_t i = 0; i < COUNT(fake.attributes); i++)
        fake.attributes[i] = -1;
    function.threads = function.registers = function.static_shared = function.dynamic_now = -1;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        for (int k = 0; k < 3; k++)
            launch.grid[k] = launch.block[k] = 1;
        launch.shared = 0;
        *numbers[i] = UINT_MAX;
        fake.launches = 0;
        assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
        assert_int_equal(fake.launches, 1);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(fake.grid[k], launch.grid[k]);
            assert_int_equal(fake.block[k], launch.block[k]);
        }
        assert_int_equal(fake.shared, launch.shared);
        ++*numbers[i];
        assert_int_equal(launch_it(&launch), CUDA_ERROR_INVALID_VALUE);
        *numbers[i] = SIZE_MAX;
        assert_int_equal(launch_it(&launch), CUDA_ERROR_INVALID_VALUE);
        *numbers[i] = 0;
        assert_int_equal(launch_it(&launch),
                         numbers[i] == &launch.shared ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(fake.launches, numbers[i] == &launch.shared ? 2 : 1);
    }
    for (int i = 0; i < 3; i++) {
        launch = plain;
        launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;
        launch.cluster[i] = (size_t)UINT_MAX + 1;
        fake.launches = 0;
        assert_int_equal(launch_it(&launch), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(fake.launches, 0);
    }
}
#endif

/* Each code that a driver's launch may return: those that the launch itself can have caused come
 * with its numbers. */
static void test_codes(void **state)
{
    static const CUresult own[] = {CUDA_ERROR_INVALID_VALUE,
                                   CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                                   CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                                   CUDA_ERROR_NOT_SUPPORTED,
                                   CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
                                   CUDA_ERROR_INVALID_CLUSTER_SIZE};
    const struct cushim_launch launch = {
        .size = sizeof launch, .grid = {2, 3, 5}, .block = {7, 11, 13}, .shared = 17};
    (void)state;
    for (int code = 1; code < 1000; code++) {
        char words[512];
        bool is_own = false;
        if (!cushim_error_name((CUresult)code) || code == CUDA_ERROR_INVALID_HANDLE)
            continue;
        for (size_t i = 0; i < COUNT(own); i++)
            is_own = is_own || code == (int)own[i];
        fake.launches = 0;
        fake.next[0] = (CUresult)code;
        assert_int_equal(launch_it(&launch), code);
        snprintf(words, sizeof words, "cushim_launch_kernel: cuLaunchKernel: %s (%d), %s%s",
                 cushim_error_name((CUresult)code), code, cushim_error_string((CUresult)code),
                 is_own ? "; saxpy, grid 2 x 3 x 5, block 7 x 11 x 13, 17 bytes of shared memory"
                        : "");
        assert_string_equal(cushim_last_error(), words);
    }
}

static void test_threads(void **state)
{
    struct cushim_launch launch = plain;
    (void)state;
    memcpy(launch.block, ((size_t[]){32, 8, 4}), sizeof launch.block);
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS); /* 1024, and no more */
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0), CUDA_SUCCESS);
    memcpy(launch.block, ((size_t[]){5, 41, 5}), sizeof launch.block);
    expect_words(&launch, NULL, 0, CUDA_ERROR_INVALID_VALUE,
                 "block: 5 x 41 x 5 are 1025 threads; device 0 has at most 1024 in a block");
    function.threads = 767;
    function.registers = 80;
    memcpy(launch.block, ((size_t[]){4, 48, 4}), sizeof launch.block);
    expect_words(&launch, NULL, 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                 "block: 4 x 48 x 4 are 768 threads; saxpy can have 767 in a block (it uses 80 "
                 "registers a thread)");
    function.threads = 768;
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
}

/* A name is cut to 127 bytes. */
static void test_name(void **state)
{
    struct cushim_launch launch = plain;
    char name[200], words[512];
    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    fake.name = name;
    expect_words(
        &plain, NULL, 1, CUDA_ERROR_INVALID_VALUE,
        (snprintf(words, sizeof words, "arguments: 1 given; %.127s takes 0", name), words));
    function = fake_function_of(1, (const size_t[]){4});
    expect_words(&plain, (const size_t[]){8}, 1, CUDA_ERROR_INVALID_VALUE,
                 (snprintf(words, sizeof words,
                           "arguments: number 1 has 8 bytes; the parameter of %.127s has 4", name),
                  words));
    function = fake_function_of(0, NULL);
    function.threads = 100;
    expect_words(&plain, NULL, 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                 (snprintf(words, sizeof words,
                           "block: 128 x 1 x 1 are 128 threads; %.127s can have 100 in a block (it "
                           "uses %d registers a thread)",
                           name, function.registers),
                  words));
    function = fake_function_of(0, NULL);
    launch.shared = (size_t)1 << 30;
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0),
                     CUDA_ERROR_INVALID_VALUE);
    snprintf(words, sizeof words, " for a block of %.127s, which itself", name);
    assert_contains(cushim_last_error(), words);
    fake.next[0] = CUDA_ERROR_NOT_SUPPORTED;
    fake.launches = 0;
    assert_int_equal(launch_it(&plain), CUDA_ERROR_NOT_SUPPORTED);
    snprintf(words, sizeof words, "; %.127s, grid", name);
    assert_contains(cushim_last_error(), words);
    memcpy(launch.cluster, ((size_t[]){3, 2, 1}), sizeof launch.cluster);
    launch.shared = 60000;
    function.dynamic_now = 60000;
    fake.active_clusters = 0;
    snprintf(words, sizeof words,
             "cluster: 3 x 2 x 1 blocks of %.127s do not fit device 0 (more than 8 need "
             "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
             name);
    expect_words(&launch, NULL, 0, CUDA_ERROR_INVALID_CLUSTER_SIZE, words);
}

/* The list of parameters ends with the one that begins within its first 224 bytes. */
static void test_parameters(void **state)
{
    (void)state;
    for (int digits = 1; digits <= 9; digits++) {
        size_t sizes[40], count = digits < 6 ? 40 : 20 + (size_t)digits, size = 1, length = 0;
        char words[1024], list[512] = "";
        for (int i = 1; i < digits; i++)
            size *= 10;
        for (size_t i = 0; i < COUNT(sizes); i++)
            sizes[i] = size + i % 9;
        if (digits == 9)
            sizes[0] = 1000; /* the 21st entry would begin at 224 */
        function.count = count;
        memcpy(function.sizes, sizes, sizeof sizes);
        for (size_t i = 0; i < count && length < 224; i++)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%zu", i ? ", " : "",
                                       sizes[i]);
        snprintf(words, sizeof words, "arguments: 3 given; saxpy takes %zu, of %s bytes", count,
                 list);
        expect_words(&plain, NULL, 3, CUDA_ERROR_INVALID_VALUE, words);
        assert_int_equal(cushim_launch_check(cu, handle_of(&function), &plain, sizes, count),
                         CUDA_SUCCESS);
        for (size_t i = 0; i < count; i += count - 1) {
            sizes[i]++;
            snprintf(words, sizeof words,
                     "arguments: number %zu has %zu bytes; the parameter of saxpy has %zu", i + 1,
                     sizes[i], sizes[i] - 1);
            expect_words(&plain, sizes, count, CUDA_ERROR_INVALID_VALUE, words);
            sizes[i]--;
        }
    }
}

static void test_cooperative(void **state)
{
    struct cushim_launch launch = plain;
    (void)state;
    launch.cooperative = true;
    fake.active_blocks = 3;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 5;
    memcpy(launch.grid, ((size_t[]){1, 5, 3}), sizeof launch.grid);
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0), CUDA_SUCCESS);
    memcpy(launch.grid, ((size_t[]){2, 2, 4}), sizeof launch.grid);
    function.dynamic_now = 60000; /* all of it */
    launch.shared = 60000;
    expect_words(&launch, NULL, 0, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                 "grid: 16 blocks cannot run at once, as cooperative ones do; device 0 holds 15 (3 "
                 "on each of 5 multiprocessors)");
}

/* What cannot be told is not refused. */
static void test_cooperative_unknown(void **state)
{
    struct cushim_launch launch = plain;
    (void)state;
    launch.cooperative = true;
    fake.active_blocks = 1;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = -1;
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0), CUDA_SUCCESS);
    fake.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 1;
    function.dynamic_now = 2000;
    launch.shared = 2001;
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0), CUDA_SUCCESS);
    launch.shared = 2000;
    assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

static void test_block_size(void **state)
{
    size_t block = 7;
    (void)state;
    assert_int_equal(
        cushim_launch_block_size(cu, handle_of(&function), 0, NULL, INT_MAX, &block, NULL),
        CUDA_SUCCESS);
    assert_int_equal(cushim_launch_block_size(cu, handle_of(&function), 0, NULL, 1, &block, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(block, 1);
    function.dynamic_now = 60000; /* as much as is asked about: nothing is set */
    assert_int_equal(
        cushim_launch_block_size(cu, handle_of(&function), 60000, NULL, 0, &block, NULL),
        CUDA_SUCCESS);
    assert_int_equal(fake.opt_ins, 0);
    block = 7;
    assert_int_equal(cushim_launch_block_size(cu, handle_of(&function), 0, NULL,
                                              (size_t)INT_MAX + 1, &block, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(),
                        "cushim_launch_block_size: limit is 2147483648; pass at most 2147483647");
    assert_int_equal(block, 7);
}

/* Every number arrives at its place, by each of the driver's three calls. */
static void test_places(void **state)
{
    static const char *const calls[] = {"cuLaunchKernel", "cuLaunchCooperativeKernel",
                                        "cuLaunchKernelEx"};
    static const unsigned grid[] = {2, 3, 5}, block[] = {7, 11, 13};
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = {2, 3, 5},
                                   .block = {7, 11, 13},
                                   .shared = 17,
                                   .stream = (CUstream)(void *)calls};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++) {
        launch.cooperative = i == 1;
        launch.attributes = &attribute;
        launch.attribute_count = i == 2;
        fake.launches = 0;
        assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
        assert_string_equal(fake.call, calls[i]);
        assert_memory_equal(fake.grid, grid, sizeof grid);
        assert_memory_equal(fake.block, block, sizeof block);
        assert_int_equal(fake.shared, 17);
        assert_ptr_equal(fake.stream, calls);
    }
}

/* A cluster is passed on as it was given, whichever of its numbers says that there is one. */
static void test_clusters(void **state)
{
    (void)state;
    for (unsigned value = 2; value; value = value == 2 ? UINT_MAX : 0)
        for (int i = 0; i < 3; i++) {
            struct cushim_launch launch = plain;
            unsigned wanted[3] = {0};
            launch.cluster[i] = wanted[i] = value;
            fake.launches = 0;
            assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
            assert_int_equal(fake.launches, 1);
            assert_string_equal(fake.call, "cuLaunchKernelEx");
            assert_int_equal(fake.attribute_count, 1);
            assert_int_equal(fake.launch_attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
            assert_memory_equal(&fake.launch_attributes[0].value.clusterDim, wanted, sizeof wanted);
            assert_int_equal(cushim_launch_check(cu, handle_of(&function), &launch, NULL, 0),
                             CUDA_ERROR_INVALID_VALUE);
            assert_contains(cushim_last_error(), "cushim_launch_check: cluster: ");
        }
}

/* As many attributes as there may be, beside what the launch itself says. */
static void test_most_attributes(void **state)
{
    CUlaunchAttribute attributes[16];
    struct cushim_launch launch = plain;
    void *pointers[] = {NULL};
    (void)state;
    memset(attributes, 0, sizeof attributes);
    launch.attributes = attributes;
    launch.attribute_count = COUNT(attributes);
    launch.cooperative = true;
    memcpy(launch.cluster, ((size_t[]){1, 1, 1}), sizeof launch.cluster);
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    assert_int_equal(fake.attribute_count, COUNT(attributes) + 2);
    launch.attribute_count++;
    assert_int_equal(launch_it(&launch), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_launch_kernel(cu, handle_of(&function), &plain, pointers, NULL, 1),
                     CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "pointers: number 1 is NULL");
}

/* A function that is set to as much as the launch needs is asked for nothing else. */
static void test_enough(void **state)
{
    struct cushim_launch launch = plain;
    (void)state;
    function.dynamic_now = 60000;
    launch.shared = 59999;
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    const unsigned asked = fake.asked;
    launch.shared = 60000;
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    assert_int_equal(fake.asked, 2 * asked);
    assert_int_equal(fake.opt_ins, 0);
}

/* Less than every function may have, and more than this one is set to: it is allowed all, and
 * launched again. */
static void test_raised(void **state)
{
    struct cushim_launch launch = plain;
    (void)state;
    function.dynamic_now = 1999;
    launch.shared = 2000;
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    assert_int_equal(fake.launches, 2);
    assert_int_equal(fake.opt_ins, 1);
    assert_true(function.dynamic_now >= 49152);
    function.dynamic_now = 1999;
    fake.launches = fake.opt_ins = 0;
    fake.next[1] = CUDA_ERROR_LAUNCH_FAILED; /* of the second */
    assert_int_equal(launch_it(&launch), CUDA_ERROR_LAUNCH_FAILED);
    assert_contains(cushim_last_error(), "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (719)");
    function.dynamic_now = 2000;
    fake.launches = fake.opt_ins = 0;
    fake.next[1] = CUDA_SUCCESS;
    assert_int_equal(launch_it(&launch), CUDA_SUCCESS);
    assert_int_equal(fake.launches, 1);
    assert_int_equal(fake.opt_ins, 0);
}

/* What does not fit is refused, and the buffer stays: also without a buffer, and with more in it
 * than it holds. */
static void test_params(void **state)
{
    unsigned char buffer[24];
    (void)state;
    assert_int_equal(cushim_params_add(&(struct cushim_params){.capacity = 9}, "a", 1, 1),
                     CUDA_ERROR_INVALID_VALUE); /* no byte either */
    for (size_t capacity = 0; capacity <= 16; capacity++)
        for (size_t used = 0; used <= 18; used++)
            for (size_t alignment = 1; alignment <= 8; alignment *= 2)
                for (int given = 0; given < 2; given++) {
                    struct cushim_params params = {.buffer = given ? buffer : NULL,
                                                   .capacity = capacity,
                                                   .size = used,
                                                   .count = 3};
                    const size_t at = (used + alignment - 1) / alignment * alignment;
                    const bool fits = given && at + 4 <= capacity;
                    memset(buffer, 0x5a, sizeof buffer);
                    assert_int_equal(cushim_params_add(&params, "abcd", 4, alignment),
                                     fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
                    assert_int_equal(params.size, fits ? at + 4 : used);
                    assert_int_equal(params.count, fits ? 4 : 3);
                    assert_int_equal(params.code, fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
                    for (size_t i = 0; i < sizeof buffer; i++)
                        assert_int_equal(buffer[i], !fits || i < used || i >= at + 4 ? 0x5a
                                                    : i < at                         ? 0
                                                             : "abcd"[i - at]);
                }
}

static void test_occupancy(void **state)
{
    struct cushim_launch launch = plain;
    size_t each = 7, all = 7;
    (void)state;
    memcpy(launch.block, ((size_t[]){4, 5, 6}), sizeof launch.block);
    launch.shared = 99;
    fake.active_blocks = 3;
    fake.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 5;
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, &each, &all),
                     CUDA_SUCCESS);
    assert_true(each == 3 && all == 15);
    assert_int_equal(fake.block[0], 120);
    assert_int_equal(fake.shared, 99);
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, NULL, NULL),
                     CUDA_SUCCESS);
    launch.block[2] = 0;
    assert_int_equal(cushim_launch_occupancy(cu, handle_of(&function), &launch, &each, &all),
                     CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(),
                        "cushim_launch_occupancy: block: z is 0; it is at least 1");
}

static int set_up(void **state)
{
    (void)state;
    cu = open_fake(13000, NULL);
    function = fake_function_of(0, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cushim_close(cu);
    return 0;
}

#define BOUNDS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
#if SIZE_MAX > UINT32_MAX
        BOUNDS(test_numbers),
#endif
        BOUNDS(test_codes),
        BOUNDS(test_threads),
        BOUNDS(test_name),
        BOUNDS(test_parameters),
        BOUNDS(test_cooperative),
        BOUNDS(test_cooperative_unknown),
        BOUNDS(test_block_size),
        BOUNDS(test_occupancy),
        BOUNDS(test_places),
        BOUNDS(test_raised),
        BOUNDS(test_params),
        BOUNDS(test_clusters),
        BOUNDS(test_enough),
        BOUNDS(test_most_attributes),
    };
    return cmocka_run_group_tests_name("launch_bounds", tests, NULL, NULL);
}
