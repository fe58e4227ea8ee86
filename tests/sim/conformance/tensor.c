/* SPDX-License-Identifier: MIT */
/* Maps of tensors: which arguments they are made of. */
#include "conform.h"

/* Everything that an encoding takes; each case changes one thing of a good one. */
struct map {
    CUtensorMap *out;
    CUtensorMapDataType type;
    cuuint32_t rank;
    uint64_t address;
    cuuint64_t dims[5], strides[5];
    cuuint32_t box[5], steps[5];
    int lower[3], upper[3];
    cuuint32_t channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
    bool no_dims, no_strides, no_box, no_steps;
};

static _Alignas(128) char room[512];

static struct map good(void)
{
    static CUdeviceptr address;
    if (!address)
        address = conform_memory(1 << 20);
    return (struct map){.out = (CUtensorMap *)(void *)room,
                        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                        .rank = 3,
                        .address = address,
                        .dims = {64, 32, 8, 4, 2},
                        .strides = {256, 8192, 65536, 262144, 1 << 20},
                        .box = {16, 8, 2, 1, 1},
                        .steps = {1, 1, 1, 1, 1},
                        .channels = 16,
                        .pixels = 32};
}

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): the API's own type
}

static CUresult tiled(const struct map *m)
{
    return cu->cuTensorMapEncodeTiled(
        m->out, m->type, m->rank, pointer(m->address), m->no_dims ? NULL : m->dims,
        m->no_strides ? NULL : m->strides, m->no_box ? NULL : m->box, m->no_steps ? NULL : m->steps,
        m->interleave, m->swizzle, m->promotion, m->fill);
}

static CUresult im2col(const struct map *m)
{
    return cu->cuTensorMapEncodeIm2col(
        m->out, m->type, m->rank, pointer(m->address), m->no_dims ? NULL : m->dims,
        m->no_strides ? NULL : m->strides, m->no_box ? NULL : m->lower, m->no_box ? NULL : m->upper,
        m->channels, m->pixels, m->no_steps ? NULL : m->steps, m->interleave, m->swizzle,
        m->promotion, m->fill);
}

typedef CUresult encode(const struct map *map);

/* What the two have in common. */
static void pointers(encode *make)
{
    struct map m = good();
    static const unsigned places[] = {1, 4, 8, 16, 32, 64, 128};
    EACH(make(&m), "good");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        m.out = (CUtensorMap *)(void *)(room + places[i]);
        EACH(make(&m), "map at %u", places[i]);
    }
    m = good(), m.out = NULL;
    EACH(make(&m), "no map");
    m = good(), m.no_dims = true;
    EACH(make(&m), "no dims");
    m = good(), m.no_strides = true;
    EACH(make(&m), "no strides");
    m.rank = 1;
    EACH(make(&m), "no strides, rank 1");
    m = good(), m.no_box = make == tiled; /* of im2col it ends the program */
    EACH(make(&m), "no box");
    m = good(), m.no_steps = true;
    EACH(make(&m), "no steps");
    static const uint64_t moves[] = {1, 4, 8, 16, 32, 64};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        m = good(), m.address += moves[i];
        EACH(make(&m), "address + %u", (unsigned)moves[i]);
    }
    static const uint64_t addresses[] = {0,
                                         16,
                                         4096,
                                         (1ULL << 47),
                                         (1ULL << 48),
                                         (1ULL << 49),
                                         (1ULL << 52),
                                         (1ULL << 56),
                                         (1ULL << 57),
                                         (1ULL << 60),
                                         UINT64_C(0xfffffffffffffff0)};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        m = good(), m.address = addresses[i];
        EACH(make(&m), "address 0x%llx", (unsigned long long)addresses[i]);
    }
    m = good(), m.address = (uint64_t)(uintptr_t)room;
    EACH(make(&m), "address of the host");
}

static void kinds(encode *make)
{
    struct map m;
    for (int type = -1; type < 18; type++) {
        m = good(), m.type = (CUtensorMapDataType)type;
        EACH(make(&m), "type %d", type);
    }
    for (int type = 0; type < 13; type++) {
        m = good(), m.type = (CUtensorMapDataType)type, m.fill = (CUtensorMapFloatOOBfill)1;
        EACH(make(&m), "type %d filled with NaN", type);
    }
    for (unsigned rank = 0; rank < 8; rank++) {
        m = good(), m.rank = rank;
        EACH(make(&m), "rank %u", rank);
    }
    for (int i = -1; i < 6; i++) {
        m = good(), m.promotion = (CUtensorMapL2promotion)i;
        EACH(make(&m), "promotion %d", i);
        m = good(), m.fill = (CUtensorMapFloatOOBfill)i;
        EACH(make(&m), "fill %d", i);
        m = good(), m.interleave = (CUtensorMapInterleave)i;
        if (i < 1 || i > 2) /* interleaved() has the others */
            EACH(make(&m), "interleave %d", i);
    }
    for (int i = -1; i < 9; i++) {
        m = good(), m.swizzle = (CUtensorMapSwizzle)i;
        EACH(make(&m), "swizzle %d", i);
    }
}

