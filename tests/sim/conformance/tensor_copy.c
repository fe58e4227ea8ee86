/* SPDX-License-Identifier: MIT */
/* Bulk operations without a map, and by one: between blocks, wrong ones, and by maps that the
 * kernel changes. */
#include "tensor_frame.h"

/* Bulk reductions without a map: to global memory, and within shared memory. */
static void reduce_global_one(size_t index)
{
    static const char *const operations[] = {
        "add.u32", "add.s32", "add.u64", "add.f32",  "add.f64",        "add.noftz.f16", "min.u32",
        "min.s32", "min.u64", "min.s64", "min.f16",  "add.noftz.bf16", "max.u32",       "max.s32",
        "max.u64", "max.s64", "max.f16", "max.bf16", "inc.u32",        "dec.u32",       "and.b32",
        "and.b64", "or.b32",  "or.b64",  "xor.b32",  "xor.b64",        "min.bf16"};
    char text[512];
    struct arguments all = {.to = 64};
    tensor_prepare();
    all.map = tensor_memory + 32;
    snprintf(text, sizeof text,
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%map], [%%to], 4096;" COMMIT,
             operations[index]);
    tensor_launch(tensor_kernel(text, ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s", operations[index]);
    tensor_see(1, true);
}

static void reduce_global(void)
{
    tensor_series(27, reduce_global_one);
}

/* In a block's own shared memory, as a cluster of one block. */
static void reduce_shared_one(size_t index)
{
    static const char *const operations[] = {"add.u32", "add.s32", "add.u64", "min.u32",
                                             "min.s32", "max.u32", "max.s32", "inc.u32",
                                             "dec.u32", "and.b32", "or.b32",  "xor.b32"};
    char text[512];
    struct arguments all = {.to = 64, .bytes = 4096};
    tensor_prepare();
    snprintf(text, sizeof text,
             "add.u32 %%x4, %%to, 8192;\nmapa.shared::cluster.u32 %%x5, %%to, %%rank;\n"
             "mapa.shared::cluster.u32 %%x6, %%bar, %%rank;\n"
             "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s "
             "[%%x5], [%%x4], 4096, [%%x6];",
             operations[index]);
    tensor_launch(tensor_kernel(text, CLUSTER(1)), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s", operations[index]);
    tensor_see(1, false);
}

static void reduce_shared(void)
{
    tensor_series(12, reduce_shared_one);
}

static void asynchronous_one(size_t index)
{
    static const struct {
        const char *text;
        unsigned bytes;
    } cases[] = {
        {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to], %x0, [%bar];", 4},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%to+8], %map, [%bar];", 8},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%to+8], {%x0, %x1}, "
         "[%bar];",
         8},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%to+16], {%x0, %x1, %x2, "
         "7}, [%bar];",
         16},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%to+16], {%map, 9}, "
         "[%bar];\nst.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%to+24], 5, [%bar];",
         24},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%to], "
         "%map, [%bar];",
         8},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec.u32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%to], "
         "%x0, [%bar];",
         4},
    };
    char text[512];
    struct arguments all = {.more = {123456789, 0x80000005, 77},
                            .map = 0x123456789abcdef0,
                            .bytes = cases[index / 2].bytes};
    tensor_prepare();
    snprintf(text, sizeof text,
             "mapa.shared::cluster.u32 %%to, %%to, %%rank;\n"
             "mapa.shared::cluster.u32 %%bar, %%bar, %%rank;\n%s",
             cases[index / 2].text);
    tensor_launch(tensor_kernel(text, index % 2 ? CLUSTER(1) : ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%.9s case %u%s", cases[index / 2].text, (unsigned)index / 2,
         index % 2 ? " in a cluster" : "");
    tensor_see(1, false);
}

static void asynchronous(void)
{
    tensor_series(30, asynchronous_one);
}

