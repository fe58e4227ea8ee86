/* SPDX-License-Identifier: MIT */
/* Copies: what arrives, in which call, and what is refused. */
#include <string.h>

#include "test_memory_fake.h"

enum { SIZE = 1000 };

static char stream_bytes[1], peer_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)
#define PEER ((CUcontext)(void *)peer_bytes)

/* One instance with a buffer of each kind, for every test. */
static const struct cushim_api *cu;
static CUdeviceptr device, other;
static unsigned char *pinned, pageable[SIZE];
static CUarray row, plane;

static int make_buffers(void **state)
{
    (void)state;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 100, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    void *host;
    cu = fake_open(13000);
    ASSERT_OK(cushim_memory_alloc(cu, SIZE, &device));
    ASSERT_OK(cushim_memory_alloc(cu, SIZE, &other));
    ASSERT_OK(cushim_host_alloc(cu, SIZE, 0, &host));
    pinned = host;
    ASSERT_OK(cushim_array_create(cu, &shape, &row)); /* 800 bytes */
    shape.Height = 4;
    shape.Depth = 2;
    ASSERT_OK(cushim_array_create(cu, &shape, &plane)); /* 800 bytes by 4 by 2 */
    return 0;
}

static int free_buffers(void **state)
{
    (void)state;
    ASSERT_OK(cushim_memory_free(cu, device));
    ASSERT_OK(cushim_memory_free(cu, other));
    ASSERT_OK(cushim_host_free(cu, pinned));
    ASSERT_OK(cushim_array_destroy(cu, row));
    ASSERT_OK(cushim_array_destroy(cu, plane));
    ASSERT_OK(cushim_array_destroy(cu, NULL));
    fake_close(cu);
    return 0;
}

static void set_pattern(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + seed);
}

/* The call of this symbol was made, on this stream, and no other but a query; then forgets it. */
static void assert_call(const char *symbol, CUstream stream)
{
    if (memory_fake.calls == 2 && strcmp(memory_fake.log[0], "cuArray3DGetDescriptor_v2") == 0)
        ASSERT_CALLS("cuArray3DGetDescriptor_v2", symbol);
    else
        ASSERT_CALLS(symbol);
    assert_ptr_equal(memory_fake.stream, stream);
    memory_fake.stream = NULL;
    fake_forget();
}

static void test_rows(void **state)
{
    (void)state;
    unsigned char back[SIZE];
    set_pattern(pageable, SIZE, 1);
    fake_forget();
    ASSERT_OK(cushim_copy_to_device(cu, device, pageable, SIZE));
    assert_call("cuMemcpyHtoD_v2", NULL);
    ASSERT_OK(cushim_copy_on_device(cu, other, device, SIZE));
    assert_call("cuMemcpyDtoD_v2", NULL);
    ASSERT_OK(cushim_copy_to_host(cu, back, other, SIZE));
    assert_call("cuMemcpyDtoH_v2", NULL);
    assert_memory_equal(back, pageable, SIZE);

    set_pattern(pinned, SIZE, 2);
    ASSERT_OK(cushim_copy_to_device_async(cu, device, pinned, SIZE, STREAM));
    assert_call("cuMemcpyHtoDAsync_v2", STREAM);
    ASSERT_OK(cushim_copy_on_device_async(cu, other, device, SIZE, STREAM));
    assert_call("cuMemcpyDtoDAsync_v2", STREAM);
    ASSERT_OK(cushim_copy_to_host_async(cu, back, other, SIZE, STREAM));
    assert_call("cuMemcpyDtoHAsync_v2", STREAM);
    assert_memory_equal(back, pinned, SIZE);

    ASSERT_OK(cushim_copy(cu, device + 10, (uintptr_t)pageable, SIZE - 10));
    assert_call("cuMemcpy", NULL);
    ASSERT_OK(cushim_copy_async(cu, (uintptr_t)back, device + 10, SIZE - 10, STREAM));
    assert_call("cuMemcpyAsync", STREAM);
    assert_memory_equal(back, pageable, SIZE - 10);

    ASSERT_OK(cushim_copy_peer(cu, device, PEER, other, memory_fake.context, SIZE));
    assert_call("cuMemcpyPeer", NULL);
    ASSERT_OK(cushim_copy_peer_async(cu, device, PEER, other, memory_fake.context, SIZE, STREAM));
    assert_call("cuMemcpyPeerAsync", STREAM);
}

