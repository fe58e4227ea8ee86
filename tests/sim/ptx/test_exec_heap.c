/* SPDX-License-Identifier: MIT */
/* malloc and free of the device: what kernels get, what they may do with it, and the heap behind
 * them. */
#include "exec_case.h"
#include "heap_case.h"

#include <sys/wait.h>
#include <unistd.h>

#define DECLARED                                                                                   \
    EXEC_MODULE ".extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);\n"   \
                ".extern .func free(.param .b64 free_param_0);\n"                                  \
                ".extern .func (.param .b64 func_retval0) __cuda_syscall_aligned_malloc("          \
                ".param .b64 size, .param .b64 align);\n"
#define MALLOC(result, size)                                                                       \
    "{\n.param .b64 p;\n.param .b64 q;\nst.param.b64 [p], " size ";\ncall.uni (q), malloc, (p);\n" \
    "ld.param.b64 " result ", [q];\n}\n"
#define FREE(address) "{\n.param .b64 p;\nst.param.b64 [p], " address ";\ncall.uni free, (p);\n}\n"
#define KERNEL(text) DECLARED EXEC_ENTRY text "ret;\n}\n"

static void open_case(struct exec_case *one, struct ptx_heap *heap, const char *text,
                      uint32_t blocks, uint32_t threads)
{
    exec_open(one, text, blocks, threads);
    one->world.calls.heap = heap;
}

/* Every thread has a block of another size, which nobody else writes to. */
static void blocks_of_threads(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        open_case(
            &one, heap,
            KERNEL("mul.wide.u32 %d2, %r0, 4;\nadd.u64 %d2, %d2, 8;\n" MALLOC(
                "%d3", "%d2") "and.b64 %d4, %d3, 15;\nsetp.ne.u64 %p1, %d4, 0;\n@%p1 trap;\n"
                              "st.u32 [%d3], %r0;\nadd.u64 %d5, %d3, %d2;\nst.u32 [%d5+-4], %r0;\n"
                              "bar.sync 0;\nld.u32 %r1, [%d3];\nld.global.u32 %r2, [%d5+-4];\n"
                              "add.u32 %r3, %r1, %r2;\nst.global.u32 [%d1], %r3;\n" FREE("%d3")),
            16, 128);
        one.world.machine.workers = workers;
        assert_true(ptx_module_uses_heap(one.world.module));
        exec_good(&one);
        for (uint32_t i = 0; i < 2048; i++)
            assert_int_equal(one.words[i], 2 * i);
        exec_close(&one);
    }
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

/* Threads of a warp beside each other in one block, in every pattern that the engine knows. */
static void one_block_for_all(void **state)
{
    static const char text[] =
        KERNEL(".shared .u64 at;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\n" MALLOC(
            "%d2", "124") "st.shared.u64 [at], %d2;\nREADY:\nbar.sync 0;\nld.shared.u64 %d2, "
                          "[at];\nmul.wide.u32 %d3, %r0, 4;\nadd.u64 %d4, %d2, %d3;\n"
                          "setp.gt.u32 %p2, %r0, 30;\n@!%p2 st.u32 [%d4], %r0;\nbar.warp.sync "
                          "0xffffffff;\nld.u32 %r1, [%d2];\nst.global.u32 [%d1], %r1;\n"
                          "ld.global.u32 %r2, [%d4];\n");
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap, text, 1, 31);
    exec_good(&one);
    exec_close(&one);
    open_case(&one, heap, text, 1, 32);
    exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "thread (31,0,0)", "reads 4 bytes");
    exec_close(&one);
    ptx_heap_destroy(heap);
}

