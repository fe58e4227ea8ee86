/* SPDX-License-Identifier: MIT */
/* Arrays, texture and surface objects and references of the simulated driver, read by kernels. */
#include "memory_test.h"

enum { WIDTH = 16, HEIGHT = 8 };

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .texref bound;\n"
    ".visible .global .surfref drawn;\n"
    ".visible .entry flat(.param .u64 o, .param .u64 p, .param .u32 x, .param .u32 y)\n{\n"
    " .reg .u64 t, a;\n .reg .s32 c, d;\n .reg .f32 e, f, v<4>;\n"
    " ld.param.u64 t, [o];\n ld.param.u64 a, [p];\n"
    " ld.param.s32 c, [x];\n ld.param.s32 d, [y];\n"
    " cvt.rn.f32.s32 e, c;\n cvt.rn.f32.s32 f, d;\n"
    " add.f32 e, e, 0f3f000000;\n add.f32 f, f, 0f3f000000;\n" /* the middle of a texel */
    " tex.2d.v4.f32.f32 {v0, v1, v2, v3}, [t, {e, f}];\n"
    " st.global.v4.f32 [a], {v0, v1, v2, v3};\n ret;\n}\n"
    ".visible .entry line(.param .u64 o, .param .u64 p, .param .u32 x)\n{\n"
    " .reg .u64 t, a;\n .reg .s32 c;\n .reg .u32 v<4>;\n"
    " ld.param.u64 t, [o];\n ld.param.u64 a, [p];\n ld.param.s32 c, [x];\n"
    " tex.1d.v4.u32.s32 {v0, v1, v2, v3}, [t, {c}];\n"
    " st.global.v4.u32 [a], {v0, v1, v2, v3};\n ret;\n}\n"
    ".visible .entry byname(.param .u64 p, .param .u32 x, .param .u32 y)\n{\n"
    " .reg .u64 a;\n .reg .s32 c, d;\n .reg .f32 v<4>;\n"
    " ld.param.u64 a, [p];\n ld.param.s32 c, [x];\n ld.param.s32 d, [y];\n"
    " tex.2d.v4.f32.s32 {v0, v1, v2, v3}, [bound, {c, d}];\n"
    " st.global.v4.f32 [a], {v0, v1, v2, v3};\n ret;\n}\n"
    ".visible .entry draw(.param .u64 o, .param .u32 x, .param .u32 y, .param .u32 v)\n{\n"
    " .reg .u64 s;\n .reg .s32 c, d;\n .reg .u32 w;\n"
    " ld.param.u64 s, [o];\n ld.param.s32 c, [x];\n ld.param.s32 d, [y];\n"
    " ld.param.u32 w, [v];\n shl.b32 c, c, 2;\n"
    " sust.b.2d.b32.trap [s, {c, d}], w;\n ret;\n}\n"
    ".visible .entry tint(.param .u64 o, .param .b32 v, .param .b32 u)\n{\n"
    " .reg .u64 s;\n .reg .b32 w<2>;\n"
    " ld.param.u64 s, [o];\n ld.param.b32 w0, [v];\n ld.param.b32 w1, [u];\n"
    " sust.p.2d.v2.b32.zero [s, {3, 0}], {w0, w1};\n ret;\n}\n"
    ".visible .entry drawbyname(.param .u32 x, .param .u32 y, .param .u32 v)\n{\n"
    " .reg .s32 c, d;\n .reg .u32 w;\n"
    " ld.param.s32 c, [x];\n ld.param.s32 d, [y];\n ld.param.u32 w, [v];\n shl.b32 c, c, 2;\n"
    " sust.b.2d.b32.trap [drawn, {c, d}], w;\n ret;\n}\n";

static CUmodule module;
static CUdeviceptr answer;

