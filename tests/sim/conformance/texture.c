/* SPDX-License-Identifier: MIT */
/* Texture and surface objects: what is accepted, and what is read back. */
#include "conform.h"

static CUDA_RESOURCE_DESC linear(CUdeviceptr address, size_t size)
{
    CUDA_RESOURCE_DESC d;
    memset(&d, 0, sizeof d);
    d.resType = CU_RESOURCE_TYPE_LINEAR;
    d.res.linear.devPtr = address;
    d.res.linear.format = CU_AD_FORMAT_FLOAT;
    d.res.linear.numChannels = 1;
    d.res.linear.sizeInBytes = size;
    return d;
}

static CUDA_RESOURCE_DESC pitched(CUdeviceptr address, size_t width, size_t height, size_t pitch)
{
    CUDA_RESOURCE_DESC d;
    memset(&d, 0, sizeof d);
    d.resType = CU_RESOURCE_TYPE_PITCH2D;
    d.res.pitch2D.devPtr = address;
    d.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    d.res.pitch2D.numChannels = 1;
    d.res.pitch2D.width = width;
    d.res.pitch2D.height = height;
    d.res.pitch2D.pitchInBytes = pitch;
    return d;
}

static CUDA_RESOURCE_DESC of_array(CUarray array)
{
    CUDA_RESOURCE_DESC d;
    memset(&d, 0, sizeof d);
    d.resType = CU_RESOURCE_TYPE_ARRAY;
    d.res.array.hArray = array;
    return d;
}

static CUarray made(size_t width, size_t height, size_t depth, int format, unsigned flags)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, (CUarray_format)format, 1, flags};
    MUST(cu->cuArray3DCreate(&array, &d));
    return array;
}

static CUDA_TEXTURE_DESC sampler(void)
{
    CUDA_TEXTURE_DESC d;
    memset(&d, 0, sizeof d);
    return d;
}

static CUresult attempt(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                        const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject object = 0;
    CUresult code = cu->cuTexObjectCreate(&object, resource, texture, view);
    if (code == CUDA_SUCCESS)
        MUST(cu->cuTexObjectDestroy(object));
    return code;
}

static void describe(CUtexObject object)
{
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_DESC r;
    memset(&t, 0x77, sizeof t);
    memset(&r, 0x77, sizeof r);
    EACH(cu->cuTexObjectGetTextureDesc(&t, object), "texture description");
    VALUE("address=%d,%d,%d filter=%d flags=%u anisotropy=%u mip=%d bias=%g clamp=%g..%g",
          (int)t.addressMode[0], (int)t.addressMode[1], (int)t.addressMode[2], (int)t.filterMode,
          t.flags, t.maxAnisotropy, (int)t.mipmapFilterMode, (double)t.mipmapLevelBias,
          (double)t.minMipmapLevelClamp, (double)t.maxMipmapLevelClamp);
    int border;
    memcpy(&border, t.borderColor, sizeof border);
    if (border == 0x77777777)
        VALUE("border=untouched");
    else
        VALUE("border=%g,%g,%g,%g", (double)t.borderColor[0], (double)t.borderColor[1],
              (double)t.borderColor[2], (double)t.borderColor[3]);
    EACH(cu->cuTexObjectGetResourceDesc(&r, object), "resource description");
    VALUE("type=%d flags=%u", (int)r.resType, r.flags);
    if (r.resType == CU_RESOURCE_TYPE_LINEAR)
        VALUE("format=%d x%u size=%zu", (int)r.res.linear.format, r.res.linear.numChannels,
              r.res.linear.sizeInBytes);
    if (r.resType == CU_RESOURCE_TYPE_PITCH2D)
        VALUE("format=%d x%u %zux%zu pitch=%zu", (int)r.res.pitch2D.format,
              r.res.pitch2D.numChannels, r.res.pitch2D.width, r.res.pitch2D.height,
              r.res.pitch2D.pitchInBytes);
}

