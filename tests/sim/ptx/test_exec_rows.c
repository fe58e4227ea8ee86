/* SPDX-License-Identifier: MIT */
/* What teams do at once: whole rows of a large allocation, comparisons of rows of numbers, and
 * blocks that begin where others of their worker ended. */
#include "exec_case.h"

enum { THREADS = 256, LARGE = 40 << 20 /* bytes: stores go past the caches */ };

static void open_large(struct exec_case *one, const char *text, uint32_t blocks, uint32_t threads)
{
    exec_open(one, text, blocks, threads);
    one->out = world_alloc(&one->world, LARGE);
    one->words = world_host(&one->world, one->out);
}

/* Whole lines, shifted ones, and rows that some threads leave out. */
static void large_rows(void **state)
{
    static const char *const texts[] = {
        EXEC_BODY("not.b32 %r1, %r0;\nst.global.u32 [%d1], %r1;\n"),
        EXEC_BODY("not.b32 %r1, %r0;\nst.global.u32 [%d1+4], %r1;\n"),
        EXEC_BODY(
            "not.b32 %r1, %r0;\nsetp.ne.u32 %p1, %r61, 77;\n@%p1 st.global.u32 [%d1], %r1;\n"),
        EXEC_BODY("not.b32 %r1, %r0;\nst.global.u32 [%d1], %r1;\nld.global.u32 %r2, [%d1];\n"
                  "add.u32 %r2, %r2, 1;\nst.release.gpu.global.u32 [%d1], %r2;\n"),
    };
    const uint32_t count = LARGE / 4 - THREADS;

    (void)state;
    for (unsigned text = 0; text < sizeof texts / sizeof *texts; text++)
        for (unsigned workers = 1; workers <= 2; workers++) {
            struct exec_case one;
            const uint32_t shift = text == 1, more = text == 3;

            open_large(&one, texts[text], count / THREADS, THREADS);
            one.world.machine.workers = workers;
            exec_good(&one);
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t value = text == 2 && i % THREADS == 77 ? 0 : ~i + more;

                if (one.words[i + shift] != value)
                    fail_msg("text %u, word %u: 0x%x, not 0x%x", text, i, one.words[i + shift],
                             value);
            }
            assert_int_equal(one.words[count + shift], 0);
            exec_close(&one);
        }
}

/* Of a row that the end of the allocation cuts, the first thread outside is reported, and threads
 * before it have stored. */
static void large_row_ends(void **state)
{
    struct exec_case one;

    (void)state;
    open_large(&one, EXEC_BODY("add.u64 %d1, %d1, 512;\nst.global.u32 [%d1], %r0;\n"),
               LARGE / 4 / THREADS, THREADS);
    one.world.machine.workers = 1;
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (128,0,0)", "st: writes 4 bytes");
    assert_non_null(strstr(one.world.fault.report, "block (40959,0,0)"));
    assert_int_equal(one.words[LARGE / 4 - 1], LARGE / 4 - 129);
    exec_close(&one);
}

static bool holds(unsigned compare, int64_t a, int64_t b)
{
    const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};

    return results[compare];
}

/* A row of numbers beside one number, which each block has another of. */
static void rows_compared(void **state)
{
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const types[] = {"u32", "s32", "u64", "s64"};
    static const char *const rows[] = {"mov.u32 %r1, %r61", "sub.u32 %r1, 90, %r61",
                                       "mul.lo.u32 %r1, %r61, 3", "add.u32 %r1, %r60, 5"};
    enum { BLOCKS = 160, SIZE = 128 };

    (void)state;
    for (unsigned i = 0; i < 6 * 4 * 4; i++) {
        const unsigned compare = i % 6, type = i / 6 % 4, row = i / 24;
        const bool is_signed = type % 2, wide = type > 1;
        struct exec_case one;
        char text[2048];

        snprintf(text, sizeof text,
                 "%smov.u32 %%r60, %%tid.y;\n%s;\nadd.s32 %%r2, %%r63, %d;\n"
                 "cvt.%s.%s %%d2, %%r1;\ncvt.%s.%s %%d3, %%r2;\nsetp.%s.%s %%p1, %s;\n"
                 "mov.u32 %%r5, 0;\n@!%%p1 bra past;\nmov.u32 %%r5, 1;\npast:\n"
                 "mad.lo.u32 %%r3, %%r60, %%r62, %%r61;\nmad.lo.u32 %%r3, %%r63, 128, %%r3;\n"
                 "mul.wide.u32 %%d4, %%r3, 4;\nadd.u64 %%d4, %%d0, %%d4;\n"
                 "st.global.u32 [%%d4], %%r5;\nret;\n}\n",
                 EXEC_MODULE EXEC_ENTRY, rows[row], is_signed ? -20 : 0, is_signed ? "s64" : "u64",
                 is_signed ? "s32" : "u32", is_signed ? "s64" : "u64", is_signed ? "s32" : "u32",
                 compares[compare], types[type], wide ? "%d2, %d3" : "%r1, %r2");
        open_large(&one, text, BLOCKS, row == 3 ? 16 : SIZE);
        one.request.block[1] = row == 3 ? SIZE / 16 : 1;
        exec_good(&one);
        for (uint32_t k = 0; k < BLOCKS * SIZE; k++) {
            const int32_t thread = k % SIZE, block = (int32_t)(k / SIZE);
            const int32_t numbers[] = {thread, 90 - thread, thread * 3, thread / 16 + 5};
            const int32_t a = numbers[row], b = block - (is_signed ? 20 : 0);
            const bool wanted =
                is_signed ? holds(compare, a, b) : holds(compare, (uint32_t)a, (uint32_t)b);

            if (one.words[k] != wanted)
                fail_msg("%s.%s, row %u, thread %d, block %d: %u", compares[compare], types[type],
                         row, thread, block, one.words[k]);
        }
        exec_close(&one);
    }
}

