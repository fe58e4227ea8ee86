/* SPDX-License-Identifier: MIT */
/* Tiles of tensors: what loads, stores and reductions by maps leave in memory. */
#include "tensor_frame.h"

#define EVERY(before, after)                                                                       \
    {                                                                                              \
        before "1d" after "[%map, " AT1 "]", before "2d" after "[%map, " AT2 "]",                  \
            before "3d" after "[%map, " AT3 "]", before "4d" after "[%map, " AT4 "]",              \
            before "5d" after "[%map, " AT5 "]"                                                    \
    }
static const char *const loads[] = EVERY(
    "cp.async.bulk.tensor.", ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to], ");
static const char *const stores[] =
    EVERY("cp.async.bulk.tensor.", ".global.shared::cta.tile.bulk_group ");

static void one(CUfunction function, const struct tile *t, bool whole)
{
    struct arguments all = {.bytes = whole ? 0 : t->bytes, .to = t->to};
    tensor_prepare();
    memcpy(all.at, t->at, sizeof all.at);
    CUresult code = tensor_encode(t, CU_TENSOR_MAP_INTERLEAVE_NONE);
    if (code == CUDA_SUCCESS)
        tensor_launch(function, 1, &all);
    EACH(code == CUDA_SUCCESS ? cu->cuCtxSynchronize() : code,
         "%s %ud type %d swizzle %d box %u,%u,%u,%u,%u at %d,%d,%d,%d,%d to %u",
         whole ? "store" : "load", t->rank, (int)t->type, t->swizzle, t->box[0], t->box[1],
         t->box[2], t->box[3], t->box[4], t->at[0], t->at[1], t->at[2], t->at[3], t->at[4], t->to);
    tensor_see(1, whole);
}

