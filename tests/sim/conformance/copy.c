/* SPDX-License-Identifier: MIT */
/* Copies along a line, and fills. */
#include "conform.h"

static unsigned words[256];

static void directions(void)
{
    CUdeviceptr a = conform_memory(1024), b = conform_memory(1024);
    unsigned back[256] = {0};
    for (unsigned i = 0; i < 256; i++)
        words[i] = i * 3;
    CALL(cu->cuMemcpyHtoD(a, words, 1024));
    CALL(cu->cuMemcpyDtoD(b, a, 1024));
    CALL(cu->cuMemcpyDtoH(back, b, 1024));
    VALUE("equal=%d", memcmp(words, back, 1024) == 0);
    CALL(cu->cuMemcpyDtoD(a + 4, a, 512));
    CALL(cu->cuMemcpy(b, (CUdeviceptr)(uintptr_t)words, 1024));
    CALL(cu->cuMemcpy((CUdeviceptr)(uintptr_t)back, b, 1024));
    VALUE("equal=%d", memcmp(words, back, 1024) == 0);
    CALL(cu->cuMemcpy((CUdeviceptr)(uintptr_t)back, (CUdeviceptr)(uintptr_t)words, 1024));
    CALL(cu->cuMemcpy(a, b, 1024));
    CALL(cu->cuMemcpyPeer(a, ctx, b, ctx, 1024));
    CALL(cu->cuMemcpyHtoD(a + 1, (char *)words + 3, 5));
}

static void zero(void)
{
    CUdeviceptr a = conform_memory(16);
    CALL(cu->cuMemcpyHtoD(a, words, 0));
    CALL(cu->cuMemcpyDtoH(words, a, 0));
    CALL(cu->cuMemcpyDtoD(a, a, 0));
    CALL(cu->cuMemcpy(a, a, 0));
    CALL(cu->cuMemcpyHtoD(0, NULL, 0));
    CALL(cu->cuMemcpyDtoH(NULL, 0, 0));
    CALL(cu->cuMemcpyHtoD(12345, words, 0));
    CALL(cu->cuMemcpyHtoDAsync(a, words, 0, NULL));
    CALL(cu->cuMemcpyDtoDAsync(0, 0, 0, NULL));
    CALL(cu->cuMemcpyAsync(0, 0, 0, NULL));
    CALL(cu->cuMemcpyPeer(a, ctx, a, ctx, 0));
}

static void past_the_end(void)
{
    CUdeviceptr a = conform_memory(1000);
    static char big[8 << 20];
    CALL(cu->cuMemcpyHtoD(a, big, 1001));
    CALL(cu->cuMemcpyDtoH(big, a, 1001));
    CALL(cu->cuMemcpyHtoD(a + 999, big, 2));
    CALL(cu->cuMemcpyHtoD(a, big, 8 << 20));
    CALL(cu->cuMemcpyDtoH(big, a, 8 << 20));
    CALL(cu->cuMemcpyDtoD(a, a, 8 << 20));
    CALL(cu->cuMemcpyHtoD(a + 1000, big, 1));
    CALL(cu->cuCtxSynchronize());
}

static void bad_pointers(void)
{
    CUdeviceptr a = conform_memory(1024);
    CALL(cu->cuMemcpyHtoD(0, words, 16));
    CALL(cu->cuMemcpyDtoH(words, 0, 16));
    CALL(cu->cuMemcpyDtoD(a, 0, 16));
    CALL(cu->cuMemcpyDtoD(0, a, 16));
    CALL(cu->cuMemcpyHtoD(a, NULL, 16));
    CALL(cu->cuMemcpyDtoH(NULL, a, 16));
    CALL(cu->cuMemcpyHtoD(12345, words, 16));
    CALL(cu->cuMemcpyDtoH(words, 12345, 16));
    CALL(cu->cuMemcpy(0, a, 16));
    CALL(cu->cuMemcpy(a, 0, 16));
    CALL(cu->cuCtxSynchronize());
}

