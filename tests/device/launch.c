/* SPDX-License-Identifier: MIT */
/* Launches on a real device: what arrives by value, by pointer and packed; shared memory above 48
 * KiB, cooperative launches, clusters, occupancy; and every refusal. */
#include <string.h>

#define CUSHIM_CHECK_LAUNCHES /* CUSHIM_LAUNCH checks every launch */
#include <cushim/launch.h>

#include "device.h"

static const char ptx[] =
    ".version 3.2\n"
    ".target sm_20\n"
    ".address_size 64\n"
    /* Stores what it was given, as it lies in its parameters: int, float4, char, float, pointer,
     * float2, a structure of 12 bytes, double, short. */
    ".visible .entry layout(.param .u64 out, .param .u32 a, .param .align 16 .b8 f4[16],\n"
    "    .param .u8 c, .param .f32 f, .param .u64 p, .param .align 8 .b8 f2[8],\n"
    "    .param .align 4 .b8 s[12], .param .f64 d, .param .u16 h)\n"
    "{\n"
    "    .reg .u64 %o, %p; .reg .u32 %a, %c; .reg .f32 %f<4>; .reg .f64 %d; .reg .u16 %h;\n"
    "    .reg .b32 %s<3>;\n"
    "    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;\n"
    "    ld.param.u32 %a, [a]; st.global.u32 [%o], %a;\n"
    "    ld.param.v4.f32 {%f0, %f1, %f2, %f3}, [f4]; st.global.v4.f32 [%o+16], {%f0, %f1, %f2,"
    " %f3};\n"
    "    ld.param.u8 %c, [c]; st.global.u8 [%o+32], %c;\n"
    "    ld.param.f32 %f0, [f]; st.global.f32 [%o+36], %f0;\n"
    "    ld.param.u64 %p, [p]; st.global.u64 [%o+40], %p;\n"
    "    ld.param.v2.f32 {%f0, %f1}, [f2]; st.global.v2.f32 [%o+48], {%f0, %f1};\n"
    "    ld.param.b32 %s0, [s]; ld.param.b32 %s1, [s+4]; ld.param.b32 %s2, [s+8];\n"
    "    st.global.b32 [%o+56], %s0; st.global.b32 [%o+60], %s1; st.global.b32 [%o+64], %s2;\n"
    "    ld.param.f64 %d, [d]; st.global.f64 [%o+72], %d;\n"
    "    ld.param.u16 %h, [h]; st.global.u16 [%o+80], %h;\n"
    "    ret;\n"
    "}\n"
    /* The last word of dynamic shared memory, written and read back by one thread of each block. */
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry shared_end(.param .u64 out, .param .u32 bytes)\n"
    "{\n"
    "    .reg .u64 %o; .reg .u32 %b, %v, %s; .reg .u32 %x;\n"
    "    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;\n"
    "    ld.param.u32 %b, [bytes]; mov.u32 %s, dynamic; add.u32 %s, %s, %b;\n"
    "    add.u32 %v, %b, 1; st.shared.u32 [%s+-4], %v; ld.shared.u32 %x, [%s+-4];\n"
    "    st.global.u32 [%o], %x;\n"
    "    ret;\n"
    "}\n"
    /* Every thread counts itself in and waits until all have: only a cooperative launch may. */
    ".visible .entry meet(.param .u64 counter)\n"
    "{\n"
    "    .reg .u64 %o; .reg .u32 %v, %n; .reg .pred %p;\n"
    "    ld.param.u64 %o, [counter]; cvta.to.global.u64 %o, %o;\n"
    "    mov.u32 %n, %nctaid.x; mov.u32 %v, %ntid.x; mul.lo.u32 %n, %n, %v;\n"
    "    atom.global.add.u32 %v, [%o], 1;\n"
    "again: ld.volatile.global.u32 %v, [%o]; setp.lt.u32 %p, %v, %n; @%p bra again;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry small() .maxntid 64, 1, 1\n"
    "{\n"
    "    ret;\n"
    "}\n";

