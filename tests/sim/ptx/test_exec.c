/* SPDX-License-Identifier: MIT */
/* What compiled PTX does: values in registers and memory, divergence, barriers, calls. */
#include "exec_case.h"

#include <fenv.h>

/* --- Registers and memory --- */
static void widths(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("mov.b64 %d2, 0x8899aabbccddeeff;\n"
                       "mul.wide.u32 %d3, %r0, 64;\nadd.u64 %d3, %d0, %d3;\n"
                       "st.global.b64 [%d3], %d2;\n"
                       "ld.global.s8 %r1, [%d3+1];\nst.global.b32 [%d3+8], %r1;\n"
                       "ld.global.u8 %r2, [%d3+1];\nst.global.b32 [%d3+12], %r2;\n"
                       "ld.global.s16 %d4, [%d3+2];\nst.global.b64 [%d3+16], %d4;\n"
                       "ld.global.s8 %h1, [%d3+7];\ncvt.u32.u16 %r3, %h1;\n"
                       "st.global.b32 [%d3+24], %r3;\n"
                       "mov.b64 {%r4, %r5}, %d2;\nst.global.v2.b32 [%d3+32], {%r5, %r4};\n"
                       "mov.b64 %d5, {%r5, %r4};\nst.global.b64 [%d3+40], %d5;\n"
                       "ld.global.v4.b32 {%r6, _, %r7, %r8}, [%d3+32];\n"
                       "st.global.b8 [%d3+48], %r6;\nst.global.b16 [%d3+50], %r7;\n"
                       "st.global.b32 [%d3+52], %r8;\n"),
             1, 64);
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t *words = one.words + i * 16;

        assert_int_equal(words[2], 0xffffffee);
        assert_int_equal(words[3], 0xee);
        assert_int_equal(words[4], 0xffffccdd);
        assert_int_equal(words[5], 0xffffffff);
        assert_int_equal(words[6], 0xff88);
        assert_int_equal(words[8], 0x8899aabb);
        assert_int_equal(words[9], 0xccddeeff);
        assert_int_equal(words[10], 0x8899aabb);
        assert_int_equal(words[11], 0xccddeeff);
        assert_int_equal(words[12] & 0xff, 0xbb);
        assert_int_equal(words[12] >> 16, 0xaabb);
        assert_int_equal(words[13], 0xccddeeff);
    }
    exec_close(&one);
}

/* Lanes at one address, in rows, backwards, in halves and scattered all find their own word. */
static void patterns(void **state)
{
    static const char *const address[] = {
        "mov.u32 %r1, 5;\n",        "mov.u32 %r1, %r61;\n",
        "sub.u32 %r1, 63, %r61;\n", "and.b32 %r1, %r61, 15;\n",
        "shr.u32 %r1, %r61, 4;\n",  "mul.lo.u32 %r1, %r61, 37;\nand.b32 %r1, %r1, 63;\n"};
    static const char before[] =
        EXEC_MODULE ".global .u32 table[64];\n.shared .u64 wide[64];\n" EXEC_ENTRY
                    "mov.u64 %d2, table;\nmul.wide.u32 %d3, %r61, 4;\nadd.u64 %d3, %d2, %d3;\n"
                    "mul.lo.u32 %r2, %r61, 3;\nst.global.u32 [%d3], %r2;\n"
                    "mov.u64 %d4, wide;\nmul.wide.u32 %d5, %r61, 8;\nadd.u64 %d5, %d4, %d5;\n"
                    "cvt.u64.u32 %d6, %r2;\nshl.b64 %d6, %d6, 32;\nst.shared.u64 [%d5], %d6;\n"
                    "bar.sync 0;\n";
    static const char behind[] =
        "mul.wide.u32 %d7, %r1, 4;\nadd.u64 %d7, %d2, %d7;\nld.global.u32 %r3, [%d7];\n"
        "mul.wide.u32 %d8, %r1, 8;\nadd.u64 %d8, %d4, %d8;\nld.shared.u64 %d9, [%d8];\n"
        "shr.u64 %d9, %d9, 32;\ncvt.u32.u64 %r4, %d9;\nadd.u32 %r3, %r3, %r4;\n"
        "st.global.u32 [%d1], %r3;\nret;\n}\n";

    (void)state;
    for (unsigned way = 0; way < 6; way++) {
        struct exec_case one;
        char text[4096];

        snprintf(text, sizeof text, "%s%s%s", before, address[way], behind);
        exec_run(&one, text, 1, 64);
        for (uint32_t i = 0; i < 64; i++) {
            const uint32_t from[] = {5, i, 63 - i, i & 15, i >> 4, i * 37 & 63};

            assert_int_equal(one.words[i], from[way] * 6);
        }
        exec_close(&one);
    }
}

