/* SPDX-License-Identifier: MIT */
/* Fills: every byte, in which call, and what is refused. */
#include <string.h>

#include "test_memory_fake.h"

enum { SIZE = 1024, GUARD = 0xee };

static char stream_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)

static const struct cushim_api *cu;
static CUdeviceptr device;

static int make_buffer(void **state)
{
    (void)state;
    cu = fake_open(13000);
    ASSERT_OK(cushim_memory_alloc(cu, SIZE, &device));
    return 0;
}

static int free_buffer(void **state)
{
    (void)state;
    ASSERT_OK(cushim_memory_free(cu, device));
    fake_close(cu);
    return 0;
}

static unsigned char *bytes(void)
{
    return (unsigned char *)(uintptr_t)device;
}

static void prepare(void)
{
    memset(bytes(), GUARD, SIZE);
    memory_fake.stream = NULL;
    fake_forget();
}

/* Rows of elements from an offset have the value and nothing else has changed; the call was this
 * one, on this stream. */
static void assert_filled(size_t offset, size_t pitch, unsigned value, size_t element, size_t width,
                          size_t height, const char *symbol, CUstream stream)
{
    unsigned char expected[SIZE];
    memset(expected, GUARD, SIZE);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy(expected + offset + y * pitch + x * element, &value, element);
    assert_memory_equal(bytes(), expected, SIZE);
    ASSERT_CALLS(symbol);
    assert_ptr_equal(memory_fake.stream, stream);
    prepare();
}

static void test_one_dimension(void **state)
{
    (void)state;
    prepare();
    ASSERT_OK(cushim_fill_8(cu, device + 3, 0xa1, 77));
    assert_filled(3, 0, 0xa1, 1, 77, 1, "cuMemsetD8_v2", NULL);
    ASSERT_OK(cushim_fill_8_async(cu, device, 0xa2, SIZE, STREAM));
    assert_filled(0, 0, 0xa2, 1, SIZE, 1, "cuMemsetD8Async", STREAM);
    ASSERT_OK(cushim_fill_16(cu, device + 2, 0xa1b2, 77));
    assert_filled(2, 0, 0xa1b2, 2, 77, 1, "cuMemsetD16_v2", NULL);
    ASSERT_OK(cushim_fill_16_async(cu, device, 0xa1b2, SIZE / 2, STREAM));
    assert_filled(0, 0, 0xa1b2, 2, SIZE / 2, 1, "cuMemsetD16Async", STREAM);
    ASSERT_OK(cushim_fill_32(cu, device + 4, 0x3f800000, 77));
    assert_filled(4, 0, 0x3f800000, 4, 77, 1, "cuMemsetD32_v2", NULL);
    ASSERT_OK(cushim_fill_32_async(cu, device, 0x3f800000, SIZE / 4, STREAM));
    assert_filled(0, 0, 0x3f800000, 4, SIZE / 4, 1, "cuMemsetD32Async", STREAM);
}

static void test_two_dimensions(void **state)
{
    (void)state;
    prepare();
    ASSERT_OK(cushim_fill_2d_8(cu, device + 1, 65, 0xc1, 60, 9));
    assert_filled(1, 65, 0xc1, 1, 60, 9, "cuMemsetD2D8_v2", NULL);
    ASSERT_OK(cushim_fill_2d_8_async(cu, device, 64, 0xc2, 64, 16, STREAM));
    assert_filled(0, 64, 0xc2, 1, 64, 16, "cuMemsetD2D8Async", STREAM);
    ASSERT_OK(cushim_fill_2d_16(cu, device + 2, 66, 0xc1d2, 30, 9));
    assert_filled(2, 66, 0xc1d2, 2, 30, 9, "cuMemsetD2D16_v2", NULL);
    ASSERT_OK(cushim_fill_2d_16_async(cu, device, 64, 0xc1d2, 32, 16, STREAM));
    assert_filled(0, 64, 0xc1d2, 2, 32, 16, "cuMemsetD2D16Async", STREAM);
    ASSERT_OK(cushim_fill_2d_32(cu, device + 4, 68, 0xc1d2e3f4, 15, 9));
    assert_filled(4, 68, 0xc1d2e3f4, 4, 15, 9, "cuMemsetD2D32_v2", NULL);
    ASSERT_OK(cushim_fill_2d_32_async(cu, device, 64, 0xc1d2e3f4, 16, 16, STREAM));
    assert_filled(0, 64, 0xc1d2e3f4, 4, 16, 16, "cuMemsetD2D32Async", STREAM);
    /* The last row need not have its gap, and one row alone no pitch. */
    ASSERT_OK(cushim_fill_2d_8(cu, device + 4, 1000, 1, 20, 2));
    ASSERT_OK(cushim_fill_2d_32(cu, device, 0, 1, 256, 1));
}

