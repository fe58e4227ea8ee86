/* SPDX-License-Identifier: MIT */
/* On a real device: every kernel of kernels/ against the same computation on the CPU, bit by bit.
 * Sizes are no multiples of anything, and what lies behind an output must stay as it was. */
#include <math.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/launch.h>
#include <cushim/memory.h>

#include "device.h"
#include "fill_ptx.h"
#include "histogram_ptx.h"
#include "link_main_ptx.h"
#include "link_part_ptx.h"
#include "matmul_ptx.h"
#include "parameters_ptx.h"
#include "reduce_ptx.h"
#include "saxpy_ptx.h"
#include "syntax_error_ptx.h"
#include "texture_ptx.h"
#include "transpose_ptx.h"
#include "vecadd_ptx.h"

static const struct cushim_api *api;
static struct cushim *cu;
static CUmodule loaded;

static CUfunction load(const char *ptx, const char *name)
{
    CUfunction function = NULL;
    char errors[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors};
    if (api->cuModuleLoadDataEx(&loaded, ptx, 2, options, values) != CUDA_SUCCESS)
        fprintf(stderr, "%s: %s\n", name, errors);
    CALL(api->cuModuleGetFunction(&function, loaded, name));
    return function;
}

static void unload(void)
{
    CALL(api->cuModuleUnload(loaded));
    cushim_launch_forget();
}

static CUdeviceptr device_copy(const void *host, size_t bytes)
{
    CUdeviceptr memory = 0;
    CALL(cushim_memory_alloc(cu, bytes, &memory));
    CALL(cushim_copy_to_device(cu, memory, host, bytes));
    return memory;
}

/* Copy back, free, and compare. */
static void expect(const char *what, CUdeviceptr memory, const void *expected, size_t bytes)
{
    unsigned char *received = malloc(bytes);
    CHECK(received);
    CALL(cushim_copy_to_host(cu, received, memory, bytes));
    CALL(cushim_memory_free(cu, memory));
    for (size_t i = 0; i < bytes; i++)
        if (received[i] != ((const unsigned char *)expected)[i]) {
            fprintf(stderr, "%s: byte %zu of %zu differs\n", what, i, bytes);
            exit(1);
        }
    free(received);
    printf("%s: %zu bytes as on the CPU\n", what, bytes);
}

/* Values in [-8, 8) with all their bits in use. */
static float number(unsigned i)
{
    unsigned mixed = (i + 1) * 2654435761U;
    mixed ^= mixed >> 15;
    mixed *= 2246822519U;
    mixed ^= mixed >> 13;
    return (float)(mixed >> 8) / 1048576.0F - 8.0F;
}

static void *floats(size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    CHECK(values);
    for (size_t i = 0; i < count; i++)
        values[i] = number((unsigned)i + seed);
    return values;
}

/* ---- one element, one thread ---- */

enum { MANY = 100003, SPARE = 29 };

static void vecadd(void)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, 192, NULL);
    size_t bytes = (MANY + SPARE) * sizeof(float);
    float *a = floats(MANY, 1), *b = floats(MANY, 5), *sum = floats(MANY + SPARE, 9);
    CUdeviceptr device_a = device_copy(a, MANY * sizeof *a),
                device_b = device_copy(b, MANY * sizeof *b), device_sum = device_copy(sum, bytes);
    CALL(CUSHIM_LAUNCH(cu, load(vecadd_ptx, "vecadd"), &launch, device_a, device_b, device_sum,
                       (unsigned)MANY));
    for (int i = 0; i < MANY; i++)
        sum[i] = a[i] + b[i];
    expect("vecadd", device_sum, sum, bytes);
    CALL(cushim_memory_free(cu, device_a));
    CALL(cushim_memory_free(cu, device_b));
    unload();
    free(a), free(b), free(sum);
}

static void saxpy(void)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, 256, NULL);
    size_t bytes = (MANY + SPARE) * sizeof(float);
    float *x = floats(MANY, 2), *y = floats(MANY + SPARE, 3);
    CUdeviceptr device_x = device_copy(x, MANY * sizeof *x), device_y = device_copy(y, bytes);
    CALL(CUSHIM_LAUNCH(cu, load(saxpy_ptx, "saxpy"), &launch, (unsigned)MANY, -1.7F, device_x,
                       device_y));
    for (int i = 0; i < MANY; i++)
        y[i] = fmaf(-1.7F, x[i], y[i]);
    expect("saxpy", device_y, y, bytes);
    CALL(cushim_memory_free(cu, device_x));
    unload();
    free(x), free(y);
}