/* A list that one launch builds, and the next one walks and frees. */
static void list_of_two_launches(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap,
              KERNEL(MALLOC("%d2", "16") "st.u32 [%d2+8], %r0;\n"
                                         "atom.global.exch.b64 %d3, [%d0], %d2;\n"
                                         "st.u64 [%d2], %d3;\n"),
              8, 64);
    exec_good(&one);
    uint64_t head;
    memcpy(&head, one.words, sizeof head);
    exec_close(&one);
    open_case(&one, heap,
              KERNEL("ld.global.u64 %d2, [%d0];\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP:\n"
                     "ld.u64 %d3, [%d2];\nld.u32 %r3, [%d2+8];\nadd.u32 %r1, %r1, %r3;\n"
                     "add.u32 %r2, %r2, 1;\n" FREE(
                         "%d2") "mov.u64 %d2, %d3;\nsetp.ne.u64 %p1, %d2, 0;\n@%p1 bra LOOP;\n"
                                "st.global.u32 [%d0], %r1;\nst.global.u32 [%d0+4], %r2;\n"),
              1, 1);
    memcpy(one.words, &head, sizeof head);
    exec_good(&one);
    assert_int_equal(one.words[0], 512 * 511 / 2);
    assert_int_equal(one.words[1], 512);
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

/* Two threads take what there is; then all is given back, and taken once more. */
static void exhausted(void **state)
{
    static const char text[] =
        KERNEL("mov.u32 %r5, 2;\nAGAIN:\nmov.u64 %d4, 0;\nmov.u32 %r1, 0;\nTAKE:\n" MALLOC(
            "%d2", "1000") "setp.eq.u64 %p1, %d2, 0;\n@%p1 bra GIVE;\n"
                           "st.u64 [%d2+992], %d4;\nmov.u64 %d4, %d2;\nadd.u32 %r1, %r1, 1;\n"
                           "bra TAKE;\nGIVE:\nst.global.u32 [%d1], %r1;\nLOOP:\nsetp.eq.u64 %p2, "
                           "%d4, 0;\n@%p2 bra DONE;\nld.u64 %d5, [%d4+992];\n" FREE(
                               "%d4") "mov.u64 %d4, %d5;\nbra LOOP;\nDONE:\nsub.u32 %r5, %r5, 1;\n"
                                      "bar.sync 0;\nsetp.ne.u32 %p3, %r5, 0;\n@%p3 bra AGAIN;\n");
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap, text, 1, 2);
    exec_good(&one);
    assert_in_range(one.words[0] + one.words[1], HEAP_SIZE / 1024, HEAP_SIZE / 1000);
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

/* Sizes without bytes, or without end; free(0); a world without a heap. */
static void odd_sizes(void **state)
{
    static const char text[] =
        KERNEL(MALLOC("%d2", "0xfffffffffffffff8") "st.global.u64 [%d0], %d2;\n" MALLOC(
            "%d2", "8388608") "st.global.u64 [%d0+8], %d2;\n" MALLOC("%d2",
                                                                     "0") "st.global.u64 [%d0+16], "
                                                                          "%d2;\n" FREE("%d2")
                                                                              FREE("0"));
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap, text, 1, 1);
    exec_good(&one);
    assert_int_equal(one.words[0] | one.words[1] | one.words[2] | one.words[3], 0);
    assert_int_equal(one.words[5], HEAP_BASE >> 32);
    exec_close(&one);
    open_case(&one, NULL, text, 1, 1);
    exec_good(&one);
    assert_int_equal(one.words[4] | one.words[5], 0);
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

#define ALIGNED(result, size, align)                                                               \
    "{\n.param .b64 p;\n.param .b64 a;\n.param .b64 q;\nst.param.b64 [p], " size                   \
    ";\nst.param.b64 [a], " align ";\ncall.uni (q), __cuda_syscall_aligned_malloc, (p, a);\n"      \
    "ld.param.b64 " result ", [q];\n}\n"