static const char cluster_ptx[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry clusters(.param .u64 out)\n"
    "{\n"
    "    .reg .u64 %o; .reg .u32 %x, %y;\n"
    "    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;\n"
    "    mov.u32 %x, %cluster_nctaid.x; mov.u32 %y, %cluster_nctaid.y;\n"
    "    st.global.u32 [%o], %x; st.global.u32 [%o+4], %y;\n"
    "    ret;\n"
    "}\n";

/* As the device lays them out. */
struct float4 {
    _Alignas(16) float x;
    float y, z, w;
};
struct float2 {
    _Alignas(8) float x;
    float y;
};
struct three {
    int a;
    short b;
    float c;
};

static const struct cushim_api *cu;
static CUcontext context;
static CUdeviceptr out;

static void same_context(void)
{
    CUcontext now = NULL;
    CALL(cu->cuCtxGetCurrent(&now));
    CHECK(now == context);
}

#define REFUSED(call, code, words)                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != (code) || !strstr(cushim_last_error(), words)) {                            \
            fprintf(stderr, "%s:%d: %d: %s\n", __FILE__, __LINE__, (int)result_,                   \
                    cushim_last_error());                                                          \
            exit(1);                                                                               \
        }                                                                                          \
        printf("refused: %s\n", cushim_last_error());                                              \
        same_context();                                                                            \
    } while (0)

static CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function;
    CALL(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static void read_back(void *values, size_t bytes)
{
    CALL(cu->cuMemcpyDtoH(values, out, bytes));
    CALL(cu->cuMemsetD8(out, 0, 256));
    CALL(cu->cuCtxSynchronize_v1());
}

/* ---- arguments */

static const struct cushim_launch one = {
    .size = sizeof one, .grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(1)};

static void layout_arrived(const char *way)
{
    unsigned char bytes[82], expected[82] = {0};
    const struct float4 f4 = {1, 2, 3, 4};
    const struct float2 f2 = {6, 7};
    const struct three three = {8, 9, 10};
    memcpy(expected, &(int){0x01020304}, 4);
    memcpy(expected + 16, &f4, 16);
    expected[32] = 'c';
    memcpy(expected + 36, &(float){5}, 4);
    memcpy(expected + 40, &(uint64_t){0x123456789abcdef}, 8);
    memcpy(expected + 48, &f2, 8);
    memcpy(expected + 56, &three.a, 4);
    memcpy(expected + 60, &three.b, 2);
    memcpy(expected + 64, &three.c, 4);
    memcpy(expected + 72, &(double){11}, 8);
    memcpy(expected + 80, &(short){12}, 2);
    read_back(bytes, sizeof bytes);
    bytes[62] = bytes[63] = 0; /* padding within the structure */
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != expected[i]) {
            fprintf(stderr, "%s: byte %zu is %d, not %d\n", way, i, bytes[i], expected[i]);
            exit(1);
        }
    printf("%s: every parameter arrived\n", way);
}

