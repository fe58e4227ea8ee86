/* SPDX-License-Identifier: MIT */
/* Copies and fills of the simulated driver, each compared with the same done byte by byte. */
#include "memory_test.h"

enum { SIDE = 24, ROOM = SIDE * SIDE * SIDE * 4, SHAPES = 4 };

enum place { HOST, PINNED, DEVICE, ARRAY, PLACES };

struct box { /* memory of one kind, with what it should hold */
    enum place place;
    CUdeviceptr address;
    char *host;
    CUarray array;
    unsigned char *expected;
};

/* Boxes of SIDE x SIDE x SIDE elements of four bytes, rows and slices without gaps. */
static CUDA_MEMCPY3D whole(void)
{
    CUDA_MEMCPY3D p;
    memset(&p, 0, sizeof p);
    p.srcPitch = p.dstPitch = 4 * SIDE;
    p.srcHeight = p.dstHeight = SIDE;
    p.WidthInBytes = 4 * SIDE;
    p.Height = p.Depth = SIDE;
    return p;
}

static void set_source(CUDA_MEMCPY3D *p, const struct box *box, bool unified)
{
    p->srcMemoryType = box->place == ARRAY    ? CU_MEMORYTYPE_ARRAY
                       : unified              ? CU_MEMORYTYPE_UNIFIED
                       : box->place == DEVICE ? CU_MEMORYTYPE_DEVICE
                                              : CU_MEMORYTYPE_HOST;
    p->srcArray = box->array;
    p->srcDevice = box->address;
    p->srcHost = box->host;
}

static void set_target(CUDA_MEMCPY3D *p, const struct box *box, bool unified)
{
    p->dstMemoryType = box->place == ARRAY    ? CU_MEMORYTYPE_ARRAY
                       : unified              ? CU_MEMORYTYPE_UNIFIED
                       : box->place == DEVICE ? CU_MEMORYTYPE_DEVICE
                                              : CU_MEMORYTYPE_HOST;
    p->dstArray = box->array;
    p->dstDevice = box->address;
    p->dstHost = box->host;
}

static struct box box_make(enum place place)
{
    struct box box = {.place = place, .expected = malloc(ROOM)};
    CUDA_ARRAY3D_DESCRIPTOR shape = {SIDE, SIDE, SIDE, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
    memory_fill(box.expected, ROOM);
    if (place == HOST)
        box.host = malloc(ROOM);
    else if (place == PINNED)
        OK(cu->cuMemHostAlloc((void **)&box.host, ROOM, 0));
    else if (place == DEVICE)
        box.address = memory_of(ROOM);
    else
        OK(cu->cuArray3DCreate_v2(&box.array, &shape));
    if (box.host)
        box.address = (CUdeviceptr)(uintptr_t)box.host;
    struct box from = {.place = HOST, .host = (char *)box.expected};
    CUDA_MEMCPY3D p = whole();
    set_source(&p, &from, false);
    set_target(&p, &box, false);
    OK(cu->cuMemcpy3D_v2(&p));
    return box;
}

static void box_check(const struct box *box)
{
    unsigned char *bytes = malloc(ROOM);
    struct box to = {.place = HOST, .host = (char *)bytes};
    CUDA_MEMCPY3D p = whole();
    set_source(&p, box, false);
    set_target(&p, &to, false);
    OK(cu->cuMemcpy3D_v2(&p));
    assert_memory_equal(bytes, box->expected, ROOM);
    free(bytes);
}

static void box_free(struct box *box)
{
    if (box->place == HOST)
        free(box->host);
    else if (box->place == PINNED)
        OK(cu->cuMemFreeHost(box->host));
    else if (box->place == DEVICE)
        OK(cu->cuMemFree_v2(box->address));
    else
        OK(cu->cuArrayDestroy(box->array));
    free(box->expected);
}

static size_t below(size_t limit)
{
    return memory_random() % limit;
}

/* A box that lies within both, at random. */
static void choose(CUDA_MEMCPY3D *p)
{
    *p = whole();
    size_t width = 1 + below(SIDE);
    p->WidthInBytes = 4 * width;
    p->Height = 1 + below(SIDE);
    p->Depth = 1 + below(SIDE);
    p->srcXInBytes = 4 * below(SIDE - width + 1);
    p->dstXInBytes = 4 * below(SIDE - width + 1);
    p->srcY = below(SIDE - p->Height + 1);
    p->dstY = below(SIDE - p->Height + 1);
    p->srcZ = below(SIDE - p->Depth + 1);
    p->dstZ = below(SIDE - p->Depth + 1);
}

static void by_hand(const CUDA_MEMCPY3D *p, unsigned char *to, const unsigned char *from)
{
    for (size_t z = 0; z < p->Depth; z++)
        for (size_t y = 0; y < p->Height; y++)
            memcpy(to + ((p->dstZ + z) * SIDE + p->dstY + y) * 4 * SIDE + p->dstXInBytes,
                   from + ((p->srcZ + z) * SIDE + p->srcY + y) * 4 * SIDE + p->srcXInBytes,
                   p->WidthInBytes);
}

static void test_boxes(void **state)
{
    (void)state;
    for (int from = 0; from < PLACES; from++) {
        for (int to = 0; to < PLACES; to++) {
            struct box source = box_make((enum place)from), target = box_make((enum place)to);
            for (int i = 0; i < SHAPES; i++) {
                CUDA_MEMCPY3D p;
                choose(&p);
                set_source(&p, &source, i & 1);
                set_target(&p, &target, i & 1);
                by_hand(&p, target.expected, source.expected);
                if (i & 2)
                    OK(cu->cuMemcpy3D_v2(&p));
                else
                    OK(cu->cuMemcpy3DAsync_v2(&p, NULL));
            }
            OK(cu->cuCtxSynchronize());
            box_check(&source);
            box_check(&target);
            box_free(&source);
            box_free(&target);
        }
    }
}

static void test_boxes_refused(void **state)
{
    struct box from = box_make(HOST), to = box_make(DEVICE), array = box_make(ARRAY);
    CUDA_MEMCPY3D p = whole();
    (void)state;
    for (int side = 0; side < 2; side++) {
        const struct box *target = side ? &array : &to;
        for (int wrong = 0; wrong < 7; wrong++) {
            p = whole();
            set_source(&p, &from, false);
            set_target(&p, target, false);
            size_t *const fields[] = {&p.dstXInBytes, &p.dstY, &p.dstZ, &p.Depth};
            if (wrong < 4)
                *fields[wrong] += 4;
            else if (wrong == 4)
                p.WidthInBytes = SIZE_MAX;
            else if (wrong == 5)
                p.Height = SIZE_MAX;
            else
                p.dstMemoryType = (CUmemorytype)7;
            GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3D_v2(&p));
            GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DAsync_v2(&p, NULL));
        }
    }
    OK(cu->cuArrayDestroy(array.array));
    p = whole();
    set_source(&p, &from, false);
    set_target(&p, &array, false);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3D_v2(&p));
    OK(cu->cuCtxSynchronize());
    box_check(&to);
    free(array.expected);
    box_free(&from);
    box_free(&to);
}

