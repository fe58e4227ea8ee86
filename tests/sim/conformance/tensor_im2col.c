/* SPDX-License-Identifier: MIT */
/* Columns of images: what loads and stores by maps of im2col leave in memory. */
#include "tensor_frame.h"

static void im2col_one(size_t index)
{
    static const struct {
        CUtensorMapDataType type;
        unsigned rank;
        cuuint64_t dims[5], strides[4];
        int lower[3], upper[3];
        unsigned channels, pixels;
        cuuint32_t steps[5];
        int at[5];
        unsigned offsets[3], bytes;
        int swizzle;
    } cases[] = {
        {U32, 3, {8, 10, 4}, {32, 320}, {0}, {0}, 8, 16, ONES, {0, 0, 0}, {0}, 512, 0},
        {U32, 3, {8, 10, 4}, {32, 320}, {-1}, {-1}, 8, 16, ONES, {0, -1, 1}, {1}, 512, 0},
        {U32, 3, {8, 10, 4}, {32, 320}, {-1}, {-1}, 4, 16, ONES, {4, 3, 2}, {2}, 256, 0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         8,
         32,
         ONES,
         {0, -1, -1, 0},
         {0, 0},
         1024,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         8,
         32,
         ONES,
         {0, -1, -1, 0},
         {2, 1},
         1024,
         1},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {1, 1},
         8,
         32,
         ONES,
         {0, 5, 7, 1},
         {2, 1},
         1024,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {0, 0},
         {-2, -2},
         8,
         64,
         {1, 2, 2, 1, 1},
         {0, 0, 0, 0},
         {1, 2},
         2048,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -2},
         {-2, -1},
         8,
         64,
         {1, 3, 2, 1, 1},
         {0, 2, 2, 2},
         {1, 2},
         2048,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         4,
         64,
         ONES,
         {6, 3, 7, 3},
         {2, 2},
         1024,
         0},
        {U32,
         5,
         {8, 6, 5, 4, 3},
         {32, 192, 960, 3840},
         {-1, -1, -1},
         {-1, -1, -1},
         8,
         100,
         ONES,
         {0, -1, -1, -1, 0},
         {1, 2, 0},
         3200,
         0},
        {U32,
         5,
         {8, 6, 5, 4, 3},
         {32, 192, 960, 3840},
         {-1, -1, -1},
         {0, 0, 0},
         8,
         100,
         ONES,
         {0, 3, 2, 1, 1},
         {0, 0, 1},
         3200,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         4,
         64,
         ONES,
         {4, 3, 7, 3},
         {2, 2},
         1024,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {0, 0},
         {0, 0},
         8,
         16,
         ONES,
         {0, 3, 2, 1},
         {0xffff, 1},
         512,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {0, 0},
         {0, 0},
         8,
         16,
         ONES,
         {0, 3, 2, 1},
         {257, 256},
         512,
         0},
        {U32, 3, {8, 10, 4}, {32, 320}, {0}, {0}, 8, 16, ONES, {0, 3, 1}, {0xffff}, 512, 0},
    };
    static const char *const texts[] = {
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2}], [bar], {%h0};",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2, %c3}], [bar], {%h0, %h1};",
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2, %c3, %c4}], [bar], {%h0, %h1, %h2};",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2}], [%to];" COMMIT,
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2, %c3}], [%to];" COMMIT,
        "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2, %c3, %c4}], [%to];" COMMIT};
    size_t c = index / 2;
    bool way = index % 2;
    struct arguments all = {.bytes = way ? 0 : cases[c].bytes};
    char text[512];
    snprintf(text, sizeof text,
             ".reg .b16 %%h0, %%h1, %%h2;\ncvt.u16.u32 %%h0, %%x0;\ncvt.u16.u32 %%h1, %%x1;\n"
             "cvt.u16.u32 %%h2, %%x2;\n%s",
             texts[cases[c].rank - 3 + (way ? 3 : 0)]);
    tensor_prepare();
    memcpy(all.at, cases[c].at, sizeof all.at);
    memcpy(all.more, cases[c].offsets, sizeof all.more);
    MUST(cu->cuTensorMapEncodeIm2col(
        &tensor_map, cases[c].type, cases[c].rank, (void *)(uintptr_t)tensor_memory, cases[c].dims,
        cases[c].strides, cases[c].lower, cases[c].upper, cases[c].channels, cases[c].pixels,
        cases[c].steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)cases[c].swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    tensor_launch(tensor_kernel(text, ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s case %u", way ? "store" : "load", (unsigned)c);
    tensor_see(1, way);
}

static void im2col(void)
{
    tensor_series(30, im2col_one);
}

static const struct sequence sequences[] = {S(im2col, BARE), {0}};
const struct family tensor_im2col_family = {"tensor_im2col", sequences};