static void generic(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_MODULE ".shared .u32 word[64];\n" EXEC_ENTRY ".local .align 4 .b8 depot[8];\n"
                         "mov.u64 %d2, word;\ncvta.shared.u64 %d2, %d2;\n"
                         "mul.wide.u32 %d3, %r61, 4;\nadd.u64 %d2, %d2, %d3;\n"
                         "mov.u64 %d4, depot;\ncvta.local.u64 %d4, %d4;\n"
                         "add.u32 %r1, %r0, 100;\nst.u32 [%d2], %r1;\n"
                         "add.u32 %r2, %r0, 1000;\nst.u32 [%d4+4], %r2;\n"
                         /* odd lanes take the local one */
                         "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 1;\n"
                         "add.u64 %d5, %d4, 4;\nselp.b64 %d6, %d5, %d2, %p1;\n"
                         "ld.u32 %r4, [%d6];\nisspacep.shared %p2, %d6;\n"
                         "@%p2 add.u32 %r4, %r4, 1;\nst.global.u32 [%d1], %r4;\nret;\n}\n",
             1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(one.words[i], i % 2 ? i + 1000 : i + 101);
    exec_close(&one);
}

/* --- Divergence --- */
static void loops_of_lanes(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(
        &one,
        EXEC_BODY("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                  "LOOP:\nsetp.gt.u32 %p1, %r1, %r0;\n@%p1 bra DONE;\n"
                  "add.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\nbra LOOP;\n"
                  "DONE:\nactivemask.b32 %r3;\nadd.u32 %r2, %r2, %r3;\n"
                  "setp.gt.u32 %p3, %r61, 95;\nmov.u32 %r5, 0;\n@%p3 activemask.b32 %r5;\n"
                  "setp.lt.u32 %p4, %r61, 3;\n@%p4 activemask.b32 %r5;\nadd.u32 %r2, %r2, %r5;\n"
                  "st.global.u32 [%d1], %r2;\n"),
        2, 96);
    for (uint32_t i = 0; i < 192; i++)
        assert_int_equal(one.words[i], i * (i + 1) / 2 + 0xffffffff + (i % 96 < 3 ? 7 : 0));
    exec_close(&one);
}

static void nested_branches(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("and.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r5, 0;\n"
                       "@%p1 bra ODD;\nand.b32 %r2, %r0, 2;\nsetp.ne.u32 %p2, %r2, 0;\n"
                       "@!%p2 bra ZERO;\nadd.u32 %r5, %r5, 2;\nbra JOIN;\n"
                       "ZERO:\nadd.u32 %r5, %r5, 10;\nbra JOIN;\n"
                       "ODD:\nsetp.gt.u32 %p3, %r0, 16;\n@%p3 ret;\nadd.u32 %r5, %r5, 100;\n"
                       "JOIN:\nactivemask.b32 %r6;\npopc.b32 %r6, %r6;\nmad.lo.u32 %r5, %r6, 1000, "
                       "%r5;\nst.global.u32 [%d1], %r5;\n"),
             1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t odd = i > 16 ? 0 : 100 + 24000;

        assert_int_equal(one.words[i], i % 2 ? odd : 24000u + (i & 2 ? 2 : 10));
    }
    exec_close(&one);
}

static void indexed_branch(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("and.b32 %r1, %r0, 3;\nTABLE: .branchtargets A, B, C, B;\n"
                       "brx.idx %r1, TABLE;\nA:\nmov.u32 %r2, 7;\nbra END;\n"
                       "B:\nmov.u32 %r2, 8;\nbra END;\nC:\nmov.u32 %r2, 9;\n"
                       "END:\nst.global.u32 [%d1], %r2;\n"),
             1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(one.words[i], "\7\10\11\10"[i & 3]);
    exec_close(&one);
}