static CUfunction kernel(const char *name)
{
    CUfunction function;
    OK(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static void launch(const char *name, void **values)
{
    OK(cu->cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
}

static void begin(void)
{
    OK(cu->cuModuleLoadData(&module, text));
    answer = memory_of(16);
}

static void end(void)
{
    OK(cu->cuModuleUnload(module));
    OK(cu->cuMemFree_v2(answer));
}

static float flat_at(CUtexObject object, int x, int y)
{
    float values[4];
    launch("flat", (void *[]){&object, &answer, &x, &y});
    OK(cu->cuMemcpyDtoH_v2(values, answer, sizeof values));
    return values[0];
}

static float bound_at(int x, int y)
{
    float values[4];
    launch("byname", (void *[]){&answer, &x, &y});
    OK(cu->cuMemcpyDtoH_v2(values, answer, sizeof values));
    return values[0];
}

static CUarray image(unsigned flags, float first)
{
    CUarray array;
    float values[HEIGHT][WIDTH];
    CUDA_ARRAY3D_DESCRIPTOR shape = {WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, flags};
    CUDA_MEMCPY2D copy;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            values[y][x] = first + (float)(100 * y + x);
    OK(cu->cuArray3DCreate_v2(&array, &shape));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values;
    copy.srcPitch = sizeof *values;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof *values;
    copy.Height = HEIGHT;
    OK(cu->cuMemcpy2D_v2(&copy));
    return array;
}

static CUDA_RESOURCE_DESC of(CUarray array)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

static CUDA_TEXTURE_DESC sampler(CUaddress_mode mode)
{
    CUDA_TEXTURE_DESC sampler;
    memset(&sampler, 0, sizeof sampler);
    sampler.addressMode[0] = sampler.addressMode[1] = mode;
    return sampler;
}

static void test_objects(void **state)
{
    CUarray one = image(0, 0), two = image(0, 1000);
    CUDA_RESOURCE_DESC first = of(one), second = of(two), got;
    CUDA_TEXTURE_DESC clamp = sampler(CU_TR_ADDRESS_MODE_CLAMP);
    CUDA_TEXTURE_DESC border = sampler(CU_TR_ADDRESS_MODE_BORDER);
    CUtexObject a, b;
    (void)state;
    begin();
    border.borderColor[0] = -5;
    OK(cu->cuTexObjectCreate(&a, &first, &clamp, NULL));
    OK(cu->cuTexObjectCreate(&b, &second, &border, NULL));
    assert_true(flat_at(a, 3, 2) == 203.0f);
    assert_true(flat_at(b, 3, 2) == 1203.0f);
    assert_true(flat_at(a, 99, 99) == 715.0f);
    assert_true(flat_at(b, -1, 0) == -5.0f);
    OK(cu->cuTexObjectGetResourceDesc(&got, b));
    assert_ptr_equal(got.res.array.hArray, two);
    OK(cu->cuTexObjectDestroy(a));
    OK(cu->cuTexObjectDestroy(a)); /* twice, which a device does not notice */
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuTexObjectGetResourceDesc(&got, a));
    CUtexObject again; /* in the same place, yet another handle */
    OK(cu->cuTexObjectCreate(&again, &second, &clamp, NULL));
    assert_true(!memory_simulated || (again != a && again != b));
    assert_true(flat_at(again, 0, 0) == 1000.0f);
    OK(cu->cuTexObjectDestroy(again));
    OK(cu->cuTexObjectDestroy(b));
    OK(cu->cuArrayDestroy(one));
    OK(cu->cuArrayDestroy(two));
    end();
}

static void test_linear(void **state)
{
    CUdeviceptr a = memory_of(64);
    unsigned char bytes[64];
    unsigned back[4];
    CUDA_TEXTURE_DESC plain = sampler(CU_TR_ADDRESS_MODE_CLAMP);
    CUDA_RESOURCE_DESC resource;
    CUtexObject object;
    (void)state;
    begin();
    memory_fill(bytes, sizeof bytes);
    OK(cu->cuMemcpyHtoD_v2(a, bytes, sizeof bytes));
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = a;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
    resource.res.linear.numChannels = 4;
    resource.res.linear.sizeInBytes = MIB; /* far more than there is */
    plain.flags = CU_TRSF_READ_AS_INTEGER;
    OK(cu->cuTexObjectCreate(&object, &resource, &plain, NULL));
    for (int i = 0; i < 16; i++) {
        launch("line", (void *[]){&object, &answer, &i});
        OK(cu->cuMemcpyDtoH_v2(back, answer, sizeof back));
        for (int j = 0; j < 4; j++)
            assert_int_equal(back[j], bytes[4 * i + j]);
    }
    int past = 1000;
    launch("line", (void *[]){&object, &answer, &past});
    OK(cu->cuCtxSynchronize());
    OK(cu->cuTexObjectDestroy(object));
    OK(cu->cuMemFree_v2(a));
    end();
}

static void test_surfaces(void **state)
{
    CUarray array = image(CUDA_ARRAY3D_SURFACE_LDST, 0);
    CUDA_RESOURCE_DESC resource = of(array);
    CUsurfObject object;
    CUsurfref reference;
    unsigned back[2], x = 3, y = 0, value = 0xdeadbeef;
    (void)state;
    begin();
    OK(cu->cuSurfObjectCreate(&object, &resource));
    launch("draw", (void *[]){&object, &x, &y, &value});
    OK(cu->cuModuleGetSurfRef(&reference, module, "drawn"));
    OK(cu->cuSurfRefSetArray(reference, array, 0));
    x = 4;
    value = 77;
    launch("drawbyname", (void *[]){&x, &y, &value});
    OK(cu->cuMemcpyAtoH_v2(back, array, 12, 8));
    assert_int_equal(back[0], 0xdeadbeef);
    assert_int_equal(back[1], 77);
    OK(cu->cuSurfObjectDestroy(object));
    OK(cu->cuSurfObjectDestroy(object));
    OK(cu->cuTexObjectDestroy(object));
    OK(cu->cuArrayDestroy(array));
    end();
}

/* What sust.p makes of the same words depends on the array's format. */
static void test_formats(void **state)
{
    static const struct {
        CUarray_format format;
        unsigned char want[2];
    } rows[] = {{CU_AD_FORMAT_UNSIGNED_INT8, {255, 9}},
                {CU_AD_FORMAT_SIGNED_INT8, {127, 9}},
                {CU_AD_FORMAT_UNORM_INT8X2, {64, 0}},
                {CU_AD_FORMAT_SNORM_INT8X2, {32, 0}}};
    unsigned words[2] = {0x3e800000, 9}; /* 0.25, and a very small number */
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUDA_ARRAY3D_DESCRIPTOR shape = {WIDTH,          HEIGHT, 0,
                                         rows[i].format, 2,      CUDA_ARRAY3D_SURFACE_LDST};
        unsigned char back[2];
        CUarray array;
        CUsurfObject object;
        OK(cu->cuArray3DCreate_v2(&array, &shape));
        CUDA_RESOURCE_DESC resource = of(array);
        OK(cu->cuSurfObjectCreate(&object, &resource));
        launch("tint", (void *[]){&object, &words[0], &words[1]});
        OK(cu->cuMemcpyAtoH_v2(back, array, 6, 2));
        assert_memory_equal(back, rows[i].want, 2);
        OK(cu->cuSurfObjectDestroy(object));
        OK(cu->cuArrayDestroy(array));
    }
    end();
}

static void test_references(void **state)
{
    CUarray array = image(0, 0), got;
    CUdeviceptr a = memory_of(512 * HEIGHT);
    CUDA_ARRAY_DESCRIPTOR shape = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    CUtexref reference;
    (void)state;
    begin();
    OK(cu->cuModuleGetTexRef(&reference, module, "bound"));
    OK(cu->cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_CLAMP));
    OK(cu->cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    OK(cu->cuTexRefGetArray(&got, reference));
    assert_ptr_equal(got, array);
    assert_true(bound_at(5, 7) == 705.0f);
    float value = 2.5f;
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    OK(cu->cuMemsetD2D32_v2(a, 512, bits, WIDTH, HEIGHT));
    OK(cu->cuTexRefSetAddress2D_v3(reference, &shape, a, 512));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuTexRefGetArray(&got, reference));
    assert_true(bound_at(5, 7) == 2.5f);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuTexRefSetArray(reference, NULL, 1));
    assert_true(bound_at(5, 7) == 2.5f); /* what was bound stays */
    CUcontext context;
    OK(cu->cuCtxPopCurrent_v2(&context)); /* none is needed */
    OK(cu->cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_POINT));
    OK(cu->cuCtxPushCurrent_v2(context));
    assert_true(bound_at(5, 7) == 2.5f);
    OK(cu->cuArrayDestroy(array));
    OK(cu->cuMemFree_v2(a));
    end();
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuTexRefGetArray(&got, reference));
}