/* The first block's copy reaches both blocks of a cluster, and its peer's alone. */
static void multicast_one(size_t index)
{
    static const char *const texts[] = {
        "setp.ne.u32 %p, %rank, 0;\n@%p bra DONE;\nmov.b16 %h, 3;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%to], [%map, {%c0, %c1}], [bar], %h;",
        "setp.ne.u32 %p, %rank, 0;\nselp.u16 %h, 1, 2, %p;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%to], [%map, {%c0, %c1}], [bar], %h;",
        "setp.ne.u32 %p, %rank, 0;\nselp.u32 %x4, 0, 1, %p;\n"
        "mapa.shared::cluster.u32 %x5, %to, %x4;\nmapa.shared::cluster.u32 %x6, %bar, %x4;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%x5], [%map, {%c0, %c1}], [%x6];",
        "setp.ne.u32 %p, %rank, 0;\nselp.u32 %x4, 0, 1, %p;\n"
        "mapa.shared::cluster.u32 %x5, %to, %x4;\nmapa.shared::cluster.u32 %x6, %bar, %x4;\n"
        "add.u32 %x7, %to, 4096;\n"
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%x5], [%x7], 512, [%x6];"};
    struct tile t = {U32, 2, 3, {100, 50}, {400}, {16, 8}, ONES, {4, 5}, 512, 1024, 0};
    struct arguments all = {.bytes = 512, .to = 1024, .at = {4, 5}};
    tensor_prepare();
    MUST(tensor_encode(&t, CU_TENSOR_MAP_INTERLEAVE_NONE));
    tensor_launch(tensor_kernel(texts[index], CLUSTER(2)), 2, &all);
    EACH(cu->cuCtxSynchronize(), "case %u", (unsigned)index);
    tensor_see(2, false);
}

static void multicast(void)
{
    tensor_series(4, multicast_one);
}

/* --- What goes wrong, and what does not --- */
enum map_kind { PLAIN, NO_MEMORY, ZEROS, ONES_ALL, NOISE, IN_GLOBAL, NOWHERE, RANK_3, IM2COL };
struct trial {
    const char *name, *text;
    struct arguments all;
    enum map_kind map;
    unsigned move; /* of a map in global memory */
};
#define LOADED(rank, mode, coordinates)                                                            \
    "cp.async.bulk.tensor." rank ".shared::cluster.global." mode                                   \
    ".mbarrier::complete_tx::bytes [%to], [%map, " coordinates "], "
#define LOAD2 LOADED("2d", "tile", AT2)
#define STORE2                                                                                     \
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, %c1}], [%to];" COMMIT
#define FETCH2 "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map, {%c0, %c1}];"
#define COPIED                                                                                     \
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%map], [%to], %x0;" COMMIT
#define OWN                                                                                        \
    "mapa.shared::cluster.u32 %to, %to, %rank;\nmapa.shared::cluster.u32 %bar, %bar, %rank;\n"
#define STORED(bar)                                                                                \
    OWN "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to], %x0, [" bar "];"
#define REDUCED                                                                                    \
    OWN "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%to], "   \
        "%x0, [%bar];"
#define TO(where)                                                                                  \
    {                                                                                              \
        .bytes = 512, .to = where                                                                  \
    }
#define FROM(where)                                                                                \
    {                                                                                              \
        .to = where                                                                                \
    }
#define IN_AT(x, y)                                                                                \
    {                                                                                              \
        .bytes = 512, .at = { x, y }                                                               \
    }
#define OUT_AT(x, y)                                                                               \
    {                                                                                              \
        .at = { x, y }                                                                             \
    }

