/* SPDX-License-Identifier: MIT */
/* Packed parameters: where each lies, that nothing counts behind the last, and what is refused. */
#include <string.h>

#include <cushim/launch.h>

#include "common.h"

/* Vector types as the CUDA toolkit has them. */
typedef struct {
    _Alignas(8) float x;
    float y;
} float2;
typedef struct {
    float x, y, z;
} float3;
typedef struct {
    _Alignas(16) float x;
    float y, z, w;
} float4;
typedef struct {
    _Alignas(4) char x;
    char y, z, w;
} char4;
typedef struct {
    _Alignas(16) double x;
    double y;
} double2;
struct mixed {
    char a;
    short b;
    float c;
    char d; /* 3 bytes of padding behind it are part of the structure */
};
struct wide {
    int a;
    _Alignas(8) long long b;
};

/* The layout of kernels/params.cu: int, float4, char, float, pointer, float2 and structures. */
static void test_golden_layout(void **state)
{
    unsigned char buffer[256];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    size_t at[16], count = 0;
    (void)state;
    memset(buffer, 0xee, sizeof buffer);
#define ADD(value)                                                                                 \
    do {                                                                                           \
        assert_int_equal(CUSHIM_PARAMS_ADD(&params, value), CUDA_SUCCESS);                         \
        at[count++] = params.size - sizeof(value);                                                 \
    } while (0)
    int i = 0x11111111;
    float4 f4 = {.x = 1, .y = 2, .z = 3, .w = 4};
    char c = 'c';
    float f = 5;
    unsigned long long p = 0x123456789abc; /* a CUdeviceptr of most machines */
    float2 f2 = {.x = 6, .y = 7};
    short s = 0x2222;
    struct mixed m = {'a', 3, 8, 'd'};
    struct wide w = {9, 10};
    double d = 11;
    float3 f3 = {12, 13, 14};
    char4 c4 = {.x = 1, .y = 2, .z = 3, .w = 4};
    double2 d2 = {.x = 15, .y = 16};
    ADD(i);
    ADD(f4);
    ADD(c);
    ADD(f);
    ADD(p);
    ADD(f2);
    ADD(s);
    ADD(m);
    ADD(w);
    ADD(c);
    ADD(d);
    ADD(f3);
    ADD(c4);
    ADD(d2);
    ADD(c);
    static const size_t golden[] = {0, 16, 32, 36, 40, 48, 56, 60, 72, 88, 96, 104, 116, 128, 144};
    assert_int_equal(count, COUNT(golden));
    for (size_t k = 0; k < count; k++)
        if (at[k] != golden[k])
            fail_msg("parameter %zu lies at %zu, not at %zu", k, at[k], golden[k]);
    assert_int_equal(params.count, count);
    assert_int_equal(params.size, 145); /* no padding behind the last */
    assert_memory_equal(buffer + 16, &f4, sizeof f4);
    assert_memory_equal(buffer + 40, &p, sizeof p);
    assert_memory_equal(buffer + 60, &m, sizeof m);
    for (size_t k = 4; k < 16; k++)
        assert_int_equal(buffer[k], 0); /* padding between them */
    assert_int_equal(buffer[145], 0xee);
}

static void test_tail_of_structure_counts(void **state)
{
    unsigned char buffer[64];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    struct mixed m = {'a', 3, 8, 'd'};
    (void)state;
    /* A structure's own padding is in its size; a char behind it begins after that. */
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, m), CUDA_SUCCESS);
    assert_int_equal(params.size, 12);
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, (char)1), CUDA_SUCCESS);
    assert_int_equal(params.size, 13);
    /* 8 bytes of float2 in somebody's own structure of two floats: aligned by hand. */
    assert_int_equal(cushim_params_add(&params, &(float[2]){1, 2}, 8, 8), CUDA_SUCCESS);
    assert_int_equal(params.size, 24);
    assert_int_equal(cushim_params_add(&params, &(float[4]){1, 2}, 16, 16), CUDA_SUCCESS);
    assert_int_equal(params.size, 48);
}

/* Scalars are aligned to their size, on hosts that align them to less in structures too. */
static void test_scalars(void **state)
{
    unsigned char buffer[64];
    (void)state;
#define AFTER_CHAR(value)                                                                          \
    do {                                                                                           \
        struct cushim_params params = CUSHIM_PARAMS(buffer);                                       \
        assert_int_equal(CUSHIM_PARAMS_ADD(&params, (char)1), CUDA_SUCCESS);                       \
        assert_int_equal(CUSHIM_PARAMS_ADD(&params, value), CUDA_SUCCESS);                         \
        assert_int_equal(params.size, 2 * sizeof(value));                                          \
    } while (0)
    AFTER_CHAR((char)1);
    AFTER_CHAR((bool)true);
    AFTER_CHAR((short)1);
    AFTER_CHAR(1);
    AFTER_CHAR(1L);
    AFTER_CHAR(1LL);
    AFTER_CHAR((uint64_t)1);
    AFTER_CHAR(1.0f);
    AFTER_CHAR(1.0);
    AFTER_CHAR((CUdeviceptr)1);
    AFTER_CHAR((void *)buffer);
}