static void test_mipmaps(void **state)
{
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR shape = {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0}, got;
    float values[8], back[8];
    (void)state;
    OK(cu->cuMipmappedArrayCreate(&mipmap, &shape, 100));
    for (unsigned i = 0; i < 7; i++) {
        OK(cu->cuMipmappedArrayGetLevel(&level, mipmap, i));
        OK(cu->cuArray3DGetDescriptor_v2(&got, level));
        assert_int_equal(got.Width, 64 >> i);
        assert_int_equal(got.Height, 32 >> i ? 32 >> i : 1);
        values[0] = (float)i;
        OK(cu->cuMemcpyHtoA_v2(level, 0, values, 4));
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMipmappedArrayGetLevel(&level, mipmap, 7));
    for (unsigned i = 0; i < 7; i++) {
        OK(cu->cuMipmappedArrayGetLevel(&level, mipmap, i));
        OK(cu->cuMemcpyAtoH_v2(back, level, 0, 4));
        assert_true(back[0] == (float)i);
    }
    OK(cu->cuMipmappedArrayDestroy(mipmap));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuArray3DGetDescriptor_v2(&got, level));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuMipmappedArrayDestroy(mipmap));
}

static void test_shapes(void **state)
{
    static const struct {
        CUDA_ARRAY3D_DESCRIPTOR shape;
        CUresult code;
    } shapes[] = {
        {{64, 0, 0, CU_AD_FORMAT_HALF, 4, 0}, CUDA_SUCCESS},
        {{64, 0, 0, CU_AD_FORMAT_HALF, 3, 0}, CUDA_ERROR_INVALID_VALUE},
        {{64, 64, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, CUDA_SUCCESS},
        {{64, 63, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, CUDA_ERROR_INVALID_VALUE},
        {{64, 64, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
         CUDA_SUCCESS},
        {{64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, CUDA_ERROR_INVALID_VALUE},
        {{64, 64, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0}, CUDA_SUCCESS},
        {{16384, 16384, 16384, CU_AD_FORMAT_FLOAT, 4, 0}, CUDA_ERROR_OUT_OF_MEMORY},
        {{0, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUarray array = NULL;
        GIVES(shapes[i].code, cu->cuArray3DCreate_v2(&array, &shapes[i].shape));
        if (array)
            OK(cu->cuArrayDestroy(array));
    }
}

/* Handles come and go without an end, and no two live ones are the same. */
static void test_many(void **state)
{
    enum { COUNT = 500 };
    static CUtexObject objects[COUNT];
    CUarray array = image(0, 0);
    CUDA_RESOURCE_DESC resource = of(array);
    CUDA_TEXTURE_DESC plain = sampler(CU_TR_ADDRESS_MODE_CLAMP);
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < COUNT; i++) {
            OK(cu->cuTexObjectCreate(&objects[i], &resource, &plain, NULL));
            assert_true(objects[i] != 0 && (i == 0 || objects[i] != objects[i - 1]));
        }
        for (int i = 0; i < COUNT; i++)
            OK(cu->cuTexObjectDestroy(objects[(i * 7 + turn) % COUNT]));
    }
    OK(cu->cuArrayDestroy(array));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_objects),
    MEMORY_TEST(test_linear),
    MEMORY_TEST(test_surfaces),
    MEMORY_OWN(test_references, "a dead reference is an invalid value on any driver"),
    MEMORY_OWN(test_mipmaps, "a level of a dead array is recognised"),
    MEMORY_TEST(test_shapes),
    MEMORY_TEST(test_many),
    MEMORY_TEST(test_formats),
};
MEMORY_MAIN("texture_objects", tests)