/* A stream's order, with every copy waiting for the one before. */
static void test_stream_order(void **state)
{
    enum { COUNT = 200 };
    CUstream stream;
    unsigned *host;
    CUdeviceptr a = memory_of(4096), b = memory_of(4096);
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemHostAlloc((void **)&host, COUNT * sizeof *host, 0));
    for (unsigned i = 0; i < COUNT; i++) {
        OK(cu->cuMemsetD32Async(a, i, 1024, stream));
        OK(cu->cuMemcpyDtoDAsync_v2(b, a, 4096, stream));
        OK(cu->cuMemcpyDtoHAsync_v2(&host[i], b + 4 * i, 4, stream));
    }
    OK(cu->cuStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(host[i], i);
    OK(cu->cuMemFreeHost(host));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
}

/* Pageable memory is read before the call returns; pinned memory when its turn comes. */
static void test_staging(void **state)
{
    struct memory_gate gate;
    CUstream stream;
    unsigned pageable = 1, *pinned, back[2];
    CUdeviceptr a = memory_of(8);
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemHostAlloc((void **)&pinned, 4, 0));
    *pinned = 1;
    memory_gate_close(&gate, stream);
    OK(cu->cuMemcpyHtoDAsync_v2(a, &pageable, 4, stream));
    OK(cu->cuMemcpyHtoDAsync_v2(a + 4, pinned, 4, stream));
    pageable = *pinned = 2;
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(back, a, 8));
    assert_int_equal(back[0], 1);
    assert_int_equal(back[1], 2);
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
}

/* cuMemFree waits for the work before it; what it frees is still there for that work. */
static void test_free_waits(void **state)
{
    CUstream stream;
    unsigned *pinned;
    CUdeviceptr a = memory_of(64 * MIB);
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemHostAlloc((void **)&pinned, 4, 0));
    *pinned = 0;
    for (unsigned i = 1; i < 8; i++)
        OK(cu->cuMemsetD32Async(a, i, 16 * MIB, stream));
    OK(cu->cuMemcpyDtoHAsync_v2(pinned, a + 64 * MIB - 4, 4, stream));
    OK(cu->cuMemFree_v2(a));
    assert_int_equal(*pinned, 7);
    OK(cu->cuMemFreeHost(pinned));
    OK(cu->cuStreamDestroy_v2(stream));
}

static void check_fill(CUdeviceptr a, const unsigned char *expected, size_t size)
{
    static unsigned char back[16384];
    OK(cu->cuMemcpyDtoH_v2(back, a, size));
    assert_memory_equal(back, expected, size);
}