static void fill(void)
{
    static unsigned data[MANY + SPARE];
    struct cushim_launch launch = {.grid = CUSHIM_DIM(7), .block = CUSHIM_DIM(96)};
    CUdeviceptr memory = device_copy(data, sizeof data);
    CALL(CUSHIM_LAUNCH(cu, load(fill_ptx, "fill"), &launch, memory, 0xdeadbeefU,
                       (unsigned long long)MANY));
    for (int i = 0; i < MANY; i++)
        data[i] = 0xdeadbeef;
    expect("fill", memory, data, sizeof data);
    unload();
}

/* ---- shared memory ---- */

/* What one block of `threads` adds up, in its order. */
static float tree(const float *data, size_t count, size_t threads)
{
    float partial[1024];
    for (size_t i = 0; i < threads; i++)
        partial[i] = i < count ? data[i] : 0;
    for (size_t half = threads / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            partial[i] += partial[i + half];
    return partial[0];
}

static void reduce(void)
{
    float *data = floats(MANY, 4);
    CUdeviceptr memory = device_copy(data, MANY * sizeof *data);
    CUfunction function = load(reduce_ptx, "reduce");
    for (size_t threads = 32; threads <= 1024; threads *= 2) {
        struct cushim_launch launch = cushim_launch_1d(MANY, threads, NULL);
        size_t blocks = launch.grid[0], bytes = (blocks + SPARE) * sizeof(float);
        float *sums = floats(blocks + SPARE, 6);
        CUdeviceptr device_sums = device_copy(sums, bytes);
        launch.shared = threads * sizeof(float);
        CALL(CUSHIM_LAUNCH(cu, function, &launch, memory, device_sums, (unsigned)MANY));
        for (size_t i = 0; i < blocks; i++)
            sums[i] = tree(data + i * threads, MANY - i * threads, threads);
        expect("reduce", device_sums, sums, bytes);
        free(sums);
    }
    CALL(cushim_memory_free(cu, memory));
    unload();
    free(data);
}

static void transpose(void)
{
    enum { WIDTH = 301, HEIGHT = 77 };
    static unsigned from[HEIGHT][WIDTH], to[WIDTH][HEIGHT];
    struct cushim_launch launch = {.grid = CUSHIM_DIM((WIDTH + 31) / 32, (HEIGHT + 31) / 32),
                                   .block = CUSHIM_DIM(32, 8)};
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            from[y][x] = to[x][y] = y * 65536 + x;
    CUdeviceptr source = device_copy(from, sizeof from), target = device_copy(from, sizeof from);
    CALL(CUSHIM_LAUNCH(cu, load(transpose_ptx, "transpose"), &launch, source, target,
                       (unsigned)WIDTH, (unsigned)HEIGHT));
    expect("transpose", target, to, sizeof to);
    CALL(cushim_memory_free(cu, source));
    unload();
}

static void histogram(void)
{
    static unsigned char data[MANY];
    unsigned bins[256 + SPARE];
    struct cushim_launch launch = {.grid = CUSHIM_DIM(13), .block = CUSHIM_DIM(160)};
    for (unsigned i = 0; i < MANY; i++)
        data[i] = (unsigned char)(number(i) * number(i + 7)); /* some often, some never */
    for (unsigned i = 0; i < 256 + SPARE; i++)
        bins[i] = i;
    CUdeviceptr memory = device_copy(data, sizeof data), device = device_copy(bins, sizeof bins);
    CALL(CUSHIM_LAUNCH(cu, load(histogram_ptx, "histogram"), &launch, memory, (unsigned)MANY,
                       device));
    for (unsigned i = 0; i < MANY; i++)
        bins[data[i]]++;
    expect("histogram", device, bins, sizeof bins);
    CALL(cushim_memory_free(cu, memory));
    unload();
}

static void matmul(void)
{
    enum { ROWS = 45, INNER = 83, COLUMNS = 67 };
    struct cushim_launch launch = {.grid = CUSHIM_DIM((COLUMNS + 15) / 16, (ROWS + 15) / 16),
                                   .block = CUSHIM_DIM(16, 16)};
    float *a = floats((size_t)ROWS * INNER, 8), *b = floats((size_t)INNER * COLUMNS, 3);
    size_t bytes = (ROWS * COLUMNS + SPARE) * sizeof(float);
    float *c = floats(ROWS * COLUMNS + SPARE, 7);
    CUdeviceptr device_a = device_copy(a, ROWS * INNER * sizeof *a),
                device_b = device_copy(b, INNER * COLUMNS * sizeof *b),
                device_c = device_copy(c, bytes);
    CALL(CUSHIM_LAUNCH(cu, load(matmul_ptx, "matmul"), &launch, device_a, device_b, device_c,
                       (unsigned)ROWS, (unsigned)INNER, (unsigned)COLUMNS));
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLUMNS; column++) {
            float sum = 0;
            for (size_t k = 0; k < INNER; k++)
                sum = fmaf(a[row * INNER + k], b[k * COLUMNS + column], sum);
            c[row * COLUMNS + column] = sum;
        }
    expect("matmul", device_c, c, bytes);
    CALL(cushim_memory_free(cu, device_a));
    CALL(cushim_memory_free(cu, device_b));
    unload();
    free(a), free(b), free(c);
}

