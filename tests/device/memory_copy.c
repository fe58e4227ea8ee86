/* SPDX-License-Identifier: MIT */
/* Copies of one dimension on a real device, in every direction, sizes and offsets odd too; every
 * byte is looked at. */
#include "memory_common.h"

enum { SIZE = 1 << 20, GUARD = 0xee };

static unsigned char sent[SIZE], received[SIZE];

/* One way to go from host to device and back, by its helpers. */
struct way {
    const char *name;
    bool pinned;
    CUresult (*to_device)(const struct cushim_api *, CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*on_device)(const struct cushim_api *, CUdeviceptr, CUdeviceptr, size_t, CUstream);
    CUresult (*to_host)(const struct cushim_api *, void *, CUdeviceptr, size_t, CUstream);
};

static CUresult to_device(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                          size_t size, CUstream stream)
{
    (void)stream;
    return cushim_copy_to_device(cu, dst, src, size);
}

static CUresult on_device(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                          size_t size, CUstream stream)
{
    (void)stream;
    return cushim_copy_on_device(cu, dst, src, size);
}

static CUresult to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src, size_t size,
                        CUstream stream)
{
    (void)stream;
    return cushim_copy_to_host(cu, dst, src, size);
}

static CUresult any_to_device(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                              size_t size, CUstream stream)
{
    (void)stream;
    return cushim_copy(cu, dst, (uintptr_t)src, size);
}

static CUresult any_on_device(const struct cushim_api *cu, CUdeviceptr dst, CUdeviceptr src,
                              size_t size, CUstream stream)
{
    (void)stream;
    return cushim_copy(cu, dst, src, size);
}

static CUresult any_to_host(const struct cushim_api *cu, void *dst, CUdeviceptr src, size_t size,
                            CUstream stream)
{
    (void)stream;
    return cushim_copy(cu, (uintptr_t)dst, src, size);
}

static CUresult any_to_device_async(const struct cushim_api *cu, CUdeviceptr dst, const void *src,
                                    size_t size, CUstream stream)
{
    return cushim_copy_async(cu, dst, (uintptr_t)src, size, stream);
}

static CUresult any_to_host_async(const struct cushim_api *cu, void *dst, CUdeviceptr src,
                                  size_t size, CUstream stream)
{
    return cushim_copy_async(cu, (uintptr_t)dst, src, size, stream);
}

static const struct way ways[] = {
    {"waiting", false, to_device, on_device, to_host},
    {"waiting, pinned", true, to_device, on_device, to_host},
    {"unified", true, any_to_device, any_on_device, any_to_host},
    {"on a stream", false, cushim_copy_to_device_async, cushim_copy_on_device_async,
     cushim_copy_to_host_async},
    {"on a stream, pinned", true, cushim_copy_to_device_async, cushim_copy_on_device_async,
     cushim_copy_to_host_async},
    {"unified on a stream", true, any_to_device_async, cushim_copy_async, any_to_host_async},
};

static void there_and_back(const struct cushim_api *cu, const struct way *way, CUstream stream,
                           size_t offset, size_t size, void *pinned)
{
    CUdeviceptr one, two;
    unsigned char *from = way->pinned ? pinned : sent;
    unsigned char *to = way->pinned ? (unsigned char *)pinned + SIZE : received;
    HELPER(cushim_memory_alloc(cu, SIZE, &one));
    HELPER(cushim_memory_alloc(cu, SIZE, &two));
    memory_set(from, size, (unsigned)(offset + size));
    memset(to, GUARD, SIZE);
    HELPER(cushim_fill_8(cu, two, GUARD, SIZE));
    HELPER(way->to_device(cu, one + offset, from, size, stream));
    HELPER(way->on_device(cu, two + offset, one + offset, size, stream));
    HELPER(way->to_host(cu, to + offset, two + offset, size, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    for (size_t i = 0; i < SIZE; i++) {
        bool inside = i >= offset && i < offset + size;
        if (to[i] != (inside ? memory_pattern(i - offset, (unsigned)(offset + size)) : GUARD)) {
            fprintf(stderr, "%s: %zu bytes from %zu: byte %zu is %u\n", way->name, size, offset, i,
                    to[i]);
            exit(1);
        }
    }
    /* And the bytes around what was written on the device. */
    HELPER(cushim_copy_to_host(cu, received, two, SIZE));
    CHECK(offset == 0 || received[offset - 1] == GUARD);
    CHECK(offset + size == SIZE || received[offset + size] == GUARD);
    HELPER(cushim_memory_free(cu, one));
    HELPER(cushim_memory_free(cu, two));
}

static void rows(const struct cushim_api *cu)
{
    static const struct {
        size_t offset, size;
    } parts[] = {{0, 1}, {1, 1}, {3, 4093}, {0, 4096}, {65536, 65537}, {7, SIZE - 7}, {0, SIZE}};
    void *pinned;
    CUstream stream;
    HELPER(cushim_host_alloc(cu, 2 * SIZE, 0, &pinned));
    CALL(cu_api->cuStreamCreate(&stream, 0));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
            there_and_back(cu, &ways[i], NULL, parts[j].offset, parts[j].size, pinned);
            there_and_back(cu, &ways[i], stream, parts[j].offset, parts[j].size, pinned);
        }
        printf("%s: all bytes arrived\n", ways[i].name);
    }
    CALL(cu_api->cuStreamDestroy_v2(stream));
    HELPER(cushim_host_free(cu, pinned));
}

static void arrays(const struct cushim_api *cu)
{
    static const CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 4096, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    enum { ROW = 4096 };
    CUarray one, two;
    CUdeviceptr device;
    CUstream stream;
    HELPER(cushim_array_create(cu, &shape, &one));
    HELPER(cushim_array_create(cu, &shape, &two));
    HELPER(cushim_memory_alloc(cu, ROW, &device));
    CALL(cu_api->cuStreamCreate(&stream, 0));
    memory_set(sent, ROW, 5);

    /* host -> array -> array -> device -> array -> host */
    HELPER(cushim_copy_to_array(cu, one, 0, sent, ROW));
    HELPER(cushim_copy_array_to_array(cu, two, 0, one, 0, ROW));
    HELPER(cushim_copy_array_to_device(cu, device, two, 0, ROW));
    HELPER(cushim_fill_8(cu, device, 0, 1));
    HELPER(cushim_copy_device_to_array(cu, one, 0, device, ROW));
    HELPER(cushim_copy_from_array(cu, received, one, 0, ROW));
    CHECK(received[0] == 0);
    received[0] = memory_pattern(0, 5);
    CHECK_PATTERN(received, ROW, 5);

    memset(received, GUARD, ROW);
    HELPER(cushim_copy_to_array_async(cu, two, 100, sent, 1000, stream));
    HELPER(cushim_copy_from_array_async(cu, received, two, 100, 1000, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    CHECK_PATTERN(received, 1000, 5);
    CHECK(received[1000] == GUARD);
    printf("arrays: all bytes arrived\n");
    CALL(cu_api->cuStreamDestroy_v2(stream));
    HELPER(cushim_memory_free(cu, device));
    HELPER(cushim_array_destroy(cu, one));
    HELPER(cushim_array_destroy(cu, two));
}

static void body(const struct cushim_api *cu)
{
    rows(cu);
    arrays(cu);
}

int main(void)
{
    return memory_run(body);
}