static void test_fills(void **state)
{
    enum { SIZE = 16384 };
    static unsigned char expected[SIZE];
    CUdeviceptr a = memory_of(SIZE);
    (void)state;
    memory_fill(expected, SIZE);
    OK(cu->cuMemcpyHtoD_v2(a, expected, SIZE));
    for (int i = 0; i < 300; i++) {
        unsigned element = 1U << below(3), value = memory_random();
        size_t width = 1 + below(20), height = 1 + below(10);
        size_t pitch = element * (width + below(30));
        size_t at = element * below((SIZE - pitch * height) / element);
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++)
                memcpy(expected + at + y * pitch + x * element, &value, element);
        bool async = i & 1;
        CUdeviceptr to = a + at;
        unsigned char byte = (unsigned char)value;
        unsigned short half = (unsigned short)value;
        if (element == 1)
            OK(async ? cu->cuMemsetD2D8Async(to, pitch, byte, width, height, NULL)
                     : cu->cuMemsetD2D8_v2(to, pitch, byte, width, height));
        else if (element == 2)
            OK(async ? cu->cuMemsetD2D16Async(to, pitch, half, width, height, NULL)
                     : cu->cuMemsetD2D16_v2(to, pitch, half, width, height));
        else
            OK(async ? cu->cuMemsetD2D32Async(to, pitch, value, width, height, NULL)
                     : cu->cuMemsetD2D32_v2(to, pitch, value, width, height));
    }
    check_fill(a, expected, SIZE);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(a, 0, SIZE + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD32_v2(a + 2, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD2D8_v2(a, 64, 0, 65, 2));
    check_fill(a, expected, SIZE);
    OK(cu->cuMemFree_v2(a));
}

static void test_peers(void **state)
{
    CUcontext second;
    CUdeviceptr a = memory_of(4096), b;
    char bytes[4096], back[4096];
    (void)state;
    if (memory_devices() < 2)
        skip();
    memory_fill(bytes, sizeof bytes);
    OK(cu->cuMemcpyHtoD_v2(a, bytes, 4096));
    OK(cu->cuDevicePrimaryCtxRetain(&second, 1));
    OK(cu->cuCtxSetCurrent(second));
    b = memory_of(4096);
    OK(cu->cuMemcpyPeer(b, second, a, memory_context, 4000));
    OK(cu->cuMemcpyDtoH_v2(back, b, 4096));
    assert_memory_equal(bytes, back, 4000);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyPeer(b, second, a, memory_context, 4097));
    OK(cu->cuMemFree_v2(b));
    OK(cu->cuMemFree_v2(a)); /* of the other device: addresses are unique */
    OK(cu->cuCtxSetCurrent(memory_context));
    OK(cu->cuDevicePrimaryCtxRelease_v2(1));
}

static void test_lists(void **state)
{
    enum { COUNT = 10 };
    CUdeviceptr a = memory_of(4096), b = memory_of(4096), to[COUNT], from[COUNT];
    size_t sizes[COUNT], first = 0;
    unsigned char bytes[4096], back[4096];
    CUmemcpyAttributes attributes;
    CUstream stream;
    (void)state;
    memory_fill(bytes, sizeof bytes);
    OK(cu->cuMemcpyHtoD_v2(a, bytes, 4096));
    OK(cu->cuCtxSynchronize()); /* the stream does not wait for the legacy one */
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    for (size_t i = 0; i < COUNT; i++) {
        from[i] = a + 100 * i;
        to[i] = b + 100 * (COUNT - 1 - i);
        sizes[i] = 100;
    }
    OK(cu->cuMemcpyBatchAsync_v2(to, from, sizes, COUNT, &attributes, &first, 1, stream));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(back, b, 1000));
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(back + 100 * (COUNT - 1 - i), bytes + 100 * i, 100);
    sizes[COUNT - 1] = 4096; /* one is wrong: the others are done */
    OK(cu->cuMemsetD8_v2(b, 0, 4096));
    OK(cu->cuCtxSynchronize());
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemcpyBatchAsync_v2(to, from, sizes, COUNT, &attributes, &first, 1, stream));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(back, b, 1000));
    for (size_t i = 0; i < COUNT - 1; i++)
        assert_memory_equal(back + 100 * (COUNT - 1 - i), bytes + 100 * i, 100);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_boxes),        MEMORY_OWN(test_boxes_refused, "driver 580 crashes"),
    MEMORY_TEST(test_stream_order), MEMORY_TEST(test_staging),
    MEMORY_TEST(test_free_waits),   MEMORY_TEST(test_fills),
    MEMORY_TEST(test_peers),        MEMORY_TEST(test_lists),
};
MEMORY_MAIN("memory_copy", tests)