/* A value of known type is added in place where it can be: by the same rules, to the same sum. */
static void test_in_place(void **state)
{
    unsigned char one[64], two[64];
    struct cushim_params in_place = CUSHIM_PARAMS(one), called = CUSHIM_PARAMS(two);
    const struct mixed m = {'a', 3, 8, 'd'};
    (void)state;
    memset(one, 0xee, sizeof one);
    memset(two, 0xee, sizeof two);
#define ADD_BOTH(value, alignment)                                                                 \
    do {                                                                                           \
        assert_int_equal(CUSHIM_PARAMS_ADD(&in_place, value), CUDA_SUCCESS);                       \
        assert_int_equal(cushim_params_add(&called, &(value), sizeof(value), alignment),           \
                         CUDA_SUCCESS);                                                            \
        assert_memory_equal(one, two, sizeof one);                                                 \
        assert_int_equal(in_place.size, called.size);                                              \
        assert_int_equal(in_place.count, called.count);                                            \
    } while (0)
    const char c = 'c';
    const int i = 7;
    const double d = 1.5;
    ADD_BOTH(i, 4);
    ADD_BOTH(i, 4);
    ADD_BOTH(d, 8);
    ADD_BOTH(c, 1);
    ADD_BOTH(i, 4);
    ADD_BOTH(m, 4);
    ADD_BOTH(d, 8);
    /* Full, spoiled, and none: refused as by the function. */
    struct cushim_params full = CUSHIM_PARAMS(one);
    full.size = full.capacity - 4;
    assert_int_equal(CUSHIM_PARAMS_ADD(&full, d), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_params_add: size: 8 bytes at offset 64 pass");
    assert_int_equal(CUSHIM_PARAMS_ADD(&full, i), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_params_add: params: parameter 1");
    assert_int_equal(CUSHIM_PARAMS_ADD((struct cushim_params *)NULL, i), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_params_add: params is NULL");
}

static void assert_add_fails(struct cushim_params *params, const void *value, size_t size,
                             size_t alignment, const char *words)
{
    struct cushim_params before = *params;
    unsigned char bytes[16];
    memcpy(bytes, params->buffer, sizeof bytes);
    assert_int_equal(cushim_params_add(params, value, size, alignment), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_params_add: ");
    assert_contains(cushim_last_error(), words);
    assert_int_equal(params->size, before.size);
    assert_int_equal(params->count, before.count);
    assert_memory_equal(params->buffer, bytes, sizeof bytes);
    assert_int_equal(params->code, CUDA_ERROR_INVALID_VALUE);
    params->code = CUDA_SUCCESS;
}

static void test_refused(void **state)
{
    unsigned char buffer[16] = {0};
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    char value[32] = {0};
    (void)state;
    assert_add_fails(&params, NULL, 4, 4, "value is NULL");
    assert_add_fails(&params, value, 0, 4, "size is 0; pass the size of the value");
    assert_add_fails(&params, value, 4, 0, "alignment: 0");
    assert_add_fails(&params, value, 4, 3, "alignment: 3");
    assert_add_fails(&params, value, 4, 256, "alignment: 256");
    assert_add_fails(&params, value, 17, 1,
                     "size: 17 bytes at offset 0 pass the end of the buffer "
                     "of 16");
    assert_int_equal(cushim_params_add(&params, value, 9, 1), CUDA_SUCCESS);
    assert_add_fails(&params, value, 8, 8, "size: 8 bytes at offset 16");
    assert_add_fails(&params, value, 1, 128, "offset 128");
    assert_add_fails(&params, value, SIZE_MAX, 1, "size: ");
    assert_add_fails(&params, value, SIZE_MAX - 8, 8, "size: ");
    assert_int_equal(cushim_params_add(&params, value, 7, 1), CUDA_SUCCESS);
    assert_add_fails(&params, value, 1, 1, "offset 16");
    assert_int_equal(cushim_params_add(NULL, value, 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "params is NULL");
}

/* Enough to check the last, or the launch. */
static void test_failure_stays(void **state)
{
    unsigned char buffer[8];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    (void)state;
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 1), CUDA_SUCCESS);
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 1.0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(CUSHIM_PARAMS_ADD(&params, 1), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "parameter 2 could not be added");
    assert_int_equal(params.count, 1);
    struct cushim_params nothing = {0};
    assert_int_equal(CUSHIM_PARAMS_ADD(&nothing, 1), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_layout), cmocka_unit_test(test_tail_of_structure_counts),
        cmocka_unit_test(test_scalars),       cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_failure_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