static void wrong_side(void)
{
    CUdeviceptr a = conform_memory(1024), b = conform_memory(1024);
    CUdeviceptr mine = (CUdeviceptr)(uintptr_t)words;
    CALL(cu->cuMemcpyHtoD(mine, words + 16, 16));
    CALL(cu->cuMemcpyDtoH(words, mine + 64, 16));
    CALL(cu->cuMemcpyDtoD(mine, a, 16));
    CALL(cu->cuMemcpyDtoD(a, mine, 16));
    CALL(cu->cuMemcpyHtoD(a, (void *)(uintptr_t)b, 16));
    CALL(cu->cuMemcpyDtoH((void *)(uintptr_t)b, a, 16));
    CALL(cu->cuCtxSynchronize());
}

static void pinned_side(void)
{
    CUdeviceptr a = conform_memory(1024), managed = 0;
    void *host = NULL;
    MUST(cu->cuMemHostAlloc(&host, 1024, 0));
    MUST(cu->cuMemAllocManaged(&managed, 1024, CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr pinned = (CUdeviceptr)(uintptr_t)host;
    CALL(cu->cuMemcpyDtoD(pinned, a, 16));
    CALL(cu->cuMemcpyDtoD(a, pinned, 16));
    CALL(cu->cuMemcpyHtoD(pinned, words, 16));
    CALL(cu->cuMemcpyDtoH(words, pinned, 16));
    CALL(cu->cuMemcpyHtoD(managed, words, 16));
    CALL(cu->cuMemcpyDtoH((void *)(uintptr_t)managed, a, 16));
    CALL(cu->cuMemcpyDtoD(managed, pinned, 16));
    CALL(cu->cuMemcpyHtoD(pinned, words, 2048));
    CALL(cu->cuMemcpyHtoD(a, host, 2048));
}

static void freed(void)
{
    CUdeviceptr a = conform_memory(4 << 20), b = conform_memory(1024);
    MUST(cu->cuMemFree(a));
    CALL(cu->cuMemcpyHtoD(a, words, 16));
    CALL(cu->cuMemcpyDtoH(words, a, 16));
    CALL(cu->cuMemcpyDtoD(b, a, 16));
    CALL(cu->cuMemsetD8(a, 1, 16));
    CALL(cu->cuCtxSynchronize());
}

static void async(void)
{
    CUdeviceptr a = conform_memory(1024);
    CUstream stream = conform_stream();
    unsigned back[4] = {0};
    words[0] = 99;
    CALL(cu->cuMemcpyHtoDAsync(a, words, 16, stream));
    CALL(cu->cuMemcpyDtoDAsync(a + 64, a, 16, stream));
    CALL(cu->cuMemcpyDtoHAsync(back, a + 64, 16, stream));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("word=%u", back[0]);
    CALL(cu->cuMemcpyAsync(a, (CUdeviceptr)(uintptr_t)words, 16, stream));
    CALL(cu->cuMemcpyPeerAsync(a, ctx, a + 64, ctx, 16, stream));
    CALL(cu->cuMemcpyHtoDAsync(0, words, 16, stream));
    CALL(cu->cuMemcpyHtoDAsync(a, NULL, 16, stream));
    CALL(cu->cuMemcpyDtoHAsync(back, a, 1 << 24, stream));
    MUST(cu->cuStreamSynchronize(stream)); /* the legacy stream does not wait for it */
    CALL(cu->cuMemcpyHtoDAsync(a, words, 16, CU_STREAM_LEGACY));
    CALL(cu->cuMemcpyHtoDAsync(a, words, 16, CU_STREAM_PER_THREAD));
    CALL(cu->cuCtxSynchronize());
}

static void peer_misuse(void)
{
    CUdeviceptr a = conform_memory(1024), b = conform_memory(1024);
    CALL(cu->cuMemcpyPeer(a, NULL, b, ctx, 16));
    CALL(cu->cuMemcpyPeer(a, ctx, b, NULL, 16));
    CALL(cu->cuMemcpyPeer(0, ctx, b, ctx, 16));
    CALL(cu->cuMemcpyPeer(a, ctx, 0, ctx, 16));
    CALL(cu->cuMemcpyPeer(a, ctx, b, ctx, 1 << 24));
    CALL(cu->cuCtxSynchronize());
}

static void batch(void)
{
    CUdeviceptr a = conform_memory(1024), b = conform_memory(1024);
    CUdeviceptr to[] = {a, a + 64}, from[] = {b, b + 64};
    size_t sizes[] = {16, 16}, indices[] = {0, 1}, wrong[] = {1, 0};
    CUmemcpyAttributes attributes[2];
    CUstream stream = conform_stream();
    memset(attributes, 0, sizeof attributes);
    attributes[0].srcAccessOrder = attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 1, stream));
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 2, stream));
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, wrong, 2, stream));
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 0, stream));
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 0, attributes, indices, 1, stream));
    CALL(cu->cuMemcpyBatchAsync(NULL, from, sizes, 2, attributes, indices, 1, stream));
    MUST(cu->cuStreamSynchronize(stream)); /* neither waits for the other */
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 1, NULL));
    MUST(cu->cuCtxSynchronize());
    attributes[0].srcAccessOrder = (CUmemcpySrcAccessOrder)0;
    CALL(cu->cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 1, stream));
    CALL(cu->cuStreamSynchronize(stream));
}