static void create_array(void)
{
    CUDA_RESOURCE_DESC r = of_array(made(64, 32, 0, CU_AD_FORMAT_FLOAT, 0));
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject object = 0;
    CUDA_RESOURCE_VIEW_DESC view;
    t.addressMode[0] = t.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    t.addressMode[2] = CU_TR_ADDRESS_MODE_BORDER;
    t.filterMode = CU_TR_FILTER_MODE_LINEAR;
    t.borderColor[1] = 0.5f;
    t.maxAnisotropy = 4;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    describe(object);
    memset(&view, 0x77, sizeof view);
    CALL(cu->cuTexObjectGetResourceViewDesc(&view, object));
    CALL(cu->cuTexObjectGetTextureDesc(NULL, object));
    CALL(cu->cuTexObjectGetResourceDesc(NULL, object));
    CALL(cu->cuTexObjectDestroy(object));
}

static void create_linear(void)
{
    CUDA_RESOURCE_DESC r = linear(conform_memory(4096), 4096);
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject object = 0;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    describe(object);
    CALL(cu->cuTexObjectDestroy(object));
    t.flags = CU_TRSF_READ_AS_INTEGER;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    describe(object);
}

static void create_pitched(void)
{
    CUDA_RESOURCE_DESC r = pitched(conform_memory(65536), 100, 50, 512);
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject object = 0;
    t.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    describe(object);
    CALL(cu->cuTexObjectDestroy(object));
}

static void misuse(void)
{
    CUDA_RESOURCE_DESC r = linear(conform_memory(4096), 4096);
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject object = 0;
    CALL(cu->cuTexObjectCreate(NULL, &r, &t, NULL));
    CALL(cu->cuTexObjectCreate(&object, NULL, &t, NULL));
    CALL(cu->cuTexObjectCreate(&object, &r, NULL, NULL));
    r.resType = (CUresourcetype)9;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    r = linear(conform_memory(4096), 4096);
    r.flags = 1;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    r = of_array(NULL);
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
}

static void linear_limits(void)
{
    CUdeviceptr a = conform_memory(65536);
    CUDA_TEXTURE_DESC t = sampler();
    CUDA_RESOURCE_DESC r = linear(0, 4096);
    CALL(attempt(&r, &t, NULL));
    r = linear(a + 4, 4096);
    CALL(attempt(&r, &t, NULL));
    r = linear(a + 256, 4096);
    CALL(attempt(&r, &t, NULL));
    r = linear(a + 512, 4096);
    CALL(attempt(&r, &t, NULL));
    r = linear(a, 0);
    CALL(attempt(&r, &t, NULL));
    r = linear(a, 3);
    CALL(attempt(&r, &t, NULL));
    r = linear(a, 4097);
    CALL(attempt(&r, &t, NULL));
    r = linear(a, 1 << 20);
    CALL(attempt(&r, &t, NULL));
    r = linear(a, (size_t)1 << 31);
    CALL(attempt(&r, &t, NULL));
    for (unsigned channels = 0; channels < 6; channels++) {
        r = linear(a, 4096);
        r.res.linear.numChannels = channels;
        EACH(attempt(&r, &t, NULL), "channels %u", channels);
    }
    r = linear(a, 4096);
    r.res.linear.format = (CUarray_format)4;
    CALL(attempt(&r, &t, NULL));
}

static void pitch_limits(void)
{
    CUdeviceptr a = conform_memory(1 << 20);
    CUDA_TEXTURE_DESC t = sampler();
    static const size_t pitches[] = {400, 512, 416, 401, 0, 396, 1024, 131072, 2097120, 2097152};
    for (size_t i = 0; i < sizeof pitches / sizeof *pitches; i++) {
        CUDA_RESOURCE_DESC r = pitched(a, 100, 2, pitches[i]);
        EACH(attempt(&r, &t, NULL), "pitch %zu", pitches[i]);
    }
    CUDA_RESOURCE_DESC r = pitched(a, 0, 2, 512);
    CALL(attempt(&r, &t, NULL));
    r = pitched(a, 100, 0, 512);
    CALL(attempt(&r, &t, NULL));
    r = pitched(a + 4, 100, 2, 512);
    CALL(attempt(&r, &t, NULL));
    r = pitched(a, 100, 65001, 512);
    CALL(attempt(&r, &t, NULL));
    r = pitched(a, 131073, 1, 1 << 19);
    CALL(attempt(&r, &t, NULL));
    r = pitched(0, 100, 2, 512);
    CALL(attempt(&r, &t, NULL));
}