/* Lanes of one warp, and of others, that wait for each other's unlock. */
static void lock_between_lanes(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(
        &one,
        EXEC_BODY("SPIN:\natom.global.cas.b32 %r1, [%d0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                  "@%p1 bra SPIN;\nld.volatile.global.u32 %r2, [%d0+4];\nadd.u32 %r2, %r2, 1;\n"
                  "st.volatile.global.u32 [%d0+4], %r2;\nmembar.gl;\n"
                  "atom.global.exch.b32 %r3, [%d0], 0;\n"),
        4, 128);
    assert_int_equal(one.words[0], 0);
    assert_int_equal(one.words[1], 512);
    exec_close(&one);
}

/* shfl.sync of all lanes waits for those that come later, by another way. */
static void late_lanes(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("mov.u32 %r1, 0;\nsetp.lt.u32 %p1, %r61, 7;\n@%p1 bra LATE;\n"
                       "mov.u32 %r1, 3;\nbra MEET;\n"
                       "LATE:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 9999;\n@%p2 bra LATE;\n"
                       "MEET:\nshfl.sync.bfly.b32 %r2, %r1, 31, 31, -1;\n"
                       "bar.warp.sync -1;\nst.global.u32 [%d1], %r2;\n"),
             1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(one.words[i], i > 24 ? 9999 : 3);
    exec_close(&one);
}

/* Lanes that wait for each other in two branches get what each of them brought, although those that
 * go first overwrite it. */
static void meeting_in_branches(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(
        &one,
        EXEC_BODY("and.b32 %r1, %r61, 1;\nsetp.eq.u32 %p1, %r1, 0;\nadd.u32 %r2, %r61, 100;\n"
                  "mov.u32 %r3, %r61;\nsetp.lt.u32 %p2, %r61, 4;\n@%p1 bra EVEN;\n"
                  "redux.sync.add.u32 %r3, %r3, -1;\nmov.u32 %r2, 0;\n"
                  "vote.sync.ballot.b32 %r4, %p2, -1;\nshfl.sync.idx.b32 %r5, %r61, 2, 31, -1;\n"
                  "bra MEET;\n"
                  "EVEN:\nredux.sync.add.u32 %r2, %r2, -1;\nmov.u32 %r3, %r2;\n"
                  "vote.sync.ballot.b32 %r4, !%p2, -1;\n"
                  "add.u32 %r6, %r61, 50;\nshfl.sync.idx.b32 %r5, %r6, 1, 31, -1;\n"
                  "MEET:\nshl.b32 %r5, %r5, 16;\nadd.u32 %r3, %r3, %r5;\n"
                  "st.global.u32 [%d1], %r3;\nst.global.u32 [%d1+128], %r4;\n"),
        1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        /* 0 to 31, and 100 more in 16 lanes; lane 2 is even, lane 1 is odd. */
        assert_int_equal(one.words[i], 496 + 1600 + ((i & 1 ? 52u : 1u) << 16));
        assert_int_equal(one.words[32 + i], 0x5555555a);
    }
    exec_close(&one);
}

/* --- Barriers --- */
static void barrier_sum(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE
              ".extern .shared .align 4 .b8 dynamic[];\n" EXEC_ENTRY
              "mov.u32 %r1, dynamic;\nshl.b32 %r2, %r61, 2;\nadd.u32 %r2, %r1, %r2;\n"
              "st.shared.u32 [%r2], %r61;\nmov.u32 %r3, 128;\n"
              "LOOP:\nbar.sync 0;\nsetp.ge.u32 %p1, %r61, %r3;\n@%p1 bra SKIP;\n"
              "shl.b32 %r4, %r3, 2;\nadd.u32 %r4, %r2, %r4;\nld.shared.u32 %r5, [%r4];\n"
              "ld.shared.u32 %r6, [%r2];\nadd.u32 %r6, %r6, %r5;\nst.shared.u32 [%r2], %r6;\n"
              "SKIP:\nshr.u32 %r3, %r3, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra LOOP;\n"
              "setp.ne.u32 %p3, %r61, 0;\n@%p3 ret;\nmul.wide.u32 %d2, %r63, 4;\n"
              "add.u64 %d2, %d0, %d2;\nld.shared.u32 %r7, [dynamic];\n"
              "st.global.u32 [%d2], %r7;\nret;\n}\n",
              8, 256);
    one.request.dynamic_shared = 1024;
    exec_good(&one);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(one.words[i], 255 * 128);
    exec_close(&one);
}

