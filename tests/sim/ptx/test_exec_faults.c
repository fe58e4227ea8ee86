/* SPDX-License-Identifier: MIT */
/* What ends a launch: every fault with its report, and what a kernel prints before. */
#include "exec_case.h"

#include <pthread.h>
#include <time.h>

static void out_of_bounds(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY("\nmul.wide.u32 %d2, %r0, 256;\nadd.u64 %d2, %d0, %d2;\n"
                        "st.global.u32 [%d2+4], %r0;\n"),
              1, 96);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS,
               "kernel 'k', block (0,0,0), thread (64,0,0), PTX line 21, st: writes 4 bytes",
               " at 0x");
    assert_int_equal(one.world.fault.address, one.out + 16384 + 4);
    assert_int_equal(one.world.fault.thread[0], 64);
    assert_int_equal(one.world.fault.line, 21);
    /* What was before the fault is there. */
    assert_int_equal(one.words[63 * 64 + 1], 63);
    exec_close(&one);
}

static void wild_addresses(void **state)
{
    static const char *const text[] = {
        EXEC_BODY("mov.u64 %d2, 0;\nld.u32 %r1, [%d2];\n"),
        EXEC_BODY("mov.u64 %d2, -4;\nld.global.u32 %r1, [%d2];\n"),
        EXEC_BODY("mov.u64 %d2, 4096;\nld.shared.u32 %r1, [%d2];\n"),
        EXEC_BODY("mov.u64 %d2, 4096;\ncvta.shared.u64 %d2, %d2;\nst.u32 [%d2], %r1;\n"),
        EXEC_BODY("mov.u64 %d2, 64;\nst.local.u32 [%d2], %r1;\n"),
        EXEC_BODY("atom.global.add.u32 %r1, [%d0+16384], 1;\n"),
        EXEC_BODY("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+16384];\n"),
        EXEC_BODY("mov.u64 %d2, 0xffffffffffffffc0;\nmul.wide.u32 %d3, %r0, 4;\n"
                  "add.u64 %d2, %d2, %d3;\nld.global.u32 %r1, [%d2];\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct exec_case one;

        exec_open(&one, text[i], 1, 32);
        exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (0,0,0)",
                   i == 2 || i == 3 ? "outside of the block's 0 of shared memory"
                                    : "no live memory");
        exec_close(&one);
    }
}

static void one_byte(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one, EXEC_BODY("mov.u64 %d2, -4;\nld.global.u8 %r1, [%d2];\n"), 1, 32);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "reads 1 byte that is no live memory", "");
    exec_close(&one);
}

static void misaligned(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY("setp.eq.u32 %p1, %r0, 5;\n@%p1 add.u64 %d1, %d1, 2;\n"
                        "ld.global.u32 %r1, [%d1];\n"),
              1, 32);
    exec_fails(&one, PTX_FAULT_MISALIGNED, "thread (5,0,0)", "misaligned");
    exec_close(&one);
    exec_open(&one, EXEC_BODY("ld.global.v2.u32 {%r1, %r2}, [%d0+4];\n"), 1, 1);
    exec_fails(&one, PTX_FAULT_MISALIGNED, "thread (0,0,0)", "misaligned");
    exec_close(&one);
}

static void traps(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one, EXEC_BODY("setp.eq.u32 %p1, %r0, 40;\n@%p1 trap;\n"), 1, 64);
    exec_fails(&one, PTX_FAULT_TRAP, "thread (40,0,0)", "trap");
    exec_close(&one);
}

static void lost_barrier(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY("setp.lt.u32 %p1, %r61, 32;\n@%p1 bra A;\nbar.sync 1;\nbra B;\n"
                        "A:\nbar.sync 2;\nB:\n"),
              1, 64);
    exec_fails(&one, PTX_FAULT_BARRIER, "bar", "32 of 64 threads");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("setp.eq.u32 %p1, %r61, 3;\n@%p1 bra A;\n"
                        "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nA:\nbar.sync 0;\n"),
              1, 32);
    exec_fails(&one, PTX_FAULT_BARRIER, "wait", "cannot come");
    exec_close(&one);
}

