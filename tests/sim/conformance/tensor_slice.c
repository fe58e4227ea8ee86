/* SPDX-License-Identifier: MIT */
/* What tiles of interleaved tensors move. The innermost dimension is of pixels of 16 or 32 bytes,
 * the last but one of slices. */
#include "tensor_frame.h"

struct shape {
    unsigned box[5], steps[5];
    int at[5];
    CUtensorMapDataType type;
    unsigned rank;
    int fill;
};

static const struct shape shapes[] = {
    {{16, 4, 2}, ONES, {0}, F16, 3, 0},
    {{16, 1, 3}, ONES, {0}, F16, 3, 0},
    {{16, 8, 1}, ONES, {8, 3, 2}, F16, 3, 0},
    {{16, 9, 1}, ONES, {0}, F16, 3, 0},
    {{16, 16, 1}, ONES, {0}, F16, 3, 0},
    {{16, 64, 2}, ONES, {0, 1, 1}, F16, 3, 0},
    {{16, 256, 2}, ONES, {0, 1, 1}, F16, 3, 0},
    {{16, 64, 2}, {1, 8, 1, 1, 1}, {0, 1, 1}, F16, 3, 0},
    {{32, 64, 2}, ONES, {0, 1, 1}, U8, 3, 0},
    {{16, 4, 2}, ONES, {1}, F16, 3, 0},
    {{16, 4, 2}, ONES, {24, 6, 4}, F16, 3, 0},
    {{16, 4, 2}, ONES, {24, 6, 4}, F16, 3, 1},
    {{16, 4, 2}, ONES, {-3, 1, -1}, F16, 3, 1},
    {{16, 4, 2}, ONES, {-3, 1, 1}, U16, 3, 0},
    {{16, 4, 2}, ONES, {0, 8, 1}, U16, 3, 0},
    {{16, 4, 2}, ONES, {0, -1, 1}, U16, 3, 0},
    {{16, 4, 2}, ONES, {32, 0, 0}, U16, 3, 0},
    {{17 * 8, 4, 1}, ONES, {0}, U16, 3, 0},
    {{16, 4, 4}, {2, 1, 1, 1, 1}, {0}, U16, 3, 0},
    {{16, 4, 4}, {3, 2, 2, 1, 1}, {5, 1, 0}, U16, 3, 0},
    {{16, 2, 3, 2}, ONES, {0}, U16, 4, 0},
    {{8, 2, 3, 2}, ONES, {30, 6, 3, 2}, U16, 4, 0},
    {{8, 3, 3, 3}, {1, 2, 1, 2, 1}, {4, 3, 2, 1}, U16, 4, 0},
    {{16, 3, 2, 2, 2}, ONES, {16, 1, 4, 1, 2}, U16, 5, 0},
    {{8, 3, 3, 2, 3}, {2, 2, 2, 2, 2}, {4, 1, 1, 2, 0}, U16, 5, 0},
    {{16, 4, 2}, ONES, {3, 2, 1}, U8, 3, 0},
    {{8, 4, 2}, ONES, {3, 2, 1}, U32, 3, 0},
    {{4, 4, 2}, ONES, {3, 2, 1}, CU_TENSOR_MAP_DATA_TYPE_INT64, 3, 0},
    {{4, 4, 2}, ONES, {29, 2, 1}, F64, 3, 1},
    {{8, 4, 2}, ONES, {28, 2, 1}, F32, 3, 1},
    {{8, 4, 2}, ONES, {28, 2, 1}, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 3, 1},
    {{8, 4, 2}, ONES, {28, 2, 1}, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 3, 0},
    {{8, 4, 2}, ONES, {28, 2, 1}, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, WAYS = 5 };

/* Both slices, without and with a swizzle: the last turn is a wide one of 16 bytes. */
static struct tile tile_of(size_t index, CUtensorMapInterleave *interleave)
{
    static const int interleaves[WAYS] = {1, 1, 2, 2, 1}, swizzles[WAYS] = {0, 1, 1, 2, 3};
    const struct shape *shape = &shapes[index / WAYS];
    struct tile t = {.type = shape->type,
                     .rank = shape->rank,
                     .swizzle = swizzles[index % WAYS],
                     .dims = {32, 8, 5, 4, 3},
                     .strides = {0x400, 0x2000, 0x8000, 0x20000},
                     .fill = shape->fill,
                     .to = index % WAYS == 4 ? 640 : 0};
    memcpy(t.box, shape->box, sizeof t.box);
    memcpy(t.steps, shape->steps, sizeof t.steps);
    memcpy(t.at, shape->at, sizeof t.at);
    *interleave = (CUtensorMapInterleave)interleaves[index % WAYS];
    t.bytes = 8U << *interleave;
    for (unsigned i = 0; i < t.rank; i++)
        t.bytes *= i + 2 == t.rank ? 1 : (t.box[i] + t.steps[i] - 1) / t.steps[i];
    return t;
}

static void one(size_t index, bool store)
{
    static const char *const at[] = {AT3, AT4, AT5};
    static CUfunction functions[6];
    CUtensorMapInterleave interleave;
    struct tile t = tile_of(index, &interleave);
    struct arguments all = {.bytes = store ? 0 : t.bytes, .to = t.to};
    char text[512];
    if (store)
        snprintf(text, sizeof text,
                 "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [%%map, %s], "
                 "[%%to];" COMMIT,
                 t.rank, at[t.rank - 3]);
    else
        snprintf(text, sizeof text,
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%%to], [%%map, %s], [bar];",
                 t.rank, at[t.rank - 3]);
    if (!functions[t.rank])
        functions[t.rank] = tensor_kernel(text, "");
    tensor_prepare();
    memcpy(all.at, t.at, sizeof all.at);
    CUresult code = tensor_encode(&t, interleave);
    if (code == CUDA_SUCCESS)
        tensor_launch(functions[t.rank], 1, &all);
    EACH(code == CUDA_SUCCESS ? cu->cuCtxSynchronize() : code,
         "%s shape %u interleave %d swizzle %d", store ? "store" : "load", (unsigned)index / WAYS,
         (int)interleave, t.swizzle);
    if (code == CUDA_SUCCESS)
        tensor_see(1, store);
}

