/* SPDX-License-Identifier: MIT */
/* Rectangles and boxes on a real device: from host, device and array to each of them, waiting and
 * on a stream, and all bytes around them stay. */
#include "memory_common.h"

enum {
    ROW = 96, /* bytes, also of the array */
    ROWS = 24,
    PLANES = 10,
    PITCH = 112,
    SIZE = PITCH * ROWS * PLANES,
    GUARD = 0xee,
    KINDS = 3
};

static const CUmemorytype kinds[KINDS] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE,
                                          CU_MEMORYTYPE_ARRAY};
static const char *const names[KINDS] = {"host", "device", "array"};

struct places {
    unsigned char *host;
    CUdeviceptr device;
    CUarray array;
};

static unsigned char pattern[SIZE], image[SIZE];

static CUarray make_array(const struct cushim_api *cu, size_t rows, size_t planes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = ROW / 4,
                                     .Height = rows,
                                     .Depth = planes,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1};
    CUarray array;
    HELPER(cushim_array_create(cu, &shape, &array));
    return array;
}

static struct places make_places(const struct cushim_api *cu, size_t rows, size_t planes)
{
    struct places places;
    void *host;
    HELPER(cushim_host_alloc(cu, SIZE, 0, &host));
    HELPER(cushim_memory_alloc(cu, SIZE, &places.device));
    places.host = host;
    places.array = make_array(cu, rows, planes);
    return places;
}

static void free_places(const struct cushim_api *cu, const struct places *places)
{
    HELPER(cushim_host_free(cu, places->host));
    HELPER(cushim_memory_free(cu, places->device));
    HELPER(cushim_array_destroy(cu, places->array));
}

/* A place as source or destination of a copy of everything or of a part. */
static void set_source(CUDA_MEMCPY3D *box, CUmemorytype kind, const struct places *places)
{
    box->srcMemoryType = kind;
    box->srcHost = places->host;
    box->srcDevice = places->device;
    box->srcArray = places->array;
    box->srcPitch = PITCH;
    box->srcHeight = ROWS;
}

static void set_destination(CUDA_MEMCPY3D *box, CUmemorytype kind, const struct places *places)
{
    box->dstMemoryType = kind;
    box->dstHost = places->host;
    box->dstDevice = places->device;
    box->dstArray = places->array;
    box->dstPitch = PITCH;
    box->dstHeight = ROWS;
}

/* All rows of a place, from and to an image of PITCH by ROWS. */
static void write_all(const struct cushim_api *cu, CUmemorytype kind, const struct places *places,
                      unsigned char *from, size_t planes)
{
    struct places host = {.host = from};
    CUDA_MEMCPY3D box = {.WidthInBytes = ROW, .Height = ROWS, .Depth = planes};
    set_source(&box, CU_MEMORYTYPE_HOST, &host);
    set_destination(&box, kind, places);
    HELPER(cushim_copy_3d(cu, &box));
}

static void read_all(const struct cushim_api *cu, CUmemorytype kind, const struct places *places,
                     size_t planes)
{
    struct places host = {.host = image};
    CUDA_MEMCPY3D box = {.WidthInBytes = ROW, .Height = ROWS, .Depth = planes};
    set_source(&box, kind, places);
    set_destination(&box, CU_MEMORYTYPE_HOST, &host);
    HELPER(cushim_copy_3d(cu, &box));
}

/* Offsets of the box that is copied, and its size. */
static const struct {
    size_t sx, sy, sz, dx, dy, dz, width, height, depth;
} part = {8, 3, 1, 20, 5, 2, 60, 17, 7};

/* The image has the box of the pattern, and the guard everywhere else. */
static void check_image(size_t planes, size_t depth, size_t sz, size_t dz, const char *what)
{
    for (size_t z = 0; z < planes; z++)
        for (size_t y = 0; y < ROWS; y++)
            for (size_t x = 0; x < ROW; x++) {
                bool inside = x >= part.dx && x < part.dx + part.width && y >= part.dy &&
                              y < part.dy + part.height && z >= dz && z < dz + depth;
                size_t from = ((z - dz + sz) * ROWS + (y - part.dy + part.sy)) * PITCH +
                              (x - part.dx + part.sx);
                unsigned char got = image[(z * ROWS + y) * PITCH + x];
                if (got != (inside ? pattern[from] : GUARD)) {
                    fprintf(stderr, "%s: byte (%zu, %zu, %zu) is %u\n", what, x, y, z, got);
                    exit(1);
                }
            }
}

