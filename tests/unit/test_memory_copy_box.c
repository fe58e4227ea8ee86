/* SPDX-License-Identifier: MIT */
/* Rectangles and boxes: every pair of kinds of memory, and every member that can be wrong. */
#include <string.h>

#include "test_memory_fake.h"

enum {
    PITCH = 128, /* of memory */
    ROWS = 8,
    PLANES = 4,
    SIZE = PITCH * ROWS * PLANES,
    ROW = 96 /* of arrays: no pitch of theirs is the caller's business */
};

static char stream_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)

static const struct cushim_api *cu;
static CUdeviceptr device;
static unsigned char *pinned;
static CUarray array;

static int make_buffers(void **state)
{
    (void)state;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = ROW / 4,
                                     .Height = ROWS,
                                     .Depth = PLANES,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1};
    void *host;
    cu = fake_open(13000);
    ASSERT_OK(cushim_memory_alloc(cu, SIZE, &device));
    ASSERT_OK(cushim_host_alloc(cu, SIZE, 0, &host));
    pinned = host;
    ASSERT_OK(cushim_array_create(cu, &shape, &array));
    return 0;
}

static int free_buffers(void **state)
{
    (void)state;
    ASSERT_OK(cushim_memory_free(cu, device));
    ASSERT_OK(cushim_host_free(cu, pinned));
    ASSERT_OK(cushim_array_destroy(cu, array));
    fake_close(cu);
    return 0;
}

/* From the pinned buffer to device memory: a box that just fits. */
static CUDA_MEMCPY3D good_box(void)
{
    CUDA_MEMCPY3D box = {.srcXInBytes = 16,
                         .srcY = 3,
                         .srcZ = 1,
                         .srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = pinned,
                         .srcPitch = PITCH,
                         .srcHeight = ROWS,
                         .dstXInBytes = 112,
                         .dstY = 3,
                         .dstZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = device,
                         .dstPitch = PITCH,
                         .dstHeight = ROWS,
                         .WidthInBytes = 16,
                         .Height = 5,
                         .Depth = 3};
    return box;
}

static CUDA_MEMCPY2D good_rectangle(void)
{
    CUDA_MEMCPY2D flat = {.srcXInBytes = 16,
                          .srcY = 3,
                          .srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pinned,
                          .srcPitch = PITCH,
                          .dstXInBytes = 112,
                          .dstY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = PITCH,
                          .WidthInBytes = 16,
                          .Height = ROWS * PLANES - 3};
    return flat;
}

static void test_calls(void **state)
{
    (void)state;
    CUDA_MEMCPY2D flat = good_rectangle();
    CUDA_MEMCPY3D box = good_box();
    CUDA_MEMCPY3D_PEER peer;
    memcpy(&peer, &box, sizeof peer);
    fake_forget();
    ASSERT_OK(cushim_copy_2d(cu, &flat));
    ASSERT_OK(cushim_copy_2d_async(cu, &flat, STREAM));
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_OK(cushim_copy_3d(cu, &box));
    assert_ptr_equal(memory_fake.stream, NULL);
    ASSERT_OK(cushim_copy_3d_async(cu, &box, STREAM));
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_OK(cushim_copy_3d_peer(cu, &peer));
    assert_ptr_equal(memory_fake.stream, NULL);
    ASSERT_OK(cushim_copy_3d_peer_async(cu, &peer, STREAM));
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_CALLS("cuMemcpy2D_v2", "cuMemcpy2DAsync_v2", "cuMemcpy3D_v2", "cuMemcpy3DAsync_v2",
                 "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync");
}

/* Through the array and back, with offsets; every byte is looked at. */
static void test_contents(void **state)
{
    (void)state;
    unsigned char back[SIZE];
    CUDA_MEMCPY3D in = good_box(), out = good_box();
    for (size_t i = 0; i < SIZE; i++)
        pinned[i] = (unsigned char)(i % 251);
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    in.dstArray = array;
    in.dstXInBytes = 80;
    ASSERT_OK(cushim_copy_3d(cu, &in));
    memset(back, 0xee, sizeof back);
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = array;
    out.srcXInBytes = 80;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back;
    out.dstXInBytes = 16;
    ASSERT_OK(cushim_copy_3d(cu, &out));
    for (size_t i = 0; i < SIZE; i++) {
        size_t x = i % PITCH, y = i / PITCH % ROWS, z = i / PITCH / ROWS;
        bool inside = x >= 16 && x < 32 && y >= 3 && z >= 1;
        assert_int_equal(back[i], inside ? pinned[i] : 0xee);
    }
}

#define BAD_BOX(change, ...)                                                                       \
    do {                                                                                           \
        CUDA_MEMCPY3D box = good_box();                                                            \
        box.change;                                                                                \
        ASSERT_REFUSED(cushim_copy_3d(cu, &box), CUDA_ERROR_INVALID_VALUE,                         \
                       "cushim_copy_3d: copy: ", __VA_ARGS__);                                     \
        CUDA_MEMCPY3D_PEER peer;                                                                   \
        memcpy(&peer, &box, sizeof peer);                                                          \
        ASSERT_REFUSED(cushim_copy_3d_peer_async(cu, &peer, STREAM), CUDA_ERROR_INVALID_VALUE,     \
                       "cushim_copy_3d_peer_async: copy: ", __VA_ARGS__);                          \
    } while (0)

