/* SPDX-License-Identifier: MIT */
/* ptx_checks: what is found in the kernels of check_cases.h, and nothing else. */
#include "check_cases.h"
#include "exec_case.h"
#include "heap_case.h"

static void keep_note(void *user, const char *sentence)
{
    world_print(user, sentence, strlen(sentence));
    world_print(user, "\n", 1);
}

/* What is raced for may be found unwritten, too. */
static bool has_line(const char *text, const char *kind)
{
    for (; text && *text; text = strchr(text, '\n') + 1)
        if (strncmp(text, kind, strlen(kind)) == 0 && text[strlen(kind)] == ':')
            return true;
    return false;
}

static unsigned wrong_ones(const struct check_case *cases, size_t count)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct check_case *what = &cases[i];
        struct exec_case one;

        exec_open(&one, what->text, what->blocks, what->threads);
        one.world.calls.note = keep_note;
        ptx_memory_begin(one.words, EXEC_WORDS * 4);
        ptx_memory_written(one.words, what->written);
        exec_good(&one);
        const char *said = one.world.printed ? one.world.printed : "";
        bool good = what->found ? has_line(said, what->found) : said[0] == '\0';

        if (!good)
            print_error("%s: '%s', not %s\n", what->name, said,
                        what->found ? what->found : "nothing");
        wrong += !good;
        ptx_memory_end(one.words);
        exec_close(&one);
    }
    return wrong;
}

static void finds(void **state)
{
    (void)state;
    assert_int_equal(wrong_ones(check_cases, sizeof check_cases / sizeof *check_cases), 0);
}

/* What is noted and judged later (check_rows.c). */
#define COUNTER "setp.eq.u32 %p1, %r61, 0;\n@%p1 st.shared.u32 [s+4096], 0;\n" BARRIER
#define COUNT "red.shared.add.u32 [s+4096], 1;\n"
#define READ_COUNTER "ld.shared.u32 %r5, [s+4096];\n"
#define TWO_WARPS(text) "setp.ge.u32 %p3, %r61, 64;\n@%p3 bra END;\n" text "END:\n"
#define BOTH "bar.sync 1, 64;\n"
#define REPEAT(count, text)                                                                        \
    "mov.u32 %r20, 0;\nAGAIN:\n" text "add.u32 %r20, %r20, 1;\n"                                   \
    "setp.lt.u32 %p7, %r20, " count ";\n@%p7 bra AGAIN;\n"
/* Threads before `first` come late. */
#define LATER(first, late, text)                                                                   \
    "mov.u32 %r23, 0;\nsetp.lt.u32 %p3, %r61, " first ";\n@%p3 bra LATE;\n" text                   \
    "bra END;\nLATE:\nadd.u32 %r23, %r23, 1;\nsetp.lt.u32 %p7, %r23, 50000;\n@%p7 bra "            \
    "LATE;\n" late "END:\n"