static void aligned(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap,
              KERNEL("and.b32 %r1, %r0, 15;\nmov.u64 %d2, 1;\nshl.b64 %d2, %d2, %r1;\n" ALIGNED(
                  "%d3", "24", "%d2") "sub.u64 %d4, %d2, 1;\nand.b64 %d5, %d3, %d4;\n"
                                      "cvt.u32.u64 %r2, %d5;\nst.global.u32 [%d1], %r2;\n"
                                      "st.u64 [%d3+16], %d4;\n" FREE("%d3")
                                          ALIGNED("%d3", "24", "48") FREE("%d3")),
              4, 32);
    memset(one.words, 1, 128 * 4);
    exec_good(&one);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(one.words[i], 0);
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    assert_int_equal(heap_allocate(heap, 8, 48), 0);
    assert_int_equal(heap_allocate(heap, 8, 0), 0);
    assert_int_equal(heap_allocate(heap, 8, UINT64_C(1) << 40), 0);
    ptx_heap_destroy(heap);
}

/* Each of these is the last thing that its kernel does. */
static void wrong_uses(void **state)
{
    static const struct {
        const char *text, *report, *more;
    } cases[] = {
        {KERNEL(MALLOC("%d2", "64") FREE("%d2") "ld.u32 %r1, [%d2];\n"), "ld: reads 4 bytes",
         "no live memory"},
        {KERNEL(MALLOC("%d2", "64") FREE("%d2") "st.u32 [%d2+60], %r1;\n"), "st: writes 4 bytes",
         "no live memory"},
        {KERNEL(MALLOC("%d2", "64") FREE("%d2") "atom.add.u32 %r1, [%d2], 1;\n"),
         "atom: ", "no live memory"},
        {KERNEL(MALLOC("%d2", "10") "st.u8 [%d2+9], %r0;\nst.u8 [%d2+10], %r0;\n"), "st: writes 1",
         "at 0x7e000000000a"},
        {KERNEL(MALLOC("%d2", "32") MALLOC("%d3", "32") "st.u8 [%d2+31], %r0;\n"
                                                        "st.u8 [%d2+32], %r0;\n"),
         "st: writes 1", "at 0x7e0000000020"},
        {KERNEL(MALLOC("%d2", "20") "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%d2];\n"
                                    "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%d2+16];\n"),
         "ld: reads 16", "at 0x7e0000000010"},
        {KERNEL(MALLOC("%d2", "0") "ld.u8 %r1, [%d2];\n"), "ld: reads 1", "at 0x7e0000000000"},
        {KERNEL(MALLOC("%d2", "64") FREE("%d2") FREE("%d2")), "call: frees a block",
         "second time at 0x7e0000000000"},
        {KERNEL(MALLOC("%d2", "64") "add.u64 %d2, %d2, 16;\n" FREE("%d2")), "call: frees",
         "no block of the heap at 0x7e0000000010"},
        {KERNEL(MALLOC("%d2", "64") "add.u64 %d2, %d2, 32;\n" FREE("%d2")), "call: frees",
         "no block of the heap at 0x7e0000000020"},
        {KERNEL(FREE("%d0")), "call: frees", "no block of the heap at 0x7f"},
        {KERNEL(".local .u64 x;\nmov.u64 %d2, x;\ncvta.local.u64 %d2, %d2;\n" FREE("%d2")),
         "call: frees", "no block of the heap at 0x81"},
    };
    struct exec_case one;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ptx_heap *heap = heap_make(HEAP_SIZE);

        open_case(&one, heap, cases[i].text, 1, 1);
        exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, cases[i].report, cases[i].more);
        assert_true(one.world.fault.line != 0);
        exec_close(&one);
        ptx_heap_destroy(heap);
    }
}

/* What other threads have read before is in nobody's cache after it was freed: the second block
 * reads the same words as the first one does, in turns with it. */
