/* SPDX-License-Identifier: MIT */
/* cp.async.bulk.tensor in every direction, its maps, and what it refuses. tests/sim/conformance
 * has what a device computed; here is what the numbers mean. */
#include "exec_case.h"

/* The tensor lies at FROM, the map at MAP; the kernel writes before both. */
enum { FROM = 4096, MAP = 12288 };
/* %d2: the map; %r1: the tile; %r2: the mbarrier; %p1: not the first thread. */
#define TENSOR_HEAD                                                                                \
    ".shared .align 1024 .b8 tile[2048];\n.shared .align 8 .b64 barrier;\n"                        \
    "mov.u32 %r1, tile;\nmov.u32 %r2, barrier;\nsetp.ne.u32 %p1, %r61, 0;\n"                       \
    "add.u64 %d2, %d0, 12288;\nshl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\n"                    \
    "st.shared.u32 [%r3], 0;\n"
#define TENSOR_INIT(bytes)                                                                         \
    "@%p1 bra GO;\nmbarrier.init.shared::cta.b64 [%r2], 1;\n"                                      \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], " #bytes ";\nGO:\nbar.sync 0;\n"
#define TENSOR_WAIT                                                                                \
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n"
#define TENSOR_READ "ld.shared.u32 %r4, [%r3];\nst.global.u32 [%d1], %r4;\n"
#define LOAD2 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
#define STORE2 "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"

/* 20 columns of 10 rows, a row each 96 bytes; a tile has 8 columns of 4 rows. Word i of the memory
 * is 1000 + i. */
static struct ptx_tensor plain(const struct exec_case *one)
{
    struct ptx_tensor tensor;

    memset(&tensor, 0, sizeof tensor);
    tensor.address = one->out + FROM;
    tensor.strides[0] = 96;
    tensor.sizes[0] = 19;
    tensor.sizes[1] = 9;
    tensor.box[0] = 8;
    tensor.box[1] = 4;
    tensor.type = PTX_TENSOR_U32;
    tensor.rank = 2;
    for (unsigned i = 0; i < PTX_TENSOR_RANKS; i++)
        tensor.steps[i] = 1;
    return tensor;
}

static void put(struct exec_case *one, const struct ptx_tensor *tensor)
{
    for (unsigned i = 0; i < 1024; i++)
        one->words[FROM / 4 + i] = 1000 + i;
    ptx_tensor_encode(tensor, one->words + MAP / 4);
}

static uint32_t word(unsigned column, unsigned row)
{
    return 1000 + row * 24 + column;
}

static void loads(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                  128) "@%p1 bra READ;\n" LOAD2
                       " [%r1], [%d2, {4, 3}], [%r2];\nREAD:\n" TENSOR_WAIT TENSOR_READ),
              1, 32);
    tensor = plain(&one);
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(one.words[i], word(4 + i % 8, 3 + i / 8));
    exec_close(&one);
}

/* What is outside is zero, or not a number. */
static void outside(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    for (unsigned nan = 0; nan < 2; nan++) {
        exec_open(
            &one,
            EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                128) "@%p1 bra READ;\n" LOAD2
                     ".L2::cache_hint [tile], [%d2, {16, -1}], [barrier], %d3;\nREAD:\n" TENSOR_WAIT
                          TENSOR_READ),
            1, 32);
        tensor = plain(&one);
        tensor.type = PTX_TENSOR_F32;
        tensor.nan = (uint8_t)nan;
        put(&one, &tensor);
        exec_good(&one);
        for (unsigned i = 0; i < 32; i++) {
            bool in = i / 8 >= 1 && i % 8 < 4;

            assert_int_equal(one.words[i], in ? word(16 + i % 8, i / 8 - 1) : nan ? 0x7ff77ff7 : 0);
        }
        exec_close(&one);
    }
}

/* Rows of 32 bytes that are 128 apart; of the eighth row on nothing is left. */
static void swizzled(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                  128) "@%p1 bra READ;\n" LOAD2
                       " [%r1], [%d2, {0, 0}], [%r2];\nREAD:\n" TENSOR_WAIT TENSOR_READ),
              1, 128);
    tensor = plain(&one);
    tensor.swizzle = 3;
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 128; i++) {
        unsigned row = i / 32, piece = (i / 4 % 8) ^ row;

        assert_int_equal(one.words[i], piece < 2 ? word(piece * 4 + i % 4, row) : 0);
    }
    exec_close(&one);
}

