/* SPDX-License-Identifier: MIT */
/* Matrices between shared memory and registers: where each element goes, who gives the addresses,
 * and what is refused. What products give is looked at by tests/sim/matrix. */
#include "exec_case.h"

/* Shared memory has the numbers 0 to 511 of 16 bits. %r1: where the row of this lane is, of 16
 * bytes; %r2: its number times 4 bytes. */
#define MATRIX_SHARED                                                                              \
    ".shared .align 16 .b8 cells[1024];\nmov.u32 %r1, cells;\nmov.u32 %r5, 0;\n"                   \
    "FILL:\nmad.lo.u32 %r6, %r5, 32, %r61;\nmad.lo.u32 %r7, %r6, 0x20002, 0x10000;\n"              \
    "shl.b32 %r8, %r6, 2;\nadd.u32 %r8, %r8, %r1;\nst.shared.u32 [%r8], %r7;\n"                    \
    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 8;\n@%p1 bra FILL;\nbar.warp.sync -1;\n"          \
    "shl.b32 %r2, %r61, 4;\nadd.u32 %r1, %r1, %r2;\n"
#define MATRIX_MODULE ".version 8.4\n.target sm_90\n.address_size 64\n"
#define MATRIX_OUT(i, value) "st.global.u32 [%d1+" #i "*128], " value ";\n"

/* The two elements of a lane's register i. */
static uint32_t pair(unsigned i, unsigned lane, bool transposed)
{
    const unsigned row = lane / 4, column = lane % 4 * 2;

    if (transposed)
        return (i * 64 + column * 8 + row) | (i * 64 + (column + 1) * 8 + row) << 16;
    return (i * 64 + row * 8 + column) | (i * 64 + row * 8 + column + 1) << 16;
}

static void loads_of(const char *text, unsigned count, bool transposed)
{
    struct exec_case one;

    exec_run(&one, text, 1, 32);
    for (unsigned i = 0; i < count; i++)
        for (unsigned lane = 0; lane < 32; lane++)
            assert_int_equal(one.words[i * 32 + lane], pair(i, lane, transposed));
    exec_close(&one);
}

static void loads(void **state)
{
    (void)state;
    loads_of(EXEC_BODY(
                 MATRIX_SHARED
                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\n" MATRIX_OUT(0, "%r10")),
             1, false);
    loads_of(EXEC_BODY(MATRIX_SHARED
                       "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r10, _}, [%r1];\n"
                       "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {_, %r11}, [%r1];\n"
                       "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {_, %r12}, {%r10}, {%r10}, "
                       "{%r10, %r11};\n" MATRIX_OUT(0, "%r10") MATRIX_OUT(1, "%r11")),
             2, false);
    /* The register of the address is one of the results. */
    loads_of(EXEC_BODY(MATRIX_SHARED
                       "add.u32 %r1, %r1, 16;\n"
                       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r1, %r12, %r13}, "
                       "[%r1+-16];\n" MATRIX_OUT(0, "%r10") MATRIX_OUT(1, "%r1")
                           MATRIX_OUT(2, "%r12") MATRIX_OUT(3, "%r13")),
             4, false);
    loads_of(
        EXEC_BODY(
            MATRIX_SHARED
            "cvt.u64.u32 %d2, %r1;\ncvta.shared.u64 %d2, %d2;\n"
            "ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r10, %r11, %r12, %r13}, [%d2];\n" MATRIX_OUT(
                0, "%r10") MATRIX_OUT(1, "%r11") MATRIX_OUT(2, "%r12") MATRIX_OUT(3, "%r13")),
        4, true);
}

/* What a load takes apart, a store puts together: the words are those that were there. */
static void stores_of(const char *text, unsigned bytes)
{
    struct exec_case one;

    exec_run(&one, text, 1, 32);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(one.words[i], i < bytes / 4 ? (i * 2 + 1) << 16 | i * 2 : 0);
    exec_close(&one);
}

#define MATRIX_STORE(load, store)                                                                  \
    MATRIX_SHARED ".shared .align 16 .b8 copy[512];\nmov.u32 %r9, copy;\nadd.u32 %r9, %r9, %r2;\n" \
                  "st.shared.v4.u32 [%r9], {0, 0, 0, 0};\nbar.warp.sync -1;\n" load "\n" store     \
                  "\nbar.warp.sync -1;\n"                                                          \
                  "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r9];\n"                            \
                  "mul.wide.u32 %d3, %r2, 1;\nadd.u64 %d3, %d3, %d0;\n"                            \
                  "st.global.v4.u32 [%d3], {%r10, %r11, %r12, %r13};\n"

static void stores(void **state)
{
    (void)state;
    stores_of(EXEC_BODY(MATRIX_STORE(
                  "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r1];",
                  "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r9], {%r10, %r11, %r12, %r13};")),
              512);
    stores_of(EXEC_BODY(MATRIX_STORE(
                  "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r1];",
                  "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r9], {%r10, %r11};")),
              256);
    /* Transposed in between: three times is once. */
    stores_of(
        EXEC_BODY(MATRIX_STORE("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r1];",
                               "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n"
                               "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r10};")),
        128);
}

