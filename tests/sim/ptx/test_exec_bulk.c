/* SPDX-License-Identifier: MIT */
/* cp.async.bulk: every direction, with the mbarrier that counts its bytes, and what it refuses. */
#include "exec_case.h"

/* The words that are copied from lie behind those that the kernel writes. */
#define BULK_FROM 8192
#define BULK_SHARED                                                                                \
    ".shared .align 16 .b8 buffer[1024];\n.shared .align 8 .b64 pad, barrier;\n"                   \
    "mov.u32 %r1, buffer;\nmov.u32 %r2, barrier;\nsetp.ne.u32 %p1, %r61, 0;\n"
#define BULK_WAIT                                                                                  \
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n"
/* Every thread's own word of the buffer. */
#define BULK_READ                                                                                  \
    "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\nld.shared.u32 %r4, [%r3];\n"                   \
    "st.global.u32 [%d1], %r4;\n"

static void bulk_fill(struct exec_case *one)
{
    for (unsigned i = 0; i < 1024; i++)
        one->words[BULK_FROM / 4 + i] = 1000 + i;
}

/* The copy may be complete before its bytes are expected. */
static void loads(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(
        &one,
        EXEC_BODY(
            BULK_SHARED
            "@%p1 bra GO;\nmbarrier.init.shared::cta.b64 [%r2], 1;\n"
            "mov.u32 %r9, 96;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[buffer+32], [%d0+8208], %r9, [pad+8];\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
            "L2::cache_hint [%r1], [%d0+8192], 32, [%r2], %d2;\n"
            "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 0;\n"
            "selp.u32 %r8, 1, 0, %p3;\nst.global.u32 [%d0+4096], %r8;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;\n"
            "cp.async.bulk.prefetch.L2.global [%d0], 64;\nGO:\nbar.sync 0;\n" BULK_WAIT BULK_READ),
        1, 64);
    bulk_fill(&one);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(one.words[i], i < 8 ? 1000 + i : 1000 + i - 4);
    assert_int_equal(one.words[1024], 0);
    exec_close(&one);
}

static void stores(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY(BULK_SHARED
                        "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\nst.shared.u32 [%r3], %r0;\n"
                        "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra END;\n"
                        "mul.wide.u32 %d3, %r63, 512;\nadd.u64 %d3, %d3, %d0;\n"
                        "cp.async.bulk.global.shared::cta.bulk_group [%d3+256], [%r1], 256;\n"
                        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                        "cp.async.bulk.wait_group 0;\nEND:\n"),
              2, 64);
    exec_good(&one);
    for (unsigned i = 0; i < 128; i++) {
        assert_int_equal(one.words[i / 64 * 128 + i % 64], 0);
        assert_int_equal(one.words[i / 64 * 128 + 64 + i % 64], i);
    }
    exec_close(&one);
}

/* Of each 16 bytes the first, the last and the fifth to eighth are written. */
static void masked_store(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open_on(&one, 100,
                 ".version 8.6\n.target sm_100\n.address_size 64\n" EXEC_ENTRY BULK_SHARED
                 "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\n"
                 "st.shared.u32 [%r3], 0x44332211;\nbar.sync 0;\n@%p1 bra END;\n"
                 "mov.b16 %h1, 0x80f1;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask "
                 "[%d0], [%r1], 64, %d2, %h1;\ncp.async.bulk.wait_group 0;\nEND:\nret;\n}\n",
                 1, 32);
    exec_good(&one);
    for (unsigned i = 0; i < 32; i++) {
        static const uint32_t parts[] = {0x11, 0x44332211, 0, 0x44000000};

        assert_int_equal(one.words[i], i < 16 ? parts[i % 4] : 0);
    }
    exec_close(&one);
}

#define BULK_CLUSTER                                                                               \
    BULK_SHARED "@%p1 bra GO;\nmbarrier.init.shared::cta.b64 [%r2], 1;\n"                          \
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;\nGO:\n"                  \
                "mov.u32 %r5, %cluster_ctarank;\n"                                                 \
                "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"

