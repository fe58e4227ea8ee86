/* SPDX-License-Identifier: MIT */
/* Every kind of memory on a real device: allocated, described, used from both sides, freed. */
#include "memory_common.h"

enum { SIZE = 100000 };

static unsigned char bytes[SIZE];

/* What the driver says of an address, beside what was asked for. */
static struct cushim_pointer described(const struct cushim_api *cu, const char *what,
                                       uintptr_t address, size_t asked)
{
    struct cushim_pointer pointer;
    HELPER(cushim_pointer_describe(cu, address, &pointer));
    printf("%s: asked for %zu, has %zu; type %d, device %d, managed %d, id %llu, pool %s\n", what,
           asked, pointer.size, (int)pointer.type, pointer.ordinal, pointer.managed, pointer.id,
           pointer.pool ? "yes" : "no");
    return pointer;
}

static void device_memory(const struct cushim_api *cu)
{
    static const size_t sizes[] = {1, 1000, SIZE, (size_t)64 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr address;
        HELPER(cushim_memory_alloc(cu, sizes[i], &address));
        struct cushim_pointer pointer = described(cu, "device", address, sizes[i]);
        CHECK(pointer.type == CU_MEMORYTYPE_DEVICE && pointer.device == address);
        CHECK(pointer.base == address && pointer.size >= sizes[i] && pointer.id);
        CHECK(pointer.ordinal == 0 && !pointer.managed && pointer.context == memory_context);
        HELPER(cushim_pointer_describe(cu, address + sizes[i] - 1, &pointer));
        CHECK(pointer.base == address);
        HELPER(cushim_fill_8(cu, address, 0x77, sizes[i]));
        HELPER(cushim_copy_to_host(cu, bytes, address + sizes[i] - 1, 1));
        CHECK(bytes[0] == 0x77);
        HELPER(cushim_memory_free(cu, address));
    }
    size_t free_bytes, total_bytes;
    HELPER(cushim_memory_info(cu, &free_bytes, &total_bytes));
    CHECK(free_bytes > 0 && free_bytes <= total_bytes);
    printf("%zu of %zu bytes are free\n", free_bytes, total_bytes);
}

/* A 32-bit fill through a pinned pointer, whose bits are a float's. */
static void host_memory(const struct cushim_api *cu)
{
    static const unsigned flags[] = {
        0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED,
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        void *address;
        CUdeviceptr device;
        float value;
        HELPER(cushim_host_alloc(cu, SIZE, flags[i], &address));
        struct cushim_pointer pointer = described(cu, "host", (uintptr_t)address, SIZE);
        CHECK(pointer.type == CU_MEMORYTYPE_HOST && pointer.host == address);
        HELPER(cushim_host_device_address(cu, address, &device));
        HELPER(cushim_fill_32(cu, device, 0x3fc00000, SIZE / 4));
        CALL(cu_api->cuCtxSynchronize_v1());
        for (size_t j = 0; j < SIZE; j += 4) {
            memcpy(&value, (char *)address + j, sizeof value);
            CHECK(value == 1.5f);
        }
        HELPER(cushim_host_free(cu, address));
    }
    struct cushim_pointer pointer;
    HELPER(cushim_pointer_describe(cu, (uintptr_t)&pointer, &pointer));
    printf("pageable memory: type %d\n", (int)pointer.type);
}

static void registered_memory(const struct cushim_api *cu)
{
    static const unsigned flags[] = {0, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP};
    unsigned char *buffer = aligned_alloc(4096, 102400), *inside = buffer + 100;
    CHECK(buffer);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CUdeviceptr device, copy;
        HELPER(cushim_host_register(cu, inside, SIZE, flags[i]));
        described(cu, "registered", (uintptr_t)inside, SIZE);
        HELPER(cushim_memory_alloc(cu, SIZE, &copy));
        memory_set(inside, SIZE, 3);
        HELPER(cushim_copy_to_device(cu, copy, inside, SIZE));
        memset(inside, 0, SIZE);
        HELPER(cushim_copy_to_host_async(cu, inside, copy, SIZE, NULL));
        CALL(cu_api->cuStreamSynchronize(NULL));
        CHECK_PATTERN(inside, SIZE, 3);
        HELPER(cushim_host_device_address(cu, inside, &device));
        HELPER(cushim_fill_8(cu, device, 0x11, 1));
        CALL(cu_api->cuCtxSynchronize_v1());
        CHECK(inside[0] == 0x11);
        HELPER(cushim_memory_free(cu, copy));
        HELPER(cushim_host_unregister(cu, inside));
    }
    CUresult result = cushim_host_register(cu, inside, SIZE, CU_MEMHOSTREGISTER_READ_ONLY);
    printf("registering as read-only: %d %s\n", (int)result,
           result == CUDA_SUCCESS ? "" : cushim_last_error());
    if (result == CUDA_SUCCESS)
        HELPER(cushim_host_unregister(cu, inside));
    free(buffer);
}