static void test_arrays(void **state)
{
    (void)state;
    unsigned char back[SIZE];
    set_pattern(pageable, SIZE, 3);
    fake_forget();
    ASSERT_OK(cushim_copy_to_array(cu, row, 8, pageable, 700));
    assert_call("cuMemcpyHtoA_v2", NULL);
    ASSERT_OK(cushim_copy_array_to_array(cu, plane, 16, row, 8, 700));
    ASSERT_CALLS("cuArray3DGetDescriptor_v2", "cuArray3DGetDescriptor_v2", "cuMemcpyAtoA_v2");
    fake_forget();
    ASSERT_OK(cushim_copy_array_to_device(cu, device, plane, 16, 700));
    assert_call("cuMemcpyAtoD_v2", NULL);
    ASSERT_OK(cushim_copy_device_to_array(cu, row, 0, device, 700));
    assert_call("cuMemcpyDtoA_v2", NULL);
    ASSERT_OK(cushim_copy_from_array(cu, back, row, 0, 700));
    assert_call("cuMemcpyAtoH_v2", NULL);
    assert_memory_equal(back, pageable, 700);
    ASSERT_OK(cushim_copy_to_array_async(cu, row, 100, pageable, 700, STREAM));
    assert_call("cuMemcpyHtoAAsync_v2", STREAM);
    ASSERT_OK(cushim_copy_from_array_async(cu, back, row, 107, 600, STREAM));
    assert_call("cuMemcpyAtoHAsync_v2", STREAM);
    assert_memory_equal(back, pageable + 7, 600);
}

static void test_nothing(void **state)
{
    (void)state;
    fake_forget();
    ASSERT_OK(cushim_copy_to_device(cu, 0, NULL, 0));
    ASSERT_OK(cushim_copy_to_host_async(cu, NULL, 0, 0, STREAM));
    ASSERT_OK(cushim_copy(cu, device + 10 * SIZE, 0, 0));
    ASSERT_OK(cushim_copy_to_array(cu, NULL, 5, NULL, 0));
    ASSERT_OK(cushim_copy_peer(cu, 0, PEER, 0, PEER, 0));
    ASSERT_NO_CALLS();
}

#define REFUSED(call, ...) ASSERT_REFUSED(call, CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

static void test_past_the_end(void **state)
{
    (void)state;
    set_pattern(pinned, SIZE, 4);
    REFUSED(cushim_copy_to_device(cu, device, pageable, SIZE + 1),
            "cushim_copy_to_device: dst: 1001 bytes", "allocation of 1000 bytes", "by 1");
    REFUSED(cushim_copy_to_device_async(cu, device + SIZE - 1, pageable, 2, STREAM),
            "cushim_copy_to_device_async: dst: 2 bytes");
    REFUSED(cushim_copy_to_host(cu, pageable, device + 500, 501),
            "cushim_copy_to_host: src: 501 bytes");
    REFUSED(cushim_copy_to_host(cu, pinned + 1, device, SIZE), "cushim_copy_to_host: dst: ");
    REFUSED(cushim_copy_to_host_async(cu, pinned, device + 1, SIZE, NULL),
            "cushim_copy_to_host_async: src: ");
    REFUSED(cushim_copy_on_device(cu, device, other + 4, SIZE), "cushim_copy_on_device: src: ");
    REFUSED(cushim_copy_on_device_async(cu, device + 4, other, SIZE, NULL),
            "cushim_copy_on_device_async: dst: ");
    REFUSED(cushim_copy(cu, device, (uintptr_t)pinned + 1, SIZE), "cushim_copy: src: ");
    REFUSED(cushim_copy_async(cu, device, other, SIZE_MAX / 2, NULL), "cushim_copy_async: dst: ");
    REFUSED(cushim_copy_to_device(cu, device, pageable, SIZE_MAX),
            "cushim_copy_to_device: dst: ", "end of all addresses");
    REFUSED(cushim_copy_peer(cu, device, PEER, other, PEER, SIZE + 5), "cushim_copy_peer: dst: ");
    REFUSED(cushim_copy_peer_async(cu, 64, PEER, other, PEER, SIZE + 5, NULL),
            "cushim_copy_peer_async: src: ");
    REFUSED(cushim_copy_to_array(cu, row, 101, pageable, 700),
            "cushim_copy_to_array: dst: ", "700 bytes by 1 by 1 from (101, 0, 0)",
            "of 800 bytes by 1 by 1");
    REFUSED(cushim_copy_to_array_async(cu, row, 801, pageable, 1, NULL),
            "cushim_copy_to_array_async: dst: ");
    REFUSED(cushim_copy_from_array(cu, pageable, row, SIZE_MAX, 2), "src: ");
    REFUSED(cushim_copy_from_array_async(cu, pinned + SIZE - 1, row, 0, 2, NULL), "dst: ");
    REFUSED(cushim_copy_array_to_array(cu, plane, 700, row, 0, 101), "dst: ");
    REFUSED(cushim_copy_array_to_array(cu, plane, 0, row, 700, 101), "src: ");
    REFUSED(cushim_copy_array_to_device(cu, device, row, 0, 801), "src: ");
    REFUSED(cushim_copy_device_to_array(cu, row, 0, device, 801), "dst: ");
}

