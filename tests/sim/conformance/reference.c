/* SPDX-License-Identifier: MIT */
/* Texture and surface references: what they are bound to, and how they sample. */
#include "conform.h"

static CUtexref fresh(void)
{
    CUtexref reference = NULL;
    MUST(cu->cuTexRefCreate(&reference));
    return reference;
}

static CUmipmappedArray levels(unsigned flags)
{
    CUmipmappedArray mipmap = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {64, 32, 0, CU_AD_FORMAT_HALF, 2, flags};
    MUST(cu->cuMipmappedArrayCreate(&mipmap, &d, 4));
    return mipmap;
}

static CUarray image(unsigned flags)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, flags};
    MUST(cu->cuArray3DCreate(&array, &d));
    return array;
}

static void tell_format(CUtexref reference)
{
    CUarray_format format = (CUarray_format)77;
    int channels = 77;
    EACH(cu->cuTexRefGetFormat(&format, &channels, reference), "format");
    VALUE("format=%d x%d", (int)format, channels);
}

static void tell_bound(CUtexref reference)
{
    CUdeviceptr address = 77;
    CUarray array = NULL;
    CUmipmappedArray mipmap = NULL;
    EACH(cu->cuTexRefGetAddress(&address, reference), "address");
    VALUE("written=%d", address != 77);
    EACH(cu->cuTexRefGetArray(&array, reference), "array");
    VALUE("written=%d", !!array);
    EACH(cu->cuTexRefGetMipmappedArray(&mipmap, reference), "mipmapped array");
    VALUE("written=%d", !!mipmap);
}

static void defaults(void)
{
    CUtexref reference = fresh();
    CUaddress_mode mode = (CUaddress_mode)77;
    CUfilter_mode filter = (CUfilter_mode)77;
    float low = 77, high = 77, border[4] = {77, 77, 77, 77};
    unsigned flags = 77;
    int anisotropy = 77;
    tell_format(reference);
    for (int dim = -1; dim < 4; dim++) {
        EACH(cu->cuTexRefGetAddressMode(&mode, reference, dim), "address mode %d", dim);
        VALUE("mode=%d", (int)mode);
    }
    CALL(cu->cuTexRefGetFilterMode(&filter, reference));
    VALUE("filter=%d", (int)filter);
    CALL(cu->cuTexRefGetFlags(&flags, reference));
    VALUE("flags=%u", flags);
    CALL(cu->cuTexRefGetMaxAnisotropy(&anisotropy, reference));
    VALUE("anisotropy=%d", anisotropy);
    filter = (CUfilter_mode)77;
    CALL(cu->cuTexRefGetMipmapFilterMode(&filter, reference));
    VALUE("filter=%d", (int)filter);
    CALL(cu->cuTexRefGetMipmapLevelBias(&low, reference));
    VALUE("bias=%g", (double)low);
    low = 77;
    CALL(cu->cuTexRefGetMipmapLevelClamp(&low, &high, reference));
    VALUE("clamp=%g..%g", (double)low, (double)high);
    CALL(cu->cuTexRefGetBorderColor(border, reference));
    VALUE("border=%g,%g,%g,%g", (double)border[0], (double)border[1], (double)border[2],
          (double)border[3]);
    tell_bound(reference);
}

static void formats(void)
{
    CUtexref reference = fresh();
    static const int known[] = {CU_AD_FORMAT_UNSIGNED_INT8,
                                CU_AD_FORMAT_UNSIGNED_INT32,
                                CU_AD_FORMAT_SIGNED_INT16,
                                CU_AD_FORMAT_HALF,
                                CU_AD_FORMAT_FLOAT,
                                0,
                                4,
                                0x7f};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        EACH(cu->cuTexRefSetFormat(reference, (CUarray_format)known[i], 2), "set format %d",
             known[i]);
        tell_format(reference);
    }
    for (int channels = -1; channels < 6; channels++) {
        EACH(cu->cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, channels), "set channels %d",
             channels);
        tell_format(reference);
    }
}

static void filters(void)
{
    CUtexref reference = fresh();
    for (int mode = -1; mode < 3; mode++) {
        CUfilter_mode filter = (CUfilter_mode)77;
        EACH(cu->cuTexRefSetFilterMode(reference, (CUfilter_mode)mode), "set filter %d", mode);
        EACH(cu->cuTexRefGetFilterMode(&filter, reference), "filter");
        VALUE("filter=%d", (int)filter);
        filter = (CUfilter_mode)77;
        EACH(cu->cuTexRefSetMipmapFilterMode(reference, (CUfilter_mode)mode), "set mip filter %d",
             mode);
        EACH(cu->cuTexRefGetMipmapFilterMode(&filter, reference), "mip filter");
        VALUE("filter=%d", (int)filter);
    }
}