static void load(size_t index)
{
    one(index, false);
}

static void store(size_t index)
{
    one(index, true);
}

static void slice_loads(void)
{
    tensor_series((size_t)SHAPES * WAYS, load);
}

static void slice_stores(void)
{
    tensor_series((size_t)SHAPES * WAYS, store);
}

static void reduce(size_t index)
{
    static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    static const CUtensorMapDataType types[] = {F16, F32, U32, CU_TENSOR_MAP_DATA_TYPE_UINT64};
    static CUfunction functions[8];
    const char *operation = operations[index / 8];
    CUtensorMapInterleave interleave;
    struct tile t = tile_of(index % 2 ? 2 : 0, &interleave);
    struct arguments all = {.at = {20, 3, 1}};
    char text[512];
    t.type = types[index / 2 % 4];
    tensor_prepare();
    snprintf(text, sizeof text,
             "cp.reduce.async.bulk.tensor.3d.global.shared::cta.%s.tile.bulk_group "
             "[%%map, %s], [%%to];" COMMIT,
             operation, AT3);
    if (!functions[index / 8])
        functions[index / 8] = tensor_kernel(text, "");
    MUST(tensor_encode(&t, interleave));
    tensor_launch(functions[index / 8], 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s type %d interleave %d", operation, (int)t.type,
         (int)interleave);
    tensor_see(1, true);
}

static void slice_reductions(void)
{
    tensor_series(64, reduce);
}

/* --- Columns of pixels, of plain tensors too where they begin outside --- */
struct column {
    unsigned rank, channels, pixels;
    int lower[3], upper[3], at[5];
    unsigned offsets[3], steps[5];
    bool plain; /* of such a tensor the channels come first, and the slices are no dimension */
};

