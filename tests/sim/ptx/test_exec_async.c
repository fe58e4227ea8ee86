/* SPDX-License-Identifier: MIT */
/* st.async, red.async, st.bulk and cp.reduce.async.bulk: their results, and what they refuse. */
#include "exec_case.h"

/* The buffer holds each word's own number; %r1: the buffer, %r2: the mbarrier, %r3: the thread's
 * word, %p1: not the first thread. */
#define ASYNC_HEAD                                                                                 \
    ".shared .align 16 .b8 buffer[1024];\n.shared .align 8 .b64 barrier;\n"                        \
    "mov.u32 %r1, buffer;\nmov.u32 %r2, barrier;\nsetp.ne.u32 %p1, %r61, 0;\n"                     \
    "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\nst.shared.u32 [%r3], %r61;\n"                  \
    "mov.u32 %r5, %cluster_ctarank;\nxor.b32 %r6, %r5, 1;\n"
#define ASYNC_INIT(bytes)                                                                          \
    "@%p1 bra GO;\nmbarrier.init.shared::cta.b64 [%r2], 1;\n"                                      \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], " bytes ";\nGO:\n"                        \
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"                                             \
    "mapa.shared::cluster.u32 %r7, %r1, %r6;\nmapa.shared::cluster.u32 %r8, %r2, %r6;\n"
#define ASYNC_WAIT                                                                                 \
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n"
#define ASYNC_READ "ld.shared.u32 %r4, [%r3];\nst.global.u32 [%d1], %r4;\n"
#define TX "mbarrier::complete_tx::bytes"
#define HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"

/* Two blocks of a cluster, of 64 threads each; what the first thread of each does to the other. */
static void peers(struct exec_case *one, const char *bytes, const char *operation)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s%s%s%s",
             HEAD("8.1", "sm_90") EXEC_ENTRY ASYNC_HEAD "mov.u32 %r9, ", bytes,
             ";\n" ASYNC_INIT("%r9") "@%p1 bra READ;\n", operation,
             "\nREAD:\n" ASYNC_WAIT ASYNC_READ
             "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n");
    exec_open(one, text, 2, 64);
    one->request.cluster[0] = 2;
    exec_good(one);
}

static void stores(void **state)
{
    struct exec_case one;

    (void)state;
    peers(&one, "44",
          "add.u32 %r10, %r5, 100;\ncvt.u64.u32 %d5, %r10;\n"
          "st.async.weak.shared::cluster." TX ".b32 [%r7], %r10, [%r8];\n"
          "st.async.shared::cluster." TX ".v4.u32 [%r7+16], {%r10, 7, 8, %r10}, [%r8];\n"
          "st.async.shared::cluster." TX ".v2.b64 [%r7+32], {%d5, 9}, [%r8];\n"
          "cvt.u64.u32 %d6, %r7;\ncvt.u64.u32 %d7, %r8;\n"
          "cvta.shared.u64 %d6, %d6;\ncvta.shared.u64 %d7, %d7;\n"
          "st.async." TX ".v2.f32 [%d6+48], {0f3f800000, 0f40000000}, [%d7];");
    for (unsigned block = 0; block < 2; block++) {
        const uint32_t *words = one.words + (size_t)block * 64;
        uint32_t from = 100 + (block ^ 1);
        const uint32_t wanted[] = {from, 1, 2, 3, from,       7,          8,  from,
                                   from, 0, 9, 0, 0x3f800000, 0x40000000, 14, 15};

        assert_memory_equal(words, wanted, sizeof wanted);
    }
    exec_close(&one);
}

/* cp.async with a predicate: where it holds, zeros come in place of the source. */
static void ignored_sources(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              HEAD("8.1", "sm_90") EXEC_ENTRY ASYNC_HEAD
              "and.b32 %r9, %r61, 1;\nsetp.ne.u32 %p2, %r9, 0;\nst.global.u32 [%d1], 7;\n"
              "cp.async.ca.shared.global [%r3], [%d1], 4, %p2;\ncp.async.wait_all;\n" ASYNC_READ
              "ret;\n}\n",
              1, 64);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], i % 2 ? 0 : 7);
    exec_close(&one);
}

static void single_reductions(void **state)
{
    struct exec_case one;

    (void)state;
#define RED "red.async.relaxed.cluster.shared::cluster." TX
    peers(&one, "48",
          RED ".add.u32 [%r7], 5, [%r8];\n" RED ".add.s32 [%r7+4], -3, [%r8];\n" RED
              ".min.s32 [%r7+8], -1, [%r8];\n" RED ".min.u32 [%r7+12], -1, [%r8];\n" RED
              ".max.s32 [%r7+16], -1, [%r8];\n" RED ".max.u32 [%r7+20], -1, [%r8];\n" RED
              ".inc.u32 [%r7+24], 5, [%r8];\n" RED ".dec.u32 [%r7+28], 50, [%r8];\n" RED
              ".and.b32 [%r7+32], 12, [%r8];\n" RED ".or.b32 [%r7+36], 6, [%r8];\n" RED
              ".xor.b32 [%r7+40], 3, [%r8];\n" RED ".add.u32 [%r7+44], 1, [%r8];");
    for (unsigned block = 0; block < 2; block++) {
        const uint32_t wanted[] = {5, (uint32_t)-2, (uint32_t)-1, 3, 4, (uint32_t)-1, 0, 6, 8, 15,
                                   9, 12,           12,           13};

        assert_memory_equal(one.words + (size_t)block * 64, wanted, sizeof wanted);
    }
    exec_close(&one);
    peers(&one, "16",
          RED ".add.u64 [%r7], 0x100000001, [%r8];\n" RED ".add.s64 [%r7+8], -1, [%r8];");
    for (unsigned block = 0; block < 2; block++) {
        const uint32_t wanted[] = {1, 2, 1, 3, 4};

        assert_memory_equal(one.words + (size_t)block * 64, wanted, sizeof wanted);
    }
    exec_close(&one);
}

