/* SPDX-License-Identifier: MIT */
/* Maps of columns along the width alone, whose copies newer devices have: which there are. */
#include "conform.h"

struct map {
    CUtensorMap *out;
    CUtensorMapDataType type;
    cuuint32_t rank;
    uint64_t move;
    cuuint64_t dims[5], strides[4];
    cuuint32_t steps[5];
    int lower, upper;
    cuuint32_t channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapIm2ColWideMode mode;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
    bool bare_dims, bare_strides, bare_steps;
};

static _Alignas(128) char room[512];

static struct map good(void)
{
    return (struct map){.out = (CUtensorMap *)(void *)room,
                        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                        .rank = 5,
                        .dims = {64, 32, 8, 4, 2},
                        .strides = {256, 8192, 65536, 262144},
                        .steps = {1, 1, 1, 1, 1},
                        .channels = 64,
                        .pixels = 32,
                        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
}

static CUresult make(const struct map *m)
{
    static CUdeviceptr memory;
    if (!memory)
        memory = conform_memory(1 << 20);
    return cu->cuTensorMapEncodeIm2colWide(
        m->out, m->type, m->rank, (void *)(uintptr_t)(memory + m->move),
        m->bare_dims ? NULL : m->dims, m->bare_strides ? NULL : m->strides, m->lower, m->upper,
        m->channels, m->pixels, m->bare_steps ? NULL : m->steps, m->interleave, m->mode, m->swizzle,
        m->promotion, m->fill);
}

static void wide_kinds(void)
{
    struct map m = good();
    EACH(make(&m), "good");
    for (unsigned place = 1; place < 129; place *= 2) {
        m = good(), m.out = (CUtensorMap *)(void *)(room + place);
        EACH(make(&m), "map at %u", place);
    }
    m = good(), m.out = NULL;
    EACH(make(&m), "no map");
    m = good(), m.bare_dims = true;
    EACH(make(&m), "no dims");
    m = good(), m.bare_strides = true;
    EACH(make(&m), "no strides");
    m = good(), m.bare_steps = true;
    EACH(make(&m), "no steps");
    for (unsigned move = 1; move < 65; move *= 2) {
        m = good(), m.move = move;
        EACH(make(&m), "address + %u", move);
    }
    for (int type = -1; type < 18; type++) {
        for (int fill = 0; fill < 2; fill++) {
            m = good(), m.type = (CUtensorMapDataType)type;
            m.fill = (CUtensorMapFloatOOBfill)fill, m.channels = 16;
            EACH(make(&m), "type %d fill %d", type, fill);
        }
    }
    for (unsigned rank = 0; rank < 8; rank++) {
        m = good(), m.rank = rank;
        EACH(make(&m), "rank %u", rank);
    }
    for (int i = -1; i < 9; i++) {
        m = good(), m.promotion = (CUtensorMapL2promotion)i;
        EACH(make(&m), "promotion %d", i);
        m = good(), m.fill = (CUtensorMapFloatOOBfill)i;
        EACH(make(&m), "fill %d", i);
        m = good(), m.interleave = (CUtensorMapInterleave)i;
        EACH(make(&m), "interleave %d", i);
        m = good(), m.mode = (CUtensorMapIm2ColWideMode)i;
        EACH(make(&m), "mode %d", i);
        for (unsigned channels = 8; channels < 129; channels *= 2) {
            m = good(), m.swizzle = (CUtensorMapSwizzle)i, m.channels = channels;
            EACH(make(&m), "swizzle %d, %u channels", i, channels);
        }
    }
}

static void wide_sizes(void)
{
    static const uint64_t dims[] = {0, 1, 1ULL << 31, 1ULL << 32, (1ULL << 32) + 1};
    static const uint64_t strides[] = {0, 8, 16, 240, 256, (1ULL << 40) - 16, 1ULL << 40};
    static const int corners[] = {-32769, -32768, -129, -128, -33, -32, -31,   -1,
                                  0,      1,      31,   32,   127, 128, 32767, 32768};
    static const unsigned counts[] = {0,   1,   2,   4,   8,   9,   16,  24,   32,   64,  96,
                                      128, 129, 192, 256, 257, 512, 513, 1023, 1024, 1025};
    struct map m;
    for (unsigned at = 0; at < 5; at++) {
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            m = good(), m.dims[at] = dims[i];
            EACH(make(&m), "dim %u is 0x%llx", at, (unsigned long long)dims[i]);
        }
        for (unsigned i = 0; i < 10; i++) {
            m = good(), m.steps[at] = i;
            EACH(make(&m), "step %u is %u", at, i);
        }
        for (size_t i = 0; i < sizeof strides / sizeof *strides && at < 4; i++) {
            m = good(), m.strides[at] = strides[i];
            EACH(make(&m), "stride %u is 0x%llx", at, (unsigned long long)strides[i]);
        }
    }
    for (int mode = 0; mode < 2; mode++) {
        for (unsigned rank = 3; rank < 6; rank++) {
            for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
                m = good(), m.rank = rank, m.mode = (CUtensorMapIm2ColWideMode)mode;
                m.lower = corners[i];
                EACH(make(&m), "mode %d rank %u lower %d", mode, rank, corners[i]);
                m.lower = 0, m.upper = corners[i];
                EACH(make(&m), "mode %d rank %u upper %d", mode, rank, corners[i]);
            }
        }
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            m = good(), m.mode = (CUtensorMapIm2ColWideMode)mode, m.pixels = counts[i];
            EACH(make(&m), "mode %d, %u pixels", mode, counts[i]);
            m = good(), m.mode = (CUtensorMapIm2ColWideMode)mode, m.channels = counts[i];
            EACH(make(&m), "mode %d, %u channels", mode, counts[i]);
            m.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
            EACH(make(&m), "mode %d, %u channels, no swizzle", mode, counts[i]);
            m.pixels = 1024;
            EACH(make(&m), "mode %d, 1024 pixels of %u channels", mode, counts[i]);
        }
    }
}

static const struct sequence sequences[] = {S(wide_kinds, PRIMARY), S(wide_sizes, PRIMARY), {0}};
const struct family tensor_wide_family = {"tensor_wide", sequences};