static void sizes(encode *make)
{
    static const uint64_t dims[] = {
        0, 1, 2, (1ULL << 31) - 1, 1ULL << 31, 1ULL << 32, (1ULL << 32) + 1, 1ULL << 40};
    static const uint64_t strides[] = {
        0,          8,         15, 16, 64, 128, 240, 256, 272, 1ULL << 36, (1ULL << 40) - 16,
        1ULL << 40, 1ULL << 41};
    struct map m;
    for (unsigned at = 0; at < 5; at++) {
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            m = good(), m.rank = 5, m.dims[at] = dims[i];
            EACH(make(&m), "dim %u is 0x%llx", at, (unsigned long long)dims[i]);
        }
        for (unsigned i = 0; i < 10; i++) {
            m = good(), m.rank = 5, m.steps[at] = i;
            EACH(make(&m), "step %u is %u", at, i);
        }
        for (size_t i = 0; i < sizeof strides / sizeof *strides && at < 4; i++) {
            m = good(), m.rank = 5, m.strides[at] = strides[i];
            EACH(make(&m), "stride %u is 0x%llx", at, (unsigned long long)strides[i]);
        }
    }
    m = good(), m.rank = 2, m.strides[1] = 7, m.dims[2] = 0, m.box[2] = 0, m.steps[2] = 0;
    EACH(make(&m), "nothing beyond the rank counts");
}

/* What interleaved tensors need beyond others; the simulator takes none. */
static void interleaved(encode *make)
{
    struct map m;
    for (int interleave = 1; interleave < 3; interleave++) {
        for (unsigned rank = 1; rank < 4; rank++) {
            m = good(), m.rank = rank, m.interleave = (CUtensorMapInterleave)interleave;
            EACH(make(&m), "interleave %d rank %u", interleave, rank);
        }
        for (int swizzle = 4; swizzle < 7; swizzle++) {
            m = good(), m.interleave = (CUtensorMapInterleave)interleave;
            m.swizzle = (CUtensorMapSwizzle)swizzle;
            EACH(make(&m), "interleave %d swizzle %d", interleave, swizzle);
        }
    }
    m = good(), m.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, m.address += 16;
    EACH(make(&m), "interleave 2 address + 16");
    m = good(), m.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, m.strides[0] += 16;
    EACH(make(&m), "interleave 2 stride + 16");
}

static void tiled_pointers(void)
{
    pointers(tiled);
}

static void tiled_kinds(void)
{
    kinds(tiled);
}

static void tiled_sizes(void)
{
    sizes(tiled);
}

static void tiled_interleaved(void)
{
    interleaved(tiled);
}

static void im2col_pointers(void)
{
    pointers(im2col);
}

static void im2col_kinds(void)
{
    kinds(im2col);
}

static void im2col_sizes(void)
{
    sizes(im2col);
}

static void im2col_interleaved(void)
{
    interleaved(im2col);
}

static void boxes(void)
{
    static const unsigned counts[] = {0, 1, 2, 255, 256, 257};
    static const unsigned inner[] = {1,  2,  3,  4,  5,  6,  8,  9,   12,  16,  17,
                                     20, 24, 28, 32, 33, 48, 64, 128, 252, 256, 260};
    struct map m;
    for (unsigned at = 0; at < 5; at++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            m = good(), m.rank = 5, m.box[at] = counts[i];
            EACH(tiled(&m), "box %u is %u", at, counts[i]);
        }
    }
    for (int swizzle = 0; swizzle < 7; swizzle++) {
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
            m = good(), m.swizzle = (CUtensorMapSwizzle)swizzle, m.box[0] = inner[i];
            EACH(tiled(&m), "swizzle %d, %u words", swizzle, inner[i]);
        }
    }
    for (unsigned step = 1; step < 9; step++) {
        m = good(), m.steps[0] = step, m.box[0] = 32;
        EACH(tiled(&m), "32 words, each %uth", step);
        m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
        EACH(tiled(&m), "32 words, each %uth, swizzled", step);
    }
    for (unsigned rows = 220; rows < 257; rows++) {
        m = good(), m.box[0] = 256, m.box[1] = rows, m.box[2] = 1;
        EACH(tiled(&m), "%u KiB", rows);
    }
    m.box[1] = 256, m.steps[1] = 2;
    EACH(tiled(&m), "each other of 256 KiB");
    m.box[2] = 2, m.steps[1] = 4;
    EACH(tiled(&m), "each fourth of 512 KiB");
    m = good(), m.type = CU_TENSOR_MAP_DATA_TYPE_UINT8, m.box[0] = 256, m.box[1] = 255;
    m.box[2] = 3;
    EACH(tiled(&m), "195840 bytes");
    m = good(), m.rank = 5;
    for (unsigned at = 0; at < 5; at++)
        m.box[at] = 256;
    EACH(tiled(&m), "the largest box");
    m = good(), m.type = CU_TENSOR_MAP_DATA_TYPE_UINT8, m.dims[0] = 17;
    EACH(tiled(&m), "rows of 17 bytes");
    m.strides[0] = 32, m.strides[1] = 16;
    EACH(tiled(&m), "planes that overlap");
}

