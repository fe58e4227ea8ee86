/* SPDX-License-Identifier: MIT */
/* Texture and surface objects of the kernels that take some: eight at most for each. */
#include <string.h>

#include <cushim/cushim.h>

#include "harness.h"

enum { CLAMP = CU_TR_ADDRESS_MODE_CLAMP, WRAP = CU_TR_ADDRESS_MODE_WRAP };
enum { MIRROR = CU_TR_ADDRESS_MODE_MIRROR, BORDER = CU_TR_ADDRESS_MODE_BORDER };
enum { LINEAR = 1, UNIT = 2, INTEGERS = 4, LAYERED = 8, MEMORY = 16, PITCHED = 32 };

struct object {
    const char *kernel;
    size_t width, height, depth;
    CUarray_format format;
    unsigned channels;
    int modes[3];
    unsigned flags; /* LINEAR filtering, coordinates up to one UNIT, texels read as INTEGERS */
};

static const struct object objects[] = {
    {"texture_point", 16, 0, 0, CU_AD_FORMAT_FLOAT, 1, {CLAMP}, 0},
    {"texture_point", 13, 9, 0, CU_AD_FORMAT_FLOAT, 4, {BORDER, BORDER}, 0},
    {"texture_point", 16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, {WRAP, WRAP}, UNIT},
    {"texture_point", 12, 10, 0, CU_AD_FORMAT_UNSIGNED_INT16, 2, {MIRROR, MIRROR}, UNIT | INTEGERS},
    {"texture_point", 8, 6, 4, CU_AD_FORMAT_HALF, 4, {CLAMP, WRAP, MIRROR}, UNIT},
    {"texture_point", 8, 8, 5, CU_AD_FORMAT_FLOAT, 2, {WRAP, BORDER}, UNIT | LAYERED},
    {"texture_point", 20, 0, 0, CU_AD_FORMAT_SIGNED_INT32, 1, {CLAMP}, INTEGERS | MEMORY},
    {"texture_point", 11, 7, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, {CLAMP, CLAMP}, INTEGERS | PITCHED},

    {"texture_linear", 16, 0, 0, CU_AD_FORMAT_FLOAT, 1, {CLAMP}, LINEAR},
    {"texture_linear", 13, 9, 0, CU_AD_FORMAT_FLOAT, 4, {BORDER, BORDER}, LINEAR},
    {"texture_linear", 16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, {WRAP, WRAP}, LINEAR | UNIT},
    {"texture_linear", 12, 10, 0, CU_AD_FORMAT_SIGNED_INT16, 2, {MIRROR, MIRROR}, LINEAR | UNIT},
    {"texture_linear", 8, 6, 4, CU_AD_FORMAT_FLOAT, 1, {CLAMP, WRAP, MIRROR}, LINEAR | UNIT},
    {"texture_linear", 8, 8, 5, CU_AD_FORMAT_HALF, 4, {CLAMP, CLAMP}, LINEAR | UNIT | LAYERED},
    {"texture_linear", 15, 0, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1, {MIRROR}, LINEAR | UNIT},
    {"texture_linear", 9, 0, 4, CU_AD_FORMAT_FLOAT, 2, {BORDER}, LINEAR | UNIT | LAYERED},

    {"texture_gather", 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, {CLAMP, CLAMP}, UNIT},
    {"texture_gather", 12, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4, {CLAMP, WRAP}, UNIT | INTEGERS},
    {"texture_gather", 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, {CLAMP, CLAMP}, UNIT},
    {"texture_gather", 7, 9, 0, CU_AD_FORMAT_UNSIGNED_INT16, 4, {WRAP, MIRROR}, UNIT | INTEGERS},

    {"surfaces", 8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, {0}, 0},
    {"surfaces", 8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, {0}, 0},
    {"surfaces", 56, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4, {0}, 0},
    {"surfaces", 4, 4, 4, CU_AD_FORMAT_FLOAT, 2, {0}, 0},
    {"surfaces", 8, 8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, {0}, LAYERED},
};

enum { SLOTS = 8 };
static struct {
    CUarray array;
    CUdeviceptr memory;
    CUtexObject texture;
    CUsurfObject surface;
} made[SLOTS];

static size_t channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    default:
        return 4;
    }
}

/* Floats and halves between -1 and 1, integers of any value. */
static unsigned char *make_texels(const struct object *object, unsigned slot, size_t bytes)
{
    unsigned char *texels = allocate(bytes + 4);
    uint32_t state = seed_of(object->kernel) + 77 * slot;

    for (size_t at = 0; at < bytes; at += 4) {
        uint32_t random = next_random(&state);

        if (object->format == CU_AD_FORMAT_FLOAT) {
            float value = (float)(int32_t)(random & 0xffffff) / 8388608.0F - 1.0F;

            memcpy(&random, &value, sizeof value);
        } else if (object->format == CU_AD_FORMAT_HALF) {
            random = (random & 0x9fff9fff) | 0x20002000; /* exponents below 1 */
            if ((random & 0x1c00) == 0x1c00)
                random &= ~0x400U;
        }
        memcpy(texels + at, &random, sizeof random);
    }
    return texels;
}