static void freed_by_another_block(void **state)
{
    static const char text[] = KERNEL("setp.ne.u32 %p1, %r0, 0;\n@%p1 bra OTHER;\n" MALLOC(
        "%d2", "64") "st.volatile.global.u64 [%d0], %d2;\nW0:\nld.volatile.global.u32 %r1, "
                     "[%d0+8];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W0;\n" FREE(
                         "%d2") "membar.gl;\nmov.u32 %r2, 1;\nst.volatile.global.u32 [%d0+12], "
                                "%r2;\nret;\n"
                                "OTHER:\nld.volatile.global.u64 %d2, [%d0];\nsetp.eq.u64 %p2, "
                                "%d2, 0;\n@%p2 bra OTHER;\nmov.u32 %r2, 1;\nmov.u32 %r4, 0;\n"
                                "AGAIN:\nld.u32 %r3, [%d2];\nsetp.ne.u32 %p3, %r4, 0;\n"
                                "@%p3 bra OUT;\nst.volatile.global.u32 [%d0+8], %r2;\nW1:\n"
                                "ld.volatile.global.u32 %r4, [%d0+12];\n"
                                "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra W1;\nbra AGAIN;\nOUT:\n"
                                "mov.u32 %r5, 7;\nst.global.u32 [%d0+16], %r5;\n");
    struct exec_case one;

    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        struct ptx_heap *heap = heap_make(HEAP_SIZE);

        open_case(&one, heap, text, 2, 1);
        one.world.machine.workers = workers;
        exec_fails(&one, PTX_FAULT_ILLEGAL_ADDRESS, "block (1,0,0)", "ld: reads 4 bytes");
        assert_int_equal(one.words[4], 0);
        exec_close(&one);
        ptx_heap_destroy(heap);
    }
}

/* The program's own functions of these names are its own, extern or not. */
static void own_functions(void **state)
{
    static const char *const linkage[] = {"", ".visible "};
    struct exec_case one;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[4096];

        snprintf(text, sizeof text, "%s%s%s", EXEC_MODULE, linkage[i],
                 ".func (.param .b64 r) malloc(.param .b64 s) {\n.reg .b64 %d<3>;\n"
                 "ld.param.b64 %d1, [s];\nadd.u64 %d1, %d1, 5;\nst.param.b64 [r], %d1;\nret;\n}\n"
                 ".func free(.param .b64 s) {\nret;\n}\n" EXEC_ENTRY MALLOC("%d2", "100")
                     FREE("%d2") "st.global.u32 [%d1], %d2;\nret;\n}\n");
        open_case(&one, NULL, text, 1, 1);
        assert_false(ptx_module_uses_heap(one.world.module));
        exec_good(&one);
        assert_int_equal(one.words[0], 105);
        exec_close(&one);
    }
}

static void narrow_parameters(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap,
              EXEC_MODULE ".extern .func (.param .b64 r) malloc(.param .b32 s);\n"
                          ".extern .func free(.param .b64 p);\n" EXEC_ENTRY
                          "{\n.param .b32 p;\n.param .b64 q;\nst.param.b32 [p], 40;\n"
                          "call.uni (q), malloc, (p);\nld.param.b64 %d2, [q];\n}\n"
                          "st.u32 [%d2+36], %r0;\nld.u32 %r1, [%d2+36];\n"
                          "st.global.u32 [%d1], %r1;\n" FREE("%d2") "ret;\n}\n",
              1, 64);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(one.words[i], i);
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

