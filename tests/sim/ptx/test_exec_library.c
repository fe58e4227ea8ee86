/* SPDX-License-Identifier: MIT */
/* What compilers make of their own headers, where the manual of PTX leaves room: the flag of a
 * subtraction in an addition, addresses whose sum overflows, masks of pairs. */
#include "exec_case.h"

/* Four words for each thread, at %d1. */
#define FOUR_WORDS "mul.wide.u32 %d2, %r0, 16;\nadd.u64 %d1, %d0, %d2;\n"

/* A division of 128 bits asks with an addc behind a sub.cc whether nothing was borrowed. */
static void flag_of_subtraction(void **state)
{
    struct exec_case one;
    (void)state;
    exec_run(&one,
             EXEC_BODY(FOUR_WORDS "cvt.u64.u32 %d3, %r0;\n"
                                  "sub.cc.u32 %r1, %r0, 3;\naddc.u32 %r2, 0, 0;\n"
                                  "sub.cc.u32 %r1, %r0, 3;\nsubc.cc.u32 %r3, 0, 0;\n"
                                  "addc.u32 %r4, 0, 0;\n"
                                  "sub.cc.u64 %d4, %d3, 3;\naddc.u64 %d5, %d3, %d3;\n"
                                  "cvt.u32.u64 %r5, %d5;\n"
                                  "st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};\n"),
             1, 8);
    for (uint32_t t = 0; t < 8; t++) {
        const uint32_t *words = one.words + (size_t)4 * t;
        const uint32_t whole = t >= 3;
        assert_int_equal(words[0], whole);
        assert_int_equal(words[1], whole - 1);
        assert_int_equal(words[2], whole);
        assert_int_equal(words[3], 2 * t + whole);
    }
    exec_close(&one);
}

/* Half of the lanes have a register below 0, and the offset brings it back: the addresses of shared
 * and local memory have 32 bits. */
static void address_overflows(void **state)
{
    struct exec_case one;
    (void)state;
    exec_run(&one,
             EXEC_BODY(".shared .align 16 .b32 s[64];\n.local .align 16 .b32 l[4];\n"
                       "mov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, 4, %r1;\nsub.u32 %r2, %r1, 64;\n"
                       "st.shared.u32 [%r2 + 64], %r0;\nbar.warp.sync -1;\n"
                       "xor.b32 %r3, %r0, 1;\nmov.u32 %r4, s;\nmad.lo.u32 %r4, %r3, 4, %r4;\n"
                       "sub.u32 %r4, %r4, 64;\nld.shared.u32 %r5, [%r4 + 64];\n"
                       "red.shared.add.u32 [%r2 + 64], 100;\n"
                       "atom.shared.add.u32 %r6, [%r2 + 64], 1;\n"
                       "mov.u32 %r7, l;\nadd.u32 %r7, %r7, -4;\n"
                       "st.local.u32 [%r7 + 8], %r6;\nld.local.u32 %r8, [l + 4];\n"
                       "ld.shared.u32 %r9, [%r1];\n" FOUR_WORDS
                       "st.global.v4.u32 [%d1], {%r5, %r6, %r8, %r9};\n"),
             1, 32);
    for (uint32_t t = 0; t < 32; t++) {
        const uint32_t *words = one.words + (size_t)4 * t;
        assert_int_equal(words[0], t ^ 1);
        assert_int_equal(words[1], t + 100);
        assert_int_equal(words[2], t + 100);
        assert_int_equal(words[3], t + 101);
    }
    exec_close(&one);
}

static void address_stays_outside(void **state)
{
    struct exec_case one;
    (void)state;
    exec_open(&one,
              EXEC_BODY(".shared .b32 s[64];\nmov.u32 %r1, s;\nsub.u32 %r1, %r1, 64;\n"
                        "st.shared.u32 [%r1 + 60], %r0;\n"),
              1, 1);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS,
               "st: writes 4 bytes outside of the block's 256 of shared memory at ", "0xfffffffc");
    exec_close(&one);
}

/* As integers, the halves of a comparison of pairs are all ones or 0. */
static void masks_of_pairs(void **state)
{
    struct exec_case one;
    (void)state;
    exec_run(&one,
             EXEC_BODY(FOUR_WORDS "setp.eq.u32 %p1, %r0, 0;\n"
                                  "mov.b32 %r1, 0x3c004000;\nmov.b32 %r2, 0x40003c00;\n"
                                  "set.lt.u32.f16x2 %r3, %r1, %r2;\n"
                                  "set.ge.s32.bf16x2 %r4, %r1, %r2;\n"
                                  "set.le.and.u32.f16x2 %r5, %r1, %r1, %p1;\n"
                                  "set.gt.f16x2.f16x2 %r6, %r1, %r2;\n"
                                  "st.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6};\n"),
             1, 2);
    for (uint32_t t = 0; t < 2; t++) {
        const uint32_t *words = one.words + (size_t)4 * t;
        assert_int_equal(words[0], 0xffff0000);
        assert_int_equal(words[1], 0x0000ffff);
        assert_int_equal(words[2], t == 0 ? 0xffffffff : 0);
        assert_int_equal(words[3], 0x00003c00);
    }
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_of_subtraction),
        cmocka_unit_test(address_overflows),
        cmocka_unit_test(address_stays_outside),
        cmocka_unit_test(masks_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