/* All of the log, which has 16,384 reads. */
#define OWN "ld.shared.u32 %r5, [%r3];\n"
#define TWICE WRITE "st.shared.u32 [%r3+256], %r61;\n" BARRIER
static const struct check_case deferred_cases[] = {
    {"atomics and a barrier of two warps",
     BODY(WORDS("32") COUNTER TWO_WARPS(COUNT WRITE BOTH READ)), 1, 96, NULL, ALL},
    {"atomics and no barrier", BODY(WORDS("32") COUNTER TWO_WARPS(COUNT WRITE READ)), 1, 96, "race",
     ALL},
    {"atomics, and a store before the warp arrives",
     BODY(WORDS("32") COUNTER WARPS_PART COUNT PRODUCE "bar.arrive 1, 64;\nret;\n"
                                                       "CONSUMER:\n" COUNT BOTH CONSUME),
     1, 64, NULL, ALL},
    {"atomics, and a store behind it",
     BODY(WORDS("32") COUNTER WARPS_PART COUNT "bar.arrive 1, 64;\n" PRODUCE "ret;\n"
                                               "CONSUMER:\n" COUNT BOTH CONSUME),
     1, 64, "race", ALL},
    {"counter behind a barrier of two warps",
     BODY(WORDS("32") COUNTER TWO_WARPS(COUNT BOTH READ_COUNTER)), 1, 96, NULL, ALL},
    {"a barrier that other warps had before",
     BODY(WORDS("64") WRITE BOTH "setp.lt.u32 %p3, %r61, 64;\n@%p3 bra END;\n" READ "END:\n"), 1,
     128, "race", ALL},
    {"counter read by a third",
     BODY(WORDS("32") COUNTER "setp.ge.u32 %p3, %r61, 64;\n@%p3 bra READS;\n" COUNT BOTH
                              "bra END;\nREADS:\n" READ_COUNTER "END:\n"),
     1, 96, "race", ALL},
    {"a store behind more reads than are kept",
     BODY(WORDS("32") TWICE READ REPEAT("20000", "ld.shared.u32 %r5, [%r3+256];\n") WRITE), 1, 64,
     "race", ALL},
    {"the same behind a barrier",
     BODY(WORDS("32") TWICE READ REPEAT("20000", "ld.shared.u32 %r5, [%r3+256];\n") BARRIER WRITE),
     1, 64, NULL, ALL},
    {"a store of what the last of them read",
     BODY(WORDS("32") TWICE REPEAT(
         "16385", "shr.u32 %r21, %r20, 14;\nshl.b32 %r21, %r21, 8;\n"
                  "add.u32 %r21, %r21, %r3;\n"
                  "ld.shared.u32 %r5, [%r21];\n") "st.shared.u32 [%r4+256], %r61;\n"),
     1, 64, "race", ALL},
    {"more atomics than are kept",
     BODY(SHARED "st.shared.u32 [s+4160], 0;\n" COUNTER LATER(
         "32", "ld.shared.u32 %r5, [s+4160];\n",
         "red.shared.add.u32 [s+4160], 1;\n" REPEAT("9000", COUNT))),
     1, 96, "race", ALL},
    {"the same behind a barrier", BODY(SHARED COUNTER REPEAT("9000", COUNT) BARRIER READ_COUNTER),
     1, 64, NULL, ALL},
    {"an atomic behind a full log",
     BODY(WORDS("32") "st.shared.u32 [s+4160], 0;\n" WRITE COUNTER LATER(
         "32", "@%p1 st.shared.u32 [s+4160], 7;\n",
         COUNT REPEAT("16383", OWN) "red.shared.add.u32 [s+4160], 1;\n" COUNT)),
     1, 64, "race", ALL},
};

/* Rows of which some lanes run, and lines that several read. */
#define SOME(condition, text) condition "@%p3 bra SKIPS;\n" text "SKIPS:\n"
#define ODD "and.b32 %r21, %r61, 1;\nsetp.ne.u32 %p3, %r21, 0;\n"
#define FROM(thread) "setp.ge.u32 %p3, %r61, " thread ";\n"
#define SUM(between)                                                                               \
    BODY(WORDS("32") WRITE BARRIER "mov.u32 %r9, 32;\nNEXT:\n" SOME(                               \
        "setp.ge.u32 %p3, %r61, %r9;\n",                                                           \
        "shl.b32 %r10, %r9, 2;\nadd.u32 %r10, %r10, %r3;\nld.shared.u32 %r11, [%r10];\n"           \
        "ld.shared.u32 %r12, [%r3];\nadd.u32 %r12, %r12, %r11;\nst.shared.u32 [%r3], %r12;\n")     \
             between "shr.u32 %r9, %r9, 1;\nsetp.ne.u32 %p6, %r9, 0;\n@%p6 bra NEXT;\n")