static void old_copies(void)
{
    CUdeviceptr_v1 a = 0;
    CALL(cu->cuMemAlloc_v1(&a, 64));
    CALL(cu->cuMemcpyHtoD_v1(0, words, 16));
    CALL(cu->cuMemcpyDtoH_v1(words, 0, 16));
    CALL(cu->cuMemcpyDtoD_v1(0, 0, 16));
    CALL(cu->cuMemsetD8_v1(0, 1, 16));
    CALL(cu->cuMemcpyHtoD_v1(0, words, 0));
}

static void fill(void)
{
    CUdeviceptr a = conform_memory(1024);
    MUST(cu->cuMemsetD8(a, 0, 1024));
    CALL(cu->cuMemsetD8(a, 0xab, 3));
    VALUE("word=%08x", conform_read(a));
    CALL(cu->cuMemsetD16(a, 0x1234, 1));
    VALUE("word=%08x", conform_read(a));
    CALL(cu->cuMemsetD32(a, 0x89abcdef, 2));
    VALUE("word=%08x", conform_read(a + 4));
    CALL(cu->cuMemsetD8(a + 1, 0, 1));
    VALUE("word=%08x", conform_read(a));
    CALL(cu->cuMemsetD8(a, 1, 0));
    CALL(cu->cuMemsetD16(a, 1, 0));
    CALL(cu->cuMemsetD32(a, 1, 0));
    CALL(cu->cuMemsetD8(0, 1, 0));
    CALL(cu->cuMemsetD32(a + 1, 1, 0));
}

static void fill_misuse(void)
{
    CUdeviceptr a = conform_memory(1000);
    CALL(cu->cuMemsetD16(a + 1, 1, 4));
    CALL(cu->cuMemsetD32(a + 1, 1, 4));
    CALL(cu->cuMemsetD32(a + 2, 1, 4));
    CALL(cu->cuMemsetD8(0, 1, 4));
    CALL(cu->cuMemsetD8(12345, 1, 4));
    CALL(cu->cuMemsetD8(a, 1, 1001));
    CALL(cu->cuMemsetD8(a, 1, 8 << 20));
    CALL(cu->cuMemsetD32(a, 1, 2 << 20));
    CALL(cu->cuMemsetD8((CUdeviceptr)(uintptr_t)words, 1, 4));
    CALL(cu->cuCtxSynchronize());
}