static const struct trial trials[] = {
    {"load to + 4", LOAD2 "[bar];", TO(4), PLAIN, 0},
    {"load to + 16", LOAD2 "[bar];", TO(16), PLAIN, 0},
    {"load to + 32", LOAD2 "[bar];", TO(32), PLAIN, 0},
    {"load to + 64", LOAD2 "[bar];", TO(64), PLAIN, 0},
    {"load to + 128", LOAD2 "[bar];", TO(128), PLAIN, 0},
    {"store from + 4", STORE2, FROM(4), PLAIN, 0},
    {"store from + 16", STORE2, FROM(16), PLAIN, 0},
    {"store from + 64", STORE2, FROM(64), PLAIN, 0},
    {"store from + 128", STORE2, FROM(128), PLAIN, 0},
    {"mbarrier + 4", LOAD2 "[bar+4];", TO(0), PLAIN, 0},
    {"mbarrier outside", LOAD2 "[bar+1048576];", TO(0), PLAIN, 0},
    {"load outside", LOAD2 "[bar];", TO(1 << 20), PLAIN, 0},
    {"store outside", STORE2, FROM(1 << 20), PLAIN, 0},
    {"load at 1, 0", LOAD2 "[bar];", IN_AT(1, 0), PLAIN, 0},
    {"load at 2, 0", LOAD2 "[bar];", IN_AT(2, 0), PLAIN, 0},
    {"load at 4, 0", LOAD2 "[bar];", IN_AT(4, 0), PLAIN, 0},
    {"load at 0, 3", LOAD2 "[bar];", IN_AT(0, 3), PLAIN, 0},
    {"load at -1, 0", LOAD2 "[bar];", IN_AT(-1, 0), PLAIN, 0},
    {"load at -4, 0", LOAD2 "[bar];", IN_AT(-4, 0), PLAIN, 0},
    {"load at 0, -1", LOAD2 "[bar];", IN_AT(0, -1), PLAIN, 0},
    {"load at 0, 49", LOAD2 "[bar];", IN_AT(0, 49), PLAIN, 0},
    {"load at 96, 0", LOAD2 "[bar];", IN_AT(96, 0), PLAIN, 0},
    {"load at 100, 50", LOAD2 "[bar];", IN_AT(100, 50), PLAIN, 0},
    {"load at 97, 0", LOAD2 "[bar];", IN_AT(97, 0), PLAIN, 0},
    {"store at 1, 0", STORE2, OUT_AT(1, 0), PLAIN, 0},
    {"store at 4, 0", STORE2, OUT_AT(4, 0), PLAIN, 0},
    {"store at 0, 3", STORE2, OUT_AT(0, 3), PLAIN, 0},
    {"store at -4, 0", STORE2, OUT_AT(-4, 0), PLAIN, 0},
    {"store at 0, -1", STORE2, OUT_AT(0, -1), PLAIN, 0},
    {"store at 0, 49", STORE2, OUT_AT(0, 49), PLAIN, 0},
    {"store at 96, 0", STORE2, OUT_AT(96, 0), PLAIN, 0},
    {"load of no memory", LOAD2 "[bar];", TO(0), NO_MEMORY, 0},
    {"load beyond no memory", LOAD2 "[bar];", IN_AT(100, 0), NO_MEMORY, 0},
    {"store to no memory", STORE2, FROM(0), NO_MEMORY, 0},
    {"prefetch of no memory", FETCH2, FROM(0), NO_MEMORY, 0},
    {"prefetch", FETCH2, FROM(0), PLAIN, 0},
    {"load, zeros", LOAD2 "[bar];", TO(0), ZEROS, 0},
    {"store, zeros", STORE2, FROM(0), ZEROS, 0},
    {"prefetch, zeros", FETCH2, FROM(0), ZEROS, 0},
    {"load, ones", LOAD2 "[bar];", TO(0), ONES_ALL, 0},
    {"store, ones", STORE2, FROM(0), ONES_ALL, 0},
    {"load, noise", LOAD2 "[bar];", TO(0), NOISE, 0},
    {"map in global memory", LOAD2 "[bar];", TO(0), IN_GLOBAL, 0},
    {"map in global memory + 16", LOAD2 "[bar];", TO(0), IN_GLOBAL, 16},
    {"map in global memory + 32", LOAD2 "[bar];", TO(0), IN_GLOBAL, 32},
    {"map in global memory + 64", LOAD2 "[bar];", TO(0), IN_GLOBAL, 64},
    {"map in no memory", LOAD2 "[bar];", TO(0), NOWHERE, 0},
    {"map in shared memory", "cvta.shared.u64 %map, 1024;\n" LOAD2 "[bar];", TO(0), PLAIN, 0},
    {"1d of 2", LOADED("1d", "tile", AT1) "[bar];", {.bytes = 64}, PLAIN, 0},
    {"3d of 2", LOADED("3d", "tile", AT3) "[bar];", TO(0), PLAIN, 0},
    {"2d of 3", LOAD2 "[bar];", TO(0), RANK_3, 0},
    {"store 1d of 2",
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%map, {%c0}], [%to];" COMMIT, FROM(0),
     PLAIN, 0},
    {"im2col by a tiled map", LOADED("3d", "im2col", AT3) "[bar], {0};", TO(0), RANK_3, 0},
    {"tiled by an im2col map", LOADED("3d", "tile", AT3) "[bar];", TO(0), IM2COL, 0},
    {"reduce 24 bytes", COPIED, {.more = {24}}, PLAIN, 0},
    {"reduce 0 bytes", COPIED, {.more = {0}}, PLAIN, 0},
    {"reduce 16 bytes", COPIED, {.more = {16}}, PLAIN, 0},
    {"reduce from + 8", COPIED, {.more = {32}, .to = 8}, PLAIN, 0},
    {"reduce to + 8", COPIED, {.more = {32}, .map = 8}, PLAIN, 0},
    {"reduce to nowhere", COPIED, {.more = {32}, .map = 1ULL << 44}, PLAIN, 0},
    {"reduce from outside", COPIED, {.more = {32}, .to = 1 << 20}, PLAIN, 0},
    {"copy 24 bytes",
     "cp.async.bulk.global.shared::cta.bulk_group [%map], [%to], %x0;" COMMIT,
     {.more = {24}},
     PLAIN,
     0},
    {"load 24 bytes",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%map], %x0, [bar];",
     {.more = {24}, .bytes = 24},
     PLAIN,
     0},
    {"load 24 bytes, expect 16",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%map], %x0, [bar];",
     {.more = {24}, .bytes = 16},
     PLAIN,
     0},
    {"store async", STORED("%bar"), {.bytes = 4}, PLAIN, 0},
    {"store async + 2", STORED("%bar"), {.bytes = 4, .to = 2}, PLAIN, 0},
    {"store async outside",
     OWN "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to+1048576], %x0, [%bar];",
     {.bytes = 4},
     PLAIN,
     0},
    {"store async, mbarrier + 4", STORED("%bar+4"), {.bytes = 4}, PLAIN, 0},
    {"red async + 2", REDUCED, {.bytes = 4, .to = 2}, PLAIN, 0},
    {"red async outside",
     OWN "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
         "[%to+1048576], %x0, [%bar];",
     {.bytes = 4},
     PLAIN,
     0},
    {"copy within a block",
     "add.u32 %x4, %to, 8192;\n"
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [%x4], 512, "
     "[bar];",
     TO(0), PLAIN, 0},
    {"copy within a cluster of one",
     OWN "mov.u32 %x4, room;\nadd.u32 %x4, %x4, 8192;\n"
         "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [%x4], "
         "512, [%bar];",
     TO(0), PLAIN, 0},
    {"multicast without a cluster",
     "mov.b16 %h, 1;\n"
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
     ".multicast::cluster [%to], [%map, {%c0, %c1}], [bar], %h;",
     TO(0), PLAIN, 0},
};