#define READ_BYTE OWN_BYTE "ld.global.u8 %r5, [%d3];\n"
#define SCATTERED "sub.u32 %r22, %r1, %r3;\nadd.u32 %r22, %r22, %r1;\nadd.u32 %r22, %r22, 252;\n"
#define LAST_BLOCK "setp.ne.u32 %p4, %r63, 2;\n@%p4 ret;\n"
#define FIRST_WORDS "mul.wide.u32 %d5, %r61, 4;\nadd.u64 %d5, %d5, %d0;\n"
/* A line for each half of a warp. */
#define HALF_LINES                                                                                 \
    "and.b32 %r21, %r61, 15;\nshr.u32 %r22, %r61, 4;\nshl.b32 %r22, %r22, 8;\n"                    \
    "add.u32 %r21, %r21, %r22;\nmul.wide.u32 %d5, %r21, 4;\nadd.u64 %d5, %d5, %d0;\n"
static const struct check_case row_cases[] = {
    {"sum by a branch", SUM(BARRIER), 1, 64, NULL, ALL},
    {"sum by a branch, no barriers", SUM(""), 1, 64, "race", ALL},
    {"every other lane writes", BODY(WORDS("1") WRITE BARRIER SOME(ODD, WRITE) READ), 1, 64, "race",
     ALL},
    {"every other lane writes, barrier",
     BODY(WORDS("1") WRITE BARRIER SOME(ODD, WRITE) BARRIER READ), 1, 64, NULL, ALL},
    {"what the lanes between have", BODY(WORDS("1") WRITE BARRIER SOME(ODD, WRITE READ)), 1, 64,
     NULL, ALL},
    {"some lanes write, others read", BODY(WORDS("32") WRITE BARRIER SOME(FROM("40"), WRITE) READ),
     1, 64, "race", ALL},
    {"some lanes write, the same read",
     BODY(WORDS("32") WRITE BARRIER SOME(FROM("40"), WRITE) "ld.shared.u32 %r5, [%r3];\n"), 1, 64,
     NULL, ALL},
    {"the first writes",
     BODY(WORDS("32") SOME(FROM("1"), "st.shared.u32 [s], 1;\n") "ld.shared.u32 %r5, [s];\n"), 1,
     64, "race", ALL},
    {"the first writes, barrier",
     BODY(WORDS("32") SOME(FROM("1"), "st.shared.u32 [s], 1;\n") BARRIER
          "ld.shared.u32 %r5, [s];\n"),
     1, 64, NULL, ALL},
    {"not all lanes wrote", BODY(WORDS("32") SOME(FROM("40"), WRITE) "ld.shared.u32 %r5, [%r3];\n"),
     1, 64, "init", ALL},
    {"every other lane wrote", BODY(WORDS("32") SOME(ODD, WRITE) "ld.shared.u32 %r5, [%r3];\n"), 1,
     64, "init", ALL},
    {"not all lanes wrote, global",
     BODY(SOME(FROM("40"), "st.global.u32 [%d1], 1;\n") "ld.global.u32 %r5, [%d1];\n"), 1, 64,
     "init", 0},
    {"an exchange, global",
     BODY("atom.global.exch.b32 %r9, [%d1], 0;\nld.global.u32 %r5, [%d1];\n"), 1, 64, NULL, 0},
    {"an exchange whose answer is taken, global",
     BODY("atom.global.exch.b32 %r9, [%d1], 0;\nst.global.u32 [%d1], %r9;\n"), 1, 64, "init", 0},
    {"an addition, global", BODY("atom.global.add.u32 %r9, [%d1], 1;\n"), 1, 64, "init", 0},
    {"some lanes write, others read, global",
     BODY(SOME(FROM("48"), "st.global.u32 [%d1], 1;\n") "xor.b32 %r8, %r0, 32;\n"
                                                        "mad.wide.u32 %d2, %r8, 4, "
                                                        "%d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, "race", ALL},
    {"some lanes write, others read beside it, global",
     BODY(SOME(FROM("16"), "st.global.u32 [%d1], 1;\n") "or.b32 %r8, %r0, 32;\n"
                                                        "mad.wide.u32 %d2, %r8, 4, "
                                                        "%d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, NULL, ALL},
    {"the first and the last lane wrote",
     BODY(WORDS("32") SOME("and.b32 %r21, %r61, 31;\nsub.u32 %r21, %r21, 1;\n"
                           "setp.lt.u32 %p3, %r21, 30;\n",
                           WRITE) "ld.shared.u32 %r5, [%r3];\n"),
     1, 64, "init", ALL},
    {"the last lanes write, those before read",
     BODY(WORDS("32") WRITE BARRIER SOME("setp.lt.u32 %p3, %r61, 8;\n",
                                         WRITE) "ld.shared.u32 %r5, [%r3+32];\n"),
     1, 32, "race", ALL},
    {"a row behind scattered reads",
     BODY(WORDS("32") SCATTERED "st.shared.u32 [%r22], %r61;\n"
                                "st.shared.u32 [%r3+256], %r61;\n" BARRIER
                                "ld.shared.u32 %r5, [%r22];\n"
                                "ld.shared.u32 %r5, [%r3+128];\n"
                                "st.shared.u32 [%r22], 0;\n"),
     1, 64, "race", ALL},
    {"a lane's own between scattered reads",
     BODY(WORDS("32") "st.shared.u32 [%r3+128], %r61;\n" TWICE
                      "add.u32 %r22, %r3, %r3;\nsub.u32 %r22, %r22, %r1;\n"
                      "ld.shared.u32 %r5, [%r22];\n" SOME(
                          "setp.ne.u32 %p3, %r61, 5;\n",
                          "ld.shared.u32 %r5, [s+20];\nst.shared.u32 [s+20], %r5;\n")),
     1, 32, NULL, ALL},
    {"written, and not what is behind it",
     BODY(WORDS("32") WRITE BARRIER OWN "ld.shared.u32 %r5, [%r3+256];\n"), 1, 64, "init", ALL},
    {"bytes of two warps, own", BODY(READ_BYTE "st.global.u8 [%d3], %r61;\n"), 1, 64, NULL, ALL},
    {"bytes of two warps, other warp's",
     BODY(READ_BYTE "xor.b64 %d5, %d3, 32;\nst.global.u8 [%d5], %r61;\n"), 1, 64, "race", ALL},
    {"bytes of two warps, word of both's",
     BODY(READ_BYTE SOME(FROM("16"), FIRST_WORDS "st.global.u32 [%d5], 1;\n")), 1, 64, "race", ALL},
    {"bytes of two warps, word behind a barrier",
     BODY(READ_BYTE BARRIER SOME(FROM("16"), FIRST_WORDS "st.global.u32 [%d5], 1;\n")), 1, 64, NULL,
     ALL},
    {"bytes of two warps, a line behind the barrier of one",
     BODY(READ_BYTE "bar.warp.sync -1;\n" SOME(FROM("32"), HALF_LINES "st.global.u32 [%d5], 1;\n")),
     1, 64, "race", ALL},
    {"bytes that two blocks read", BODY(READ_BYTE LAST_BLOCK "st.global.u8 [%d3], %r61;\n"), 3, 64,
     "race", ALL},
    {"words that two blocks read",
     BODY(FIRST_WORDS "ld.global.u32 %r5, [%d5];\n" LAST_BLOCK "st.global.u32 [%d5], 1;\n"), 3, 64,
     "race", ALL},
    {"volatile store of what nothing wrote",
     BODY(WORDS("32") "st.volatile.shared.u32 [%r3], %r61;\n"), 1, 64, NULL, 0},
    {"bytes of four threads, stores of pairs",
     BODY(SHARED "add.u32 %r3, %r1, %r61;\nst.shared.u8 [%r3], %r61;\n" SOME(
         FROM("1"), "st.shared.u16 [s+32], 999;\n")),
     1, 64, "race", ALL},
    {"words, then their halves read, and a store of others",
     BODY(WORDS("1") WRITE BARRIER READ "ld.shared.u16 %h1, [%r3];\n"
                                        "ld.shared.u16 %h2, [%r3+2];\nst.shared.u16 [%r3], %h1;\n"),
     1, 64, "race", ALL},
    {"one byte of one value", BODY(SHARED "st.shared.u8 [s+3], 1;\n"), 1, 64, NULL, ALL},
    {"one byte of two values", BODY(SHARED "st.shared.u8 [s+3], %r61;\n"), 1, 64, "race", ALL},
    {"words that all blocks read", BODY(FIRST_WORDS "ld.global.u32 %r5, [%d5];\n"), 3, 64, NULL,
     ALL},
};

static void rows(void **state)
{
    (void)state;
    assert_int_equal(wrong_ones(row_cases, sizeof row_cases / sizeof *row_cases), 0);
}

static void deferred(void **state)
{
    (void)state;
    assert_int_equal(wrong_ones(deferred_cases, sizeof deferred_cases / sizeof *deferred_cases), 0);
}

/* The source's line, where the program tells it. */
static void source_lines(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY(".loc 2 12 3\nld.global.u32 %r5, [%d1];\n") ".file 1 \"/a/other.cuh\"\n"
                                                                    ".file 2 \"/a/b/sum.cu\"\n",
              1, 64);
    one.world.calls.note = keep_note;
    ptx_memory_begin(one.words, EXEC_WORDS * 4);
    ptx_memory_written(one.words, 252);
    exec_good(&one);
    assert_string_equal(one.world.printed,
                        "init: kernel 'k', block (0,0,0), thread (63,0,0), /a/b/sum.cu:12 (PTX "
                        "line 19), ld: it reads global memory that nothing wrote\n");
    ptx_memory_end(one.words);
    exec_close(&one);
}

/* Both threads, both instructions. */
static void words(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one, EXEC_BODY(WORDS("32") WRITE READ), 1, 64);
    one.world.calls.note = keep_note;
    exec_good(&one);
    assert_non_null(
        strstr(one.world.printed,
               "race: kernel 'k', block (0,0,0), thread (0,0,0), PTX line 26, ld: it reads "
               "shared memory that thread (32,0,0), PTX line 25, st, wrote, and nothing "
               "orders the two\n"));
    exec_close(&one);
}

/* Memory that is freed while a kernel is checked: no more is known of it. */
static void *ended;

static void end_memory(void *user, const char *sentence)
{
    keep_note(user, sentence);
    ptx_memory_end(ended);
    ended = NULL;
}

static void freed(void **state)
{
    struct exec_case one;

    (void)state;
    exec_open(&one,
              EXEC_BODY("ld.global.u32 %r5, [%d1];\n" BARRIER "ld.global.u32 %r5, [%d1+256];\n"), 2,
              64);
    one.world.calls.note = end_memory;
    ended = one.words;
    ptx_memory_begin(one.words, EXEC_WORDS * 4);
    exec_good(&one);
    assert_null(ended);
    assert_ptr_equal(strchr(one.world.printed, '\n') + 1,
                     one.world.printed + strlen(one.world.printed));
    exec_close(&one);
}

/* What a block gets of the heap again was another one's. */
static void heap_again(void **state)
{
    struct ptx_heap *heap = heap_make(UINT64_C(1) << 16);
    struct exec_case one;

    (void)state;
    exec_open(
        &one,
        EXEC_MODULE
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".extern .func free(.param .b64 n);\n" EXEC_ENTRY REPEAT(
            "20",
            "{\n.param .b64 p;\n.param .b64 q;\nst.param.b64 [p], 64;\n"
            "call.uni (q), malloc, (p);\nld.param.b64 %d2, [q];\n}\n"
            "st.u32 [%d2], %r0;\nld.u32 %r5, [%d2];\n"
            "{\n.param .b64 p;\nst.param.b64 [p], %d2;\ncall.uni free, (p);\n}\n") "ret;\n}\n",
        4, 64);
    one.world.calls.heap = heap;
    one.world.calls.note = keep_note;
    exec_good(&one);
    assert_null(one.world.printed);
    exec_close(&one);
    ptx_heap_destroy(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),      cmocka_unit_test(source_lines), cmocka_unit_test(words),
        cmocka_unit_test(rows),       cmocka_unit_test(deferred),     cmocka_unit_test(freed),
        cmocka_unit_test(heap_again),
    };

    ptx_checks(PTX_CHECK_RACE | PTX_CHECK_INIT | PTX_CHECK_SYNC);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