static void modes(void)
{
    CUDA_RESOURCE_DESC r = of_array(made(64, 32, 0, CU_AD_FORMAT_FLOAT, 0));
    for (int mode = 0; mode < 5; mode++) {
        for (unsigned flags = 0; flags < 3; flags += 2) {
            CUDA_TEXTURE_DESC t = sampler();
            t.addressMode[0] = t.addressMode[1] = (CUaddress_mode)mode;
            t.flags = flags;
            EACH(attempt(&r, &t, NULL), "address mode %d flags %u", mode, flags);
        }
    }
    for (int filter = 0; filter < 3; filter++) {
        CUDA_TEXTURE_DESC t = sampler();
        t.filterMode = (CUfilter_mode)filter;
        EACH(attempt(&r, &t, NULL), "filter %d", filter);
    }
    for (unsigned anisotropy = 0; anisotropy < 40; anisotropy = anisotropy * 2 + 1) {
        CUDA_TEXTURE_DESC t = sampler();
        t.maxAnisotropy = anisotropy;
        EACH(attempt(&r, &t, NULL), "anisotropy %u", anisotropy);
    }
    for (unsigned flags = 1; flags < 0x200; flags *= 2) {
        CUDA_TEXTURE_DESC t = sampler();
        t.flags = flags;
        EACH(attempt(&r, &t, NULL), "flags 0x%x", flags);
    }
}

static void integer_filter(void)
{
    CUDA_RESOURCE_DESC r = of_array(made(64, 32, 0, CU_AD_FORMAT_UNSIGNED_INT8, 0));
    CUDA_TEXTURE_DESC t = sampler();
    t.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CALL(attempt(&r, &t, NULL));
    t.flags = CU_TRSF_READ_AS_INTEGER;
    CALL(attempt(&r, &t, NULL));
    t.filterMode = CU_TR_FILTER_MODE_POINT;
    CALL(attempt(&r, &t, NULL));
    r = of_array(made(64, 32, 0, CU_AD_FORMAT_SIGNED_INT32, 0));
    CALL(attempt(&r, &t, NULL));
    t.flags = 0;
    CALL(attempt(&r, &t, NULL));
    t.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CALL(attempt(&r, &t, NULL));
    r = linear(conform_memory(4096), 4096);
    CALL(attempt(&r, &t, NULL));
    t.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CALL(attempt(&r, &t, NULL));
}

static CUDA_RESOURCE_VIEW_DESC view_of(int format, size_t width, size_t height)
{
    CUDA_RESOURCE_VIEW_DESC view;
    memset(&view, 0, sizeof view);
    view.format = (CUresourceViewFormat)format;
    view.width = width;
    view.height = height;
    return view;
}

static void views(void)
{
    CUDA_RESOURCE_DESC r = of_array(made(64, 32, 0, CU_AD_FORMAT_FLOAT, 0));
    CUDA_TEXTURE_DESC t = sampler();
    CUDA_RESOURCE_VIEW_DESC v = view_of(CU_RES_VIEW_FORMAT_FLOAT_1X32, 64, 32), got;
    CUtexObject object = 0;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, &v));
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuTexObjectGetResourceViewDesc(&got, object));
    VALUE("format=%d %zux%zux%zu", (int)got.format, got.width, got.height, got.depth);
    v = view_of(CU_RES_VIEW_FORMAT_UINT_1X32, 64, 32);
    CALL(attempt(&r, &t, &v));
    v = view_of(CU_RES_VIEW_FORMAT_UINT_4X32, 64, 32);
    CALL(attempt(&r, &t, &v));
    v = view_of(CU_RES_VIEW_FORMAT_NONE, 64, 32);
    CALL(attempt(&r, &t, &v));
    v = view_of(CU_RES_VIEW_FORMAT_FLOAT_1X32, 32, 32);
    CALL(attempt(&r, &t, &v));
    v = view_of(CU_RES_VIEW_FORMAT_FLOAT_1X32, 0, 0);
    CALL(attempt(&r, &t, &v));
    v = view_of(99, 64, 32);
    CALL(attempt(&r, &t, &v));
    r = linear(conform_memory(4096), 4096);
    v = view_of(CU_RES_VIEW_FORMAT_FLOAT_1X32, 64, 32);
    CALL(attempt(&r, &t, &v));
}

