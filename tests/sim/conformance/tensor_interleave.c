/* SPDX-License-Identifier: MIT */
/* Interleaved tensors: slices of 16 or 32 bytes of channels, of which the slices of a pixel are far
 * apart. Which maps there are, and what their tiles move. */
#include "tensor_frame.h"

#define B16 CU_TENSOR_MAP_INTERLEAVE_16B
#define B32 CU_TENSOR_MAP_INTERLEAVE_32B

/* --- Maps --- */
struct map {
    CUtensorMapDataType type;
    unsigned rank;
    uint64_t move; /* of the address */
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    int lower[3], upper[3];
    unsigned channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
};

static struct map good(CUtensorMapInterleave interleave)
{
    return (struct map){.type = F16,
                        .rank = 5,
                        .dims = {64, 32, 8, 4, 2},
                        .strides = {256, 8192, 65536, 262144},
                        .box = {16, 8, 2, 1, 1},
                        .steps = {1, 1, 1, 1, 1},
                        .channels = 16,
                        .pixels = 32,
                        .interleave = interleave,
                        .swizzle = interleave == B32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                     : CU_TENSOR_MAP_SWIZZLE_NONE};
}

static CUresult make(const struct map *m, bool im2col)
{
    static CUdeviceptr memory;
    static _Alignas(128) CUtensorMap out;
    if (!memory)
        memory = conform_memory(1 << 20);
    void *address = (void *)(uintptr_t)(memory + m->move);
    return im2col ? cu->cuTensorMapEncodeIm2col(&out, m->type, m->rank, address, m->dims,
                                                m->strides, m->lower, m->upper, m->channels,
                                                m->pixels, m->steps, m->interleave, m->swizzle,
                                                CU_TENSOR_MAP_L2_PROMOTION_NONE, m->fill)
                  : cu->cuTensorMapEncodeTiled(&out, m->type, m->rank, address, m->dims, m->strides,
                                               m->box, m->steps, m->interleave, m->swizzle,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, m->fill);
}

static void common(bool im2col, CUtensorMapInterleave interleave)
{
    static const uint64_t dims[] = {0, 1, 2, 1ULL << 31, 1ULL << 32, (1ULL << 32) + 1};
    static const uint64_t strides[] = {
        0,         8, 16, 32, 48, 64, 96, 240, 1ULL << 36, (1ULL << 40) - 32, (1ULL << 40) - 16,
        1ULL << 40};
    struct map m;
    for (unsigned rank = 0; rank < 7; rank++) {
        m = good(interleave), m.rank = rank;
        EACH(make(&m, im2col), "%d: rank %u", (int)interleave, rank);
    }
    for (int swizzle = -1; swizzle < 7; swizzle++) {
        for (unsigned rank = 3; rank < 6; rank++) {
            m = good(interleave), m.rank = rank, m.swizzle = (CUtensorMapSwizzle)swizzle;
            EACH(make(&m, im2col), "%d: rank %u swizzle %d", (int)interleave, rank, swizzle);
        }
    }
    for (int type = 0; type < 14; type++) {
        for (int fill = 0; fill < 2; fill++) {
            m = good(interleave), m.type = (CUtensorMapDataType)type;
            m.fill = (CUtensorMapFloatOOBfill)fill;
            EACH(make(&m, im2col), "%d: type %d fill %d", (int)interleave, type, fill);
        }
    }
    for (unsigned move = 1; move < 65; move *= 2) {
        m = good(interleave), m.move = move;
        EACH(make(&m, im2col), "%d: address + %u", (int)interleave, move);
    }
    for (unsigned at = 0; at < 5; at++) {
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            m = good(interleave), m.dims[at] = dims[i];
            EACH(make(&m, im2col), "%d: dim %u is 0x%llx", (int)interleave, at,
                 (unsigned long long)dims[i]);
        }
        for (unsigned i = 0; i < 10; i++) {
            m = good(interleave), m.steps[at] = i;
            EACH(make(&m, im2col), "%d: step %u is %u", (int)interleave, at, i);
        }
        for (size_t i = 0; i < sizeof strides / sizeof *strides && at < 4; i++) {
            m = good(interleave), m.strides[at] = strides[i];
            EACH(make(&m, im2col), "%d: stride %u is 0x%llx", (int)interleave, at,
                 (unsigned long long)strides[i]);
        }
    }
}