static void managed_memory(const struct cushim_api *cu)
{
    static const unsigned flags[] = {0, CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CUdeviceptr address;
        CUresult result = cushim_memory_alloc_managed(cu, SIZE, flags[i], &address);
        if (result == CUDA_ERROR_NOT_SUPPORTED) {
            printf("managed: %s\n", cushim_last_error());
            return;
        }
        HELPER(result);
        struct cushim_pointer pointer = described(cu, "managed", address, SIZE);
        CHECK(pointer.managed && pointer.base == address);
        unsigned char *host = (unsigned char *)(uintptr_t)address;
        memory_set(host, SIZE, 9);
        if (flags[i] != CU_MEM_ATTACH_HOST) {
            HELPER(cushim_memory_prefetch(cu, address, SIZE, 0, NULL));
            HELPER(cushim_memory_prefetch(cu, address, SIZE, CU_DEVICE_CPU, NULL));
        }
        HELPER(cushim_fill_8(cu, address, 0x22, 1));
        CALL(cu_api->cuCtxSynchronize_v1());
        CHECK(host[0] == 0x22);
        host[0] = memory_pattern(0, 9);
        CHECK_PATTERN(host, SIZE, 9);
        HELPER(cushim_copy_to_host(cu, bytes, address, SIZE));
        CHECK_PATTERN(bytes, SIZE, 9);
        HELPER(cushim_memory_free(cu, address));
    }
}

static void pitched_memory(const struct cushim_api *cu)
{
    static const unsigned elements[] = {4, 8, 16};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        CUdeviceptr address;
        size_t pitch, width = 1000, height = 37;
        HELPER(cushim_memory_alloc_pitched(cu, width, height, elements[i], &address, &pitch));
        printf("pitch of %zu bytes for elements of %u: %zu\n", width, elements[i], pitch);
        CHECK(pitch >= width && pitch % elements[i] == 0);
        described(cu, "pitched", address, pitch * height);
        HELPER(cushim_fill_2d_8(cu, address, pitch, 0x33, width, height));
        HELPER(cushim_copy_to_host(cu, bytes, address + pitch * (height - 1), width));
        for (size_t x = 0; x < width; x++)
            CHECK(bytes[x] == 0x33);
        HELPER(cushim_memory_free(cu, address));
    }
}

static void arrays(const struct cushim_api *cu)
{
    static const CUDA_ARRAY3D_DESCRIPTOR shapes[] = {
        {.Width = 1000, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1},
        {.Width = 100, .Height = 50, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4},
        {.Width = 20, .Height = 30, .Depth = 40, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2},
        {.Width = 64,
         .Depth = 6,
         .Format = CU_AD_FORMAT_FLOAT,
         .NumChannels = 1,
         .Flags = CUDA_ARRAY3D_LAYERED},
        {.Width = 64,
         .Height = 64,
         .Depth = 6,
         .Format = CU_AD_FORMAT_FLOAT,
         .NumChannels = 1,
         .Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUarray array;
        CUDA_ARRAY3D_DESCRIPTOR now;
        size_t asked;
        HELPER(cushim_array_create(cu, &shapes[i], &array));
        CHECK(cushim_memory_live(cu, &asked) == 1);
        CALL(cu_api->cuArray3DGetDescriptor_v2(&now, array));
        printf("array of %zu by %zu by %zu: %zu bytes; the driver says %zu by %zu by %zu\n",
               shapes[i].Width, shapes[i].Height, shapes[i].Depth, asked, now.Width, now.Height,
               now.Depth);
        CHECK(now.Width == shapes[i].Width && now.Height == shapes[i].Height &&
              now.Depth == shapes[i].Depth && now.Format == shapes[i].Format);
        HELPER(cushim_array_destroy(cu, array));
    }
}

static void body(const struct cushim_api *cu)
{
    device_memory(cu);
    host_memory(cu);
    registered_memory(cu);
    managed_memory(cu);
    pitched_memory(cu);
    arrays(cu);
}

int main(void)
{
    return memory_run(body);
}