static const struct tile tiles[] = {
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {0}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-5}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-4}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {990}, 256, 128, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {988}, 256, 128, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {1000}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-2147483647}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {2147483647}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {2147483644}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, {2, 1, 1, 1, 1}, {4}, 256, 0, 0},
    {U8, 1, 0, {1000}, {0}, {48}, ONES, {3}, 48, 0, 0},
    {U8, 1, 0, {1000}, {0}, {48}, ONES, {16}, 48, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {0, 0}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {3, 5}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {4, 5}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {-3, -2}, 512, 1024, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {-4, -2}, 512, 1024, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 1152, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 1152, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {1, 2, 1, 1, 1}, {1, 3}, 256, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {1, 2, 1, 1, 1}, {4, 3}, 256, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, 3}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, 3}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, -1}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, -1}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, 46}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, 46}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {3, 1, 1, 1, 1}, {1, 3}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {3, 1, 1, 1, 1}, {4, 3}, 512, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {5, -3}, 640, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {8, -3}, 640, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {5, -3}, 640, 128, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {8, -3}, 640, 128, 0},
    {U16, 2, 1, {100, 50}, {208}, {8, 20}, ONES, {5, -3}, 320, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {8, 20}, ONES, {8, -3}, 320, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {5, 35}, 1280, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {8, 35}, 1280, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {5, 35}, 1280, 256, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {8, 35}, 1280, 256, 0},
    {U16, 2, 2, {100, 50}, {208}, {16, 20}, ONES, {5, 35}, 640, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {16, 20}, ONES, {8, 35}, 640, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {24, 20}, ONES, {5, 35}, 960, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {24, 20}, ONES, {8, 35}, 960, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 512, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 512, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 128, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 128, 0},
    {U32, 2, 3, {100, 50}, {400}, {16, 20}, ONES, {5, 7}, 1280, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {16, 20}, ONES, {4, 7}, 1280, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {20, 20}, ONES, {90, 7}, 1600, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {20, 20}, ONES, {88, 7}, 1600, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {4, 20}, ONES, {5, 7}, 320, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {4, 20}, ONES, {4, 7}, 320, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {2, 3, 4}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {4, 3, 4}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {-2, 28, 18}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {-4, 28, 18}, 640, 0, 0},
    {U32, 3, 3, {40, 30, 20}, {160, 4800}, {32, 5, 4}, {1, 2, 3, 1, 1}, {-2, 28, 15}, 768, 0, 0},
    {U32, 3, 3, {40, 30, 20}, {160, 4800}, {32, 5, 4}, {1, 2, 3, 1, 1}, {-4, 28, 15}, 768, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {2, 3, 4, 5}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {8, 3, 4, 5}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {9, -1, 7, -2}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {8, -1, 7, -2}, 960, 0, 0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {1, 1, 1, 1, 1},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {2, 1, 1, 1, 1},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {5, 4, 3, -1, 2},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {4, 4, 3, -1, 2},
     576,
     0,
     0},
    {F64,
     5,
     3,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {4, 3, 2, 2, 4},
     {1, 1, 1, 2, 2},
     {-1, 4, -1, 0, 1},
     384,
     0,
     0},
    {F64,
     5,
     3,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {4, 3, 2, 2, 4},
     {1, 1, 1, 2, 2},
     {-2, 4, -1, 0, 1},
     384,
     0,
     0},
    {U8, 2, 0, {33, 9}, {48}, {16, 4}, ONES, {20, 7}, 64, 0, 0},
    {U8, 2, 0, {33, 9}, {48}, {16, 4}, ONES, {16, 7}, 64, 0, 0},
    {F32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 0, 1},
    {F32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 0, 1},
    {F16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {95, 46}, 256, 0, 1},
    {F16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {88, 46}, 256, 0, 1},
    {F64, 2, 0, {10, 50}, {80}, {4, 8}, ONES, {8, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {95, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {88, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {95, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {92, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {95, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {92, 46},
     512,
     0,
     1},
};

static void tiled(size_t index, const char *const *texts, const char *end, bool store)
{
    static CUfunction functions[6];
    const struct tile *t = &tiles[index];
    char text[512];
    snprintf(text, sizeof text, "%s, %s", texts[t->rank - 1], end);
    if (!functions[t->rank])
        functions[t->rank] = tensor_kernel(text, "");
    one(functions[t->rank], t, store);
}

static void tiled_load(size_t index)
{
    tiled(index, loads, "[bar];", false);
}

static void tiled_store(size_t index)
{
    tiled(index, stores, "[%to];" COMMIT, true);
}

static void tiled_loads(void)
{
    tensor_series(sizeof tiles / sizeof *tiles, tiled_load);
}

static void tiled_stores(void)
{
    tensor_series(sizeof tiles / sizeof *tiles, tiled_store);
}

/* With words that hold every kind of float: infinities, NaN, subnormals, halves that round. */
static void convert(size_t index)
{
    static const CUtensorMapDataType types[] = {
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};
    static const unsigned words[64] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
        0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0x3f803001,
        0xbf801000, 0xbf803000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
        0x7fc00000, 0xffc00001, 0x7fffffff, 0x00001000, 0x00002000, 0x00000fff, 0x00003000,
        0x007ff000, 0x007fefff, 0x7f7fefff, 0x7f7ff000};
    CUfunction load = tensor_kernel("cp.async.bulk.tensor.1d.shared::cluster.global.tile"
                                    ".mbarrier::complete_tx::bytes [%to], [%map, {%c0}], [bar];",
                                    "");
    CUfunction store = tensor_kernel("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
                                     "[%map, {%c0}], [%to];" COMMIT,
                                     "");
    struct tile t = {types[index / 2], 1, 0, {64}, {0}, {64}, ONES, {0}, 256, 0, 0};
    bool way = index % 2;
    struct arguments all = {.bytes = way ? 0 : 256};
    tensor_prepare();
    MUST(cu->cuMemcpyHtoD(way ? tensor_from : tensor_memory, words, sizeof words));
    MUST(tensor_encode(&t, CU_TENSOR_MAP_INTERLEAVE_NONE));
    tensor_launch(way ? store : load, 1, &all);
    EACH(cu->cuCtxSynchronize(), "type %d %s", (int)t.type, way ? "stored" : "loaded");
    tensor_see(1, way);
}

static void converted(void)
{
    tensor_series(8, convert);
}

static void reduce(const char *operation, size_t type)
{
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static CUfunction function;
    char text[512];
    struct arguments all = {.at = {0, 2}};
    struct tile t = {
        (CUtensorMapDataType)type, 2, 0, {32, 16}, {256}, {16, 6}, ONES, {0, 2}, 0, 0, 0};
    t.box[0] = 64 / sizes[type];
    t.dims[0] = 67 / sizes[type] - 3;
    tensor_prepare();
    snprintf(text, sizeof text,
             "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group "
             "[%%map, {%%c0, %%c1}], [%%to];" COMMIT,
             operation);
    if (!function)
        function = tensor_kernel(text, "");
    MUST(tensor_encode(&t, CU_TENSOR_MAP_INTERLEAVE_NONE));
    tensor_launch(function, 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s type %d", operation, (int)type);
    tensor_see(1, true);
}

#define REDUCE(name)                                                                               \
    static void reduce_##name##_type(size_t type)                                                  \
    {                                                                                              \
        reduce(#name, type);                                                                       \
    }                                                                                              \
    static void reduce_##name(void)                                                                \
    {                                                                                              \
        tensor_series(13, reduce_##name##_type);                                                   \
    }
REDUCE(add)
REDUCE(min)
REDUCE(max)
REDUCE(inc)
REDUCE(dec)
REDUCE(and)
REDUCE(or)
REDUCE(xor)

static const struct sequence sequences[] = {
    S(tiled_loads, BARE), S(tiled_stores, BARE), S(converted, BARE),  S(reduce_add, BARE),
    S(reduce_min, BARE),  S(reduce_max, BARE),   S(reduce_inc, BARE), S(reduce_dec, BARE),
    S(reduce_and, BARE),  S(reduce_or, BARE),    S(reduce_xor, BARE), {0}};
const struct family tensor_tile_family = {"tensor_tile", sequences};
