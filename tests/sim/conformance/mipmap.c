/* SPDX-License-Identifier: MIT */
/* How arrays and mipmapped arrays lie in memory: tiles of sparse ones, and what deferred ones need.
 */
#include "conform.h"

enum { SPARSE = CUDA_ARRAY3D_SPARSE, DEFERRED = CUDA_ARRAY3D_DEFERRED_MAPPING };

static const struct shape {
    size_t width, height, depth;
    int format;
    unsigned channels, flags, levels;
} shapes[] = {
    {1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 11},
    {1024, 1024, 0, CU_AD_FORMAT_HALF, 1, 0, 11},
    {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0, 11},
    {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 2, 0, 11},
    {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0, 11},
    {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0, 1},
    {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0, 3},
    {1000, 300, 0, CU_AD_FORMAT_FLOAT, 1, 0, 5},
    {300, 1000, 0, CU_AD_FORMAT_FLOAT, 4, 0, 5},
    {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0, 3},
    {256, 256, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED, 3},
    {256, 256, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED, 1},
    {256, 256, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP, 3},
    {128, 128, 128, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 4},
    {128, 128, 128, CU_AD_FORMAT_FLOAT, 1, 0, 4},
    {128, 128, 128, CU_AD_FORMAT_FLOAT, 4, 0, 1},
    {128, 128, 16, CU_AD_FORMAT_FLOAT, 1, 0, 4},
};

static CUresult make(CUmipmappedArray *mipmap, CUarray *array, const struct shape *shape,
                     unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {shape->width,    shape->height,
                                 shape->depth,    (CUarray_format)shape->format,
                                 shape->channels, shape->flags | flags};
    return mipmap ? cu->cuMipmappedArrayCreate(mipmap, &d, shape->levels)
                  : cu->cuArray3DCreate(array, &d);
}

static void tell_sparse(const CUDA_ARRAY_SPARSE_PROPERTIES *seen)
{
    VALUE("tile=%ux%ux%u tail from %u, %llu bytes, flags=%u", seen->tileExtent.width,
          seen->tileExtent.height, seen->tileExtent.depth, seen->miptailFirstLevel,
          seen->miptailSize, seen->flags);
}

static void sparse(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUDA_ARRAY_SPARSE_PROPERTIES seen;
        CUmipmappedArray mipmap = NULL;
        CUarray array = NULL;
        memset(&seen, 0x77, sizeof seen);
        if (EACH(make(&mipmap, NULL, &shapes[i], SPARSE), "levels of shape %zu", i) == 0) {
            EACH(cu->cuMipmappedArrayGetSparseProperties(&seen, mipmap), "tiles");
            tell_sparse(&seen);
            MUST(cu->cuMipmappedArrayDestroy(mipmap));
        }
        memset(&seen, 0x77, sizeof seen);
        if (EACH(make(NULL, &array, &shapes[i], SPARSE), "array of shape %zu", i) == 0) {
            EACH(cu->cuArrayGetSparseProperties(&seen, array), "tiles");
            tell_sparse(&seen);
            MUST(cu->cuArrayDestroy(array));
        }
    }
}

static void deferred(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUDA_ARRAY_MEMORY_REQUIREMENTS seen;
        CUmipmappedArray mipmap = NULL;
        CUarray array = NULL;
        memset(&seen, 0x77, sizeof seen);
        if (EACH(make(&mipmap, NULL, &shapes[i], DEFERRED), "levels of shape %zu", i) == 0) {
            EACH(cu->cuMipmappedArrayGetMemoryRequirements(&seen, mipmap, dev), "needs");
            VALUE("size=%zu alignment=%zu", seen.size, seen.alignment);
            MUST(cu->cuMipmappedArrayDestroy(mipmap));
        }
        memset(&seen, 0x77, sizeof seen);
        if (EACH(make(NULL, &array, &shapes[i], DEFERRED), "array of shape %zu", i) == 0) {
            EACH(cu->cuArrayGetMemoryRequirements(&seen, array, dev), "needs");
            VALUE("size=%zu alignment=%zu", seen.size, seen.alignment);
            MUST(cu->cuArrayDestroy(array));
        }
    }
}

static CUmipmappedArray levels(unsigned flags)
{
    CUmipmappedArray mipmap = NULL;
    MUST(make(&mipmap, NULL, &shapes[2], flags));
    return mipmap;
}

static void misuse(void)
{
    CUDA_ARRAY_SPARSE_PROPERTIES tiles;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUmipmappedArray plain = levels(0), tiled = levels(SPARSE), later = levels(DEFERRED);
    memset(&tiles, 0x77, sizeof tiles);
    memset(&needs, 0x77, sizeof needs);
    CALL(cu->cuMipmappedArrayGetSparseProperties(&tiles, plain));
    CALL(cu->cuMipmappedArrayGetSparseProperties(&tiles, later));
    VALUE("untouched=%d", tiles.tileExtent.width == 0x77777777);
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, plain, dev));
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, tiled, dev));
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, later, 99));
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, later, -1));
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, plain, 99));
    VALUE("untouched=%d", needs.alignment == (size_t)0x7777777777777777);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuMipmappedArrayGetSparseProperties(&tiles, tiled));
    CALL(cu->cuMipmappedArrayGetMemoryRequirements(&needs, later, dev));
}

static void levels_of_deferred(void)
{
    CUarray level = NULL;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CALL(cu->cuMipmappedArrayGetLevel(&level, levels(DEFERRED), 1));
    if (level)
        CALL(cu->cuArrayGetMemoryRequirements(&needs, level, dev));
}

static void levels_of_sparse(void)
{
    CUarray level = NULL;
    CUDA_ARRAY_SPARSE_PROPERTIES tiles;
    memset(&tiles, 0x77, sizeof tiles);
    CALL(cu->cuMipmappedArrayGetLevel(&level, levels(SPARSE), 1));
    if (!level)
        return;
    CALL(cu->cuArrayGetSparseProperties(&tiles, level));
    tell_sparse(&tiles);
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
static CUDA_ARRAY_SPARSE_PROPERTIES tiles_out;
static CUDA_ARRAY_MEMORY_REQUIREMENTS needs_out;

#define ALONE(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        EACH(call, "%s", #call);                                                                   \
    }
ALONE(none_tiles, cu->cuMipmappedArrayGetSparseProperties(&tiles_out, NULL))
ALONE(none_needs, cu->cuMipmappedArrayGetMemoryRequirements(&needs_out, NULL, dev))
ALONE(none_needs_device, cu->cuMipmappedArrayGetMemoryRequirements(&needs_out, NULL, 99))
ALONE(out_tiles, cu->cuMipmappedArrayGetSparseProperties(NULL, levels(SPARSE)))
ALONE(out_needs, cu->cuMipmappedArrayGetMemoryRequirements(NULL, levels(DEFERRED), dev))
ALONE(out_needs_device, cu->cuMipmappedArrayGetMemoryRequirements(NULL, levels(DEFERRED), 99))

static const struct sequence sequences[] = {
    S(sparse, PRIMARY),           S(deferred, PRIMARY),
    S(misuse, PRIMARY),           S(levels_of_deferred, PRIMARY),
    S(levels_of_sparse, PRIMARY), S(none_tiles, PRIMARY),
    S(none_needs, PRIMARY),       S(none_needs_device, PRIMARY),
    S(out_tiles, PRIMARY),        S(out_needs, PRIMARY),
    S(out_needs_device, PRIMARY), {0}};
const struct family mipmap_family = {"mipmap", sequences};
