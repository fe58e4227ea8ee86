/* SPDX-License-Identifier: MIT */
/* Fills on a real device, of 8, 16 and 32 bits, rows too, waiting and on a stream: every byte of
 * the buffer is looked at. */
#include "memory_common.h"

enum { SIZE = 1 << 16, GUARD = 0xee };

static unsigned char expected[SIZE], received[SIZE];
static CUdeviceptr device;
static unsigned done;

static void prepare(const struct cushim_api *cu)
{
    memory_set(received, SIZE, 21);
    HELPER(cushim_copy_to_device(cu, device, received, SIZE));
    memory_set(expected, SIZE, 21);
}

static void expect(size_t offset, size_t pitch, uint32_t value, size_t element, size_t width,
                   size_t height)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy(expected + offset + y * pitch + x * element, &value, element);
}

static void check(const struct cushim_api *cu, CUstream stream, int line)
{
    CALL(cu_api->cuStreamSynchronize(stream));
    HELPER(cushim_copy_to_host(cu, received, device, SIZE));
    for (size_t i = 0; i < SIZE; i++)
        if (received[i] != expected[i]) {
            fprintf(stderr, "line %d: byte %zu is %u, not %u\n", line, i, received[i], expected[i]);
            exit(1);
        }
    done++;
    prepare(cu);
}

static void fills(const struct cushim_api *cu, CUstream stream)
{
    HELPER(cushim_fill_8(cu, device + 3, 0xa1, 777));
    expect(3, 0, 0xa1, 1, 777, 1);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_8_async(cu, device, 0xa2, SIZE, stream));
    expect(0, 0, 0xa2, 1, SIZE, 1);
    check(cu, stream, __LINE__);
    HELPER(cushim_fill_16(cu, device + 2, 0xa1b2, 777));
    expect(2, 0, 0xa1b2, 2, 777, 1);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_16_async(cu, device, 0xa1b2, SIZE / 2, stream));
    expect(0, 0, 0xa1b2, 2, SIZE / 2, 1);
    check(cu, stream, __LINE__);
    HELPER(cushim_fill_32(cu, device + 4, 0x3f800000, 777));
    expect(4, 0, 0x3f800000, 4, 777, 1);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_32_async(cu, device, 0x3f800001, SIZE / 4, stream));
    expect(0, 0, 0x3f800001, 4, SIZE / 4, 1);
    check(cu, stream, __LINE__);
}

static void row_fills(const struct cushim_api *cu, CUstream stream)
{
    HELPER(cushim_fill_2d_8(cu, device + 1, 515, 0xc1, 500, 100));
    expect(1, 515, 0xc1, 1, 500, 100);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_2d_8_async(cu, device, 512, 0xc2, 512, 128, stream));
    expect(0, 512, 0xc2, 1, 512, 128);
    check(cu, stream, __LINE__);
    HELPER(cushim_fill_2d_16(cu, device + 2, 514, 0xc1d2, 200, 100));
    expect(2, 514, 0xc1d2, 2, 200, 100);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_2d_16_async(cu, device, 512, 0xc1d3, 1, 128, stream));
    expect(0, 512, 0xc1d3, 2, 1, 128);
    check(cu, stream, __LINE__);
    HELPER(cushim_fill_2d_32(cu, device + 4, 516, 0xc1d2e3f4, 100, 100));
    expect(4, 516, 0xc1d2e3f4, 4, 100, 100);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_2d_32_async(cu, device, 512, 0xc1d2e3f5, 128, 128, stream));
    expect(0, 512, 0xc1d2e3f5, 4, 128, 128);
    check(cu, stream, __LINE__);
    /* One row needs no pitch, and the last row no gap. */
    HELPER(cushim_fill_2d_32(cu, device, 0, 7, 128, 1));
    expect(0, 0, 7, 4, 128, 1);
    check(cu, NULL, __LINE__);
    HELPER(cushim_fill_2d_8(cu, device, SIZE - 8, 8, 8, 2));
    expect(0, SIZE - 8, 8, 1, 8, 2);
    check(cu, NULL, __LINE__);
}

static void body(const struct cushim_api *cu)
{
    CUstream stream;
    done = 0;
    CALL(cu_api->cuStreamCreate(&stream, 0));
    HELPER(cushim_memory_alloc(cu, SIZE, &device));
    prepare(cu);
    fills(cu, stream);
    fills(cu, NULL);
    row_fills(cu, stream);
    row_fills(cu, NULL);
    HELPER(cushim_memory_free(cu, device));
    CALL(cu_api->cuStreamDestroy_v2(stream));
    printf("%u fills, all bytes as they should be\n", done);
}

int main(void)
{
    return memory_run(body);
}