static void barrier_reductions(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("setp.lt.u32 %p1, %r61, 40;\nbarrier.red.popc.u32 %r1, 3, %p1;\n"
                       "barrier.red.and.pred %p2, 4, %p1;\nbarrier.red.or.pred %p3, 5, !%p1;\n"
                       "selp.u32 %r2, 1000, 0, %p2;\nselp.u32 %r3, 10000, 0, %p3;\n"
                       "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
                       "st.global.u32 [%d1], %r1;\n"),
             1, 96);
    for (uint32_t i = 0; i < 96; i++)
        assert_int_equal(one.words[i], 10040);
    exec_close(&one);
}

/* Producers arrive and go on, consumers wait; threads that exited do not count. */
static void barrier_arrivals(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_MODULE ".shared .u32 box;\n" EXEC_ENTRY
                         "setp.lt.u32 %p1, %r61, 32;\n@%p1 bra CONSUME;\n"
                         "setp.ge.u32 %p2, %r61, 64;\n@%p2 exit;\n"
                         "mov.u32 %r1, 77;\nst.shared.u32 [box], %r1;\nbar.arrive 2, 64;\n"
                         "bra END;\nCONSUME:\nbar.sync 2, 64;\nld.shared.u32 %r2, [box];\n"
                         "st.global.u32 [%d1], %r2;\nEND:\nbar.sync 0;\n"
                         "st.global.u32 [%d1+4096], %r61;\nret;\n}\n",
             1, 128);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(one.words[i], 77);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(one.words[1024 + i], i < 64 ? i : 0);
    exec_close(&one);
}

/* Tiles of a warp that meet in one instruction, each with its own membermask: lanes 0 to 7, 8 to
 * 15, and 16 to 31. */
static void tiles(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("setp.lt.u32 %p1, %r0, 16;\nand.b32 %r1, %r0, 24;\nmov.u32 %r2, 255;\n"
                       "shl.b32 %r2, %r2, %r1;\nselp.b32 %r2, %r2, 0xffff0000, %p1;\n"
                       "redux.sync.add.u32 %r3, %r0, %r2;\nredux.sync.max.s32 %r4, %r0, %r2;\n"
                       "and.b32 %r5, %r0, 1;\nsetp.eq.u32 %p2, %r5, 1;\n"
                       "vote.sync.ballot.b32 %r6, %p2, %r2;\nsetp.gt.u32 %p3, %r0, 7;\n"
                       "vote.sync.all.pred %p4, %p3, %r2;\nselp.u32 %r7, 1, 0, %p4;\n"
                       "match.any.sync.b32 %r8, %r5, %r2;\nshr.u32 %r9, %r0, 3;\n"
                       "match.all.sync.b32 %r10, %r9, %r2;\nelect.sync %r11|%p5, %r2;\n"
                       "selp.u32 %r12, 1, 0, %p5;\nshl.b32 %r13, %r0, 5;\n"
                       "cvt.u64.u32 %d2, %r13;\nadd.u64 %d2, %d0, %d2;\n"
                       "st.global.v4.u32 [%d2], {%r3, %r4, %r6, %r7};\n"
                       "mad.lo.u32 %r11, %r12, 100, %r11;\n"
                       "st.global.v4.u32 [%d2+16], {%r8, %r10, %r11, %r2};\n"),
             1, 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint32_t *words = one.words + 8 * lane;
        uint32_t first = lane < 16 ? lane & 8 : 16, last = lane < 16 ? first + 7 : 31;
        uint32_t mask = (UINT32_MAX << first) & (UINT32_MAX >> (31 - last));
        uint32_t odd = UINT32_C(0xaaaaaaaa) & mask;

        assert_int_equal(words[0], (first + last) * (last - first + 1) / 2);
        assert_int_equal(words[1], last);
        assert_int_equal(words[2], odd);
        assert_int_equal(words[3], first >= 8);
        assert_int_equal(words[4], lane & 1 ? odd : mask & ~odd);
        assert_int_equal(words[5], last < 16 ? mask : 0);
        assert_int_equal(words[6], first + (lane == first ? 100 : 0));
        assert_int_equal(words[7], mask);
    }
    exec_close(&one);
}