static void stepped(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                  64) "@%p1 bra READ;\n" LOAD2
                      " [%r1], [%d2, {0, 2}], [%r2];\nREAD:\n" TENSOR_WAIT TENSOR_READ),
              1, 32);
    tensor = plain(&one);
    tensor.steps[1] = 3;
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(one.words[i], i < 16 ? word(i % 8, 2 + i / 8 * 3) : 0);
    exec_close(&one);
}

/* The threads' numbers go to the lower right corner; rows and columns beyond are left alone. */
static void stores(const char *operation, uint32_t base)
{
    char text[2048];
    struct exec_case one;
    struct ptx_tensor tensor;

    snprintf(text, sizeof text, "%s%s%s%s",
             EXEC_MODULE EXEC_ENTRY TENSOR_HEAD
             "st.shared.u32 [%r3], %r0;\nfence.proxy.async;\nbar.sync 0;\n@%p1 bra END;\n",
             operation,
             " [%d2, {16, 8}], [%r1];\ncp.async.bulk.commit_group;\n"
             "cp.async.bulk.wait_group 0;\nEND:\n",
             "ret;\n}\n");
    exec_open(&one, text, 1, 32);
    tensor = plain(&one);
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 24 * 10; i++) {
        unsigned column = i % 24, row = i / 24;
        bool in = column >= 16 && column < 20 && row >= 8;
        uint32_t old = word(column, row), put_there = column - 16 + (row - 8) * 8;

        assert_int_equal(one.words[FROM / 4 + i], in ? put_there + base * old : old);
    }
    exec_close(&one);
}

static void stored(void **state)
{
    (void)state;
    stores(STORE2, 0);
    stores("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group", 1);
}

/* 4 channels of a picture of 6 times 5: the pixels from (3, 1) on, each moved by (1, 1). */
static void pixels(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                  128) "@%p1 bra READ;\n"
                       "cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                       ".mbarrier::complete_tx::bytes [%r1], [%d2, {0, 3, 1, 0}], [%r2], "
                       "{1, 1};\nREAD:\n" TENSOR_WAIT TENSOR_READ),
              1, 32);
    tensor = plain(&one);
    tensor.rank = 4;
    tensor.im2col = 1;
    tensor.sizes[0] = 3, tensor.sizes[1] = 5, tensor.sizes[2] = 4, tensor.sizes[3] = 1;
    tensor.strides[0] = 16, tensor.strides[1] = 96, tensor.strides[2] = 480;
    tensor.upper[0] = tensor.upper[1] = -1;
    tensor.channels = 4;
    tensor.pixels = 8;
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++) {
        /* Columns 0 to 4 of rows 0 to 3 are where pixels begin. */
        unsigned pixel = 1 * 5 + 3 + i / 4;
        unsigned column = pixel % 5 + 1, row = pixel / 5 + 1;

        assert_int_equal(one.words[i], 1000 + row * 24 + column * 4 + i % 4);
    }
    exec_close(&one);
}

/* Both blocks of a cluster have the tile that the first one asks for. */
static void multicast(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              EXEC_BODY(TENSOR_HEAD TENSOR_INIT(
                  128) "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                       "mov.u32 %r5, %cluster_ctarank;\nsetp.ne.or.u32 %p4, %r5, 0, %p1;\n"
                       "@%p4 bra READ;\nmov.b16 %h1, 3;\n" LOAD2
                       ".multicast::cluster [%r1], [%d2, {4, 3}], [%r2], %h1;\nREAD:\n" TENSOR_WAIT
                            TENSOR_READ),
              2, 32);
    one.request.cluster[0] = 2;
    tensor = plain(&one);
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], word(4 + i % 8, 3 + i % 32 / 8));
    exec_close(&one);
}