/* A map of a kind; where the kernel finds it, if not in its parameter. */
static CUdeviceptr trial_map(const struct trial *trial)
{
    struct tile t = {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {0, 0}, 512, 0, 0};
    CUdeviceptr real = tensor_memory, place;
    switch (trial->map) {
    case ZEROS:
        memset(&tensor_map, 0, sizeof tensor_map);
        return 0;
    case ONES_ALL:
        memset(&tensor_map, 0xff, sizeof tensor_map);
        return 0;
    case NOISE:
        memset(&tensor_map, 0x5a, sizeof tensor_map);
        return 0;
    case NOWHERE:
        return 1ULL << 44;
    case RANK_3:
        t.rank = 3, t.dims[2] = 4, t.strides[1] = 20000, t.box[2] = 1;
        break;
    case IM2COL:
        MUST(cu->cuTensorMapEncodeIm2col(
            &tensor_map, U32, 3, (void *)(uintptr_t)tensor_memory, (cuuint64_t[]){8, 10, 4},
            (cuuint64_t[]){32, 320}, (int[]){0}, (int[]){0}, 8, 16, t.steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        return 0;
    case NO_MEMORY:
        tensor_memory = 1ULL << 44;
        break;
    default:
        break;
    }
    MUST(tensor_encode(&t, CU_TENSOR_MAP_INTERLEAVE_NONE));
    tensor_memory = real;
    if (trial->map != IN_GLOBAL)
        return 0;
    place = conform_memory(4096);
    MUST(cu->cuMemcpyHtoD(place + trial->move, &tensor_map, sizeof tensor_map));
    return place + trial->move;
}

static void try(size_t index)
{
    const struct trial *trial = &trials[index];
    struct arguments all = trial->all;
    tensor_prepare();
    CUdeviceptr map = trial_map(trial);
    if (!strstr(trial->text, "tensor")) /* the address of a copy without a map */
        all.map = all.map < 4096 ? tensor_memory + all.map : all.map;
    else
        all.map = map;
    tensor_launch(tensor_kernel(trial->text, strstr(trial->text, "mapa") ? CLUSTER(1) : ""), 1,
                  &all);
    EACH(cu->cuCtxSynchronize(), "%s", trial->name);
    tensor_see(1, !all.bytes);
}

static void tried(void)
{
    tensor_series(sizeof trials / sizeof *trials, try);
}

/* A map that the kernel changes. */
static void replaced_one(size_t index)
{
    static const char *const texts[] = {
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%x4], %l;",
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%x4], 1, 4;",
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%x4], 0, 10;",
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%x4], 0, 800;",
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%x4], 1, 2;",
        "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%x4], 1;",
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%x4], 1;"};
    struct tile t = {F32, 2, 0, {100, 50}, {400}, {8, 8}, ONES, {0, 0}, 256, 0, 0};
    char text[16384], operation[4096];
    struct arguments all = {.bytes = index == 1   ? 128
                                     : index == 4 ? 128
                                     : index == 6 ? 64
                                                  : 256,
                            .at = {96, 45}};
    CUmodule module = NULL;
    CUfunction function = NULL;
    tensor_prepare();
    MUST(tensor_encode(&t, CU_TENSOR_MAP_INTERLEAVE_NONE));
    MUST(cu->cuMemcpyHtoD(tensor_from + 16384, &tensor_map, sizeof tensor_map));
    all.map = conform_memory(4096);
    MUST(cu->cuMemcpyHtoD(all.map, &tensor_memory, 8));
    snprintf(operation, sizeof operation,
             "ld.global.u64 %%l, [%%map];\nadd.u64 %%l, %%l, 64;\nadd.u32 %%x4, %%to, 16384;\n"
             "%s\nmov.u32 %%x5, 0;\nCOPY:\nadd.u32 %%x6, %%x4, %%x5;\nld.shared.u32 %%x7, "
             "[%%x6];\ncvt.u64.u32 %%a, %%x5;\nadd.u64 %%a, %%a, %%map;\nst.global.u32 [%%a], "
             "%%x7;\nadd.u32 %%x5, %%x5, 4;\nsetp.lt.u32 %%p, %%x5, 128;\n@%%p bra COPY;\n"
             "mov.u32 %%x5, 0;\nWIPE:\nadd.u32 %%x6, %%x4, %%x5;\nst.shared.u32 [%%x6], 0;\n"
             "add.u32 %%x5, %%x5, 4;\nsetp.lt.u32 %%p, %%x5, 128;\n@%%p bra WIPE;\n"
             "fence.proxy.tensormap::generic.release.gpu;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%%map], 128;\n%s[bar];",
             texts[index], LOAD2);
    snprintf(text, sizeof text, "%s", tensor_text(operation, ""));
    char *target = strstr(text, ".target sm_90\n");
    memmove(target + 14, target + 13, strlen(target + 13) + 1);
    target[13] = 'a';
    MUST(cu->cuModuleLoadData(&module, text));
    MUST(cu->cuModuleGetFunction(&function, module, "k"));
    tensor_launch(function, 1, &all);
    EACH(cu->cuCtxSynchronize(), "case %u", (unsigned)index);
    tensor_see(1, false);
}

static void replaced(void)
{
    tensor_series(10, replaced_one);
}

static const struct sequence sequences[] = {S(reduce_global, BARE),
                                            S(reduce_shared, BARE),
                                            S(asynchronous, BARE),
                                            S(multicast, BARE),
                                            S(tried, BARE),
                                            S(replaced, BARE),
                                            {0}};
const struct family tensor_copy_family = {"tensor_copy", sequences};