static void fill_kinds(void)
{
    CUdeviceptr managed = 0;
    void *host = NULL;
    MUST(cu->cuMemHostAlloc(&host, 1024, 0));
    MUST(cu->cuMemAllocManaged(&managed, 1024, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemsetD32((CUdeviceptr)(uintptr_t)host, 77, 4));
    MUST(cu->cuCtxSynchronize());
    VALUE("word=%u", *(unsigned *)host);
    CALL(cu->cuMemsetD32(managed, 78, 4));
    MUST(cu->cuCtxSynchronize());
    VALUE("word=%u", *(unsigned *)(uintptr_t)managed);
    CALL(cu->cuMemsetD8((CUdeviceptr)(uintptr_t)host, 1, 2048));
}

static void fill_2d(void)
{
    CUdeviceptr a = conform_memory(4096);
    MUST(cu->cuMemsetD8(a, 0, 4096));
    CALL(cu->cuMemsetD2D8(a, 64, 0x11, 3, 2));
    VALUE("words=%08x,%08x,%08x", conform_read(a), conform_read(a + 64), conform_read(a + 128));
    CALL(cu->cuMemsetD2D16(a, 64, 0x2222, 3, 2));
    VALUE("words=%08x,%08x", conform_read(a + 4), conform_read(a + 64));
    CALL(cu->cuMemsetD2D32(a, 64, 0x33333333, 3, 2));
    VALUE("words=%08x,%08x", conform_read(a + 8), conform_read(a + 12));
    CALL(cu->cuMemsetD2D8(a, 63, 1, 3, 2));
    CALL(cu->cuMemsetD2D16(a, 63, 1, 3, 2));
    CALL(cu->cuMemsetD2D32(a, 66, 1, 3, 2));
    CALL(cu->cuMemsetD2D32(a, 8, 1, 3, 2));
    CALL(cu->cuMemsetD2D8(a, 2, 1, 3, 1));
    CALL(cu->cuMemsetD2D8(a, 0, 1, 3, 1));
    CALL(cu->cuMemsetD2D8(a, 0, 1, 3, 2));
    CALL(cu->cuMemsetD2D8(a, 64, 1, 0, 2));
    CALL(cu->cuMemsetD2D8(a, 64, 1, 3, 0));
    CALL(cu->cuMemsetD2D32(a + 2, 64, 1, 3, 2));
    CALL(cu->cuMemsetD2D8(0, 64, 1, 3, 2));
}

static void fill_2d_misuse(void)
{
    CUdeviceptr a = conform_memory(4096);
    CALL(cu->cuMemsetD2D8(a, 64, 1, 64, 64));
    CALL(cu->cuMemsetD2D8(a, 64, 1, 64, 65));
    CALL(cu->cuMemsetD2D8(a, 64, 1, 64, 1 << 20));
    CALL(cu->cuMemsetD2D8(a, (size_t)1 << 31, 1, 64, 1));
    CALL(cu->cuMemsetD2D8(a, ((size_t)1 << 31) - 1, 1, 64, 1));
    CALL(cu->cuMemsetD2D8(a, (size_t)1 << 32, 1, 64, 2));
    CALL(cu->cuMemsetD2D32(a, SIZE_MAX - 3, 1, 64, 2));
    CALL(cu->cuCtxSynchronize());
}

static void fill_async(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUstream stream = conform_stream();
    CALL(cu->cuMemsetD8Async(a, 1, 4, stream));
    CALL(cu->cuMemsetD16Async(a, 2, 2, stream));
    CALL(cu->cuMemsetD32Async(a, 3, 1, stream));
    CALL(cu->cuMemsetD2D8Async(a, 64, 4, 4, 2, stream));
    CALL(cu->cuMemsetD2D16Async(a, 64, 5, 4, 2, stream));
    CALL(cu->cuMemsetD2D32Async(a, 64, 6, 4, 2, stream));
    CALL(cu->cuMemsetD32Async(a + 1, 3, 1, stream));
    CALL(cu->cuMemsetD8Async(0, 1, 4, stream));
    CALL(cu->cuMemsetD8Async(a, 1, 1 << 24, stream));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("word=%u", conform_read(a));
}

static const struct sequence sequences[] = {
    S(directions, PRIMARY),     S(zero, PRIMARY),       S(past_the_end, PRIMARY),
    S(bad_pointers, PRIMARY),   S(wrong_side, PRIMARY), S(pinned_side, PRIMARY),
    S(freed, PRIMARY),          S(async, PRIMARY),      S(peer_misuse, PRIMARY),
    S(batch, PRIMARY),          S(old_copies, PRIMARY), S(fill, PRIMARY),
    S(fill_misuse, PRIMARY),    S(fill_kinds, PRIMARY), S(fill_2d, PRIMARY),
    S(fill_2d_misuse, PRIMARY), S(fill_async, PRIMARY), {0}};
const struct family copy_family = {"copy", sequences};
