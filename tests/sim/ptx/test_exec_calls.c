/* SPDX-License-Identifier: MIT */
/* Calls of every kind, atomics of many blocks, and launches beside each other. */
#include "exec_case.h"

#include <sys/wait.h>
#include <unistd.h>

#define FIBONACCI                                                                                  \
    ".func (.param .u32 result) fibonacci(.param .u32 value) {\n"                                  \
    ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.param .u32 a;\n.param .u32 b;\n"                        \
    "ld.param.u32 %r1, [value];\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra SMALL;\n"                      \
    "sub.u32 %r2, %r1, 1;\nst.param.u32 [a], %r2;\ncall (b), fibonacci, (a);\n"                    \
    "ld.param.u32 %r3, [b];\nsub.u32 %r4, %r1, 2;\nst.param.u32 [a], %r4;\n"                       \
    "call (b), fibonacci, (a);\nld.param.u32 %r5, [b];\nadd.u32 %r6, %r3, %r5;\n"                  \
    "st.param.u32 [result], %r6;\nret;\nSMALL:\nst.param.u32 [result], %r1;\nret;\n}\n"

/* Every lane to a depth of its own. */
static void recursion(void **state)
{
    static const uint32_t expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_MODULE FIBONACCI EXEC_ENTRY
             ".param .u32 x;\n.param .u32 y;\nrem.u32 %r1, %r0, 12;\nst.param.u32 [x], %r1;\n"
             "call (y), fibonacci, (x);\nld.param.u32 %r2, [y];\nst.global.u32 [%d1], %r2;\n"
             "ret;\n}\n",
             2, 48);
    for (uint32_t i = 0; i < 96; i++)
        assert_int_equal(one.words[i], expected[i % 12]);
    exec_close(&one);
}

#define POINTERS                                                                                   \
    ".func (.param .b64 r) one(.param .b64 v) {\n.reg .b64 %d<4>;\nld.param.b64 %d1, [v];\n"       \
    "add.u64 %d2, %d1, 1;\nst.param.b64 [r], %d2;\nret;\n}\n"                                      \
    ".func (.param .b64 r) two(.param .b64 v) {\n.reg .b64 %d<4>;\nld.param.b64 %d1, [v];\n"       \
    "mul.lo.u64 %d2, %d1, 3;\nst.param.b64 [r], %d2;\nret;\n}\n"                                   \
    ".global .u64 table[2] = {one, two};\n"