static void bulk_cluster(const char *text)
{
    struct exec_case one;

    exec_open(&one, text, 4, 32);
    one.request.cluster[0] = 2;
    bulk_fill(&one);
    exec_good(&one);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(one.words[i], 1000 + i % 32 + i / 64 * 64);
    exec_close(&one);
}

/* Rank 0 has its words in both blocks by multicast. Each cluster reads at its own place. */
static void multicast(void **state)
{
    (void)state;
    bulk_cluster(EXEC_BODY(
        BULK_CLUSTER
        "setp.ne.or.u32 %p4, %r5, 0, %p1;\n@%p4 bra READ;\nmov.b16 %h1, 3;\n"
        "mul.wide.u32 %d3, %r63, 128;\nadd.u64 %d3, %d3, %d0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [%r1], [%d3+8192], 128, [%r2], %h1;\nREAD:\n" BULK_WAIT BULK_READ));
}

/* Each block has its words from global memory, and the other's second half from its block. */
static void between_blocks(void **state)
{
    (void)state;
    bulk_cluster(
        EXEC_BODY(BULK_CLUSTER
                  "@%p1 bra READ;\nxor.b32 %r6, %r5, 1;\nmapa.shared::cluster.u32 %r7, %r1, %r6;\n"
                  "mapa.shared::cluster.u32 %r8, %r2, %r6;\nsub.u32 %r9, %r63, %r5;\n"
                  "mul.wide.u32 %d3, %r9, 128;\nadd.u64 %d3, %d3, %d0;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                  "[%d3+8192], 64, [%r2];\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7+64], "
                  "[%d3+8256], 64, [%r8];\nREAD:\n" BULK_WAIT BULK_READ
                  "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"));
    bulk_cluster(
        EXEC_BODY(BULK_CLUSTER
                  "@%p1 bra READ;\nxor.b32 %r6, %r5, 1;\nmapa.shared::cluster.u32 %r7, %r1, %r6;\n"
                  "mapa.shared::cluster.u32 %r8, %r2, %r6;\nsub.u32 %r9, %r63, %r5;\n"
                  "mul.wide.u32 %d3, %r9, 128;\nadd.u64 %d3, %d3, %d0;\n"
                  "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d3+8192];\n"
                  "st.shared.v4.u32 [buffer+512], {%r10, %r11, %r12, %r13};\n"
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], "
                  "[buffer+512], 16, [%r8];\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+16], "
                  "[%d3+8208], 112, [%r2];\nREAD:\n" BULK_WAIT BULK_READ
                  "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"));
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        enum ptx_fault_kind kind;
        const char *what;
    } cases[] = {
        {"[%r1], [%d0+8192], %r9, [%r2];\n", PTX_FAULT_MISALIGNED, "no multiple of 16"},
        {"[%r1+8], [%d0+8192], 32, [%r2];\n", PTX_FAULT_MISALIGNED, "misaligned"},
        {"[%r1], [%d0+8200], 32, [%r2];\n", PTX_FAULT_MISALIGNED, "misaligned"},
        {"[%r1], [%d0+16368], 32, [%r2];\n", PTX_FAULT_ILLEGAL_ADDRESS, "reads 16 bytes"},
        {"[%r1+1024], [%d0], 1024, [%r2];\n", PTX_FAULT_ILLEGAL_ADDRESS, "writes 16 bytes"},
        {"[%r1], [%d0], 32, [%r2+4];\n", PTX_FAULT_MISALIGNED, "8 bytes is misaligned"},
        {"[%r1], [%d0], 32, [%r2+65536];\n", PTX_FAULT_ILLEGAL_ADDRESS, "writes 8 bytes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct exec_case one;

        snprintf(text, sizeof text, "%s%s%s",
                 EXEC_MODULE EXEC_ENTRY BULK_SHARED
                 "mov.u32 %r9, 24;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ",
                 cases[i].text, "ret;\n}\n");
        exec_open(&one, text, 1, 1);
        exec_fails(&one, cases[i].kind, "cp.async.bulk", cases[i].what);
        exec_close(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_store),   cmocka_unit_test(loads),
        cmocka_unit_test(stores),         cmocka_unit_test(multicast),
        cmocka_unit_test(between_blocks), cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
