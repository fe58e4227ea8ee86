/* SPDX-License-Identifier: MIT */
/* The fake's copies, fills and arrays. They really copy and fill. */
#include <stdlib.h>
#include <string.h>

#include "test_memory_fake.h"

enum { ARRAYS = 8 };

/* The handle is its place in the list, so that one comes back soon. */
static struct fake_array {
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t row, rows;
    unsigned char *bytes; /* NULL: there is none */
} arrays[ARRAYS];

static struct fake_array *array_of(CUarray handle)
{
    struct fake_array *array = (struct fake_array *)(void *)handle;
    return array >= arrays && array < arrays + ARRAYS && array->bytes ? array : NULL;
}

static CUresult fake_cuArray3DCreate_v2(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    CALLED();
    for (size_t i = 0; i < ARRAYS; i++) {
        struct fake_array *array = &arrays[i];
        if (array->bytes)
            continue;
        array->shape = *shape;
        array->row = shape->Width * shape->NumChannels * 4; /* of floats: enough for all */
        array->rows = shape->Height ? shape->Height : 1;
        array->bytes = calloc(array->row * array->rows, shape->Depth ? shape->Depth : 1);
        assert_non_null(array->bytes);
        memory_fake.arrays++;
        *handle = (CUarray)(void *)array;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_cuArrayDestroy(CUarray handle)
{
    CALLED();
    struct fake_array *array = array_of(handle);
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    free(array->bytes);
    array->bytes = NULL;
    memory_fake.arrays--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *shape, CUarray handle)
{
    CALLED();
    struct fake_array *array = array_of(handle);
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    *shape = array->shape;
    return CUDA_SUCCESS;
}

/* ---- one row */

static CUresult copy(uintptr_t dst, uintptr_t src, size_t bytes, CUstream stream)
{
    memmove((void *)dst, (const void *)src, bytes);
    fake_on_stream(stream);
    return CUDA_SUCCESS;
}

static uintptr_t in_array(CUarray handle, size_t offset)
{
    struct fake_array *array = array_of(handle);
    assert_non_null(array);
    return (uintptr_t)array->bytes + offset;
}

static CUresult fake_cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
    CALLED();
    return copy(dst, (uintptr_t)src, bytes, NULL);
}

static CUresult fake_cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes,
                                          CUstream stream)
{
    CALLED();
    return copy(dst, (uintptr_t)src, bytes, stream);
}

static CUresult fake_cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
    CALLED();
    return copy((uintptr_t)dst, src, bytes, NULL);
}

static CUresult fake_cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    CALLED();
    return copy((uintptr_t)dst, src, bytes, stream);
}

static CUresult fake_cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    CALLED();
    return copy(dst, src, bytes, NULL);
}

static CUresult fake_cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                                          CUstream stream)
{
    CALLED();
    return copy(dst, src, bytes, stream);
}

static CUresult fake_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    CALLED();
    return copy(dst, src, bytes, NULL);
}

static CUresult fake_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    CALLED();
    return copy(dst, src, bytes, stream);
}

static CUresult fake_cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes)
{
    CALLED();
    return copy(in_array(dst, offset), (uintptr_t)src, bytes, NULL);
}

static CUresult fake_cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes,
                                          CUstream stream)
{
    CALLED();
    return copy(in_array(dst, offset), (uintptr_t)src, bytes, stream);
}

static CUresult fake_cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes)
{
    CALLED();
    return copy((uintptr_t)dst, in_array(src, offset), bytes, NULL);
}

static CUresult fake_cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes,
                                          CUstream stream)
{
    CALLED();
    return copy((uintptr_t)dst, in_array(src, offset), bytes, stream);
}

static CUresult fake_cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
    CALLED();
    return copy(in_array(dst, offset), src, bytes, NULL);
}

static CUresult fake_cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
    CALLED();
    return copy(dst, in_array(src, offset), bytes, NULL);
}

static CUresult fake_cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                                     size_t bytes)
{
    CALLED();
    return copy(in_array(dst, dst_offset), in_array(src, src_offset), bytes, NULL);
}

static CUresult fake_cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
                                  CUcontext src_context, size_t bytes)
{
    CALLED();
    assert_ptr_not_equal(dst_context, src_context);
    return copy(dst, src, bytes, NULL);
}

static CUresult fake_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
                                       CUcontext src_context, size_t bytes, CUstream stream)
{
    CALLED();
    assert_ptr_not_equal(dst_context, src_context);
    return copy(dst, src, bytes, stream);
}

/* ---- boxes */

static uintptr_t row_at(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
                        size_t pitch, size_t height, size_t x, size_t y, size_t z)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return in_array(array, (z * array_of(array)->rows + y) * array_of(array)->row + x);
    return (type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device) +
           (z * height + y) * pitch + x;
}

static CUresult copy_box(const CUDA_MEMCPY3D *box, CUstream stream)
{
    for (size_t z = 0; z < box->Depth; z++)
        for (size_t y = 0; y < box->Height; y++)
            copy(row_at(box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray,
                        box->dstPitch, box->dstHeight, box->dstXInBytes, box->dstY + y,
                        box->dstZ + z),
                 row_at(box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray,
                        box->srcPitch, box->srcHeight, box->srcXInBytes, box->srcY + y,
                        box->srcZ + z),
                 box->WidthInBytes, stream);
    return CUDA_SUCCESS;
}