static void numbers(void)
{
    CUtexref reference = fresh();
    static const unsigned counts[] = {0, 1, 2, 3, 16, 17, 1000, 1U << 31, ~0U};
    static const float pairs[][2] = {{0, 0}, {1, 3}, {3, 1}, {-1, 2}, {0.5f, 1e9f}, {16, -16}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int got = 77;
        EACH(cu->cuTexRefSetMaxAnisotropy(reference, counts[i]), "set anisotropy %u", counts[i]);
        EACH(cu->cuTexRefGetMaxAnisotropy(&got, reference), "anisotropy");
        VALUE("anisotropy=%d", got);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double low = (double)pairs[i][0], high = (double)pairs[i][1];
        float from = 77, to = 77;
        EACH(cu->cuTexRefSetMipmapLevelBias(reference, pairs[i][1]), "set bias %g", high);
        EACH(cu->cuTexRefGetMipmapLevelBias(&from, reference), "bias");
        VALUE("bias=%g", (double)from);
        EACH(cu->cuTexRefSetMipmapLevelClamp(reference, pairs[i][0], pairs[i][1]),
             "set clamp %g..%g", low, high);
        EACH(cu->cuTexRefGetMipmapLevelClamp(&from, &to, reference), "clamp");
        VALUE("clamp=%g..%g", (double)from, (double)to);
    }
}

static void border(void)
{
    CUtexref reference = fresh();
    float color[4] = {0.25f, -1, 1e9f, 4}, got[4] = {77, 77, 77, 77};
    CALL(cu->cuTexRefSetBorderColor(reference, color));
    color[0] = 9;
    CALL(cu->cuTexRefGetBorderColor(got, reference));
    VALUE("border=%g,%g,%g,%g", (double)got[0], (double)got[1], (double)got[2], (double)got[3]);
}

static void addresses(void)
{
    CUtexref reference = fresh();
    CUdeviceptr a = conform_memory(65536), got = 77;
    CUDA_ARRAY_DESCRIPTOR d = {16, 8, CU_AD_FORMAT_FLOAT, 1};
    size_t offset = 77;
    MUST(cu->cuTexRefSetFormat(reference, CU_AD_FORMAT_UNSIGNED_INT16, 2));
    CALL(cu->cuTexRefSetAddress(&offset, reference, a, 4096));
    CALL(cu->cuTexRefGetAddress(&got, reference));
    VALUE("beyond=%d offset=%zu", (int)(got - a), offset);
    CALL(cu->cuTexRefSetAddress(&offset, reference, a + 520, 4096));
    CALL(cu->cuTexRefGetAddress(&got, reference));
    VALUE("beyond=%d offset=%zu", (int)(got - a), offset);
    CALL(cu->cuTexRefSetAddress(NULL, reference, a + 1032, 4096));
    CALL(cu->cuTexRefGetAddress(&got, reference));
    VALUE("beyond=%d", (int)(got - a));
    tell_format(reference);
    CALL(cu->cuTexRefSetAddress2D(reference, &d, a + 1024, 512));
    CALL(cu->cuTexRefGetAddress(&got, reference));
    VALUE("beyond=%d", (int)(got - a));
    tell_format(reference);
    CALL(cu->cuTexRefSetAddress2D(reference, &d, a + 2048, 500));
    CALL(cu->cuTexRefGetAddress(&got, reference));
    VALUE("beyond=%d", (int)(got - a));
    tell_bound(reference);
    offset = 77;
    CALL(cu->cuTexRefSetAddress(&offset, reference, 0, 0));
    VALUE("offset=%zu", offset);
    tell_bound(reference);
}

static void mipmaps(void)
{
    CUtexref reference = fresh();
    CUmipmappedArray one = levels(0), two = levels(0), got = NULL;
    CUarray array = NULL;
    CALL(cu->cuTexRefSetMipmappedArray(reference, one, CU_TRSA_OVERRIDE_FORMAT));
    CALL(cu->cuTexRefGetMipmappedArray(&got, reference));
    VALUE("same=%d", got == one);
    tell_format(reference);
    tell_bound(reference);
    CALL(cu->cuTexRefSetMipmappedArray(reference, two, 2));
    CALL(cu->cuTexRefSetMipmappedArray(reference, two, CU_TRSA_OVERRIDE_FORMAT | 4));
    CALL(cu->cuTexRefGetMipmappedArray(&got, reference));
    VALUE("same=%d", got == one);
    CALL(cu->cuTexRefSetMipmappedArray(reference, two, 0));
    CALL(cu->cuTexRefGetMipmappedArray(&got, reference));
    VALUE("same=%d", got == two);
    CALL(cu->cuTexRefSetArray(reference, image(0), CU_TRSA_OVERRIDE_FORMAT));
    CALL(cu->cuTexRefGetArray(&array, reference));
    VALUE("written=%d", !!array);
    tell_format(reference);
    tell_bound(reference);
}