/* A barrier waits for the number of threads that it names, also where so many cannot come. */
static void barrier_of_too_many(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one, EXEC_BODY("barrier.sync 1, 96;\n"), 1, 64);
    exec_fails(&one, PTX_FAULT_BARRIER, "barrier 1", "64 of 96 threads");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("setp.lt.u32 %p1, %r61, 32;\n@%p1 bra A;\nret;\n"
                        "A:\nbarrier.sync 1, 64;\n"),
              1, 64);
    exec_fails(&one, PTX_FAULT_BARRIER, "barrier 1", "32 of 64 threads");
    exec_close(&one);
    exec_open(&one,
              EXEC_BODY("setp.lt.u32 %p1, %r61, 32;\n@%p1 bra A;\nbarrier.arrive 1, 96;\nret;\n"
                        "A:\nbarrier.sync 1, 96;\n"),
              1, 64);
    exec_fails(&one, PTX_FAULT_BARRIER, "barrier 1", "64 of 96 threads");
    exec_close(&one);
    /* A warp that is not whole counts as one. */
    exec_open(&one, EXEC_BODY("barrier.sync 1, 64;\nst.global.u32 [%d1], %r0;\n"), 1, 48);
    exec_good(&one);
    exec_close(&one);
}

static void stack_overflow(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE ".func deep(.param .u32 v) {\n.reg .b32 %r<2>;\n.param .u32 a;\n"
                          "ld.param.u32 %r1, [v];\nst.param.u32 [a], %r1;\ncall deep, (a);\nret;\n"
                          "}\n" EXEC_ENTRY
                          ".param .u32 x;\nst.param.u32 [x], %r0;\ncall deep, (x);\nret;\n}\n",
              1, 32);
    exec_fails(&one, PTX_FAULT_STACK, "call", "stack");
    exec_close(&one);
}

static void time_limit(void **state)
{
    static const char *const endless[] = {
        EXEC_BODY("LOOP:\nbra LOOP;\n"),
        EXEC_BODY("LOOP:\nbar.sync 0;\nbra LOOP;\n"), /* each warp waits in each turn */
    };

    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        struct exec_case one;

        exec_open(&one, endless[i], 64, 64);
        one.world.machine.time_limit_ns = 50000000;
        exec_fails(&one, PTX_FAULT_TIMEOUT, "thread (0,0,0), PTX line 19", "time limit");
        exec_close(&one);
    }
}

static void *stop_soon(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    ptx_stop(0, false);
    return unused;
}

/* From outside, and the launches after it are not stopped. */
static void stopped(void **state)
{
    struct exec_case one;
    pthread_t thread;

    (void)state;
    exec_open(&one, EXEC_BODY("LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;\n"), 64, 64);
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    exec_fails(&one, PTX_FAULT_STOPPED, "thread (0,0,0), PTX line 19, add",
               "the launch was stopped here");
    pthread_join(thread, NULL);
    exec_close(&one);
    exec_run(&one, EXEC_BODY("st.global.u32 [%d1], 7;\n"), 1, 32);
    assert_int_equal(one.words[31], 7);
    exec_close(&one);
}

/* A nap lasts as long as a device's: to the next power of two, and about a millisecond at most. A
 * time limit ends a launch whose threads all nap, too. */
static void naps(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("mov.u64 %d2, %globaltimer;\nmov.u32 %r1, 3;\nLOOP:\n"
                       "nanosleep.u32 600000;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r1, 0;\n"
                       "@%p0 bra LOOP;\nnanosleep.u32 0xffffffff;\nmov.u64 %d3, %globaltimer;\n"
                       "sub.u64 %d2, %d3, %d2;\nshr.u64 %d2, %d2, 10;\n"
                       "st.global.u32 [%d1], %d2;\n"),
             1, 64);
    for (unsigned i = 0; i < 64; i++)
        assert_in_range(one.words[i], 4 * 1024, 1000 * 1024); /* microseconds, nearly */
    exec_close(&one);
    exec_open(&one, EXEC_BODY("LOOP:\nnanosleep.u32 1000000;\nbra LOOP;\n"), 2, 64);
    one.world.machine.time_limit_ns = 50000000;
    exec_fails(&one, PTX_FAULT_TIMEOUT, "kernel 'k'", "time limit");
    exec_close(&one);
}

#define CALLS                                                                                      \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"                       \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "      \
    ".param .b64 e);\n"
/* "%d and %s|%5.2f|%c%%\n" */
#define TEXTS                                                                                      \
    ".global .align 1 .b8 format[22] = {37,100,32,97,110,100,32,37,115,124,37,53,46,50,102,124,"   \
    "37,99,37,37,10,0};\n.global .align 1 .b8 word[4] = {97,98,99,0};\n"