static void mipmapped(void)
{
    CUmipmappedArray mipmap = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject object = 0;
    MUST(cu->cuMipmappedArrayCreate(&mipmap, &d, 4));
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = mipmap;
    t.flags = CU_TRSF_NORMALIZED_COORDINATES;
    t.maxMipmapLevelClamp = 3;
    CALL(cu->cuTexObjectCreate(&object, &r, &t, NULL));
    describe(object);
    t.flags = 0;
    CALL(attempt(&r, &t, NULL));
    t.mipmapFilterMode = (CUfilter_mode)5;
    CALL(attempt(&r, &t, NULL));
    r.res.mipmap.hMipmappedArray = NULL;
    CALL(attempt(&r, &t, NULL));
}

static void surface(void)
{
    CUDA_RESOURCE_DESC good = of_array(made(64, 32, 0, CU_AD_FORMAT_FLOAT, 2)), got;
    CUDA_RESOURCE_DESC plain = of_array(made(64, 32, 0, CU_AD_FORMAT_FLOAT, 0));
    CUsurfObject object = 0;
    CALL(cu->cuSurfObjectCreate(&object, &good));
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuSurfObjectGetResourceDesc(&got, object));
    VALUE("type=%d same=%d", (int)got.resType, got.res.array.hArray == good.res.array.hArray);
    CALL(cu->cuSurfObjectGetResourceDesc(NULL, object));
    CALL(cu->cuSurfObjectDestroy(object));
    CALL(cu->cuSurfObjectCreate(&object, &plain));
    CALL(cu->cuSurfObjectCreate(&object, NULL));
    good.res.array.hArray = NULL;
    CALL(cu->cuSurfObjectCreate(&object, &good));
    CUDA_RESOURCE_DESC r = linear(conform_memory(4096), 4096);
    CALL(cu->cuSurfObjectCreate(&object, &r));
}

static void many(void)
{
    CUDA_RESOURCE_DESC r = linear(conform_memory(4096), 4096);
    CUDA_TEXTURE_DESC t = sampler();
    CUtexObject one = 0, two = 0;
    CALL(cu->cuTexObjectCreate(&one, &r, &t, NULL));
    CALL(cu->cuTexObjectCreate(&two, &r, &t, NULL));
    VALUE("differ=%d", one != two);
    CALL(cu->cuTexObjectDestroy(one));
    CALL(cu->cuTexObjectDestroy(two));
}

static void old_references(void)
{
    CUtexref reference = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {16, 8, CU_AD_FORMAT_FLOAT, 1};
    CUaddress_mode mode = (CUaddress_mode)77;
    size_t offset = 77;
    unsigned flags = 77;
    CALL(cu->cuTexRefCreate(&reference));
    CALL(cu->cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
    CALL(cu->cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CALL(cu->cuTexRefGetAddressMode(&mode, reference, 0));
    VALUE("mode=%d", (int)mode);
    CALL(cu->cuTexRefSetAddress(&offset, reference, conform_memory(4096), 4096));
    VALUE("offset=%zu", offset);
    CALL(cu->cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES));
    CALL(cu->cuTexRefGetFlags(&flags, reference));
    VALUE("flags=%u", flags);
    CALL(cu->cuTexRefSetAddress2D(reference, &d, conform_memory(4096), 512));
    CALL(cu->cuTexRefSetFilterMode(reference, (CUfilter_mode)9));
    CALL(cu->cuTexRefDestroy(reference));
    CALL(cu->cuTexRefCreate(NULL));
}

static const struct sequence sequences[] = {S(create_array, PRIMARY),   S(create_linear, PRIMARY),
                                            S(create_pitched, PRIMARY), S(misuse, PRIMARY),
                                            S(linear_limits, PRIMARY),  S(pitch_limits, PRIMARY),
                                            S(modes, PRIMARY),          S(integer_filter, PRIMARY),
                                            S(views, PRIMARY),          S(mipmapped, PRIMARY),
                                            S(surface, PRIMARY),        S(many, PRIMARY),
                                            S(old_references, PRIMARY), {0}};
const struct family texture_family = {"texture", sequences};