static void test_nothing(void **state)
{
    (void)state;
    fake_forget();
    ASSERT_OK(cushim_fill_8(cu, 0, 1, 0));
    ASSERT_OK(cushim_fill_32_async(cu, 1, 1, 0, STREAM));
    ASSERT_OK(cushim_fill_2d_8(cu, device, 0, 1, 0, 5));
    ASSERT_OK(cushim_fill_2d_16(cu, device, 1, 1, 5, 0));
    ASSERT_NO_CALLS();
}

#define REFUSED(call, ...) ASSERT_REFUSED(call, CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

static void test_refused(void **state)
{
    (void)state;
    REFUSED(cushim_fill_8(cu, 0, 1, 1), "cushim_fill_8: dst: 0 ");
    REFUSED(cushim_fill_8(cu, device, 1, SIZE + 1), "cushim_fill_8: dst: 1025 bytes", "by 1");
    REFUSED(cushim_fill_16(cu, device, 1, SIZE / 2 + 1), "cushim_fill_16: dst: 1026 bytes");
    REFUSED(cushim_fill_32_async(cu, device + 4, 1, SIZE / 4, STREAM),
            "cushim_fill_32_async: dst: 1024 bytes", "by 4");
    REFUSED(cushim_fill_16_async(cu, device + 1, 1, 1, STREAM),
            "cushim_fill_16_async: dst: ", "no multiple of the element's 2 bytes");
    REFUSED(cushim_fill_32(cu, device + 2, 1, 1), "cushim_fill_32: dst: ", "4 bytes");
    REFUSED(cushim_fill_32(cu, device, 1, SIZE_MAX / 2), "cushim_fill_32: count: ", "overflow");
    REFUSED(cushim_fill_2d_8(cu, device, 60, 1, 61, 2), "cushim_fill_2d_8: pitch: 60 ", "width 61");
    REFUSED(cushim_fill_2d_16(cu, device, 65, 1, 4, 2), "cushim_fill_2d_16: pitch: 65 ");
    REFUSED(cushim_fill_2d_32(cu, device, 66, 1, 4, 2), "cushim_fill_2d_32: pitch: 66 ");
    REFUSED(cushim_fill_2d_32(cu, device + 1, 64, 1, 4, 2), "cushim_fill_2d_32: dst: ");
    REFUSED(cushim_fill_2d_32_async(cu, device, 64, 1, 16, 17, STREAM),
            "cushim_fill_2d_32_async: dst: 1088 bytes");
    REFUSED(cushim_fill_2d_8_async(cu, device, 64, 1, 65, 2, STREAM),
            "cushim_fill_2d_8_async: pitch: 64 ");
    REFUSED(cushim_fill_2d_16_async(cu, device, 64, 1, SIZE_MAX, 2, STREAM),
            "cushim_fill_2d_16_async: width: ", "overflow");
    REFUSED(cushim_fill_2d_8(cu, device, SIZE_MAX / 2, 1, 4, 5), "cushim_fill_2d_8: height: 5 ",
            "overflow");
}

static void test_driver_fails(void **state)
{
    (void)state;
    fake_fail("cuMemsetD2D8_v2", CUDA_ERROR_INVALID_CONTEXT, 0);
    assert_int_equal(cushim_fill_2d_8(cu, device, 64, 1, 4, 5), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "cushim_fill_2d_8: cuMemsetD2D8_v2: ");
    assert_contains(cushim_last_error(), ", 20 elements");
    fake_fail(NULL, CUDA_SUCCESS, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_dimension), cmocka_unit_test(test_two_dimensions),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_driver_fails),
    };
    return cmocka_run_group_tests_name("memory_fill", tests, make_buffer, free_buffer);
}