static void function_pointers(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(
        &one,
        EXEC_MODULE POINTERS EXEC_ENTRY
        ".param .b64 x;\n.param .b64 y;\nP: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
        "and.b32 %r1, %r0, 1;\nmul.wide.u32 %d2, %r1, 8;\nmov.u64 %d3, table;\n"
        "add.u64 %d3, %d3, %d2;\nld.global.u64 %d4, [%d3];\ncvt.u64.u32 %d5, %r0;\n"
        "st.param.b64 [x], %d5;\ncall (y), %d4, (x), P;\nld.param.b64 %d6, [y];\n"
        "st.global.u32 [%d1], %d6;\nret;\n}\n",
        1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(one.words[i], i % 2 ? i * 3 : i + 1);
    exec_close(&one);
    exec_open(
        &one,
        EXEC_MODULE POINTERS EXEC_ENTRY
        ".param .b64 x;\n.param .b64 y;\nP: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
        "mov.u64 %d4, 4660;\nst.param.b64 [x], %d4;\ncall (y), %d4, (x), P;\nret;\n}\n",
        1, 1);
    exec_fails(&one, PTX_FAULT_INVALID_PC, "call", "0x1234");
    exec_close(&one);
}

/* Arguments and results in registers, and a .shared variable of the callee. */
static void register_arguments(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_MODULE ".shared .u32 first[33];\n"
                         ".func (.reg .u32 r, .reg .pred q) f(.reg .u32 a, .reg .u64 b) {\n"
                         ".reg .u32 %x<4>;\n.reg .u64 %y<4>;\n.shared .u32 own[64];\n"
                         "mov.u32 %x1, own;\nshl.b32 %x2, a, 2;\nadd.u32 %x1, %x1, %x2;\n"
                         "st.shared.u32 [%x1], a;\nld.shared.u32 %x3, [%x1];\ncvt.u32.u64 r, b;\n"
                         "add.u32 r, r, %x3;\nsetp.gt.u32 q, a, 9;\nret;\n}\n" EXEC_ENTRY
                         "mov.u32 %r5, 1;\nst.shared.u32 [first], %r5;\nmov.u64 %d5, 500;\n"
                         "call (%r6, %p3), f, (%r0, %d5);\n@%p3 add.u32 %r6, %r6, 1000;\n"
                         "ld.shared.u32 %r7, [first];\nadd.u32 %r6, %r6, %r7;\n"
                         "st.global.u32 [%d1], %r6;\nret;\n}\n",
             1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(one.words[i], i + 501 + (i > 9 ? 1000 : 0));
    assert_int_equal(ptx_module_function(one.world.module, one.request.function)->static_shared,
                     33 * 4 + 64 * 4);
    exec_close(&one);
}

static void atomics_of_blocks(void **state)
{
    struct exec_case one;

    (void)state;
    exec_run(&one,
             EXEC_BODY("atom.global.add.u32 %r1, [%d0], 1;\nred.global.max.u32 [%d0+4], %r1;\n"
                       "mov.f32 %f1, 0f3F800000;\nred.global.add.f32 [%d0+8], %f1;\n"
                       "mov.u64 %d2, 0x100000001;\nred.global.add.u64 [%d0+16], %d2;\n"
                       "atom.global.inc.u32 %r2, [%d0+24], 99;\n"
                       "and.b32 %r3, %r0, 7;\nmov.u32 %r4, 1;\nshl.b32 %r4, %r4, %r3;\n"
                       "red.global.or.b32 [%d0+28], %r4;\n"
                       "LOOP:\nld.global.u32 %r5, [%d0+32];\nadd.u32 %r6, %r5, 3;\n"
                       "atom.global.cas.b32 %r7, [%d0+32], %r5, %r6;\nsetp.ne.u32 %p1, %r7, %r5;\n"
                       "@%p1 bra LOOP;\n"),
             100, 128);
    assert_int_equal(one.words[0], 12800);
    assert_int_equal(one.words[1], 12799);
    assert_int_equal(one.words[2], 0x46480000); /* 12800.0 */
    assert_int_equal(one.words[4], 12800);
    assert_int_equal(one.words[5], 12800);
    assert_int_equal(one.words[6], 0);
    assert_int_equal(one.words[7], 0xff);
    assert_int_equal(one.words[8], 38400);
    exec_close(&one);
}

/* Every block waits for all the others: they must live at the same time. */
static const char meeting[] = EXEC_BODY(
    "membar.gl;\nbar.sync 0;\nsetp.ne.u32 %p1, %r61, 0;\n@%p1 bra WAIT;\n"
    "mov.u32 %r5, %nctaid.x;\nred.global.add.u32 [%d0+16000], 1;\n"
    "SPIN:\nld.volatile.global.u32 %r1, [%d0+16000];\nsetp.lt.u32 %p2, %r1, %r5;\n@%p2 bra SPIN;\n"
    "WAIT:\nbar.sync 0;\nld.volatile.global.u32 %r2, [%d0+16000];\nst.global.u32 [%d1], %r2;\n");

static void blocks_meet(void **state)
{
    struct exec_case one;

    (void)state;
    for (unsigned cooperative = 0; cooperative < 2; cooperative++) {
        exec_open(&one, meeting, 24, 64);
        one.request.cooperative = cooperative != 0;
        exec_good(&one);
        for (uint32_t i = 0; i < 24 * 64; i++)
            assert_int_equal(one.words[i], 24);
        exec_close(&one);
    }
}

static void clusters(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_MODULE ".shared .u32 word[32];\n" EXEC_ENTRY
                          "mov.u32 %r1, word;\nshl.b32 %r2, %r61, 2;\nadd.u32 %r1, %r1, %r2;\n"
                          "st.shared.u32 [%r1], %r0;\nbarrier.cluster.arrive;\n"
                          "barrier.cluster.wait;\nmov.u32 %r3, %cluster_ctarank;\n"
                          "xor.b32 %r3, %r3, 1;\nmapa.shared::cluster.u32 %r4, %r1, %r3;\n"
                          "ld.shared::cluster.u32 %r5, [%r4];\nbarrier.cluster.arrive;\n"
                          "barrier.cluster.wait;\nst.global.u32 [%d1], %r5;\nret;\n}\n",
              8, 32);
    one.request.cluster[0] = 2;
    exec_good(&one);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(one.words[i], i ^ 32);
    exec_close(&one);
}