static void im2col_boxes(void)
{
    static const int corners[] = {-32769, -32768, -129, -128, -17, -16,   -1,   0,
                                  1,      15,     16,   127,  128, 32767, 32768};
    static const unsigned counts[] = {0, 1, 4, 8, 16, 64, 256, 257, 1023, 1024, 1025};
    struct map m;
    for (unsigned rank = 3; rank < 6; rank++) {
        for (unsigned at = 0; at < 3; at++) {
            for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
                m = good(), m.rank = rank, m.lower[at] = corners[i];
                EACH(im2col(&m), "rank %u lower %u is %d", rank, at, corners[i]);
                m = good(), m.rank = rank, m.upper[at] = corners[i];
                EACH(im2col(&m), "rank %u upper %u is %d", rank, at, corners[i]);
            }
        }
    }
    static const int edges[] = {-33, -32, -31, -30, 30, 31, 32, 33};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        m = good(), m.lower[0] = edges[i];
        EACH(im2col(&m), "of 32, lower is %d", edges[i]);
        m = good(), m.upper[0] = edges[i];
        EACH(im2col(&m), "of 32, upper is %d", edges[i]);
        m = good(), m.lower[0] = -5, m.upper[0] = edges[i] - 5;
        EACH(im2col(&m), "of 32, upper is %d, lower -5", edges[i] - 5);
    }
    m = good(), m.channels = 256, m.pixels = 256;
    EACH(im2col(&m), "256 KiB");
    m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, m.pixels = 448;
    EACH(im2col(&m), "224 KiB");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        m = good(), m.channels = counts[i];
        EACH(im2col(&m), "%u channels", counts[i]);
        for (int swizzle = 1; swizzle < 4; swizzle++) {
            m.swizzle = (CUtensorMapSwizzle)swizzle;
            EACH(im2col(&m), "%u channels, swizzle %d", counts[i], swizzle);
        }
        m = good(), m.pixels = counts[i];
        EACH(im2col(&m), "%u pixels", counts[i]);
    }
}

static void replaced(void)
{
    CUdeviceptr a = conform_memory(4096);
    struct map m = good();
    static const unsigned moves[] = {0, 1, 8, 16, 32, 64};
    memset(room, 0, sizeof room);
    EACH(cu->cuTensorMapReplaceAddress(m.out, pointer(a)), "no map yet");
    memset(room, 0xff, sizeof room);
    EACH(cu->cuTensorMapReplaceAddress(m.out, pointer(a)), "damaged");
    MUST(tiled(&m));
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        EACH(cu->cuTensorMapReplaceAddress(m.out, pointer(a + moves[i])), "address + %u", moves[i]);
    CALL(cu->cuTensorMapReplaceAddress(m.out, NULL));
    EACH(cu->cuTensorMapReplaceAddress(m.out, pointer(1ULL << 57)), "address 1 << 57");
    CALL(cu->cuTensorMapReplaceAddress((CUtensorMap *)(void *)(room + 8), pointer(a)));
    MUST(im2col(&m));
    EACH(cu->cuTensorMapReplaceAddress(m.out, pointer(a)), "im2col");
}

static void early(void)
{
    struct map m = {.out = (CUtensorMap *)(void *)room,
                    .rank = 1,
                    .address = 4096,
                    .dims = {64},
                    .box = {16},
                    .steps = {1}};
    EACH(tiled(&m), "tiled");
    EACH(im2col(&m), "im2col");
    CALL(cu->cuTensorMapReplaceAddress(m.out, pointer(4096)));
    MUST(cu->cuInit(0));
    EACH(tiled(&m), "tiled without a context");
    CALL(cu->cuTensorMapReplaceAddress(m.out, pointer(8192)));
}

static const struct sequence sequences[] = {S(tiled_pointers, PRIMARY),
                                            S(tiled_kinds, PRIMARY),
                                            S(tiled_sizes, PRIMARY),
                                            S(tiled_interleaved, PRIMARY),
                                            S(im2col_pointers, PRIMARY),
                                            S(im2col_kinds, PRIMARY),
                                            S(im2col_sizes, PRIMARY),
                                            S(im2col_interleaved, PRIMARY),
                                            S(boxes, PRIMARY),
                                            S(im2col_boxes, PRIMARY),
                                            S(replaced, PRIMARY),
                                            S(early, BARE),
                                            {0}};
const struct family tensor_family = {"tensor", sequences};