/* ---- texture ---- */

enum { WIDTH = 61, HEIGHT = 35 };
static float texels[HEIGHT][WIDTH];

/* The texel at a place, or the nearest one at the edge. */
static float texel(int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return texels[y][x];
}

static CUarray texture_array(void)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array = NULL;
    CALL(cushim_array_create(cu, &shape, &array));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = sizeof texels[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof texels[0],
                          .Height = HEIGHT};
    CALL(cushim_copy_2d(cu, &copy));
    return array;
}

/* Look up each texel moved by (dx, dy); 0.5 is its middle, and 1.0 half-way to the next. */
static void look_up(CUfunction function, CUarray array, CUfilter_mode filter, float dx, float dy)
{
    struct cushim_launch launch = {.grid = CUSHIM_DIM((WIDTH + 15) / 16, (HEIGHT + 7) / 8),
                                   .block = CUSHIM_DIM(16, 8)};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC desc = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                              CU_TR_ADDRESS_MODE_CLAMP},
                              .filterMode = filter};
    CUtexObject object = 0;
    float out[HEIGHT][WIDTH] = {{0}};
    CUdeviceptr memory = device_copy(out, sizeof out);
    CALL(api->cuTexObjectCreate(&object, &resource, &desc, NULL));
    CALL(CUSHIM_LAUNCH(cu, function, &launch, object, memory, (unsigned)WIDTH, (unsigned)HEIGHT, dx,
                       dy));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int left = (int)floorf((float)x + dx - (filter == CU_TR_FILTER_MODE_LINEAR ? .5F : 0));
            int top = (int)floorf((float)y + dy - (filter == CU_TR_FILTER_MODE_LINEAR ? .5F : 0));
            out[y][x] = filter == CU_TR_FILTER_MODE_POINT
                            ? texel(left, top)
                            : (texel(left, top) + texel(left + 1, top) + texel(left, top + 1) +
                               texel(left + 1, top + 1)) /
                                  4;
        }
    expect(filter == CU_TR_FILTER_MODE_POINT ? "texture, nearest" : "texture, linear", memory, out,
           sizeof out);
    CALL(api->cuTexObjectDestroy(object));
}

static void texture(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            texels[y][x] = (float)((y * 37 + x * 11) % 64) * 4;
    CUfunction function = load(texture_ptx, "texture");
    CUarray array = texture_array();
    look_up(function, array, CU_TR_FILTER_MODE_POINT, 0.5F, 0.5F);
    look_up(function, array, CU_TR_FILTER_MODE_POINT, 3.25F, -2.75F);
    look_up(function, array, CU_TR_FILTER_MODE_LINEAR, 1.0F, 1.0F);
    look_up(function, array, CU_TR_FILTER_MODE_LINEAR, -3.0F, 5.0F);
    CALL(cushim_array_destroy(cu, array));
    unload();
}

/* ---- parameters ---- */

struct float2 {
    _Alignas(8) float x;
    float y;
};