struct beside {
    struct exec_case one;
    uint32_t add;
};

static void *launch_often(void *argument)
{
    struct beside *beside = argument;

    for (unsigned i = 0; i < 20; i++)
        if (!exec_launch(&beside->one))
            return argument;
    return NULL;
}

static void launches_beside(void **state)
{
    static const char text[] = EXEC_BODY("ld.global.u32 %r1, [%d1];\nadd.u32 %r1, %r1, %r0;\n"
                                         "st.global.u32 [%d1], %r1;\n");
    static struct beside beside[3];
    pthread_t threads[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        exec_open(&beside[i].one, text, 32, 128);
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &beside[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        void *failed = NULL;

        pthread_join(threads[i], &failed);
        assert_null(failed);
        for (uint32_t k = 0; k < 4096; k++)
            assert_int_equal(beside[i].one.words[k], 20 * k);
        exec_close(&beside[i].one);
    }
}

#if !defined(__SANITIZE_THREAD__) /* it takes no threads in a child of a process with threads */
/* The child has no worker threads of the parent's. */
static void after_fork(void **state)
{
    struct exec_case one;
    int status = 1;
    pid_t child;

    (void)state;
    exec_run(&one, EXEC_BODY("st.global.u32 [%d1], %r0;\n"), 32, 128);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(one.words, 0, EXEC_WORDS * 4);
        _exit(exec_launch(&one) && one.words[4095] == 4095 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ptx_pool_close();
    exec_good(&one);
    exec_close(&one);
}
#endif

/* Lane 0 comes to the call when the others are inside: they meet there all the same. */
static void late_lanes(void **state)
{
    struct exec_case one;
    (void)state;
    exec_run(&one,
             EXEC_MODULE ".shared .b32 inside;\n"
                         ".func (.param .b32 r) meet(.param .b32 a) {\n"
                         ".reg .b32 %a, %b, %c;\n.reg .pred %q;\n"
                         "ld.param.u32 %a, [a];\nmov.u32 %c, 1;\n"
                         "st.volatile.shared.u32 [inside], %c;\n"
                         "shfl.sync.idx.b32 %b, %a, 0, 31, -1;\n"
                         "setp.eq.u32 %q, %a, 100;\nvote.sync.any.pred %q, %q, -1;\n"
                         "@%q add.u32 %b, %b, 1;\nst.param.b32 [r], %b;\nret;\n}\n" EXEC_ENTRY
                         "setp.ne.u32 %p1, %r0, 0;\nmov.u32 %r2, 0;\n"
                         "st.volatile.shared.u32 [inside], %r2;\n"
                         "bar.sync 0;\n@%p1 bra go;\n"
                         "again:\nld.volatile.shared.u32 %r1, [inside];\n"
                         "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra again;\n"
                         "go:\nadd.u32 %r3, %r0, 100;\n{\n.param .b32 x;\n.param .b32 y;\n"
                         "st.param.b32 [x], %r3;\ncall (y), meet, (x);\n"
                         "ld.param.b32 %r4, [y];\n}\nst.global.u32 [%d1], %r4;\nret;\n}\n",
             1, 32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(one.words[t], 101);
    exec_close(&one);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion),
        cmocka_unit_test(function_pointers),
        cmocka_unit_test(register_arguments),
        cmocka_unit_test(atomics_of_blocks),
        cmocka_unit_test(blocks_meet),
        cmocka_unit_test(clusters),
        cmocka_unit_test(launches_beside),
        cmocka_unit_test(late_lanes),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(after_fork),
#endif
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    ptx_pool_close();
    return failed;
}