/* Through their addresses, and in the same call with a function of the program's. */
static void through_pointers(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case one;

    (void)state;
    open_case(&one, heap,
              DECLARED ".func (.param .b64 r) own(.param .b64 s) {\n.reg .b64 %d<3>;\n"
                       "mov.u64 %d1, 77;\nst.param.b64 [r], %d1;\nret;\n}\n"
                       ".global .u64 table[2] = {malloc, own};\n" EXEC_ENTRY
                       ".param .b64 x;\n.param .b64 y;\n"
                       "P: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
                       "F: .callprototype _ (.param .b64 _);\n"
                       "and.b32 %r1, %r0, 1;\nmul.wide.u32 %d2, %r1, 8;\nmov.u64 %d3, table;\n"
                       "add.u64 %d3, %d3, %d2;\nld.global.u64 %d4, [%d3];\n"
                       "st.param.b64 [x], 48;\ncall (y), %d4, (x), P;\nld.param.b64 %d5, [y];\n"
                       "shr.u64 %d6, %d5, 32;\nadd.u64 %d6, %d6, %d5;\nst.global.u32 [%d1], %d6;\n"
                       "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nst.u64 [%d5+40], %d5;\n"
                       "mov.u64 %d7, free;\nst.param.b64 [x], %d5;\ncall %d7, (x), F;\nret;\n}\n",
              2, 32);
    exec_good(&one);
    for (unsigned i = 0; i < 64; i++) {
        if (i % 2)
            assert_int_equal(one.words[i], 77);
        else
            assert_true(one.words[i] >= 0x7e00);
    }
    exec_close(&one);
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

static const char churn[] =
    KERNEL("mov.u32 %r5, 40;\nAGAIN:\nadd.u32 %r6, %r0, %r5;\nrem.u32 %r6, %r6, 97;\n"
           "mul.wide.u32 %d2, %r6, 8;\nadd.u64 %d2, %d2, 8;\n" MALLOC(
               "%d3", "%d2") "setp.eq.u64 %p1, %d3, 0;\n@%p1 trap;\nadd.u64 %d4, %d3, %d2;\n"
                             "st.u32 [%d3], %r0;\nst.u32 [%d4+-4], %r0;\nld.u32 %r1, [%d3];\n"
                             "setp.ne.u32 %p2, %r1, %r0;\n@%p2 trap;\n" FREE(
                                 "%d3") "sub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p3, %r5, 0;\n"
                                        "@%p3 bra AGAIN;\nst.global.u32 [%d1], %r0;\n");

static void *launch_churn(void *argument)
{
    for (unsigned i = 0; i < 4; i++)
        if (!exec_launch(argument))
            return argument;
    return NULL;
}

static void launches_beside(void **state)
{
    static struct exec_case cases[3];
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    pthread_t threads[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        open_case(&cases[i], heap, churn, 16, 96);
        assert_int_equal(pthread_create(&threads[i], NULL, launch_churn, &cases[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        void *failed = NULL;

        pthread_join(threads[i], &failed);
        if (failed)
            fail_msg("%s", cases[i].world.fault.report);
        exec_close(&cases[i]);
    }
    heap_is_empty(heap, HEAP_SIZE);
    ptx_heap_destroy(heap);
}

#if !defined(__SANITIZE_THREAD__) /* it takes no threads in a child of a process with threads */
/* The child of a process whose kernels use a heap at that moment has one of its own. */
static void fork_amid(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    struct exec_case busy, one;
    pthread_t thread;
    void *failed = NULL;

    (void)state;
    open_case(&busy, heap, churn, 16, 96);
    open_case(&one, heap, churn, 16, 96);
    assert_int_equal(pthread_create(&thread, NULL, launch_churn, &busy), 0);
    for (unsigned i = 0; i < 10; i++) {
        int status = 1;
        pid_t child;

        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            one.world.calls.heap = heap_make(HEAP_SIZE);
            _exit(exec_launch(&one) && one.words[1535] == 1535 ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pthread_join(thread, &failed);
    assert_null(failed);
    exec_close(&busy);
    exec_close(&one);
    ptx_heap_destroy(heap);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_threads),
        cmocka_unit_test(one_block_for_all),
        cmocka_unit_test(list_of_two_launches),
        cmocka_unit_test(exhausted),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(aligned),
        cmocka_unit_test(wrong_uses),
        cmocka_unit_test(freed_by_another_block),
        cmocka_unit_test(own_functions),
        cmocka_unit_test(narrow_parameters),
        cmocka_unit_test(through_pointers),
        cmocka_unit_test(launches_beside),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(fork_amid),
#endif
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    ptx_pool_close();
    return failed;
}