static void test_bad_box(void **state)
{
    (void)state;
    BAD_BOX(WidthInBytes = 0, "WidthInBytes: 0");
    BAD_BOX(Height = 0, "Height: 0");
    BAD_BOX(Depth = 0, "Depth: 0");
    BAD_BOX(srcMemoryType = (CUmemorytype)9, "srcMemoryType: 9");
    BAD_BOX(dstMemoryType = (CUmemorytype)0, "dstMemoryType: 0");
    BAD_BOX(srcHost = NULL, "srcHost: 0 ");
    BAD_BOX(dstDevice = 0, "dstDevice: 0 ");
    BAD_BOX(srcPitch = 31, "srcPitch: 31 ", "srcXInBytes 16 ", "WidthInBytes 16");
    BAD_BOX(dstPitch = 127, "dstPitch: 127 ");
    BAD_BOX(srcHeight = 7, "srcHeight: 7 ", "srcY 3 ", "Height 5");
    BAD_BOX(dstHeight = 7, "dstHeight: 7 ");
    BAD_BOX(srcZ = 2, "srcHost: ", "pass the end");
    BAD_BOX(dstZ = 2, "dstDevice: ", "pass the end");
    BAD_BOX(Depth = 4, "srcHost: ", "pass the end");
    BAD_BOX(dstDevice = device + 1, "dstDevice: ", "by 1");
    BAD_BOX(dstPitch = PITCH + 4, "dstDevice: ", "pass the end");
    BAD_BOX(srcXInBytes = SIZE_MAX, "overflow");
    BAD_BOX(WidthInBytes = SIZE_MAX, "overflow");
    BAD_BOX(Height = SIZE_MAX - 1, "overflow");
    BAD_BOX(Depth = SIZE_MAX, "overflow");
    BAD_BOX(srcZ = SIZE_MAX - 1, "overflow");
    BAD_BOX(srcPitch = SIZE_MAX / 2, "overflow");
    BAD_BOX(dstHeight = SIZE_MAX / 64, "overflow");
    BAD_BOX(dstMemoryType = CU_MEMORYTYPE_ARRAY, "dstArray: NULL");
}

static void test_bad_rectangle(void **state)
{
    (void)state;
    CUDA_MEMCPY2D flat = good_rectangle();
    flat.dstY = 3;
    ASSERT_OK(cushim_copy_2d(cu, &flat));
    flat.dstY = 4;
    ASSERT_REFUSED(cushim_copy_2d_async(cu, &flat, STREAM), CUDA_ERROR_INVALID_VALUE,
                   "cushim_copy_2d_async: copy: dstDevice: ", "by 128");
    flat = good_rectangle();
    flat.srcPitch = 20;
    ASSERT_REFUSED(cushim_copy_2d(cu, &flat), CUDA_ERROR_INVALID_VALUE, "srcPitch: 20 ");
    flat = good_rectangle();
    flat.Height = 0;
    ASSERT_REFUSED(cushim_copy_2d(cu, &flat), CUDA_ERROR_INVALID_VALUE,
                   "cushim_copy_2d: copy: Height: 0");
}

static void test_bad_array_box(void **state)
{
    (void)state;
    CUDA_MEMCPY3D box = good_box();
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    box.dstXInBytes = 80;
    ASSERT_OK(cushim_copy_3d(cu, &box));
    box.dstXInBytes = 81;
    ASSERT_REFUSED(cushim_copy_3d(cu, &box), CUDA_ERROR_INVALID_VALUE,
                   "cushim_copy_3d: copy: dstArray: 16 bytes by 5 by 3 from (81, 3, 1)",
                   "of 96 bytes by 8 by 4");
    box.dstXInBytes = 0;
    box.dstY = 4;
    ASSERT_REFUSED(cushim_copy_3d(cu, &box), CUDA_ERROR_INVALID_VALUE, "dstArray: ");
    box.dstY = 0;
    box.dstZ = SIZE_MAX;
    ASSERT_REFUSED(cushim_copy_3d(cu, &box), CUDA_ERROR_INVALID_VALUE, "dstArray: ");
}

/* Without a pitch or a height rows and planes follow each other. */
static void test_packed(void **state)
{
    (void)state;
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = (uintptr_t)pinned,
                         .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .dstDevice = device,
                         .WidthInBytes = 32,
                         .Height = SIZE / 32 / 2,
                         .Depth = 2};
    ASSERT_OK(cushim_copy_3d(cu, &box));
    box.Height++;
    ASSERT_REFUSED(cushim_copy_3d(cu, &box), CUDA_ERROR_INVALID_VALUE, "copy: srcDevice: 4160");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_contents),
        cmocka_unit_test(test_bad_box),       cmocka_unit_test(test_bad_rectangle),
        cmocka_unit_test(test_bad_array_box), cmocka_unit_test(test_packed),
    };
    return cmocka_run_group_tests_name("memory_copy_box", tests, make_buffers, free_buffers);
}