static void test_null(void **state)
{
    (void)state;
    REFUSED(cushim_copy_to_device(cu, 0, pageable, 1), "cushim_copy_to_device: dst: 0 ");
    REFUSED(cushim_copy_to_device(cu, device, NULL, 1), "cushim_copy_to_device: src: 0 ");
    REFUSED(cushim_copy_to_host(cu, NULL, device, 1), "cushim_copy_to_host: dst: 0 ");
    REFUSED(cushim_copy_from_array(cu, pageable, NULL, 0, 1), "src: NULL");
    REFUSED(cushim_copy_to_array(cu, NULL, 0, pageable, 1), "dst: NULL");
    REFUSED(cushim_copy_2d(cu, NULL), "cushim_copy_2d: copy: NULL");
    REFUSED(cushim_copy_3d_async(cu, NULL, STREAM), "cushim_copy_3d_async: copy: NULL");
    REFUSED(cushim_copy_3d_peer(cu, NULL), "cushim_copy_3d_peer: copy: NULL");
    REFUSED(cushim_array_create(cu, NULL, &row), "cushim_array_create: shape: NULL");
    ASSERT_REFUSED(cushim_copy_peer(cu, device, NULL, other, PEER, 1), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_copy_peer: dst_context: NULL");
    ASSERT_REFUSED(cushim_copy_peer(cu, device, PEER, other, NULL, 1), CUDA_ERROR_INVALID_CONTEXT,
                   "src_context: NULL");
}

static void test_freed(void **state)
{
    (void)state;
    CUdeviceptr freed;
    void *host;
    CUarray array, again;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 4, .Format = CU_AD_FORMAT_HALF, .NumChannels = 1};
    ASSERT_OK(cushim_memory_alloc(cu, 64, &freed));
    ASSERT_OK(cushim_memory_free(cu, freed));
    REFUSED(cushim_copy_to_device(cu, freed + 8, pageable, 4),
            "cushim_copy_to_device: dst: ", "64 bytes", "freed already");
    REFUSED(cushim_copy_to_host_async(cu, pageable, freed, 4, STREAM), "src: ", "freed already");
    REFUSED(cushim_fill_8(cu, freed, 1, 4), "cushim_fill_8: dst: ", "freed already");

    /* Host memory that was freed may be malloc's by now. */
    ASSERT_OK(cushim_host_alloc(cu, 64, 0, &host));
    ASSERT_OK(cushim_host_free(cu, host));
    ASSERT_OK(cushim_copy_to_host(cu, host, device, 65));

    ASSERT_OK(cushim_array_create(cu, &shape, &array));
    ASSERT_OK(cushim_array_destroy(cu, array));
    ASSERT_REFUSED(cushim_copy_to_array(cu, array, 0, pageable, 4), CUDA_ERROR_INVALID_HANDLE,
                   "cushim_copy_to_array: dst: 0x", "destroyed already");
    ASSERT_REFUSED(cushim_array_destroy(cu, array), CUDA_ERROR_INVALID_HANDLE,
                   "cushim_array_destroy: array: ", "destroyed already");
    /* The handle of a new one is good, and so is its other size. */
    shape.Width = 8;
    ASSERT_OK(cushim_array_create(cu, &shape, &again));
    assert_ptr_equal(again, array);
    ASSERT_OK(cushim_copy_to_array(cu, again, 0, pageable, 16));
    ASSERT_OK(cushim_array_destroy(cu, again));
}