/* Blocks that part and blocks that do not take turns; none sees what the one before it left. */
static void blocks_again(void **state)
{
    enum { BLOCKS = 16 };
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE ".func nothing() { ret; }\n" EXEC_ENTRY
                          "addc.u32 %r1, %r63, 0;\nadd.cc.u32 %r2, %r61, 0xffffffff;\n"
                          "addc.u32 %r1, %r1, 0;\nand.b32 %r3, %r63, 3;\n"
                          "setp.eq.u32 %p1, %r3, 1;\n@%p1 bra alone;\n"
                          "setp.eq.u32 %p2, %r3, 2;\n@%p2 bra done;\nbar.sync 0;\nbra done;\n"
                          "alone:\ncall.uni nothing, ();\nadd.cc.u32 %r2, %r61, 0xffffffff;\n"
                          "done:\nst.global.u32 [%d1], %r1;\nret;\n}\n",
              BLOCKS, THREADS);
    one.world.machine.workers = 1;
    exec_good(&one);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(one.words[i], i / THREADS + (i % THREADS != 0));
    exec_close(&one);
}

/* A comparison and what combines it with another predicate are one step, if nothing else reads it.
 */
static void combined_compares(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(
        &one,
        EXEC_BODY("mul.lo.u32 %r1, %r0, 0x9e3779b1;\nshr.u32 %r1, %r1, 24;\n"
                  "and.b32 %r2, %r1, 15;\ncvt.rn.f32.u32 %f1, %r2;\ncvt.u64.u32 %d2, %r1;\n"
                  "mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r1, 128;\n"
                  /* one step, of each kind */
                  "setp.lt.u32 %p2, %r2, 5;\nand.pred %p3, %p1, %p2;\n@%p3 or.b32 %r9, %r9, 1;\n"
                  "setp.gt.f32 %p4, %f1, 0f41000000;\nor.pred %p5, %p4, %p1;\n"
                  "@%p5 or.b32 %r9, %r9, 2;\n"
                  "setp.le.s64 %p6, %d2, 99;\nxor.pred %p7, %p1, %p6;\n"
                  "@%p7 or.b32 %r9, %r9, 4;\n"
                  /* the result is the other source */
                  "mov.pred %p8, %p1;\nsetp.ne.u32 %p9, %r2, 3;\nand.pred %p8, %p8, %p9;\n"
                  "@%p8 or.b32 %r9, %r9, 8;\n"
                  /* read again; twice the same; turned round */
                  "setp.eq.u32 %p10, %r2, 7;\nor.pred %p11, %p10, %p1;\n"
                  "@%p11 or.b32 %r9, %r9, 16;\n@%p10 or.b32 %r9, %r9, 32;\n"
                  "setp.ge.u32 %p12, %r2, 9;\nand.pred %p13, %p12, %p12;\n"
                  "@%p13 or.b32 %r9, %r9, 64;\n"
                  "setp.ge.u32 %p14, %r2, 4;\nand.pred %p15, !%p14, %p1;\n"
                  "@%p15 or.b32 %r9, %r9, 128;\n"
                  "{ .reg .pred %q<4>;\nmov.pred %q1, %p1;\nsetp.ge.u32 %q2, %r2, 2;\n"
                  "@%p1 and.pred %q1, %q1, %q2;\n@%q1 or.b32 %r9, %r9, 256;\n"
                  "setp.ne.u32 %q3, %r2, 6;\n@%p1 bra there;\nmov.pred %q3, 0;\nthere:\n"
                  "and.pred %q1, %q3, %p1;\n@%q1 or.b32 %r9, %r9, 512; }\n"
                  "st.global.u32 [%d1], %r9;\n"),
        2, THREADS);
    for (uint32_t i = 0; i < 2 * THREADS; i++) {
        const uint32_t a = i * UINT32_C(0x9e3779b1) >> 24, b = a & 15;
        const bool low = a < 128;
        const bool bits[] = {low && b < 5,  low || b > 8, low != (a <= 99), low && b != 3,
                             low || b == 7, b == 7,       b >= 9,           low && b < 4,
                             low && b >= 2, low && b != 6};
        uint32_t wanted = 0;

        for (unsigned k = 0; k < sizeof bits; k++)
            wanted |= (uint32_t)bits[k] << k;
        if (one.words[i] != wanted)
            fail_msg("thread %u: 0x%x, not 0x%x", i, one.words[i], wanted);
    }
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_rows),        cmocka_unit_test(large_row_ends),
        cmocka_unit_test(rows_compared),     cmocka_unit_test(blocks_again),
        cmocka_unit_test(combined_compares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