/* The kernel makes the map of another tensor of its parameter's. */
static void replaced(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              ".version 8.3\n.target sm_90a\n.address_size 64\n" EXEC_ENTRY TENSOR_HEAD
              ".shared .align 128 .b8 map[128];\n"
              "@%p1 bra COPY;\nadd.u64 %d3, %d0, 4480;\nmov.u32 %r9, 2;\n"
              "tensormap.replace.tile.global_address.global.b1024.b64 [%d2], %d3;\n"
              "tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 1, %r9;\n"
              "tensormap.replace.tile.global_stride.global.b1024.b64 [%d2], 0, 48;\n"
              "tensormap.replace.tile.element_stride.global.b1024.b32 [%d2], 1, 1;\n"
              "tensormap.replace.tile.global_dim.global.b1024.b32 [%d2], 0, 6;\n"
              "tensormap.replace.tile.elemtype.global.b1024.b32 [%d2], 7;\n"
              "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d2], 0;\n"
              "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d2], 0;\n"
              "tensormap.replace.tile.fill_mode.global.b1024.b32 [%d2], 1;\n"
              "tensormap.replace.tile.rank.global.b1024.b32 [%d2], 1;\n"
              "fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;\nCOPY:\nbar.sync 0;\n"
              "cvt.u64.u32 %d4, %r3;\n" TENSOR_INIT(
                  64) "@%p1 bra READ;\n" LOAD2
                      " [%r1], [%d2, {0, 0}], [%r2];\nREAD:\n" TENSOR_WAIT TENSOR_READ "ret;\n}\n",
              1, 16);
    tensor = plain(&one);
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(one.words[i],
                         i % 8 < 6 ? 1000 + (4480 - FROM) / 4 + i / 8 * 12 + i % 8 : 0x7ff77ff7);
    exec_close(&one);
}