static void arguments(CUfunction function)
{
    const struct float4 f4 = {1, 2, 3, 4};
    const struct float2 f2 = {6, 7};
    const struct three three = {8, 9, 10};
    int a = 0x01020304;
    char c = 'c';
    float f = 5;
    CUdeviceptr p = 0x123456789abcdef;
    double d = 11;
    short h = 12;
    unsigned char buffer[256];
    struct cushim_params params = CUSHIM_PARAMS(buffer);

    CALL(cushim_launch_check(cu, function, &one, NULL, 10));
    CALL(CUSHIM_LAUNCH(cu, function, &one, out, a, f4, c, 5.0f, p, f2, three, 11.0, h));
    layout_arrived("typed");
    void *pointers[] = {&out, &a, (void *)&f4, &c, &f, &p, (void *)&f2, (void *)&three, &d, &h};
    CALL(cushim_launch_kernel(cu, function, &one, pointers, NULL, 10));
    layout_arrived("pointers");
    CUSHIM_PARAMS_ADD(&params, out);
    CUSHIM_PARAMS_ADD(&params, a);
    CUSHIM_PARAMS_ADD(&params, f4);
    CUSHIM_PARAMS_ADD(&params, c);
    CUSHIM_PARAMS_ADD(&params, f);
    CUSHIM_PARAMS_ADD(&params, p);
    CUSHIM_PARAMS_ADD(&params, f2);
    CUSHIM_PARAMS_ADD(&params, three);
    CUSHIM_PARAMS_ADD(&params, d);
    CUSHIM_PARAMS_ADD(&params, h);
    CHECK(params.size == 82 && params.count == 10);
    CALL(cushim_launch_packed(cu, function, &one, &params));
    layout_arrived("packed");

    size_t offset = 0, size = 0;
    if (!cushim_has(cu, "cuFuncGetParamInfo")) {
        printf("this driver tells nothing of parameters: none are checked\n");
        return;
    }
    for (size_t i = 0; cu->cuFuncGetParamInfo(function, i, &offset, &size) == 0; i++)
        printf("  parameter %zu: %zu bytes at %zu\n", i, size, offset);
    CHECK(offset + size == params.size); /* no padding at the end for the driver either */
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, out, a), CUDA_ERROR_INVALID_VALUE, "2 given");
    REFUSED(CUSHIM_LAUNCH(cu, function, &one), CUDA_ERROR_INVALID_VALUE, "0 given");
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, out, a, f4, 'c', f, p, f2, three, d, h),
            CUDA_ERROR_INVALID_VALUE, "number 4 has 4 bytes");
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, out, a, f4, c, 5.0, p, f2, three, d, h),
            CUDA_ERROR_INVALID_VALUE, "number 5 has 8 bytes");
    pointers[3] = NULL;
    REFUSED(cushim_launch_kernel(cu, function, &one, pointers, NULL, 10), CUDA_ERROR_INVALID_VALUE,
            "number 4 is NULL");
}

/* ---- shapes */

static void shapes(CUfunction small)
{
    static const struct {
        struct cushim_launch launch;
        CUresult code;
        const char *words;
    } wrong[] = {
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {0, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: x is 0"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 0, 1}, .block = {1, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: y is 0"},
        {{.size = sizeof(struct cushim_launch), .grid = {0x80000000u, 1, 1}, .block = {1, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: x"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 65536, 1}, .block = {1, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "grid: y"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {2048, 1, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "block: x"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {1024, 2, 1}},
         CUDA_ERROR_INVALID_VALUE,
         "2048 threads"},
        {{.size = sizeof(struct cushim_launch), .grid = {1, 1, 1}, .block = {65, 1, 1}},
         CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
         "can have 64"},
        {{.size = sizeof(struct cushim_launch),
          .grid = {1, 1, 1},
          .block = {1, 1, 1},
          .shared = 1 << 20},
         CUDA_ERROR_INVALID_VALUE,
         "shared: 1048576"},
    };
    const struct cushim_api *table = cu;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            REFUSED(CUSHIM_LAUNCH(cu, small, &wrong[i].launch), wrong[i].code, wrong[i].words);
        CALL(CUSHIM_LAUNCH(cu, small, &one));
    }
    CALL(table->cuCtxSynchronize_v1());
    /* What the driver itself says to some of it. */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct cushim_launch *launch = &wrong[i].launch;
        CUresult code = table->cuLaunchKernel(
            small, (unsigned)launch->grid[0], (unsigned)launch->grid[1], (unsigned)launch->grid[2],
            (unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2],
            (unsigned)launch->shared, NULL, NULL, NULL);
        printf("  the driver's own answer where cushim says \"%s\": %d\n", wrong[i].words,
               (int)code);
        CHECK(code != CUDA_SUCCESS);
    }
}