static void test_array_shapes(void **state)
{
    (void)state;
    CUarray array = row;
    size_t bytes, before;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    REFUSED(cushim_array_create(cu, &shape, &array), "cushim_array_create: shape: Width: 0");
    shape.Width = 4;
    shape.NumChannels = 3;
    REFUSED(cushim_array_create(cu, &shape, &array), "NumChannels: 3");
    shape.NumChannels = 4;
    REFUSED(cushim_array_create(cu, &shape, NULL), "array: NULL");
    shape.Width = SIZE_MAX / 16;
    shape.Height = 2;
    REFUSED(cushim_array_create(cu, &shape, &array), "Height 2", "overflow");
    assert_ptr_equal(array, row);
    fake_fail("cuArray3DCreate_v2", CUDA_ERROR_OUT_OF_MEMORY, 0);
    shape.Width = 4;
    assert_int_equal(cushim_array_create(cu, &shape, &array), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuArray3DCreate_v2: ");
    assert_contains(cushim_last_error(), "bytes: 128, and 1234 of 5678 are free");
    assert_ptr_equal(array, row);
    fake_fail(NULL, CUDA_SUCCESS, 0);

    cushim_memory_live(cu, &before);
    ASSERT_OK(cushim_array_create(cu, &shape, &array));
    cushim_memory_live(cu, &bytes);
    assert_int_equal(bytes - before, 128);
    ASSERT_OK(cushim_array_destroy(cu, array));
    /* A format in planes: its driver knows its size, cushim does not. */
    shape.Format = CU_AD_FORMAT_NV12;
    shape.NumChannels = 3;
    ASSERT_OK(cushim_array_create(cu, &shape, &array));
    ASSERT_OK(cushim_copy_to_array(cu, array, 0, pageable, 24));
    ASSERT_OK(cushim_array_destroy(cu, array));
}

/* A driver's code is passed on with its call; the outputs and the table stay. */
static void test_driver_fails(void **state)
{
    (void)state;
    fake_fail("cuMemcpyHtoD_v2", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_copy_to_device(cu, device, pageable, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_contains(cushim_last_error(), "cushim_copy_to_device: cuMemcpyHtoD_v2: ");
    assert_contains(cushim_last_error(), "; dst: 0x");
    assert_contains(cushim_last_error(), ", bytes: 8");
    fake_fail("cuArrayDestroy", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_array_destroy(cu, row), CUDA_ERROR_ILLEGAL_ADDRESS);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_copy_to_array(cu, row, 0, pageable, 8));
}

static void test_peer_access(void **state)
{
    (void)state;
    CUcontext mine = memory_fake.context;
    ASSERT_REFUSED(cushim_peer_enable(cu, NULL, PEER), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_peer_enable: context: NULL");
    ASSERT_REFUSED(cushim_peer_disable(cu, mine, NULL), CUDA_ERROR_INVALID_CONTEXT,
                   "cushim_peer_disable: peer: NULL");
    ASSERT_OK(cushim_peer_enable(cu, PEER, mine));
    fake_fail("cuCtxEnablePeerAccess", CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 0);
    ASSERT_OK(cushim_peer_enable(cu, PEER, mine));
    fake_fail("cuCtxEnablePeerAccess", CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 0);
    assert_int_equal(cushim_peer_enable(cu, PEER, mine), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    assert_contains(cushim_last_error(), "cushim_peer_enable: cuCtxEnablePeerAccess: ");
    fake_fail("cuCtxDisablePeerAccess", CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 0);
    ASSERT_OK(cushim_peer_disable(cu, PEER, mine));
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_peer_disable(cu, PEER, mine));
    assert_int_equal(memory_fake.depth, 0);
    assert_ptr_equal(memory_fake.context, mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_nothing),      cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_null),         cmocka_unit_test(test_freed),
        cmocka_unit_test(test_array_shapes), cmocka_unit_test(test_driver_fails),
        cmocka_unit_test(test_peer_access),
    };
    return cmocka_run_group_tests_name("memory_copy", tests, make_buffers, free_buffers);
}