static void no_context(void)
{
    CUtexref reference = fresh(), other = NULL;
    CUmipmappedArray mipmap = levels(0);
    CUdeviceptr address = 0;
    CUfilter_mode filter = CU_TR_FILTER_MODE_POINT;
    CUarray_format format;
    float low, high, color[4] = {0, 0, 0, 0};
    int number;
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuTexRefGetAddress(&address, reference));
    CALL(cu->cuTexRefGetFilterMode(&filter, reference));
    CALL(cu->cuTexRefGetFormat(&format, &number, reference));
    CALL(cu->cuTexRefGetMaxAnisotropy(&number, reference));
    CALL(cu->cuTexRefGetMipmapFilterMode(&filter, reference));
    CALL(cu->cuTexRefGetMipmapLevelBias(&low, reference));
    CALL(cu->cuTexRefGetMipmapLevelClamp(&low, &high, reference));
    CALL(cu->cuTexRefGetMipmappedArray(&mipmap, reference));
    CALL(cu->cuTexRefGetBorderColor(color, reference));
    CALL(cu->cuTexRefSetMaxAnisotropy(reference, 1));
    CALL(cu->cuTexRefSetMipmapFilterMode(reference, CU_TR_FILTER_MODE_POINT));
    CALL(cu->cuTexRefSetMipmapLevelBias(reference, 0));
    CALL(cu->cuTexRefSetMipmapLevelClamp(reference, 0, 0));
    CALL(cu->cuTexRefSetMipmappedArray(reference, mipmap, CU_TRSA_OVERRIDE_FORMAT));
    CALL(cu->cuTexRefSetBorderColor(reference, color));
    CALL(cu->cuTexRefCreate(&other));
}

static CUsurfref drawn(void)
{
    CUmodule module = NULL;
    CUsurfref reference = NULL;
    static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                              ".visible .global .surfref drawn;\n"
                              ".visible .entry empty()\n{\n ret;\n}\n";
    MUST(cu->cuModuleLoadData(&module, ptx));
    MUST(cu->cuModuleGetSurfRef(&reference, module, "drawn"));
    return reference;
}

static void surfaces(void)
{
    CUsurfref reference = drawn();
    CUarray good = image(CUDA_ARRAY3D_SURFACE_LDST), other = image(CUDA_ARRAY3D_SURFACE_LDST);
    CUarray plain = image(0), got = NULL;
    CALL(cu->cuSurfRefGetArray(&got, reference));
    VALUE("written=%d", !!got);
    CALL(cu->cuSurfRefSetArray(reference, good, 0));
    CALL(cu->cuSurfRefGetArray(&got, reference));
    VALUE("same=%d", got == good);
    CALL(cu->cuSurfRefSetArray(reference, other, 1));
    CALL(cu->cuSurfRefSetArray(reference, plain, 0));
    CALL(cu->cuSurfRefGetArray(&got, reference));
    VALUE("same=%d", got == good);
    CALL(cu->cuSurfRefSetArray(reference, other, 0));
    CALL(cu->cuSurfRefGetArray(&got, reference));
    VALUE("same=%d", got == other);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuSurfRefGetArray(&got, reference));
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
static CUarray_format format_out;
static CUfilter_mode filter_out;
static CUdeviceptr address_out;
static CUmipmappedArray mipmap_out;
static CUarray array_out;
static float low_out, high_out, color_out[4];
static int number_out;

#define ALONE(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        EACH(call, "%s", #call);                                                                   \
    }