/* Lanes that come later are waited for. */
static void divergent(void **state)
{
    (void)state;
    loads_of(EXEC_BODY(MATRIX_SHARED
                       "mov.u32 %r3, %r1;\nmov.u32 %r1, 0;\nsetp.lt.u32 %p2, %r61, 7;\n"
                       "@%p2 bra FEW;\nmov.u32 %r1, %r3;\nbra MEET;\nFEW:\nmov.u32 %r1, %r3;\n"
                       "nanosleep.u32 100;\nMEET:\n"
                       "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r10, %r11, %r12, %r13}, "
                       "[%r1];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n"
                       "movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r11;\n" MATRIX_OUT(0, "%r10")
                           MATRIX_OUT(1, "%r11")),
             2, false);
}

static void faults(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(
        &one,
        EXEC_BODY(MATRIX_SHARED "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1+8];\n"), 1,
        32);
    exec_fails(&one, PTX_FAULT_MISALIGNED, "16 bytes", "ldmatrix");
    exec_close(&one);
    /* Lanes that give no row may have any address. */
    exec_open(&one,
              EXEC_BODY(MATRIX_SHARED "setp.ge.u32 %p2, %r61, 9;\n@%p2 mov.u32 %r1, 1048577;\n"
                                      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\n"
                                      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, "
                                      "[%r1+1048560];\n"),
              1, 32);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "reads 16 bytes", "ldmatrix");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("mov.u32 %r1, 4096;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], "
                        "{%r1};\n"),
              1, 32);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "writes 16 bytes", "stmatrix");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("add.u64 %d2, %d0, 2;\n"
                        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, "
                        "%r5, %r6, %r7, %r8}, [%d2], 16;\n"),
              1, 32);
    exec_fails(&one, PTX_FAULT_MISALIGNED, "4 bytes", "wmma.load");
    exec_close(&one);
}

/* Fragments go through shared memory and generic addresses, with and without a stride, and come
 * out of it transposed. */
static void fragments(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY(MATRIX_SHARED
                       "mov.u32 %r3, cells;\ncvt.u64.u32 %d2, %r3;\ncvta.shared.u64 %d2, %d2;\n"
                       "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r10, %r11, %r12, %r13}, "
                       "[%d2];\n"
                       "wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%d0], {%r10, %r11, "
                       "%r12, %r13};\n"
                       "wmma.load.c.sync.aligned.col.m16n16k16.shared.f16 {%r10, %r11, %r12, "
                       "%r13}, [%r3], 24;\n"
                       "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%d0+1024], {%r10, %r11, "
                       "%r12, %r13}, 16;\n"),
             1, 32);
    for (unsigned row = 0; row < 16; row++)
        for (unsigned column = 0; column < 16; column++) {
            const uint16_t *halves = (const uint16_t *)(const void *)one.words;

            assert_int_equal(halves[column * 16 + row], row * 16 + column);
            assert_int_equal(halves[512 + row * 16 + column], column * 24 + row);
        }
    exec_close(&one);
}

/* Infinity times 0, a NaN that is an element, and a sum that is too large. */
static void specials(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             MATRIX_MODULE EXEC_ENTRY
             "mov.u32 %r1, 0x7c007c00;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0x7f3f7f3f;\n"
             "mov.u32 %r4, 0x7bff7bff;\nmov.u32 %r5, 0x38383838;\nmov.f32 %f0, 0f00000000;\n"
             "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, "
             "{%r1, %r2}, {%r2}, {%f0, %f0, %f0, %f0};\n"
             "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r14, %r15}, "
             "{%r1, %r4}, {%r4}, {%r2, %r2};\n"
             "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%r16, %r17, _, _}, "
             "{%r3, %r2, %r2, %r2}, {%r5, %r5}, {%f0, %f0, %f0, %f0};\n"
             "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r18, _}, "
             "{%r1, %r4}, {%r2}, {%r2, %r2};\n" MATRIX_OUT(0, "%r10") MATRIX_OUT(1, "%r12")
                 MATRIX_OUT(2, "%r14") MATRIX_OUT(3, "%r15") MATRIX_OUT(4, "%r16")
                     MATRIX_OUT(5, "%r18") "ret;\n}\n",
             1, 32);
    for (unsigned lane = 0; lane < 32; lane++) {
        assert_int_equal(one.words[lane], 0x7fffffff);
        assert_int_equal(one.words[32 + lane], 0);
        assert_int_equal(one.words[64 + lane], 0x7c007c00);
        assert_int_equal(one.words[96 + lane], 0x7c007c00);
        assert_int_equal(one.words[128 + lane], 0x7fffffff);
        assert_int_equal(one.words[160 + lane], 0x7fff7fff);
    }
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),     cmocka_unit_test(stores), cmocka_unit_test(divergent),
        cmocka_unit_test(fragments), cmocka_unit_test(faults), cmocka_unit_test(specials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