struct float4 {
    _Alignas(16) float x;
    float y, z, w;
};

struct small {
    char tag;
    short number;
};

struct large {
    char tag;
    double value;
    struct float2 point;
    unsigned char tail;
};

static size_t append(unsigned char *to, size_t at, const void *value, size_t size)
{
    memcpy(to + at, value, size);
    return at + size;
}
#define APPEND(value) at = append(bytes, at, &(value), sizeof(value))

static void parameters(void)
{
    struct cushim_launch launch = cushim_launch_1d(1, 1, NULL);
    unsigned char bytes[73 + SPARE] = {0};
    size_t at = 0;
    CUdeviceptr out = device_copy(bytes, sizeof bytes);
    int integer = 0x01020304;
    struct float4 vector = {1.1F, -2.2F, 3.3F, -4.4F};
    char character = 'q', last = '~';
    float fraction = -0.3F;
    CUdeviceptr pointer = 0xfedcba9876543210;
    struct float2 pair = {5.5F, -6.6F};
    struct small first = {'a', -12345};
    struct large second = {'b', 3.14159, {7.7F, -8.8F}, 0xa5};
    short half = -2;
    double wide = 2.71828;
    CALL(CUSHIM_LAUNCH(cu, load(parameters_ptx, "parameters"), &launch, out, integer, vector,
                       character, fraction, pointer, pair, first, second, half, wide, last));
    APPEND(integer), APPEND(vector), APPEND(character), APPEND(fraction), APPEND(pointer);
    APPEND(pair), APPEND(first.tag), APPEND(first.number), APPEND(second.tag);
    APPEND(second.value), APPEND(second.point), APPEND(second.tail), APPEND(half), APPEND(wide);
    APPEND(last);
    CHECK(at == 73);
    expect("parameters", out, bytes, sizeof bytes);
    unload();
}

/* ---- linking, and a mistake ---- */

static void link_two(void)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, 128, NULL);
    CUlinkState linker = NULL;
    CUfunction function = NULL;
    void *cubin = NULL;
    size_t size = 0, bytes = (MANY + SPARE) * sizeof(float);
    float *data = floats(MANY + SPARE, 11);
    CUdeviceptr memory = device_copy(data, bytes);
    CALL(api->cuLinkCreate(0, NULL, NULL, &linker));
    CALL(api->cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)link_main_ptx, sizeof link_main_ptx,
                            "main", 0, NULL, NULL));
    CALL(api->cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)link_part_ptx, sizeof link_part_ptx,
                            "part", 0, NULL, NULL));
    CALL(api->cuLinkComplete(linker, &cubin, &size));
    CALL(api->cuModuleLoadData(&loaded, cubin));
    CALL(api->cuLinkDestroy(linker));
    CALL(api->cuModuleGetFunction(&function, loaded, "link_main"));
    CALL(CUSHIM_LAUNCH(cu, function, &launch, memory, (unsigned)MANY));
    for (int i = 0; i < MANY; i++)
        data[i] = fmaf(3, data[i], 1);
    expect("link_main and link_part", memory, data, bytes);
    unload();
    free(data);
}

static void syntax_error(void)
{
    CUmodule module = NULL;
    CHECK(api->cuModuleLoadData(&module, syntax_error_ptx) == CUDA_ERROR_INVALID_PTX && !module);
    /* Alone it lacks link_part. */
    CUresult code = api->cuModuleLoadData(&module, link_main_ptx);
    printf("bad/syntax_error: refused; link_main alone: %s\n", cushim_error_name(code));
    CHECK(code != CUDA_SUCCESS);
}

int main(void)
{
    CUcontext context = NULL;
    void (*const all[])(void) = {vecadd, saxpy,   fill,       reduce,   transpose,   histogram,
                                 matmul, texture, parameters, link_two, syntax_error};
    api = device_or_skip();
    cu = cushim_get();
    setvbuf(stdout, NULL, _IOLBF, 0);
    CALL(cushim_primary_retain(cu, 0, &context));
    CALL(cushim_context_push(cu, context));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i]();
    CHECK(cushim_memory_live(cu, NULL) == 0);
    CALL(cushim_context_pop(cu, NULL));
    CALL(cushim_primary_release(cu, 0));
    return 0;
}
