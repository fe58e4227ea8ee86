/* SPDX-License-Identifier: MIT */
/* Small kernels with a fault, each beside one without, for ptx_checks and for the tools of a real
 * device. */
#ifndef CUSHIM_TEST_PTX_CHECK_CASES_H
#define CUSHIM_TEST_PTX_CHECK_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "exec_text.h"

#define SHARED ".shared .align 16 .b8 s[8192];\nmov.u32 %r1, s;\n"
/* %r3: the thread's own word of shared memory; %r4: that of the thread whose number differs by the
 * bits `other`. */
#define WORDS(other)                                                                               \
    SHARED "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\n"                                       \
           "xor.b32 %r4, %r61, " other ";\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r1;\n"
#define WRITE "st.shared.u32 [%r3], %r61;\n"
#define READ "ld.shared.u32 %r5, [%r4];\n"
#define BARRIER "bar.sync 0;\n"
/* The first threads come to a barrier; then there are some words, and a store. */
#define AROUND(threads, words)                                                                     \
    "setp.ge.u32 %p5, %r61, " threads ";\n@%p5 bra AROUND;\n" BARRIER "AROUND:\n" words            \
    "st.global.u32 [%d1], 1;\n"
#define WITHIN(text)                                                                               \
    "setp.ge.u32 %p6, %r61, 32;\n@%p6 bra END;\n" text "END:\nst.global.u32 [%d1], 2;\n"
#define FIRST_ZERO "setp.eq.u32 %p1, %r61, 0;\n@%p1 st.shared.u32 [s], 0;\n"
#define LEADER "and.b32 %r6, %r61, 31;\nsetp.eq.u32 %p2, %r6, 0;\n"
#define ADD_PLAIN "ld.shared.u32 %r7, [s+4];\nadd.u32 %r7, %r7, %r61;\nst.shared.u32 [s+4], %r7;\n"
/* The first warp makes what the second reads. */
#define WARPS_PART "setp.lt.u32 %p3, %r61, 32;\n@!%p3 bra CONSUMER;\n"
#define PRODUCE "st.shared.u32 [%r3], 5;\n"
#define CONSUME "ld.shared.u32 %r5, [%r4];\n"
#define OTHER_BLOCK "xor.b32 %r8, %r63, 1;\nmad.wide.u32 %d2, %r8, 4, %d0;\n"
#define OWN_BLOCK "mad.wide.u32 %d3, %r63, 4, %d0;\n"
#define OWN_BYTE "cvt.u64.u32 %d4, %r61;\nadd.u64 %d3, %d0, %d4;\n"
#define LOCAL ".local .align 8 .b8 l[64];\nmov.u64 %d2, l;\n"
#define ONE_THREAD_SKIPS(text) "setp.eq.u32 %p4, %r61, 0;\n@%p4 bra SKIPPED;\n" text "SKIPPED:\n"
/* Two calls; the function writes its variable and reads it, the second time only if `again`. */
#define CALLED(place, again)                                                                       \
    EXEC_MODULE ".func (.reg .b32 %v) f(.reg .b32 %w) {\n.reg .pred %p<2>;\n"                      \
                ".local .align 4 .b8 l[16];\nsetp.eq.u32 %p1, %w, 0;\n"                            \
                "@%p1 bra READS;\nst.local.u32 [" place "], %w;\nREADS:\n"                         \
                "ld.local.u32 %v, [" place "];\nret;\n}\n" EXEC_ENTRY                              \
                "call (%r5), f, (1);\ncall (%r5), f, (" again ");\n"                               \
                "st.global.u32 [%d1], %r5;\nret;\n}\n"
#define ONE_THREAD "setp.ne.u32 %p4, %r61, 0;\n@%p4 ret;\n"
/* What is read is used, or a compiler leaves the read out. */
#define BODY(text) EXEC_BODY(text "setp.eq.u32 %p15, %r5, 0x7fedbeef;\n@%p15 trap;\n")

enum { ALL = EXEC_WORDS * 4 };

struct check_case {
    const char *name, *text;
    uint32_t blocks, threads;
    const char *found; /* NULL: nothing */
    uint32_t written;  /* bytes of the output, from the first on */
};