static CUresult copy_rectangle(const CUDA_MEMCPY2D *flat, CUstream stream)
{
    CUDA_MEMCPY3D box = {.srcXInBytes = flat->srcXInBytes,
                         .srcY = flat->srcY,
                         .srcMemoryType = flat->srcMemoryType,
                         .srcHost = flat->srcHost,
                         .srcDevice = flat->srcDevice,
                         .srcArray = flat->srcArray,
                         .srcPitch = flat->srcPitch,
                         .dstXInBytes = flat->dstXInBytes,
                         .dstY = flat->dstY,
                         .dstMemoryType = flat->dstMemoryType,
                         .dstHost = flat->dstHost,
                         .dstDevice = flat->dstDevice,
                         .dstArray = flat->dstArray,
                         .dstPitch = flat->dstPitch,
                         .WidthInBytes = flat->WidthInBytes,
                         .Height = flat->Height,
                         .Depth = 1};
    return copy_box(&box, stream);
}

static CUresult fake_cuMemcpy2D_v2(const CUDA_MEMCPY2D *flat)
{
    CALLED();
    return copy_rectangle(flat, NULL);
}

static CUresult fake_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *flat, CUstream stream)
{
    CALLED();
    return copy_rectangle(flat, stream);
}

static CUresult fake_cuMemcpy3D_v2(const CUDA_MEMCPY3D *box)
{
    CALLED();
    return copy_box(box, NULL);
}

static CUresult fake_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *box, CUstream stream)
{
    CALLED();
    return copy_box(box, stream);
}

static CUresult copy_box_between(const CUDA_MEMCPY3D_PEER *peer, CUstream stream)
{
    CUDA_MEMCPY3D box;
    memcpy(&box, peer, sizeof box);
    return copy_box(&box, stream);
}

static CUresult fake_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *peer)
{
    CALLED();
    return copy_box_between(peer, NULL);
}

static CUresult fake_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *peer, CUstream stream)
{
    CALLED();
    return copy_box_between(peer, stream);
}

/* ---- fills */

static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned value, size_t element, size_t width,
                     size_t height, CUstream stream)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy((char *)(uintptr_t)dst + y * pitch + x * element, &value, element);
    fake_on_stream(stream);
    return CUDA_SUCCESS;
}

#define FILLS(bits, type)                                                                          \
    static CUresult fake_cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t count)           \
    {                                                                                              \
        CALLED();                                                                                  \
        return fill(dst, 0, value, sizeof value, count, 1, NULL);                                  \
    }                                                                                              \
    static CUresult fake_cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t count,         \
                                                CUstream stream)                                   \
    {                                                                                              \
        CALLED();                                                                                  \
        return fill(dst, 0, value, sizeof value, count, 1, stream);                                \
    }                                                                                              \
    static CUresult fake_cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value,         \
                                                size_t width, size_t height)                       \
    {                                                                                              \
        CALLED();                                                                                  \
        return fill(dst, pitch, value, sizeof value, width, height, NULL);                         \
    }                                                                                              \
    static CUresult fake_cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value,       \
                                                  size_t width, size_t height, CUstream stream)    \
    {                                                                                              \
        CALLED();                                                                                  \
        return fill(dst, pitch, value, sizeof value, width, height, stream);                       \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)

const struct fake_entry fake_copy_entries[] = {
    ENTRY(cuArray3DCreate_v2),
    ENTRY(cuArrayDestroy),
    ENTRY(cuArray3DGetDescriptor_v2),
    ENTRY(cuMemcpyHtoD_v2),
    ENTRY(cuMemcpyHtoDAsync_v2),
    ENTRY(cuMemcpyDtoH_v2),
    ENTRY(cuMemcpyDtoHAsync_v2),
    ENTRY(cuMemcpyDtoD_v2),
    ENTRY(cuMemcpyDtoDAsync_v2),
    ENTRY(cuMemcpy),
    ENTRY(cuMemcpyAsync),
    ENTRY(cuMemcpyHtoA_v2),
    ENTRY(cuMemcpyHtoAAsync_v2),
    ENTRY(cuMemcpyAtoH_v2),
    ENTRY(cuMemcpyAtoHAsync_v2),
    ENTRY(cuMemcpyDtoA_v2),
    ENTRY(cuMemcpyAtoD_v2),
    ENTRY(cuMemcpyAtoA_v2),
    ENTRY(cuMemcpyPeer),
    ENTRY(cuMemcpyPeerAsync),
    ENTRY(cuMemcpy2D_v2),
    ENTRY(cuMemcpy2DAsync_v2),
    ENTRY(cuMemcpy3D_v2),
    ENTRY(cuMemcpy3DAsync_v2),
    ENTRY(cuMemcpy3DPeer),
    ENTRY(cuMemcpy3DPeerAsync),
    ENTRY(cuMemsetD8_v2),
    ENTRY(cuMemsetD8Async),
    ENTRY(cuMemsetD2D8_v2),
    ENTRY(cuMemsetD2D8Async),
    ENTRY(cuMemsetD16_v2),
    ENTRY(cuMemsetD16Async),
    ENTRY(cuMemsetD2D16_v2),
    ENTRY(cuMemsetD2D16Async),
    ENTRY(cuMemsetD32_v2),
    ENTRY(cuMemsetD32Async),
    ENTRY(cuMemsetD2D32_v2),
    ENTRY(cuMemsetD2D32Async),
    {NULL, NULL},
};