/* The system's part of shared memory lies outside of the program's, the dynamic one too. */
static void reserved_shared(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE ".extern .shared .align 16 .b8 dynamic[];\n" EXEC_ENTRY
                          ".shared .b32 fixed[32];\n"
                          "mov.u32 %r1, fixed;\nmov.u32 %r2, dynamic;\nshl.b32 %r3, %r61, 2;\n"
                          "add.u32 %r1, %r1, %r3;\nadd.u32 %r2, %r2, %r3;\n"
                          "mov.u32 %r4, %reserved_smem_offset_0;\nadd.u32 %r4, %r4, %r3;\n"
                          "mov.u32 %r5, %reserved_smem_offset_1;\nadd.u32 %r5, %r5, %r3;\n"
                          "st.shared.u32 [%r1], 1;\nst.shared.u32 [%r2], 2;\n"
                          "st.shared.u32 [%r4], 3;\nst.shared.u32 [%r5], 4;\nbar.sync 0;\n"
                          "ld.shared.u32 %r6, [%r1];\nld.shared.u32 %r7, [%r2];\n"
                          "ld.shared.u32 %r8, [%r4];\nld.shared.u32 %r9, [%r5];\n"
                          "mad.lo.u32 %r6, %r6, 10, %r7;\nmad.lo.u32 %r6, %r6, 10, %r8;\n"
                          "mad.lo.u32 %r6, %r6, 10, %r9;\nst.global.u32 [%d1], %r6;\n"
                          "mov.u32 %r10, %reserved_smem_offset_begin;\n"
                          "mov.u32 %r11, %reserved_smem_offset_end;\nsub.u32 %r11, %r11, %r10;\n"
                          "mov.u32 %r12, %reserved_smem_offset_cap;\n"
                          "mov.u32 %r13, %total_smem_size;\n"
                          "st.global.v4.u32 [%d0+4096], {%r10, %r11, %r12, %r13};\nret;\n}\n",
              2, 32);
    one.request.dynamic_shared = 132;
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], 1234);
    assert_true(one.words[1024] >= 128 + 132);
    assert_int_equal(one.words[1025], 1024);
    assert_int_equal(one.words[1026], 1024);
    assert_int_equal(one.words[1027], 128 + 132);
    exec_close(&one);
}

/* --- The thread that launches --- */
/* Its rounding mode is its own: blocks on it and on the pool's threads round as PTX says. */
static void rounding_of_the_caller(void **state)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct exec_case one;
        bool launched;

        exec_open(&one,
                  EXEC_BODY("mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f33000000;\n" /* 1, 2^-25 */
                            "add.f32 %f3, %f1, %f2;\nneg.f32 %f4, %f3;\nsub.f32 %f5, %f4, %f2;\n"
                            "fma.rp.f32 %f6, %f1, %f1, %f2;\nadd.rz.f32 %f7, %f4, %f2;\n"
                            "shl.b32 %r1, %r0, 4;\ncvt.u64.u32 %d2, %r1;\nadd.u64 %d2, %d0, %d2;\n"
                            "st.global.v4.f32 [%d2], {%f3, %f5, %f6, %f7};\n"),
                  8, 64);
        fesetround(modes[i]);
        launched = exec_launch(&one);
        assert_int_equal(fegetround(), modes[i]);
        fesetround(FE_TONEAREST);
        assert_true(launched);
        for (unsigned lane = 0; lane < 512; lane++) {
            assert_int_equal(one.words[4 * lane], 0x3f800000);
            assert_int_equal(one.words[4 * lane + 1], 0xbf800000);
            assert_int_equal(one.words[4 * lane + 2], 0x3f800001);
            assert_int_equal(one.words[4 * lane + 3], 0xbf7fffff);
        }
        exec_close(&one);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),
        cmocka_unit_test(patterns),
        cmocka_unit_test(generic),
        cmocka_unit_test(loops_of_lanes),
        cmocka_unit_test(nested_branches),
        cmocka_unit_test(indexed_branch),
        cmocka_unit_test(lock_between_lanes),
        cmocka_unit_test(late_lanes),
        cmocka_unit_test(meeting_in_branches),
        cmocka_unit_test(barrier_sum),
        cmocka_unit_test(barrier_reductions),
        cmocka_unit_test(barrier_arrivals),
        cmocka_unit_test(tiles),
        cmocka_unit_test(reserved_shared),
        cmocka_unit_test(rounding_of_the_caller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