static void boxes(const struct cushim_api *cu, CUstream stream)
{
    struct places from = make_places(cu, ROWS, PLANES), to = make_places(cu, ROWS, PLANES);
    unsigned char guard[SIZE];
    char what[64];
    memset(guard, GUARD, SIZE);
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++) {
            CUDA_MEMCPY3D box = {.srcXInBytes = part.sx,
                                 .srcY = part.sy,
                                 .srcZ = part.sz,
                                 .dstXInBytes = part.dx,
                                 .dstY = part.dy,
                                 .dstZ = part.dz,
                                 .WidthInBytes = part.width,
                                 .Height = part.height,
                                 .Depth = part.depth};
            write_all(cu, kinds[i], &from, pattern, PLANES);
            write_all(cu, kinds[j], &to, guard, PLANES);
            set_source(&box, kinds[i], &from);
            set_destination(&box, kinds[j], &to);
            HELPER(stream ? cushim_copy_3d_async(cu, &box, stream) : cushim_copy_3d(cu, &box));
            CALL(cu_api->cuCtxSynchronize_v1());
            read_all(cu, kinds[j], &to, PLANES);
            snprintf(what, sizeof what, "box, %s to %s", names[i], names[j]);
            check_image(PLANES, part.depth, part.sz, part.dz, what);
        }
    free_places(cu, &from);
    free_places(cu, &to);
    printf("boxes%s: all bytes arrived\n", stream ? " on a stream" : "");
}

static CUDA_MEMCPY2D flatten(const CUDA_MEMCPY3D *box)
{
    CUDA_MEMCPY2D flat = {.srcXInBytes = box->srcXInBytes,
                          .srcY = box->srcY,
                          .srcMemoryType = box->srcMemoryType,
                          .srcHost = box->srcHost,
                          .srcDevice = box->srcDevice,
                          .srcArray = box->srcArray,
                          .srcPitch = box->srcPitch,
                          .dstXInBytes = box->dstXInBytes,
                          .dstY = box->dstY,
                          .dstMemoryType = box->dstMemoryType,
                          .dstHost = box->dstHost,
                          .dstDevice = box->dstDevice,
                          .dstArray = box->dstArray,
                          .dstPitch = box->dstPitch,
                          .WidthInBytes = box->WidthInBytes,
                          .Height = box->Height};
    return flat;
}

static void rectangles(const struct cushim_api *cu, CUstream stream)
{
    struct places from = make_places(cu, ROWS, 0), to = make_places(cu, ROWS, 0);
    unsigned char guard[SIZE];
    char what[64];
    memset(guard, GUARD, SIZE);
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++) {
            CUDA_MEMCPY3D box = {.srcXInBytes = part.sx,
                                 .srcY = part.sy,
                                 .dstXInBytes = part.dx,
                                 .dstY = part.dy,
                                 .WidthInBytes = part.width,
                                 .Height = part.height,
                                 .Depth = 1};
            write_all(cu, kinds[i], &from, pattern, 1);
            write_all(cu, kinds[j], &to, guard, 1);
            set_source(&box, kinds[i], &from);
            set_destination(&box, kinds[j], &to);
            CUDA_MEMCPY2D flat = flatten(&box);
            HELPER(stream ? cushim_copy_2d_async(cu, &flat, stream) : cushim_copy_2d(cu, &flat));
            CALL(cu_api->cuCtxSynchronize_v1());
            read_all(cu, kinds[j], &to, 1);
            snprintf(what, sizeof what, "rectangle, %s to %s", names[i], names[j]);
            check_image(1, 1, 0, 0, what);
        }
    free_places(cu, &from);
    free_places(cu, &to);
    printf("rectangles%s: all bytes arrived\n", stream ? " on a stream" : "");
}

/* What a pitch of 0 and a height of 0 mean to this driver: shown, and checked where they work. */
static void packed(const struct cushim_api *cu)
{
    struct places from = make_places(cu, ROWS, PLANES), to = make_places(cu, ROWS, PLANES);
    CUDA_MEMCPY3D box = {.WidthInBytes = 50, .Height = 4, .Depth = 3};
    memory_set(from.host, SIZE, 1);
    HELPER(cushim_fill_8(cu, to.device, GUARD, SIZE));
    set_source(&box, CU_MEMORYTYPE_HOST, &from);
    set_destination(&box, CU_MEMORYTYPE_DEVICE, &to);
    box.srcPitch = box.srcHeight = box.dstPitch = box.dstHeight = 0;
    CUresult result = cushim_copy_3d(cu, &box);
    if (result == CUDA_SUCCESS) {
        HELPER(cushim_copy_to_host(cu, image, to.device, SIZE));
        size_t same = 0;
        while (same < SIZE && image[same] == from.host[same])
            same++;
        printf("a box without pitch and height: %zu bytes follow each other\n", same);
    } else {
        printf("a box without pitch and height: %s\n", cushim_last_error());
    }
    free_places(cu, &from);
    free_places(cu, &to);
}

static void body(const struct cushim_api *cu)
{
    CUstream stream;
    memory_set(pattern, SIZE, 13);
    CALL(cu_api->cuStreamCreate(&stream, 0));
    boxes(cu, NULL);
    boxes(cu, stream);
    rectangles(cu, NULL);
    rectangles(cu, stream);
    packed(cu);
    CALL(cu_api->cuStreamDestroy_v2(stream));
}

int main(void)
{
    return memory_run(body);
}