static void shared_memory(CUfunction function)
{
    int most = 0;
    unsigned value = 0;
    struct cushim_launch launch = one;
    CALL(cu->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    const size_t sizes[] = {49152, 65536, (size_t)most};
    for (size_t i = 0; i < 3; i++) {
        launch.shared = sizes[i];
        CALL(CUSHIM_LAUNCH(cu, function, &launch, out, (unsigned)sizes[i]));
        read_back(&value, sizeof value);
        CHECK(value == sizes[i] + 1);
    }
    /* Set back behind cushim's back: found out and raised again. */
    CALL(cu->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    launch.shared = 65536;
    CALL(CUSHIM_LAUNCH(cu, function, &launch, out, 65536u));
    read_back(&value, sizeof value);
    CHECK(value == 65537);
    launch.shared = (size_t)most + 1;
    REFUSED(CUSHIM_LAUNCH(cu, function, &launch, out, 4u), CUDA_ERROR_INVALID_VALUE, "shared: ");
    printf("dynamic shared memory up to %d bytes\n", most);
}

/* ---- cooperative launches, clusters, occupancy */

static void cooperative(CUfunction function)
{
    size_t each = 0, all = 0;
    unsigned count = 0;
    struct cushim_launch launch = {
        .size = sizeof launch, .block = CUSHIM_DIM(128), .cooperative = true};
    unsigned char buffer[16];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    CALL(cushim_launch_occupancy(cu, function, &launch, &each, &all));
    CHECK(each > 0 && all >= each);
    launch.grid[0] = all;
    launch.grid[1] = launch.grid[2] = 1;
    for (int round = 0; round < 2; round++) {
        CALL(CUSHIM_LAUNCH(cu, function, &launch, out));
        read_back(&count, sizeof count);
        CHECK(count == all * 128);
    }
    CUSHIM_PARAMS_ADD(&params, out);
    if (cushim_has(cu, "cuLaunchKernelEx")) {
        CALL(cushim_launch_packed(cu, function, &launch, &params));
        read_back(&count, sizeof count);
        CHECK(count == all * 128);
    }
    launch.grid[0] = all + 1;
    REFUSED(CUSHIM_LAUNCH(cu, function, &launch, out), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            "cannot run at once");
    printf("%zu cooperative blocks met, %zu on a multiprocessor\n", all, each);
}

static void clusters(void)
{
    unsigned seen[2];
    int major = 0;
    CUmodule module;
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM(8, 4),
                                   .block = CUSHIM_DIM(32),
                                   .cluster = CUSHIM_DIM(2, 4)};
    CALL(cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    if (major < 9 || !cushim_has(cu, "cuLaunchKernelEx")) {
        printf("clusters not tried: compute capability %d\n", major);
        return;
    }
    CALL(cu->cuModuleLoadData(&module, cluster_ptx));
    CUfunction function = function_of(module, "clusters");
    for (int round = 0; round < 2; round++) {
        CALL(CUSHIM_LAUNCH(cu, function, &launch, out));
        read_back(seen, sizeof seen);
        CHECK(seen[0] == 2 && seen[1] == 4);
    }
    launch.grid[0] = 7;
    REFUSED(CUSHIM_LAUNCH(cu, function, &launch, out), CUDA_ERROR_INVALID_VALUE, "does not divide");
    launch.grid[0] = 64;
    launch.cluster[0] = 64;
    launch.cluster[1] = 1;
    REFUSED(CUSHIM_LAUNCH(cu, function, &launch, out), CUDA_ERROR_INVALID_CLUSTER_SIZE,
            "cluster: 64 x 1 x 1");
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    struct cushim_launch with = one;
    with.attributes = &attribute;
    with.attribute_count = 1;
    CALL(CUSHIM_LAUNCH(cu, function, &with, out));
    read_back(seen, sizeof seen);
    CHECK(seen[0] == 1 && seen[1] == 1);
    CALL(cu->cuModuleUnload(module));
    printf("clusters of 2 x 4 blocks\n");
}

static size_t CUDA_CB as_many_words(int threads)
{
    return (size_t)threads * 4;
}

static void block_size(CUfunction function, CUfunction small)
{
    size_t block = 0, grid = 0, limited = 0;
    CALL(cushim_launch_block_size(cu, function, 0, NULL, 0, &block, &grid));
    CHECK(block >= 32 && block <= 1024 && grid > 0);
    printf("best block: %zu threads, %zu blocks", block, grid);
    CALL(cushim_launch_block_size(cu, function, 0, as_many_words, 100, &limited, NULL));
    CHECK(limited > 0 && limited <= 100);
    CALL(cushim_launch_block_size(cu, small, 0, NULL, 0, &block, &grid));
    CHECK(block == 64);
    printf("; at most 100 asked for: %zu; 64 allowed: %zu\n", limited, block);
}

/* A CUkernel stands in for a function. */
static void library_kernel(void)
{
    const struct cushim_api *table = cu;
    CUlibrary library;
    CUkernel kernel;
    unsigned value = 0;
    struct cushim_launch launch = one;
    if (!cushim_has(cu, "cuLibraryLoadData"))
        return;
    CALL(table->cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(table->cuLibraryGetKernel(&kernel, library, "shared_end"));
    launch.shared = 1024;
    CALL(CUSHIM_LAUNCH(cu, (CUfunction)(void *)kernel, &launch, out, 1024u));
    read_back(&value, sizeof value);
    CHECK(value == 1025);
    launch.shared = 65536;
    CUresult code = CUSHIM_LAUNCH(cu, (CUfunction)(void *)kernel, &launch, out, 65536u);
    printf("CUkernel as a function, 64 KiB of shared memory: %d %s\n", (int)code,
           code ? cushim_last_error() : "");
    CHECK(code == CUDA_SUCCESS);
    REFUSED(CUSHIM_LAUNCH(cu, (CUfunction)(void *)kernel, &launch, out, 1LL),
            CUDA_ERROR_INVALID_VALUE, "number 2 has 8 bytes");
    CALL(table->cuLibraryUnload(library));
}

/* A function of one context while another is current. */
static void other_context(CUfunction function)
{
    const struct cushim_api *table = cu;
    CUcontext other = NULL, now = NULL;
    CALL(table->cuCtxCreate_v2(&other, 0, 0));
    CUresult code = CUSHIM_LAUNCH(cu, function, &one);
    printf("in another context: %d %s\n", (int)code, code ? cushim_last_error() : "");
    CHECK(code == CUDA_SUCCESS || strstr(cushim_last_error(), "cushim_launch_"));
    CALL(table->cuCtxGetCurrent(&now));
    CHECK(now == other);
    CALL(table->cuCtxDestroy_v2(other));
    CALL(table->cuCtxSetCurrent(context));
}

static void nothing_current(CUfunction function)
{
    CUcontext now = context;
    CALL(cu->cuCtxSetCurrent(NULL));
    CHECK(CUSHIM_LAUNCH(cu, function, &one) == CUDA_ERROR_INVALID_CONTEXT);
    printf("refused: %s\n", cushim_last_error());
    CALL(cu->cuCtxGetCurrent(&now));
    CHECK(!now);
    CALL(cu->cuCtxSetCurrent(context));
}

int main(void)
{
    const struct cushim_api *table = device_or_skip();
    CUmodule module;
    cu = cushim_load(NULL);
    CALL(table->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(table->cuCtxSetCurrent(context));
    CALL(table->cuMemAlloc(&out, 4096));
    CALL(table->cuMemsetD8(out, 0, 4096));
    CALL(table->cuModuleLoadData(&module, ptx));
    arguments(function_of(module, "layout"));
    shapes(function_of(module, "small"));
    shared_memory(function_of(module, "shared_end"));
    cooperative(function_of(module, "meet"));
    clusters();
    block_size(function_of(module, "layout"), function_of(module, "small"));
    library_kernel();
    other_context(function_of(module, "small"));
    nothing_current(function_of(module, "small"));
    same_context();
    CALL(table->cuCtxSynchronize_v1());
    CALL(table->cuModuleUnload(module));
    CALL(table->cuMemFree(out));
    CALL(table->cuDevicePrimaryCtxRelease(0));
    return 0;
}
