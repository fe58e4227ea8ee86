/* SPDX-License-Identifier: MIT */
/* The kernels of kernels/, each with parameters of its own; `link_main` is linked with `link_part`
 * beside it. `parameters` is not among them: tests/device/kernels.c checks each byte of it. */
#include <stdlib.h>
#include <string.h>

#include <cushim/cushim.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "harness.h"

enum { COUNT = 3000, WIDTH = 37, HEIGHT = 29 };

static CUdeviceptr buffers[4];
static unsigned buffer_count;

/* Device memory of `count` words; with a seed filled with floats between -8 and 8, else zero. */
static CUdeviceptr buffer(size_t count, uint32_t seed)
{
    uint32_t *words = allocate(count * sizeof *words);
    CUdeviceptr memory;

    for (size_t i = 0; seed && i < count; i++) {
        float value = (float)(next_random(&seed) >> 8) / 1048576.0F - 8.0F;

        memcpy(&words[i], &value, sizeof value);
    }
    CALL(cushim_memory_alloc(cu, count * sizeof *words, &memory));
    CALL(cushim_copy_to_device(cu, memory, words, count * sizeof *words));
    free(words);
    buffers[buffer_count++] = memory;
    return memory;
}

static struct cushim_launch blocks(size_t count, size_t threads)
{
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((count + threads - 1) / threads),
                                   .block = CUSHIM_DIM(threads)};

    return launch;
}

static struct cushim_launch tiles(size_t width, size_t height, size_t tile, size_t rows)
{
    struct cushim_launch launch = {
        .size = sizeof launch,
        .grid = CUSHIM_DIM((width + tile - 1) / tile, (height + tile - 1) / tile),
        .block = CUSHIM_DIM(tile, rows)};

    return launch;
}

static void keep(struct result *result, CUdeviceptr memory, size_t count)
{
    result->count = count;
    result->words = allocate(count * sizeof *result->words);
    CALL(api->cuCtxSynchronize());
    CALL(cushim_copy_to_host(cu, result->words, memory, count * sizeof *result->words));
}

static void vecadd(CUfunction function, struct result *result)
{
    CUdeviceptr a = buffer(COUNT, 1), b = buffer(COUNT, 2), sum = buffer(COUNT, 0);
    struct cushim_launch launch = blocks(COUNT, 128);

    CALL(CUSHIM_LAUNCH(cu, function, &launch, a, b, sum, (unsigned)COUNT));
    keep(result, sum, COUNT);
}

static void saxpy(CUfunction function, struct result *result)
{
    CUdeviceptr x = buffer(COUNT, 3), y = buffer(COUNT, 4);
    struct cushim_launch launch = blocks(COUNT, 256);

    CALL(CUSHIM_LAUNCH(cu, function, &launch, (unsigned)COUNT, 1.7F, x, y));
    keep(result, y, COUNT);
}

static void fill(CUfunction function, struct result *result)
{
    CUdeviceptr data = buffer(COUNT, 0);
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(3), .block = CUSHIM_DIM(96)};

    CALL(CUSHIM_LAUNCH(cu, function, &launch, data, 0x12345678U, (unsigned long long)COUNT - 7));
    keep(result, data, COUNT);
}

static void reduce(CUfunction function, struct result *result)
{
    CUdeviceptr data = buffer(COUNT, 5), sums = buffer(24, 0);
    struct cushim_launch launch = blocks(COUNT, 128);

    launch.shared = 128 * sizeof(float);
    CALL(CUSHIM_LAUNCH(cu, function, &launch, data, sums, (unsigned)COUNT));
    keep(result, sums, 24);
}

static void transpose(CUfunction function, struct result *result)
{
    CUdeviceptr from = buffer(WIDTH * HEIGHT, 6), to = buffer(WIDTH * HEIGHT, 0);
    struct cushim_launch launch = tiles(WIDTH, HEIGHT, 32, 8);

    CALL(CUSHIM_LAUNCH(cu, function, &launch, from, to, (unsigned)WIDTH, (unsigned)HEIGHT));
    keep(result, to, WIDTH * HEIGHT);
}