/* From shared memory to global memory, where a copy uses it. */
static void fenced(void **state)
{
    struct exec_case one;
    struct ptx_tensor tensor;

    (void)state;
    exec_open(&one,
              ".version 8.3\n.target sm_90\n.address_size 64\n" EXEC_ENTRY TENSOR_HEAD
              ".shared .align 128 .b8 map[128];\nmov.u32 %r8, map;\nadd.u32 %r9, %r3, %r8;\n"
              "sub.u32 %r9, %r9, %r1;\nadd.u64 %d3, %d1, 12288;\nld.global.u32 %r10, [%d3];\n"
              "st.shared.u32 [%r9], %r10;\nbar.sync 0;\nadd.u64 %d2, %d2, 1024;\n"
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync"
              ".aligned [%d2], [%r8], 128;\n" TENSOR_INIT(
                  128) "@%p1 bra READ;\n" LOAD2
                       " [%r1], [%d2, {4, 3}], [%r2];\nREAD:\n" TENSOR_WAIT TENSOR_READ "ret;\n}\n",
              1, 32);
    tensor = plain(&one);
    put(&one, &tensor);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(one.words[i], word(4 + i % 8, 3 + i / 8));
    exec_close(&one);
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        enum ptx_fault_kind kind;
        const char *what;
    } cases[] = {
        {LOAD2 " [%r1+64], [%d2, {0, 0}], [%r2];\n", PTX_FAULT_MISALIGNED, "multiple of 128"},
        {LOAD2 " [%r1], [%d2, {1, 0}], [%r2];\n", PTX_FAULT_ILLEGAL_INSTRUCTION, "innermost"},
        {LOAD2 " [%r1], [%d2, {0, 0}], [%r2+4];\n", PTX_FAULT_MISALIGNED, "8 bytes is misaligned"},
        {LOAD2 " [%r1+2048], [%d2, {0, 0}], [%r2];\n", PTX_FAULT_ILLEGAL_ADDRESS, "writes 16"},
        {STORE2 " [%d2, {0, -1}], [%r1];\n", PTX_FAULT_ILLEGAL_INSTRUCTION, "negative"},
        {STORE2 " [%d2, {-4, 0}], [%r1];\n", PTX_FAULT_ILLEGAL_INSTRUCTION, "negative"},
        {"add.u64 %d2, %d2, 64;\n" LOAD2 " [%r1], [%d2, {0, 0}], [%r2];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "damaged"},
        {"add.u64 %d2, %d2, 32;\n" LOAD2 " [%r1], [%d2, {0, 0}], [%r2];\n", PTX_FAULT_MISALIGNED,
         "misaligned"},
        {"st.global.u8 [%d2+40], 3;\n" LOAD2 " [%r1], [%d2, {0, 0}], [%r2];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "damaged"},
        {"cvta.shared.u64 %d2, 0;\n" LOAD2 " [%r1], [%d2, {0, 0}], [%r2];\n",
         PTX_FAULT_ILLEGAL_ADDRESS, "neither"},
        {"mov.u64 %d2, 4096;\n" LOAD2 " [%r1], [%d2, {0, 0}], [%r2];\n", PTX_FAULT_ILLEGAL_ADDRESS,
         "reads 64 bytes"},
        {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d2, {0}], [%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "another kind"},
        {"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
         "[%d2, {0, 0, 0}], [%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "another kind"},
        {"st.global.u32 [%d2], 0;\ncp.async.bulk.prefetch.tensor.2d.L2.global [%d2, {0, 0}];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "damaged"},
        {"tensormap.replace.tile.global_address.global.b1024.b64 [%d2], 4096;\n" LOAD2
         " [%r1], [%d2, {0, 0}], [%r2];\n",
         PTX_FAULT_ILLEGAL_ADDRESS, "no live memory"},
        {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d2], 0;\n" LOAD2
         " [%r1], [%d2, {0, 0}], [%r2];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "cannot be copied"},
        {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 1, 60000;\n" STORE2
         " [%d2, {0, 100}], [%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "cannot be copied"},
        {"tensormap.replace.tile.rank.global.b1024.b32 [%d2], 4;\n"
         "tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 1, 65535;\n"
         "tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 2, 65535;\n"
         "tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 3, 65535;\n"
         "tensormap.replace.tile.box_dim.global.b1024.b32 [%d2], 4, 65535;\n"
         "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%d2, {0, 100, 0, 0, 0}], "
         "[%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "cannot be copied"},
        {"tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d2], 1;\n" STORE2
         " [%d2, {0, 0}], [%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "cannot be copied"},
        {"tensormap.replace.tile.global_stride.global.b1024.b64 [%d2], 0, 98;\n" STORE2
         " [%d2, {0, 0}], [%r1];\n",
         PTX_FAULT_MISALIGNED, "a stride is no multiple"},
        {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d2], 7;\n"
         "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group [%d2, {0, 0}], [%r1];\n",
         PTX_FAULT_ILLEGAL_INSTRUCTION, "no such reduction"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct exec_case one;
        struct ptx_tensor tensor;

        snprintf(text, sizeof text, ".version 8.3\n.target sm_90a\n.address_size 64\n%s%s%s",
                 EXEC_ENTRY TENSOR_HEAD "mbarrier.init.shared::cta.b64 [%r2], 1;\n", cases[i].text,
                 "ret;\n}\n");
        exec_open(&one, text, 1, 1);
        tensor = plain(&one);
        put(&one, &tensor);
        exec_fails(&one, cases[i].kind, "tensor", cases[i].what);
        exec_close(&one);
    }
}

/* A tensor's last rows may end where the memory does. */
static void at_the_end(void **state)
{
    static const uint8_t sizes[] = {1, 2, 4, 8};

    (void)state;
    for (unsigned i = 0; i < sizeof sizes; i++) {
        struct exec_case one;
        struct ptx_tensor tensor;

        exec_open(&one,
                  EXEC_BODY(TENSOR_HEAD "@%p1 bra END;\n"
                                        "st.shared.v4.u32 [tile], {0, 0, 0, 0};\n"
                                        "st.shared.v4.u32 [tile+16], {0, 0, 0, 0};\n"
                                        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group "
                                        "[%d2, {0}], [%r1];\nEND:\n"),
                  1, 1);
        tensor = plain(&one);
        tensor.rank = 1;
        tensor.type = sizes[i] == 1   ? PTX_TENSOR_U8
                      : sizes[i] == 2 ? PTX_TENSOR_U16
                      : sizes[i] == 4 ? PTX_TENSOR_U32
                                      : PTX_TENSOR_U64;
        tensor.box[0] = (uint16_t)(64 / sizes[i]);
        tensor.sizes[0] = 24u / sizes[i] - 1;
        tensor.address = one.out + EXEC_WORDS * 4 - 32;
        put(&one, &tensor);
        memset(one.words + EXEC_WORDS - 8, 7, 32);
        exec_good(&one);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(((uint8_t *)(one.words + EXEC_WORDS - 8))[k], 0);
        tensor.address = one.out + EXEC_WORDS * 4 - 16;
        tensor.sizes[0] = 40u / sizes[i] - 1;
        put(&one, &tensor);
        exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "tensor", "writes 40 bytes");
        exec_close(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),     cmocka_unit_test(outside),    cmocka_unit_test(swizzled),
        cmocka_unit_test(stepped),   cmocka_unit_test(stored),     cmocka_unit_test(pixels),
        cmocka_unit_test(multicast), cmocka_unit_test(replaced),   cmocka_unit_test(fenced),
        cmocka_unit_test(refusals),  cmocka_unit_test(at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