static const struct check_case check_cases[] = {
    {"other warp", BODY(WORDS("32") WRITE READ), 1, 64, "race", ALL},
    {"other warp, barrier", BODY(WORDS("32") WRITE BARRIER READ), 1, 64, NULL, ALL},
    {"other lane", BODY(WORDS("1") WRITE READ), 1, 32, "race", ALL},
    {"other lane, warp's barrier", BODY(WORDS("1") WRITE "bar.warp.sync -1;\n" READ), 1, 32, NULL,
     ALL},
    {"other lane, shfl", BODY(WORDS("1") WRITE "shfl.sync.idx.b32 %r9, %r61, 0, 31, -1;\n" READ), 1,
     32, "race", ALL},
    {"other warp, warp's barrier", BODY(WORDS("32") WRITE "bar.warp.sync -1;\n" READ), 1, 64,
     "race", ALL},
    {"write after read", BODY(WORDS("32") WRITE BARRIER READ "st.shared.u32 [%r3], %r5;\n"), 1, 64,
     "race", ALL},
    {"write after read, barrier",
     BODY(WORDS("32") WRITE BARRIER READ BARRIER "st.shared.u32 [%r3], %r5;\n"), 1, 64, NULL, ALL},
    {"two writes", BODY(SHARED "st.shared.u32 [s], %r61;\n"), 1, 64, "race", ALL},
    {"two writes of one value", BODY(SHARED "st.shared.u32 [s], 7;\n"), 1, 64, NULL, ALL},
    {"lanes write one word", BODY(SHARED "st.shared.u32 [s], %r61;\n"), 1, 32, "race", ALL},
    {"bytes side by side", BODY(SHARED "add.u32 %r3, %r1, %r61;\nst.shared.u8 [%r3], %r61;\n"), 1,
     64, NULL, ALL},
    {"bytes of a word",
     BODY(SHARED "st.shared.u32 [s], 0;\n" BARRIER "add.u32 %r3, %r1, %r61;\n"
                 "st.shared.u8 [%r3], 1;\nld.shared.u32 %r5, [s];\n"),
     1, 64, "race", ALL},
    {"counter", BODY(SHARED FIRST_ZERO BARRIER "atom.shared.add.u32 %r5, [s], 1;\n"), 1, 64, NULL,
     ALL},
    {"counter without atomics", BODY(SHARED "st.shared.u32 [s+4], 0;\n" BARRIER ADD_PLAIN), 1, 64,
     "race", ALL},
    {"counter read too early",
     BODY(SHARED FIRST_ZERO BARRIER LEADER "setp.lt.u32 %p3, %r61, 32;\n"
                                           "@%p3 red.shared.add.u32 [s], 1;\n"
                                           "@!%p3 ld.shared.u32 %r5, [s];\n"),
     1, 64, "race", ALL},
    {"counter read behind a barrier",
     BODY(SHARED FIRST_ZERO BARRIER "red.shared.add.u32 [s], 1;\n" BARRIER
                                    "ld.shared.u32 %r5, [s];\n"),
     1, 64, NULL, ALL},
    {"producer",
     BODY(WORDS("32") WARPS_PART PRODUCE "bar.arrive 1, 64;\nret;\n"
                                         "CONSUMER:\nbar.sync 1, 64;\n" CONSUME),
     1, 64, NULL, ALL},
    {"producer not waited for", BODY(WORDS("32") WARPS_PART PRODUCE "ret;\nCONSUMER:\n" CONSUME), 1,
     64, "race", ALL},
    {"barriers of each warp",
     BODY(WORDS("32") WRITE "shr.u32 %r9, %r61, 5;\nbar.sync %r9, 32;\n" READ), 1, 64, "race", ALL},
    {"barrier of both by number", BODY(WORDS("32") WRITE "bar.sync 3, 64;\n" READ), 1, 64, NULL,
     ALL},
    {"lock",
     BODY(SHARED "st.shared.v2.u32 [s], {0, 0};\n" BARRIER LEADER
                 "@!%p2 bra END;\nTRY:\natom.shared.cas.b32 %r9, [s], 0, 1;\n"
                 "setp.ne.u32 %p5, %r9, 0;\n@%p5 bra TRY;\n" ADD_PLAIN
                 "atom.shared.exch.b32 %r9, [s], 0;\nEND:\n"),
     1, 128, NULL, ALL},
    {"lock left out",
     BODY(SHARED "st.shared.v2.u32 [s], {0, 0};\n" BARRIER LEADER "@!%p2 bra END;\n" ADD_PLAIN
                 "END:\n"),
     1, 128, "race", ALL},
    {"flag",
     BODY(WORDS("32") "st.shared.u32 [s+4096], 0;\n" BARRIER WARPS_PART PRODUCE
                      "membar.cta;\nbar.warp.sync -1;\nst.volatile.shared.u32 [s+4096], 1;\n"
                      "ret;\nCONSUMER:\nld.volatile.shared.u32 %r9, [s+4096];\n"
                      "setp.eq.u32 %p5, %r9, 0;\n@%p5 bra CONSUMER;\n" CONSUME),
     1, 64, NULL, ALL},
    {"mbarrier",
     BODY(WORDS("32") FIRST_ZERO "@%p1 mbarrier.init.shared.b64 [s+4096], 64;\n" BARRIER WRITE
                                 "mbarrier.arrive.shared.b64 %d4, [s+4096];\nWAIT:\n"
                                 "mbarrier.test_wait.shared.b64 %p5, [s+4096], %d4;\n"
                                 "@!%p5 bra WAIT;\n" READ),
     1, 64, NULL, ALL},
    {"sum",
     BODY(WORDS("32") WRITE "mov.u32 %r9, 32;\nNEXT:\n" BARRIER
                            "setp.lt.u32 %p5, %r61, %r9;\nshl.b32 %r10, %r9, 2;\n"
                            "add.u32 %r10, %r10, %r3;\n@%p5 ld.shared.u32 %r11, [%r10];\n"
                            "@%p5 ld.shared.u32 %r12, [%r3];\n"
                            "add.u32 %r12, %r12, %r11;\n@%p5 st.shared.u32 [%r3], %r12;\n"
                            "shr.u32 %r9, %r9, 1;\nsetp.ne.u32 %p6, %r9, 0;\n"
                            "@%p6 bra NEXT;\n"),
     1, 64, NULL, ALL},
    {"sum without barriers",
     BODY(WORDS("32") WRITE "mov.u32 %r9, 32;\n" BARRIER "NEXT:\n"
                            "setp.lt.u32 %p5, %r61, %r9;\nshl.b32 %r10, %r9, 2;\n"
                            "add.u32 %r10, %r10, %r3;\n@%p5 ld.shared.u32 %r11, [%r10];\n"
                            "@%p5 ld.shared.u32 %r12, [%r3];\n"
                            "add.u32 %r12, %r12, %r11;\n@%p5 st.shared.u32 [%r3], %r12;\n"
                            "shr.u32 %r9, %r9, 1;\nsetp.ne.u32 %p6, %r9, 0;\n"
                            "@%p6 bra NEXT;\n"),
     1, 64, "race", ALL},
    {"blocks write one word", BODY("st.global.u32 [%d0], %r63;\n"), 2, 32, "race", ALL},
    {"blocks write one value", BODY("st.global.u32 [%d0], 1;\n"), 2, 32, NULL, ALL},
    {"blocks count", BODY("red.global.add.u32 [%d0], 1;\n"), 4, 64, NULL, ALL},
    {"own words", BODY("st.global.u32 [%d1], %r0;\nld.global.u32 %r5, [%d1];\n"), 4, 64, NULL, ALL},
    {"other block's word",
     BODY(OTHER_BLOCK OWN_BLOCK ONE_THREAD "st.global.u32 [%d3], 1;\nld.global.u32 %r5, [%d2];\n"),
     2, 32, "race", ALL},
    {"last block",
     BODY(OTHER_BLOCK OWN_BLOCK ONE_THREAD
          "st.global.u32 [%d3], 1;\nmembar.gl;\natom.global.add.u32 %r9, [%d0+64], 1;\n"
          "setp.ne.u32 %p5, %r9, 1;\n@%p5 ret;\nld.global.u32 %r5, [%d2];\n"),
     2, 32, NULL, ALL},
    {"global, other warp",
     BODY("st.global.u32 [%d1], %r0;\nxor.b32 %r8, %r0, 32;\n"
          "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, "race", ALL},
    {"global, other warp, barrier",
     BODY("st.global.u32 [%d1], %r0;\n" BARRIER "xor.b32 %r8, %r0, 32;\n"
          "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, NULL, ALL},
    {"word of what many threads wrote",
     BODY("st.global.u32 [%d1], %r0;\nld.global.u32 %r5, [%d0];\n"), 1, 256, "race", ALL},
    {"own word of what many threads wrote",
     BODY("st.global.u32 [%d1], %r0;\nsetp.ne.u32 %p4, %r61, 100;\n@%p4 ret;\n"
          "ld.global.u32 %r5, [%d1];\nst.global.u32 [%d1], %r5;\n"),
     2, 256, NULL, ALL},
    {"other block's byte",
     BODY(OWN_BYTE "ld.global.u8 %r5, [%d3];\nsetp.ne.u32 %p4, %r63, 1;\n@%p4 ret;\n"
                   "xor.b64 %d3, %d3, 31;\nst.global.u8 [%d3], %r61;\n"),
     2, 32, "race", ALL},
    {"own bytes",
     BODY(OWN_BYTE "mul.wide.u32 %d2, %r63, 32;\nadd.u64 %d3, %d3, %d2;\n"
                   "ld.global.u8 %r5, [%d3];\nst.global.u8 [%d3], %r61;\n"),
     2, 32, NULL, ALL},
    {"byte of the next lane",
     BODY(OWN_BYTE "ld.global.u8 %r5, [%d3];\nxor.b64 %d3, %d3, 1;\n"
                   "st.global.u8 [%d3], %r61;\n"),
     1, 32, "race", ALL},
    {"pairs of bytes of the next lane",
     BODY(OWN_BYTE "add.u64 %d3, %d3, %d4;\nld.global.u16 %r5, [%d3];\nxor.b64 %d3, %d3, 2;\n"
                   "st.global.u16 [%d3], %r61;\n"),
     1, 32, "race", ALL},
    {"own pairs of bytes",
     BODY(OWN_BYTE "add.u64 %d3, %d3, %d4;\nld.global.u16 %r5, [%d3];\n"
                   "st.global.u16 [%d3], %r61;\n"),
     1, 32, NULL, ALL},
    {"local, never written", BODY(LOCAL "ld.local.u32 %r5, [%d2];\n"), 1, 64, "init", ALL},
    {"local, by name", BODY(LOCAL "ld.local.u32 %r5, [l+8];\n"), 1, 64, "init", ALL},
    {"local, by a generic address", BODY(LOCAL "cvta.local.u64 %d2, %d2;\nld.u32 %r5, [%d2+4];\n"),
     1, 64, "init", ALL},
    {"local, written beside", BODY(LOCAL "st.local.u32 [l], 1;\nld.local.u32 %r5, [l+4];\n"), 1, 64,
     "init", ALL},
    {"local, written by others",
     BODY(LOCAL ONE_THREAD_SKIPS("st.local.u32 [%d2], 1;\n") "ld.local.u32 %r5, [%d2];\n"), 1, 64,
     "init", ALL},
    {"local, written", BODY(LOCAL "st.local.u32 [%d2], %r61;\nld.local.u32 %r5, [l];\n"), 2, 64,
     NULL, ALL},
    {"local, written by name",
     BODY(LOCAL "st.local.u32 [l+8], %r61;\ncvta.local.u64 %d2, %d2;\nld.u32 %r5, [%d2+8];\n"), 2,
     64, NULL, ALL},
    {"local, with a gap",
     BODY(LOCAL "st.local.u8 [l], 1;\nst.local.u32 [l+4], 1;\nld.local.v2.u32 {%r5, %r6}, [l];\n"
                "ld.local.u32 %r5, [l];\n"),
     1, 64, NULL, ALL},
    {"local, in a function that is called again", CALLED("l+4", "0"), 1, 64, "init", ALL},
    {"local, in a function that writes it", CALLED("l+4", "1"), 1, 64, NULL, ALL},
    {"local memory by a generic address",
     BODY(".local .align 8 .b8 l[64];\ncvta.local.u64 %d2, l;\nst.u32 [%d2], %r0;\n"
          "ld.u32 %r5, [%d2];\n"),
     2, 64, NULL, ALL},
    {"never written", BODY(WORDS("32") "ld.shared.u32 %r5, [%r3];\n"), 1, 64, "init", ALL},
    {"written", BODY(WORDS("32") WRITE "ld.shared.u32 %r5, [%r3];\n"), 1, 64, NULL, ALL},
    {"partly written", BODY(WORDS("32") "st.shared.u8 [%r3], 1;\nld.shared.u32 %r5, [%r3];\n"), 1,
     64, "init", ALL},
    {"written byte", BODY(WORDS("32") "st.shared.u8 [%r3], 1;\nld.shared.u8 %r5, [%r3];\n"), 1, 64,
     NULL, ALL},
    {"counter never set", BODY(SHARED "red.shared.add.u32 [s], 1;\n"), 1, 64, "init", ALL},
    {"read at the begin, written far behind",
     BODY("st.global.u32 [%d1+8192], %r0;\nld.global.u32 %r5, [%d1];\n"), 1, 64, "init", 0},
    {"written by the block before",
     BODY(WORDS("32") "setp.eq.u32 %p5, %r63, 0;\n@%p5 st.shared.u32 [%r3], 1;\n"
                      "ld.shared.u32 %r5, [%r3];\n"),
     2, 32, "init", ALL},
    {"copied",
     BODY(WORDS("32") "cp.async.ca.shared.global [%r3], [%d1], 4;\n"
                      "cp.async.wait_all;\n" BARRIER READ),
     1, 64, NULL, ALL},
    {"mask without the thread", BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, 1;\n"), 1, 32, "sync",
     ALL},
    {"mask of all", BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, -1;\n"), 1, 32, NULL, ALL},
    {"mask of a warp that is not full", BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, -1;\n"), 1, 20,
     NULL, ALL},
    {"mask with ended threads",
     BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nvote.sync.ballot.b32 %r5, %p5, -1;\n"), 1, 32,
     "sync", ALL},
    {"mask without them",
     BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nvote.sync.ballot.b32 %r5, %p5, 0xffff;\n"), 1, 32,
     NULL, ALL},
    {"barriers of two branches",
     BODY("setp.lt.u32 %p5, %r61, 32;\n@%p5 bra FIRST;\nbar.sync 0;\nbra BOTH;\nFIRST:\n"
          "bar.sync 0;\nBOTH:\n"),
     1, 64, "sync", ALL},
    {"barriers of two branches, with counts",
     BODY("setp.lt.u32 %p5, %r61, 32;\n@%p5 bra FIRST;\nbar.sync 1, 64;\nbra BOTH;\nFIRST:\n"
          "bar.sync 1, 64;\nBOTH:\n"),
     1, 64, NULL, ALL},
    /* As synccheck says on an H200, of sm_90. */
    {"barrier that a part of a warp goes around", BODY(AROUND("16", "")), 1, 64, "sync", ALL},
    {"barrier that some of the second warp go around", BODY(AROUND("48", "")), 1, 64, "sync", ALL},
    {"barrier that a warp goes around", BODY(AROUND("32", "")), 1, 64, NULL, ALL},
    {"barrier that those who end go around", BODY(AROUND("16", "ret;\n")), 1, 64, NULL, ALL},
    {"barrier within a branch, that some go around", BODY(WITHIN(AROUND("16", ""))), 1, 64, NULL,
     ALL},
    {"barrier behind an end", BODY("setp.ge.u32 %p5, %r61, 32;\n@%p5 ret;\nbar.sync 0;\n"), 1, 64,
     NULL, ALL},
    {"warp's barrier without the thread", BODY("bar.warp.sync 2;\n"), 1, 32, "sync", ALL},
    {"warp's barrier behind an end",
     BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nbar.warp.sync -1;\n"), 1, 32, NULL, ALL},
    {"global, never written", BODY("ld.global.u32 %r5, [%d1];\n"), 1, 64, "init", 0},
    {"global, copied", BODY("ld.global.u32 %r5, [%d1];\n"), 1, 64, NULL, 256},
    {"global, copied, but for the last byte", BODY("ld.global.u32 %r5, [%d1];\n"), 1, 64, "init",
     255},
    {"global, the bytes that are there", BODY("ld.global.u8 %r5, [%d1];\n"), 1, 64, NULL, 253},
    {"global, stored before", BODY("st.global.u32 [%d1], 1;\nld.global.u32 %r5, [%d1];\n"), 1, 64,
     NULL, 0},
    {"global, stored by others",
     BODY("st.global.u32 [%d1], 1;\n" BARRIER "xor.b32 %r8, %r0, 32;\n"
          "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, NULL, 0},
    {"global, stored beside", BODY("st.global.u8 [%d1], 1;\nld.global.u32 %r5, [%d1];\n"), 1, 64,
     "init", 0},
    {"global, atomic", BODY("red.global.add.u32 [%d0], 1;\n"), 1, 64, "init", 0},
    {"global, atomic, copied", BODY("red.global.add.u32 [%d0], 1;\n"), 1, 64, NULL, 4},
    {"global, generic", BODY("ld.u32 %r5, [%d1];\n"), 1, 64, "init", 252},
    {"global, by one lane", BODY(ONE_THREAD "ld.global.u32 %r5, [%d0+252];\n"), 1, 64, "init", 252},
    {"global, by one lane, copied", BODY(ONE_THREAD "ld.global.u32 %r5, [%d0+248];\n"), 1, 64, NULL,
     252},
    {"global, copied into",
     BODY(WORDS("32") WRITE BARRIER ONE_THREAD
          "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 256;\n"
          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
          "ld.global.u32 %r5, [%d0+252];\n"),
     1, 64, NULL, 0},
};

#endif