static void histogram(CUfunction function, struct result *result)
{
    CUdeviceptr data = buffer(COUNT, 7), bins = buffer(256, 0);
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(4), .block = CUSHIM_DIM(256)};

    CALL(CUSHIM_LAUNCH(cu, function, &launch, data, (unsigned)(4 * COUNT - 3), bins));
    keep(result, bins, 256);
}

static void matmul(CUfunction function, struct result *result)
{
    CUdeviceptr a = buffer(HEIGHT * 45, 8), b = buffer(45 * WIDTH, 9),
                c = buffer(HEIGHT * WIDTH, 0);
    struct cushim_launch launch = tiles(WIDTH, HEIGHT, 16, 16);

    CALL(CUSHIM_LAUNCH(cu, function, &launch, a, b, c, (unsigned)HEIGHT, 45U, (unsigned)WIDTH));
    keep(result, c, HEIGHT * WIDTH);
}

static void texture(CUfunction function, struct result *result)
{
    CUDA_ARRAY_DESCRIPTOR shape = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC desc = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = buffer(WIDTH * HEIGHT, 10),
                          .srcPitch = WIDTH * sizeof(float),
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = WIDTH * sizeof(float),
                          .Height = HEIGHT};
    CUdeviceptr out = buffer(WIDTH * HEIGHT, 0);
    struct cushim_launch launch = tiles(WIDTH, HEIGHT, 8, 8);
    CUtexObject object;

    CALL(api->cuArrayCreate_v2(&resource.res.array.hArray, &shape));
    copy.dstArray = resource.res.array.hArray;
    CALL(api->cuMemcpy2D_v2(&copy));
    CALL(api->cuTexObjectCreate(&object, &resource, &desc, NULL));
    CALL(CUSHIM_LAUNCH(cu, function, &launch, object, out, (unsigned)WIDTH, (unsigned)HEIGHT,
                       -2.75F, 3.0F));
    keep(result, out, WIDTH * HEIGHT);
    CALL(api->cuTexObjectDestroy(object));
    CALL(api->cuArrayDestroy(resource.res.array.hArray));
}

static void link_main(CUfunction function, struct result *result)
{
    CUdeviceptr data = buffer(COUNT, 11);
    struct cushim_launch launch = blocks(COUNT, 192);

    CALL(CUSHIM_LAUNCH(cu, function, &launch, data, (unsigned)COUNT));
    keep(result, data, COUNT);
}

static const struct {
    const char *name;
    void (*run)(CUfunction function, struct result *result);
} folder_kernels[] = {
    {"vecadd", vecadd}, {"saxpy", saxpy},         {"fill", fill},
    {"reduce", reduce}, {"transpose", transpose}, {"histogram", histogram},
    {"matmul", matmul}, {"texture", texture},     {"link_main", link_main},
};

static CUmodule load(const char *path, const char *name)
{
    struct cushim_link_input inputs[2] = {{.size = sizeof inputs[0], .path = path},
                                          {.size = sizeof inputs[0]}};
    char part[4096];
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NULL;
    CUresult code;

    if (strcmp(name, "link_main") == 0) {
        snprintf(part, sizeof part, "%.*slink_part.ptx",
                 (int)(strlen(path) - strlen("link_main.ptx")), path);
        inputs[1].path = part;
        code = cushim_module_link(cu, inputs, 2, NULL, &result, &module);
    } else {
        code = cushim_module_load_file(cu, path, NULL, &result, &module);
    }
    if (code != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %s\n%s\n", path, cushim_last_error(), result.error_log);
        exit(1);
    }
    cushim_jit_result_release(&result);
    return module;
}

bool run_folder_kernel(const char *name, const char *path, struct result *result)
{
    for (size_t i = 0; i < sizeof folder_kernels / sizeof *folder_kernels; i++) {
        CUmodule module;
        CUfunction function;

        if (strcmp(folder_kernels[i].name, name) != 0)
            continue;
        module = load(path, name);
        CALL(cushim_module_function(cu, module, name, &function));
        folder_kernels[i].run(function, result);
        while (buffer_count > 0)
            CALL(cushim_memory_free(cu, buffers[--buffer_count]));
        CALL(cushim_module_unload(cu, module));
        return true;
    }
    return false;
}
