/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>

#include <cushim/memory.h>

#include "texture_ptx.h"

enum { WIDTH = 61, HEIGHT = 35, BYTES = WIDTH * HEIGHT * sizeof(float) };

/* The texel at a place, or the nearest one at the edge. */
static float texel(const float *texels, int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return texels[y * WIDTH + x];
}

static bool make_array(struct check_run *run, const float *texels)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    if (!CHECK_CALL(run, run->cu->cuArray3DCreate(&run->array, &shape)))
        return false;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = WIDTH * sizeof *texels,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = run->array,
                          .WidthInBytes = WIDTH * sizeof *texels,
                          .Height = HEIGHT};
    return CHECK_CALL(run, run->cu->cuMemcpy2D(&copy));
}

/* What a look-up at the texel (x, y) moved by (dx, dy) gives; 0.5 is a texel's middle, and 1.0
 * half-way to the next. */
static float expected(const float *texels, CUfilter_mode filter, float x, float y)
{
    float middle = filter == CU_TR_FILTER_MODE_LINEAR ? .5F : 0;
    int left = (int)floorf(x - middle), top = (int)floorf(y - middle);
    if (filter == CU_TR_FILTER_MODE_POINT)
        return texel(texels, left, top);
    return (texel(texels, left, top) + texel(texels, left + 1, top) + texel(texels, left, top + 1) +
            texel(texels, left + 1, top + 1)) /
           4;
}

static bool look_up(struct check_run *run, CUfunction function, const float *texels,
                    CUfilter_mode filter, float dx, float dy)
{
    const struct cushim_api *api = run->cu;
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((WIDTH + 15) / 16, (HEIGHT + 7) / 8),
                                   .block = CUSHIM_DIM(16, 8)};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = run->array};
    CUDA_TEXTURE_DESC desc = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                              CU_TR_ADDRESS_MODE_CLAMP},
                              .filterMode = filter};
    float *out = check_host(run, BYTES);
    CUdeviceptr memory = out ? check_copy(run, out, BYTES) : 0;
    if (!memory ||
        !CHECK_CALL(run, api->cuTexObjectCreate(&run->texture, &resource, &desc, NULL)) ||
        !CHECK_LAUNCH(run, function, &launch, run->texture, memory, (unsigned)WIDTH,
                      (unsigned)HEIGHT, dx, dy))
        return false;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            out[y * WIDTH + x] = expected(texels, filter, (float)x + dx, (float)y + dy);
    CUtexObject texture = run->texture;
    if (!check_equal(run, memory, out, BYTES))
        return false;
    run->texture = 0;
    return CHECK_CALL(run, api->cuTexObjectDestroy(texture));
}

bool check_texture(struct check_run *run)
{
    float *texels = check_host(run, BYTES);
    for (int i = 0; texels && i < WIDTH * HEIGHT; i++)
        texels[i] = (float)((i / WIDTH * 37 + i % WIDTH * 11) % 64) * 4;
    CUfunction function = texels ? check_load(run, texture_ptx, "texture") : NULL;
    return function && make_array(run, texels) &&
           look_up(run, function, texels, CU_TR_FILTER_MODE_POINT, 0.5F, 0.5F) &&
           look_up(run, function, texels, CU_TR_FILTER_MODE_POINT, 3.25F, -2.75F) &&
           look_up(run, function, texels, CU_TR_FILTER_MODE_LINEAR, 1.0F, 1.0F) &&
           look_up(run, function, texels, CU_TR_FILTER_MODE_LINEAR, -3.0F, 5.0F);
}
