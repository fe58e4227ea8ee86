/* SPDX-License-Identifier: MIT */
/* wgmma: who computes which rows, what is added to, and what is refused. Its numbers and layouts
 * are looked at by tests/sim/wgmma, which has what a device gave. */
#include "exec_case.h"

/* Shared memory: a of 64 rows of 16 f16, all elements of row r are r, and 2048 bytes behind it b
 * of 1.0. %d10 and %d11 describe them: eight rows of 16 bytes lie together, then come those
 * further along k. */
#define WGMMA_HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n" EXEC_ENTRY
#define WGMMA_FILL                                                                                 \
    ".shared .align 1024 .b8 cells[4096];\nmov.u32 %r1, cells;\nand.b32 %r8, %r61, 127;\n"         \
    "shl.b32 %r2, %r8, 4;\nadd.u32 %r3, %r1, %r2;\nshr.u32 %r4, %r8, 4;\nand.b32 %r5, %r8, 7;\n"   \
    "shl.b32 %r4, %r4, 3;\nadd.u32 %r4, %r4, %r5;\ncvt.rn.f16.u32 %h1, %r4;\n"                     \
    "mov.b32 %r5, {%h1, %h1};\n"                                                                   \
    "st.shared.v4.b32 [%r3], {%r5, %r5, %r5, %r5};\nmov.u32 %r6, 0x3c003c00;\n"                    \
    "st.shared.v4.b32 [%r3+2048], {%r6, %r6, %r6, %r6};\nfence.proxy.async;\nbar.sync 0;\n"        \
    "cvt.u64.u32 %d10, %r1;\nshr.u64 %d10, %d10, 4;\nor.b64 %d10, %d10, 0x1000080000;\n"           \
    "add.u64 %d11, %d10, 128;\n"                                                                   \
    "mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"          \
    "setp.eq.u32 %p1, 0, 0;\n"
#define WGMMA_D "{%f0, %f1, %f2, %f3}"
#define WGMMA_PRODUCT(operands)                                                                    \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " WGMMA_D ", " operands ";\n"
#define WGMMA_DONE "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
/* The number of f32 register i of thread t is word 1024 i + t. */
#define WGMMA_OUT                                                                                  \
    "cvt.rzi.u32.f32 %r10, %f0;\ncvt.rzi.u32.f32 %r11, %f1;\ncvt.rzi.u32.f32 %r12, %f2;\n"         \
    "cvt.rzi.u32.f32 %r13, %f3;\nst.global.u32 [%d1], %r10;\nst.global.u32 [%d1+4096], %r11;\n"    \
    "st.global.u32 [%d1+8192], %r12;\nst.global.u32 [%d1+12288], %r13;\nret;\n}\n"
#define WGMMA_BODY(text)                                                                           \
    WGMMA_HEAD WGMMA_FILL "wgmma.fence.sync.aligned;\n" text WGMMA_DONE WGMMA_OUT

static unsigned row_of(unsigned thread, unsigned i)
{
    return thread % 128 / 32 * 16 + thread % 32 / 4 + i / 2 * 8;
}

/* Each element of row r is `times` r + `plus`. */
static void gives(const char *text, unsigned threads, unsigned times, unsigned plus)
{
    struct exec_case one;
    exec_run(&one, text, 1, threads);
    for (unsigned thread = 0; thread < threads; thread++)
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(one.words[i * 1024 + thread], times * row_of(thread, i) + plus);
    exec_close(&one);
}

static void products(void **state)
{
    (void)state;
    gives(WGMMA_BODY(WGMMA_PRODUCT("%d10, %d11, %p1, 1, 1, 0, 0")), 128, 16, 1);
    gives(WGMMA_BODY(WGMMA_PRODUCT("%d10, %d11, !%p1, 1, 1, 0, 0")), 128, 16, 0);
    gives(WGMMA_BODY(WGMMA_PRODUCT("%d10, %d11, 0, -1, -1, 0, 0")
                         WGMMA_PRODUCT("%d10, %d11, 1, 1, 1, 0, 0")),
          128, 32, 0);
    gives(WGMMA_BODY("@!%p1 " WGMMA_PRODUCT("%d10, %d11, 0, 1, 1, 0, 0")), 128, 0, 1);
    /* a in registers: all elements are 2. */
    gives(WGMMA_BODY("mov.b32 %r20, 0x40004000;\n" WGMMA_PRODUCT(
              "{%r20, %r20, %r20, %r20}, %d11, 1, 1, 1, 0")),
          128, 0, 33);
}

/* Warps come in any order, and those of a second warpgroup have rows of their own. */
static void warpgroups(void **state)
{
    (void)state;
    gives(WGMMA_HEAD ".shared .align 1024 .b8 spare[4096];\n" WGMMA_FILL
                     "shr.u32 %r7, %r61, 5;\nmul.lo.u32 %r7, %r7, 100;\nnanosleep.u32 %r7;\n"
                     "wgmma.fence.sync.aligned;\n" WGMMA_PRODUCT("%d10, %d11, %p1, 1, 1, 0, 0")
                         WGMMA_DONE WGMMA_OUT,
          256, 16, 1);
}

static void faults(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one, WGMMA_BODY(WGMMA_PRODUCT("%d10, %d11, 1, 1, 1, 0, 0")), 1, 96);
    exec_fails(&one, PTX_FAULT_ILLEGAL_INSTRUCTION, "warpgroup", "wgmma");
    exec_close(&one);
    /* The last warp ends before, or comes by without it. */
    exec_open(&one,
              WGMMA_BODY("setp.ge.u32 %p2, %r61, 96;\n@%p2 exit;\n" WGMMA_PRODUCT(
                  "%d10, %d11, 1, 1, 1, 0, 0")),
              1, 128);
    exec_fails(&one, PTX_FAULT_ILLEGAL_INSTRUCTION, "warpgroup", "wgmma");
    exec_close(&one);
    exec_open(&one,
              WGMMA_BODY("setp.ge.u32 %p2, %r61, 32;\n@%p2 exit;\n" WGMMA_PRODUCT(
                  "%d10, %d11, 1, 1, 1, 0, 0")),
              1, 128);
    exec_fails(&one, PTX_FAULT_ILLEGAL_INSTRUCTION, "warpgroup", "wgmma");
    exec_close(&one);
    exec_open(&one,
              WGMMA_BODY("add.u64 %d11, %d11, 128;\n" WGMMA_PRODUCT("%d10, %d11, 1, 1, 1, 0, 0")),
              1, 128);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "16 bytes", "wgmma");
    exec_close(&one);
    exec_open(
        &one,
        WGMMA_BODY("or.b64 %d12, %d10, 0x3fff0000;\n" WGMMA_PRODUCT("%d12, %d11, 1, 1, 1, 0, 0")),
        1, 128);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "16 bytes", "wgmma");
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(warpgroups),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