static const struct column columns[] = {
    {3, 16, 4, {0}, {0}, {0}, {0}, ONES, false},
    {3, 8, 9, {-1}, {-1}, {-1, 2, 1}, {1}, ONES, false},
    {3, 32, 9, {-1}, {-1}, {30, 2, 1}, {0}, ONES, false},
    {3, 16, 9, {-1}, {-1}, {31, 2, 1}, {0}, ONES, false},
    {3, 16, 9, {-2}, {-2}, {-3, 2, 1}, {0}, ONES, false},
    {3, 16, 9, {0}, {0}, {30, 8, 1}, {0}, ONES, false},
    {3, 16, 9, {0}, {0}, {30, -1, 1}, {0}, ONES, false},
    {3, 16, 40, {0}, {0}, {30, 1, 4}, {0}, ONES, false},
    {3, 16, 9, {0}, {0}, {3, 1, 5}, {0}, ONES, false},
    {3, 16, 9, {0}, {0}, {3, 1, -1}, {0}, ONES, false},
    {3, 16, 9, {0}, {4}, {33, 1, 2}, {0}, ONES, false},
    {4, 16, 20, {-1, -1}, {-1, -1}, {28, 2, 3, 1}, {2, 1}, ONES, false},
    {4, 16, 20, {0, 0}, {0, 0}, {28, 8, 3, 1}, {0, 0}, ONES, false},
    {4, 16, 20, {0, 0}, {0, 0}, {28, -1, 3, 1}, {0, 0}, ONES, false},
    {4, 16, 70, {-3, -1}, {-8, 1}, {4, 2, 3, 1}, {2, 1}, {2, 3, 1, 1, 1}, false},
    {4, 16, 70, {-3, -1}, {-8, 1}, {4, 2, 3, 1}, {2, 1}, {1, 1, 2, 3, 1}, false},
    {5, 16, 300, {-1, -1, 0}, {0, -1, -2}, {8, 2, 1, 1, 0}, {1, 2, 1}, ONES, false},
    {5, 16, 60, {0, 0, 0}, {0, 0, 0}, {8, 2, 5, 1, 0}, {1, 2, 1}, ONES, false},
    {3, 16, 4, {0}, {0}, {0}, {0}, ONES, true},
    {3, 16, 4, {0}, {0}, {0, 8, 1}, {0}, ONES, true},
    {3, 16, 4, {0}, {0}, {0, -1, 1}, {0}, ONES, true},
    {3, 16, 4, {0}, {0}, {0, 3, 5}, {0}, ONES, true},
    {3, 16, 4, {0}, {0}, {0, 3, -1}, {0}, ONES, true},
    {3, 16, 4, {0}, {0}, {32, 3, 1}, {0}, ONES, true},
    {4, 16, 4, {0, 0}, {0, 0}, {0, 3, 5, 1}, {0}, ONES, true},
    {4, 16, 4, {0, 0}, {0, 0}, {0, 3, -1, 1}, {0}, ONES, true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void column(size_t index, bool out)
{
    static const char *const at[] = {AT3, AT4, AT5}, *const offsets[] = {"{%h0}", "{%h0, %h1}",
                                                                         "{%h0, %h1, %h2}"};
    static const cuuint64_t dims[] = {32, 8, 5, 4, 3}, strides[] = {0x400, 0x2000, 0x8000, 0x20000};
    const struct column *c = &columns[index / 2];
    int interleave = c->plain ? 0 : 1 + (int)(index % 2);
    unsigned row = c->plain ? 2 * c->channels : 8U << interleave;
    struct arguments all = {.bytes = out ? 0 : row * c->pixels};
    char text[512];
    int used = snprintf(text, sizeof text,
                        ".reg .b16 %%h0, %%h1, %%h2;\ncvt.u16.u32 %%h0, %%x0;\n"
                        "cvt.u16.u32 %%h1, %%x1;\ncvt.u16.u32 %%h2, %%x2;\n");
    if (out)
        snprintf(text + used, sizeof text - (size_t)used,
                 "cp.async.bulk.tensor.%ud.global.shared::cta.im2col_no_offs.bulk_group [%%map, "
                 "%s], [%%to];" COMMIT,
                 c->rank, at[c->rank - 3]);
    else
        snprintf(text + used, sizeof text - (size_t)used,
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col.mbarrier::complete_tx::"
                 "bytes [%%to], [%%map, %s], [bar], %s;",
                 c->rank, at[c->rank - 3], offsets[c->rank - 3]);
    tensor_prepare();
    memcpy(all.at, c->at, sizeof all.at);
    memcpy(all.more, c->offsets, sizeof all.more);
    MUST(cu->cuTensorMapEncodeIm2col(
        &tensor_map, F16, c->rank, (void *)(uintptr_t)tensor_memory, dims, strides, c->lower,
        c->upper, c->channels, c->pixels, c->steps, (CUtensorMapInterleave)interleave,
        interleave == 2 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    tensor_launch(tensor_kernel(text, ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s column %u interleave %d", out ? "store" : "load",
         (unsigned)index / 2, interleave);
    tensor_see(1, out);
}

static void load_column(size_t index)
{
    column(index, false);
}

static void store_column(size_t index)
{
    column(index, true);
}

static void slice_columns(void)
{
    tensor_series((size_t)COLUMNS * 2, load_column);
}

static void slice_columns_stored(void)
{
    tensor_series((size_t)COLUMNS * 2, store_column);
}

static const struct sequence sequences[] = {S(slice_loads, BARE),          S(slice_stores, BARE),
                                            S(slice_reductions, BARE),     S(slice_columns, BARE),
                                            S(slice_columns_stored, BARE), {0}};
const struct family tensor_slice_family = {"tensor_slice", sequences};