ALONE(none_address, cu->cuTexRefGetAddress(&address_out, NULL))
ALONE(none_border, cu->cuTexRefGetBorderColor(color_out, NULL))
ALONE(none_filter, cu->cuTexRefGetFilterMode(&filter_out, NULL))
ALONE(none_format, cu->cuTexRefGetFormat(&format_out, &number_out, NULL))
ALONE(none_anisotropy, cu->cuTexRefGetMaxAnisotropy(&number_out, NULL))
ALONE(none_mip_filter, cu->cuTexRefGetMipmapFilterMode(&filter_out, NULL))
ALONE(none_bias, cu->cuTexRefGetMipmapLevelBias(&low_out, NULL))
ALONE(none_clamp, cu->cuTexRefGetMipmapLevelClamp(&low_out, &high_out, NULL))
ALONE(none_mipmap, cu->cuTexRefGetMipmappedArray(&mipmap_out, NULL))
ALONE(none_set_border, cu->cuTexRefSetBorderColor(NULL, color_out))
ALONE(none_set_anisotropy, cu->cuTexRefSetMaxAnisotropy(NULL, 1))
ALONE(none_set_mip_filter, cu->cuTexRefSetMipmapFilterMode(NULL, CU_TR_FILTER_MODE_LINEAR))
ALONE(none_set_bias, cu->cuTexRefSetMipmapLevelBias(NULL, 1))
ALONE(none_set_clamp, cu->cuTexRefSetMipmapLevelClamp(NULL, 0, 1))
ALONE(none_set_mipmap, cu->cuTexRefSetMipmappedArray(NULL, levels(0), CU_TRSA_OVERRIDE_FORMAT))
ALONE(none_surface, cu->cuSurfRefGetArray(&array_out, NULL))
ALONE(out_address, cu->cuTexRefGetAddress(NULL, fresh()))
ALONE(out_border, cu->cuTexRefGetBorderColor(NULL, fresh()))
ALONE(out_filter, cu->cuTexRefGetFilterMode(NULL, fresh()))
ALONE(out_format, cu->cuTexRefGetFormat(NULL, &number_out, fresh()))
ALONE(out_channels, cu->cuTexRefGetFormat(&format_out, NULL, fresh()))
ALONE(out_anisotropy, cu->cuTexRefGetMaxAnisotropy(NULL, fresh()))
ALONE(out_mip_filter, cu->cuTexRefGetMipmapFilterMode(NULL, fresh()))
ALONE(out_bias, cu->cuTexRefGetMipmapLevelBias(NULL, fresh()))
ALONE(out_clamp_low, cu->cuTexRefGetMipmapLevelClamp(NULL, &high_out, fresh()))
ALONE(out_clamp_high, cu->cuTexRefGetMipmapLevelClamp(&low_out, NULL, fresh()))
ALONE(out_mipmap, cu->cuTexRefGetMipmappedArray(NULL, fresh()))
ALONE(out_surface, cu->cuSurfRefGetArray(NULL, drawn()))
ALONE(in_border, cu->cuTexRefSetBorderColor(fresh(), NULL))
ALONE(in_mipmap, cu->cuTexRefSetMipmappedArray(fresh(), NULL, CU_TRSA_OVERRIDE_FORMAT))
ALONE(in_mipmap_flags, cu->cuTexRefSetMipmappedArray(fresh(), NULL, 4))

static const struct sequence sequences[] = {S(defaults, PRIMARY),
                                            S(formats, PRIMARY),
                                            S(filters, PRIMARY),
                                            S(numbers, PRIMARY),
                                            S(border, PRIMARY),
                                            S(addresses, PRIMARY),
                                            S(mipmaps, PRIMARY),
                                            S(no_context, PRIMARY),
                                            S(surfaces, PRIMARY),
                                            S(none_address, PRIMARY),
                                            S(none_border, PRIMARY),
                                            S(none_filter, PRIMARY),
                                            S(none_format, PRIMARY),
                                            S(none_anisotropy, PRIMARY),
                                            S(none_mip_filter, PRIMARY),
                                            S(none_bias, PRIMARY),
                                            S(none_clamp, PRIMARY),
                                            S(none_mipmap, PRIMARY),
                                            S(none_set_border, PRIMARY),
                                            S(none_set_anisotropy, PRIMARY),
                                            S(none_set_mip_filter, PRIMARY),
                                            S(none_set_bias, PRIMARY),
                                            S(none_set_clamp, PRIMARY),
                                            S(none_set_mipmap, PRIMARY),
                                            S(none_surface, PRIMARY),
                                            S(out_address, PRIMARY),
                                            S(out_border, PRIMARY),
                                            S(out_filter, PRIMARY),
                                            S(out_format, PRIMARY),
                                            S(out_channels, PRIMARY),
                                            S(out_anisotropy, PRIMARY),
                                            S(out_mip_filter, PRIMARY),
                                            S(out_bias, PRIMARY),
                                            S(out_clamp_low, PRIMARY),
                                            S(out_clamp_high, PRIMARY),
                                            S(out_mipmap, PRIMARY),
                                            S(out_surface, PRIMARY),
                                            S(in_border, PRIMARY),
                                            S(in_mipmap, PRIMARY),
                                            S(in_mipmap_flags, PRIMARY),
                                            {0}};
const struct family reference_family = {"reference", sequences};