static void prints(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_MODULE CALLS TEXTS EXEC_ENTRY
             ".local .align 8 .b8 buffer[32];\n.param .b64 x;\n.param .b64 y;\n.param .b32 z;\n"
             "sub.s32 %r1, 0, 7;\nst.local.u32 [buffer], %r1;\nmov.u64 %d2, word;\n"
             "cvta.global.u64 %d2, %d2;\nst.local.u64 [buffer+8], %d2;\n"
             "mov.u64 %d3, 0x4000000000000000;\nst.local.u64 [buffer+16], %d3;\n"
             "mov.u32 %r2, 33;\nst.local.u32 [buffer+24], %r2;\nmov.u64 %d4, format;\n"
             "cvta.global.u64 %d4, %d4;\nst.param.b64 [x], %d4;\nmov.u64 %d5, buffer;\n"
             "cvta.local.u64 %d5, %d5;\nst.param.b64 [y], %d5;\ncall (z), vprintf, (x, y);\n"
             "ld.param.b32 %r3, [z];\nst.global.u32 [%d1], %r3;\nret;\n}\n",
             1, 2);
    assert_string_equal(one.world.printed, "-7 and abc| 2.00|!%\n-7 and abc| 2.00|!%\n");
    assert_int_equal(one.words[1], 4);
    exec_close(&one);
    /* Declared without a result, called by name and by address. */
    exec_run(&one,
             EXEC_MODULE ".extern .func vprintf(.param .b64 f, .param .b64 a);\n" TEXTS EXEC_ENTRY
                         "p: .callprototype _ (.param .b64 f, .param .b64 a);\n"
                         ".param .b64 x, y;\nmov.u64 %d2, word;\ncvta.global.u64 %d2, %d2;\n"
                         "st.param.b64 [x], %d2;\nst.param.b64 [y], 0;\ncall vprintf, (x, y);\n"
                         "mov.u64 %d3, vprintf;\ncall %d3, (x, y), p;\nret;\n}\n",
             1, 1);
    assert_string_equal(one.world.printed, "abcabc");
    exec_close(&one);
}

static void asserts(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE CALLS TEXTS EXEC_ENTRY
              ".param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param .b64 e;\n"
              "mov.u64 %d2, word;\ncvta.global.u64 %d2, %d2;\nst.param.b64 [a], %d2;\n"
              "st.param.b64 [b], %d2;\nmov.u32 %r1, 12;\nst.param.b32 [c], %r1;\n"
              "st.param.b64 [d], %d2;\nst.param.b64 [e], 1;\nsetp.ne.u32 %p1, %r0, 3;\n"
              "@%p1 bra END;\ncall __assertfail, (a, b, c, d, e);\nEND:\nret;\n}\n",
              1, 32);
    exec_fails(&one, PTX_FAULT_ASSERT, "thread (3,0,0)", "assertion");
    assert_string_equal(one.world.printed, "abc:12: abc: block: [0,0,0], thread: [3,0,0] "
                                           "Assertion `abc` failed.\n");
    exec_close(&one);
}

/* What nobody can run is refused when the module is loaded. */
static void refused(void **state)
{
    static const char text[] =
        EXEC_MODULE ".extern .func (.param .b64 r) nobody(.param .b64 s);\n" EXEC_ENTRY
                    ".param .b64 x;\n.param .b64 y;\nst.param.b64 [x], 8;\n"
                    "call (y), nobody, (x);\nret;\n}\n";
    struct ptx_text errors = {0};
    struct world world;

    (void)state;
    world_open(&world);
    assert_false(world_load(&world, text, strlen(text), &errors));
    assert_non_null(strstr(errors.data, "nobody"));
    ptx_text_free(&errors);
    world_close(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_bounds), cmocka_unit_test(wild_addresses),
        cmocka_unit_test(one_byte),      cmocka_unit_test(misaligned),
        cmocka_unit_test(traps),         cmocka_unit_test(barrier_of_too_many),
        cmocka_unit_test(lost_barrier),  cmocka_unit_test(stack_overflow),
        cmocka_unit_test(time_limit),    cmocka_unit_test(stopped),
        cmocka_unit_test(prints),        cmocka_unit_test(naps),
        cmocka_unit_test(asserts),       cmocka_unit_test(refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    ptx_pool_close();
    return failed;
}
