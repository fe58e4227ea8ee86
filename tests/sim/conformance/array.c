/* SPDX-License-Identifier: MIT */
/* Arrays: descriptions right and wrong, copies into and out of them, mipmaps. */
#include "conform.h"

static void try_flat(size_t width, size_t height, int format, unsigned channels)
{
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {width, height, (CUarray_format)format, channels};
    CUresult code = EACH(cu->cuArrayCreate(&array, &d), "cuArrayCreate %zux%zu format %d x%u",
                         width, height, format, channels);
    if (code != CUDA_SUCCESS)
        return;
    memset(&d, 0x77, sizeof d);
    MUST(cu->cuArrayGetDescriptor(&d, array));
    VALUE("%zux%zu format %d x%u", d.Width, d.Height, (int)d.Format, d.NumChannels);
    MUST(cu->cuArrayDestroy(array));
}

static void flat(void)
{
    try_flat(16, 8, CU_AD_FORMAT_FLOAT, 1);
    try_flat(16, 0, CU_AD_FORMAT_FLOAT, 1);
    try_flat(1, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    try_flat(0, 8, CU_AD_FORMAT_FLOAT, 1);
    try_flat(0, 0, CU_AD_FORMAT_FLOAT, 1);
    try_flat(16, 8, 0, 1);
    try_flat(16, 8, 4, 1);
    try_flat(16, 8, 0x7f, 1);
    try_flat(131072, 1, CU_AD_FORMAT_FLOAT, 1);
    try_flat(131073, 1, CU_AD_FORMAT_FLOAT, 1);
    try_flat(131072, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    try_flat(131073, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    try_flat(16, 65536, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    try_flat(16, 65537, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    try_flat(SIZE_MAX, 1, CU_AD_FORMAT_FLOAT, 1);
}

static void formats(void)
{
    static const int known[] = {1, 2, 3, 8, 9, 10, 0x10, 0x20};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (unsigned channels = 0; channels < 6; channels++)
            try_flat(16, 8, known[i], channels);
}

static void more_formats(void)
{
    static const int known[] = {0xb0, 0xc0, 0xc2, 0xc6, 0xc8, 0x91, 0x95, 0x99, 0x50, 0x40, 0x68};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (unsigned channels = 1; channels<5; channels += channels> 1 ? 2 : 1)
            try_flat(16, 8, known[i], channels);
}

static CUresult made_3d;
static CUarray try_3d(size_t width, size_t height, size_t depth, unsigned channels, unsigned flags)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, CU_AD_FORMAT_FLOAT, channels, flags};
    made_3d = EACH(cu->cuArray3DCreate(&array, &d), "cuArray3DCreate %zux%zux%zu x%u flags 0x%x",
                   width, height, depth, channels, flags);
    if (made_3d != CUDA_SUCCESS)
        return NULL;
    memset(&d, 0x77, sizeof d);
    MUST(cu->cuArray3DGetDescriptor(&d, array));
    VALUE("%zux%zux%zu x%u flags 0x%x", d.Width, d.Height, d.Depth, d.NumChannels, d.Flags);
    return array;
}

static void drop_3d(size_t width, size_t height, size_t depth, unsigned flags)
{
    CUarray array = try_3d(width, height, depth, 1, flags);
    if (array)
        MUST(cu->cuArrayDestroy(array));
}

static void shapes(void)
{
    drop_3d(16, 0, 0, 0);
    drop_3d(16, 8, 0, 0);
    drop_3d(16, 8, 4, 0);
    drop_3d(16, 0, 4, 0);
    drop_3d(0, 8, 4, 0);
    drop_3d(0, 0, 0, 0);
    drop_3d(16384, 1, 1, 0);
    drop_3d(16385, 1, 1, 0);
    drop_3d(8192, 8192, 1, 0);
    drop_3d(1, 16385, 1, 0);
    drop_3d(1, 1, 16385, 0);
    drop_3d(1, 1, 32768, 0);
    drop_3d(32768, 1, 1, 0);
    drop_3d(32769, 1, 1, 0);
}

static void layered(void)
{
    drop_3d(16, 0, 4, CUDA_ARRAY3D_LAYERED);
    drop_3d(16, 8, 4, CUDA_ARRAY3D_LAYERED);
    drop_3d(16, 8, 0, CUDA_ARRAY3D_LAYERED);
    drop_3d(0, 8, 4, CUDA_ARRAY3D_LAYERED);
    drop_3d(16, 8, 2048, CUDA_ARRAY3D_LAYERED);
    drop_3d(16, 8, 2049, CUDA_ARRAY3D_LAYERED);
    drop_3d(32768, 0, 4, CUDA_ARRAY3D_LAYERED);
    drop_3d(32769, 0, 4, CUDA_ARRAY3D_LAYERED);
    drop_3d(32769, 2, 4, CUDA_ARRAY3D_LAYERED);
}

static void cubes(void)
{
    drop_3d(16, 16, 6, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 8, 6, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 16, 5, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 16, 0, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 16, 12, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 16, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    drop_3d(16, 16, 10, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    drop_3d(32769, 32769, 6, CUDA_ARRAY3D_CUBEMAP);
    drop_3d(16, 16, 2052, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
}

static void array_flags(void)
{
    for (unsigned flags = 1; flags < 0x800; flags *= 2)
        drop_3d(16, 16, 0, flags);
    drop_3d(16, 16, 4, CUDA_ARRAY3D_SURFACE_LDST);
    drop_3d(16, 16, 4, CUDA_ARRAY3D_TEXTURE_GATHER);
    drop_3d(16, 0, 0, CUDA_ARRAY3D_TEXTURE_GATHER);
    drop_3d(16, 16, 0, 0x8000);
    drop_3d(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER);
}

static void misuse(void)
{
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR flat_one = {16, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR deep_one = {16, 8, 4, CU_AD_FORMAT_FLOAT, 1, 0};
    CALL(cu->cuArrayCreate(NULL, &flat_one));
    CALL(cu->cuArrayCreate(&array, NULL));
    CALL(cu->cuArray3DCreate(NULL, &deep_one));
    CALL(cu->cuArray3DCreate(&array, NULL));
    CALL(cu->cuArrayDestroy(NULL));
    CALL(cu->cuArrayGetDescriptor(&flat_one, NULL));
    CALL(cu->cuArray3DGetDescriptor(&deep_one, NULL));
    CALL(cu->cuArrayCreate(&array, &flat_one));
    CALL(cu->cuArrayGetDescriptor(NULL, array));
    CALL(cu->cuArray3DGetDescriptor(NULL, array));
    CALL(cu->cuArray3DGetDescriptor(&deep_one, array));
    VALUE("%zux%zux%zu", deep_one.Width, deep_one.Height, deep_one.Depth);
    CALL(cu->cuArrayDestroy(array));
}

static void deep_as_flat(void)
{
    CUarray array = try_3d(16, 8, 4, 2, 0);
    CUDA_ARRAY_DESCRIPTOR d;
    memset(&d, 0x77, sizeof d);
    CALL(cu->cuArrayGetDescriptor(&d, array));
    VALUE("%zux%zu x%u", d.Width, d.Height, d.NumChannels);
    CUarray plane = NULL;
    CALL(cu->cuArrayGetPlane(&plane, array, 0));
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CALL(cu->cuArrayGetSparseProperties(&sparse, array));
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CALL(cu->cuArrayGetMemoryRequirements(&requirements, array, dev));
}

static unsigned char data[65536], back[65536];

static CUarray image(size_t width, size_t height)
{
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {width, height, CU_AD_FORMAT_FLOAT, 1};
    MUST(cu->cuArrayCreate(&array, &d));
    for (int i = 0; i < 65536; i++)
        data[i] = (unsigned char)(i * 7);
    return array;
}

static void line_copies(void)
{
    CUarray a = image(64, 0), b = image(64, 0);
    CUdeviceptr address = conform_memory(256);
    CALL(cu->cuMemcpyHtoA(a, 0, data, 256));
    CALL(cu->cuMemcpyAtoH(back, a, 0, 256));
    VALUE("equal=%d", memcmp(data, back, 256) == 0);
    CALL(cu->cuMemcpyAtoA(b, 16, a, 32, 64));
    CALL(cu->cuMemcpyAtoD(address, b, 16, 64));
    VALUE("word=%08x", conform_read(address));
    CALL(cu->cuMemcpyDtoA(a, 0, address, 64));
    CALL(cu->cuMemcpyHtoA(a, 0, data, 257));
    CALL(cu->cuMemcpyHtoA(a, 255, data, 2));
    CALL(cu->cuMemcpyHtoA(a, 256, data, 1));
    CALL(cu->cuMemcpyHtoA(a, 0, data, 0));
    CALL(cu->cuMemcpyHtoA(a, 3, data, 5));
    CALL(cu->cuMemcpyHtoA(NULL, 0, data, 4));
    CALL(cu->cuMemcpyAtoH(back, NULL, 0, 4));
    CALL(cu->cuMemcpyHtoA(a, 0, NULL, 4));
    CALL(cu->cuMemcpyAtoD(0, a, 0, 4));
    CALL(cu->cuMemcpyHtoAAsync(a, 0, data, 256, NULL));
    CALL(cu->cuMemcpyAtoHAsync(back, a, 0, 256, NULL));
    CALL(cu->cuMemcpyHtoAAsync(a, 0, data, 512, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void line_copies_of_2d(void)
{
    CUarray a = image(16, 8);
    CALL(cu->cuMemcpyHtoA(a, 0, data, 64));
    CALL(cu->cuMemcpyHtoA(a, 0, data, 512));
    CALL(cu->cuMemcpyAtoH(back, a, 0, 512));
    VALUE("equal=%d", memcmp(data, back, 512) == 0);
    CALL(cu->cuMemcpyAtoH(back, a, 64, 64));
    VALUE("equal=%d", memcmp(data + 64, back, 64) == 0);
    CALL(cu->cuMemcpyHtoA(a, 0, data, 513));
    CALL(cu->cuMemcpyHtoA(a, 32, data, 64));
}

static void flat_copies(void)
{
    CUarray a = image(16, 8), b = image(16, 8);
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = data;
    copy.srcPitch = 64;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    copy.WidthInBytes = 64;
    copy.Height = 8;
    CALL(cu->cuMemcpy2D(&copy));
    CUDA_MEMCPY2D over = copy;
    over.Height = 9;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.dstXInBytes = 4;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.dstY = 1;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.WidthInBytes = 3;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.dstXInBytes = 2;
    over.WidthInBytes = 4;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.dstArray = NULL;
    CALL(cu->cuMemcpy2D(&over));
    over = copy;
    over.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    over.srcArray = a;
    over.dstArray = b;
    CALL(cu->cuMemcpy2D(&over));
    CALL(cu->cuMemcpy2DUnaligned(&over));
    CALL(cu->cuMemcpyAtoH(back, b, 0, 512));
    VALUE("equal=%d", memcmp(data, back, 512) == 0);
}

static void deep_copies(void)
{
    CUarray a = try_3d(16, 8, 4, 1, 0);
    image(1, 1);
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = data;
    copy.srcPitch = 64;
    copy.srcHeight = 8;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    copy.WidthInBytes = 64;
    copy.Height = 8;
    copy.Depth = 4;
    CALL(cu->cuMemcpy3D(&copy));
    CUDA_MEMCPY3D over = copy;
    over.Depth = 5;
    CALL(cu->cuMemcpy3D(&over));
    over = copy;
    over.dstZ = 1;
    CALL(cu->cuMemcpy3D(&over));
    over = copy;
    over.Height = 9;
    CALL(cu->cuMemcpy3D(&over));
    over = copy;
    over.dstArray = NULL;
    CALL(cu->cuMemcpy3D(&over));
    memset(&over, 0, sizeof over);
    over.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    over.srcArray = a;
    over.dstMemoryType = CU_MEMORYTYPE_HOST;
    over.dstHost = back;
    over.dstPitch = 64;
    over.dstHeight = 8;
    over.WidthInBytes = 64;
    over.Height = 8;
    over.Depth = 4;
    CALL(cu->cuMemcpy3D(&over));
    VALUE("equal=%d", memcmp(data, back, 2048) == 0);
}

static void mipmaps(void)
{
    CUmipmappedArray mipmap = NULL;
    CUarray level = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {64, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, got;
    CALL(cu->cuMipmappedArrayCreate(&mipmap, &d, 4));
    for (unsigned i = 0; i < 5; i++) {
        CUresult code = EACH(cu->cuMipmappedArrayGetLevel(&level, mipmap, i), "level %u", i);
        if (code != CUDA_SUCCESS)
            continue;
        MUST(cu->cuArray3DGetDescriptor(&got, level));
        VALUE("%zux%zux%zu", got.Width, got.Height, got.Depth);
    }
    CALL(cu->cuArrayDestroy(level));
    CALL(cu->cuMipmappedArrayGetLevel(NULL, mipmap, 0));
    CALL(cu->cuMipmappedArrayGetLevel(&level, NULL, 0));
    CALL(cu->cuMipmappedArrayDestroy(mipmap));
    CALL(cu->cuMipmappedArrayDestroy(NULL));
}

static void mipmap_levels(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {64, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    for (unsigned levels = 0; levels < 10; levels++) {
        CUmipmappedArray mipmap = NULL;
        CUarray level = NULL;
        CUresult code =
            EACH(cu->cuMipmappedArrayCreate(&mipmap, &d, levels), "create %u levels", levels);
        if (code != CUDA_SUCCESS)
            continue;
        EACH(cu->cuMipmappedArrayGetLevel(&level, mipmap, levels - 1), "last of %u", levels);
        EACH(cu->cuMipmappedArrayGetLevel(&level, mipmap, levels), "past the last of %u", levels);
        MUST(cu->cuMipmappedArrayDestroy(mipmap));
    }
    CUmipmappedArray mipmap = NULL;
    CALL(cu->cuMipmappedArrayCreate(NULL, &d, 2));
    CALL(cu->cuMipmappedArrayCreate(&mipmap, NULL, 2));
    d.Width = 0;
    CALL(cu->cuMipmappedArrayCreate(&mipmap, &d, 2));
}

static const struct sequence sequences[] = {S(flat, PRIMARY),
                                            S(formats, PRIMARY),
                                            S(more_formats, PRIMARY),
                                            S(shapes, PRIMARY),
                                            S(layered, PRIMARY),
                                            S(cubes, PRIMARY),
                                            S(array_flags, PRIMARY),
                                            S(misuse, PRIMARY),
                                            S(deep_as_flat, PRIMARY),
                                            S(line_copies, PRIMARY),
                                            S(line_copies_of_2d, PRIMARY),
                                            S(flat_copies, PRIMARY),
                                            S(deep_copies, PRIMARY),
                                            S(mipmaps, PRIMARY),
                                            S(mipmap_levels, PRIMARY),
                                            {0}};
const struct family array_family = {"array", sequences};