static void bulk_reductions(void **state)
{
    struct exec_case one;

    (void)state;
    peers(&one, "32",
          "cp.reduce.async.bulk.shared::cluster.shared::cta." TX ".add.u32 "
          "[%r7], [buffer+64], 32, [%r8];");
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(one.words[i], i % 64 < 8 ? i % 64 * 2 + 16 : i % 64);
    exec_close(&one);
    exec_open(&one,
              HEAD("8.0", "sm_90") EXEC_ENTRY ASYNC_HEAD
              "st.global.u32 [%d1], 1000;\nfence.proxy.async;\nbar.sync 0;\n@%p1 bra END;\n"
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1], 64;\n"
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.min.s64 "
              "[%d0+64], [%r1+64], 16, %d2;\ncp.async.bulk.commit_group;\n"
              "cp.async.bulk.wait_group 0;\nEND:\nret;\n}\n",
              1, 64);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], i < 16 ? 1000 + i : i < 20 ? i : 1000);
    exec_close(&one);
}

/* Many blocks add to the same words. */
static void shared_sums(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              HEAD("8.0", "sm_90") EXEC_ENTRY ASYNC_HEAD
              "fence.proxy.async;\nbar.sync 0;\n@%p1 bra END;\n"
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1], 256;\n"
              "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\nret;\n}\n",
              200, 64);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], 200 * i);
    exec_close(&one);
}

static void zeroes(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open_on(
        &one, 100,
        HEAD("8.6", "sm_100") EXEC_ENTRY ASYNC_HEAD
        "bar.sync 0;\n@%p1 bra READ;\nmov.u64 %d5, 16;\n"
        "st.bulk.weak.shared::cta [%r1+8], %d5, 0;\ncvt.u64.u32 %d6, %r1;\n"
        "cvta.shared.u64 %d6, %d6;\nst.bulk [%d6+40], 8, 0;\nREAD:\nbar.sync 0;\n" ASYNC_READ
        "ret;\n}\n",
        1, 16);
    exec_good(&one);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(one.words[i], (i >= 2 && i < 6) || i == 10 || i == 11 ? 0 : i);
    exec_close(&one);
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        unsigned cluster;
        enum ptx_fault_kind kind;
        const char *what;
    } cases[] = {
        {"st.async.shared::cluster." TX ".b32 [%r1], 1, [%r2];\n", 0, PTX_FAULT_ILLEGAL_INSTRUCTION,
         "no clusters"},
        {RED ".add.u32 [%r1], 1, [%r2];\n", 0, PTX_FAULT_ILLEGAL_INSTRUCTION, "no clusters"},
        {"cp.reduce.async.bulk.shared::cluster.shared::cta." TX
         ".add.u32 [%r1], [buffer+64], 32, [%r2];\n",
         0, PTX_FAULT_ILLEGAL_INSTRUCTION, "no clusters"},
        {"st.async.shared::cluster." TX ".v4.b32 [%r1+8], {1, 2, 3, 4}, [%r2];\n", 1,
         PTX_FAULT_MISALIGNED, "16 bytes is misaligned"},
        {"st.async.shared::cluster." TX ".b32 [%r1], 1, [%r2+4];\n", 1, PTX_FAULT_MISALIGNED,
         "8 bytes is misaligned"},
        {"st.async.shared::cluster." TX ".b32 [%r1+65536], 1, [%r2];\n", 1,
         PTX_FAULT_ILLEGAL_ADDRESS, "writes 4 bytes"},
        {RED ".add.u64 [%r1+4], 1, [%r2];\n", 1, PTX_FAULT_MISALIGNED, "8 bytes is misaligned"},
        {RED ".add.u32 [%r1+65536], 1, [%r2];\n", 1, PTX_FAULT_ILLEGAL_ADDRESS, "writes 4 bytes"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1], %r9;\n", 0,
         PTX_FAULT_MISALIGNED, "no multiple of 16"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+8], [%r1], 16;\n", 0,
         PTX_FAULT_MISALIGNED, "misaligned"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+16384], [%r1], 16;\n", 0,
         PTX_FAULT_ILLEGAL_ADDRESS, "writes 16 bytes"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1+65536], 16;\n", 0,
         PTX_FAULT_ILLEGAL_ADDRESS, "reads 16 bytes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct exec_case one;

        snprintf(text, sizeof text, "%s%s%s",
                 HEAD("8.1", "sm_90") EXEC_ENTRY ASYNC_HEAD
                 "mbarrier.init.shared::cta.b64 [%r2], 1;\nmov.u32 %r9, 24;\n",
                 cases[i].text, "ret;\n}\n");
        exec_open(&one, text, 1, 1);
        one.request.cluster[0] = cases[i].cluster;
        exec_fails(&one, cases[i].kind, "async", cases[i].what);
        exec_close(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(ignored_sources),
        cmocka_unit_test(single_reductions),
        cmocka_unit_test(bulk_reductions),
        cmocka_unit_test(shared_sums),
        cmocka_unit_test(zeroes),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