static void boxes(CUtensorMapInterleave interleave)
{
    static const unsigned counts[] = {0, 1, 2, 255, 256, 257};
    static const unsigned inner[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,   12,  15,  16,
                                     17, 20, 24, 28, 32, 33, 48, 64, 120, 128, 252, 256};
    struct map m;
    for (unsigned at = 0; at < 5; at++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            m = good(interleave), m.box[at] = counts[i];
            EACH(make(&m, false), "%d: box %u is %u", (int)interleave, at, counts[i]);
        }
    }
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
            m = good(interleave), m.swizzle = (CUtensorMapSwizzle)swizzle, m.box[0] = inner[i];
            EACH(make(&m, false), "%d: swizzle %d, %u halves", (int)interleave, swizzle, inner[i]);
        }
    }
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        m = good(interleave), m.type = U8, m.box[0] = inner[i];
        EACH(make(&m, false), "%d: %u bytes", (int)interleave, inner[i]);
    }
    for (unsigned rows = 220; rows < 257; rows += 4) {
        m = good(interleave), m.box[0] = 256, m.box[1] = rows;
        EACH(make(&m, false), "%d: %u KiB", (int)interleave, rows);
    }
    for (unsigned step = 1; step < 9; step++) {
        m = good(interleave), m.box[0] = 256, m.box[1] = 256, m.steps[0] = step;
        EACH(make(&m, false), "%d: each %uth channel of 256 KiB", (int)interleave, step);
    }
}

static void columns(CUtensorMapInterleave interleave)
{
    static const int corners[] = {-32769, -32768, -129, -128, -17, -16,   -1,   0,
                                  1,      15,     16,   127,  128, 32767, 32768};
    static const unsigned counts[] = {0,  1,  2,  4,   7,   8,   9,   12,  16,   17,   20,
                                      24, 32, 64, 248, 255, 256, 257, 448, 1023, 1024, 1025};
    struct map m;
    for (unsigned rank = 3; rank < 6; rank++) {
        for (unsigned at = 0; at < 3; at++) {
            for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
                m = good(interleave), m.rank = rank, m.lower[at] = corners[i];
                EACH(make(&m, true), "%d: rank %u lower %u is %d", (int)interleave, rank, at,
                     corners[i]);
                m = good(interleave), m.rank = rank, m.upper[at] = corners[i];
                EACH(make(&m, true), "%d: rank %u upper %u is %d", (int)interleave, rank, at,
                     corners[i]);
            }
        }
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int swizzle = 0; swizzle < 4; swizzle++) {
            m = good(interleave), m.channels = counts[i], m.swizzle = (CUtensorMapSwizzle)swizzle;
            EACH(make(&m, true), "%d: %u channels, swizzle %d", (int)interleave, counts[i],
                 swizzle);
        }
        m = good(interleave), m.pixels = counts[i];
        EACH(make(&m, true), "%d: %u pixels", (int)interleave, counts[i]);
        m = good(interleave), m.channels = 256, m.pixels = counts[i];
        EACH(make(&m, true), "%d: %u pixels of 256 channels", (int)interleave, counts[i]);
    }
}

#define BOTH(name, call)                                                                           \
    static void name(void)                                                                         \
    {                                                                                              \
        for (int i = 1; i < 3; i++) {                                                              \
            CUtensorMapInterleave interleave = (CUtensorMapInterleave)i;                           \
            call;                                                                                  \
        }                                                                                          \
    }
BOTH(tiled_maps, common(false, interleave))
BOTH(im2col_maps, common(true, interleave))
BOTH(tiled_boxes, boxes(interleave))
BOTH(im2col_boxes, columns(interleave))

static const struct sequence sequences[] = {S(tiled_maps, PRIMARY),
                                            S(im2col_maps, PRIMARY),
                                            S(tiled_boxes, PRIMARY),
                                            S(im2col_boxes, PRIMARY),
                                            {0}};
const struct family tensor_interleave_family = {"tensor_interleave", sequences};