static void make_array(const struct object *object, unsigned slot, unsigned flags)
{
    const size_t pixel = channel_bytes(object->format) * object->channels;
    const size_t rows = object->height ? object->height : 1,
                 slices = object->depth ? object->depth : 1;
    unsigned char *texels = make_texels(object, slot, pixel * object->width * rows * slices);
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = object->width,
                                     .Height = object->height,
                                     .Depth = object->depth,
                                     .Format = object->format,
                                     .NumChannels = object->channels,
                                     .Flags = flags};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = pixel * object->width,
                          .srcHeight = rows,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = pixel * object->width,
                          .Height = rows,
                          .Depth = slices};

    if (object->flags & LAYERED)
        shape.Flags |= CUDA_ARRAY3D_LAYERED;
    CALL(api->cuArray3DCreate_v2(&made[slot].array, &shape));
    copy.dstArray = made[slot].array;
    CALL(api->cuMemcpy3D_v2(&copy));
    free(texels);
}

/* Texels in plain memory: in one row, or in rows with a pitch. */
static void make_memory(const struct object *object, unsigned slot, CUDA_RESOURCE_DESC *resource)
{
    const size_t row = channel_bytes(object->format) * object->channels * object->width;
    const size_t rows = object->height ? object->height : 1;
    unsigned char *texels = make_texels(object, slot, row * rows);
    size_t pitch = row;

    if (object->flags & PITCHED)
        CALL(api->cuMemAllocPitch_v2(&made[slot].memory, &pitch, row, rows, 4));
    else
        CALL(api->cuMemAlloc_v2(&made[slot].memory, row));
    for (size_t y = 0; y < rows; y++)
        CALL(api->cuMemcpyHtoD_v2(made[slot].memory + y * pitch, texels + y * row, row));
    free(texels);
    if (object->flags & PITCHED) {
        resource->resType = CU_RESOURCE_TYPE_PITCH2D;
        resource->res.pitch2D.devPtr = made[slot].memory;
        resource->res.pitch2D.format = object->format;
        resource->res.pitch2D.numChannels = object->channels;
        resource->res.pitch2D.width = object->width;
        resource->res.pitch2D.height = rows;
        resource->res.pitch2D.pitchInBytes = pitch;
    } else {
        resource->resType = CU_RESOURCE_TYPE_LINEAR;
        resource->res.linear.devPtr = made[slot].memory;
        resource->res.linear.format = object->format;
        resource->res.linear.numChannels = object->channels;
        resource->res.linear.sizeInBytes = row;
    }
}

static uint64_t make_texture(const struct object *object, unsigned slot)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC texture = {.filterMode = object->flags & LINEAR ? CU_TR_FILTER_MODE_LINEAR
                                                                      : CU_TR_FILTER_MODE_POINT,
                                 .borderColor = {0.25F, -0.5F, 0.75F, 1.0F}};
    const bool gather = strcmp(object->kernel, "texture_gather") == 0;

    for (unsigned i = 0; i < 3; i++)
        texture.addressMode[i] = (CUaddress_mode)object->modes[i];
    if (object->flags & INTEGERS)
        texture.flags |= CU_TRSF_READ_AS_INTEGER;
    if (object->flags & UNIT)
        texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (object->flags & (MEMORY | PITCHED)) {
        make_memory(object, slot, &resource);
    } else {
        make_array(object, slot, gather ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
        resource.res.array.hArray = made[slot].array;
    }
    CALL(api->cuTexObjectCreate(&made[slot].texture, &resource, &texture, NULL));
    return made[slot].texture;
}

static uint64_t make_surface(const struct object *object, unsigned slot)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

    make_array(object, slot, CUDA_ARRAY3D_SURFACE_LDST);
    resource.res.array.hArray = made[slot].array;
    CALL(api->cuSurfObjectCreate(&made[slot].surface, &resource));
    return made[slot].surface;
}

void make_objects(const struct kernel *kernel, uint32_t *words)
{
    uint32_t *to = words + 7 * kernel->n;
    unsigned slot = 0;

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        uint64_t handle;

        if (strcmp(objects[i].kernel, kernel->name) != 0)
            continue;
        handle = kernel->kind == SURFACES ? make_surface(&objects[i], slot)
                                          : make_texture(&objects[i], slot);
        to[2 * slot] = (uint32_t)handle;
        to[2 * slot + 1] = (uint32_t)(handle >> 32);
        slot++;
    }
}

void destroy_objects(const struct kernel *kernel)
{
    (void)kernel;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (made[slot].texture)
            CALL(api->cuTexObjectDestroy(made[slot].texture));
        if (made[slot].surface)
            CALL(api->cuSurfObjectDestroy(made[slot].surface));
        if (made[slot].array)
            CALL(api->cuArrayDestroy(made[slot].array));
        if (made[slot].memory)
            CALL(api->cuMemFree_v2(made[slot].memory));
    }
    memset(made, 0, sizeof made);
}
