/* SPDX-License-Identifier: MIT */
/* ptx_checks: small kernels with a fault, each beside one without; what is found, and nothing else.
 */
#include "exec_case.h"

#define SHARED ".shared .align 16 .b8 s[8192];\nmov.u32 %r1, s;\n"
/* %r3: the thread's own word of shared memory; %r4: that of the thread whose number differs by the
 * bits `other`. */
#define WORDS(other)                                                                               \
    SHARED "shl.b32 %r3, %r61, 2;\nadd.u32 %r3, %r3, %r1;\n"                                       \
           "xor.b32 %r4, %r61, " other ";\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r1;\n"
#define WRITE "st.shared.u32 [%r3], %r61;\n"
#define READ "ld.shared.u32 %r5, [%r4];\n"
#define BARRIER "bar.sync 0;\n"
#define FIRST_ZERO "setp.eq.u32 %p1, %r61, 0;\n@%p1 st.shared.u32 [s], 0;\n"
#define LEADER "and.b32 %r6, %r61, 31;\nsetp.eq.u32 %p2, %r6, 0;\n"
#define ADD_PLAIN "ld.shared.u32 %r7, [s+4];\nadd.u32 %r7, %r7, %r61;\nst.shared.u32 [s+4], %r7;\n"
/* The first warp makes what the second reads. */
#define WARPS_PART "setp.lt.u32 %p3, %r61, 32;\n@!%p3 bra CONSUMER;\n"
#define PRODUCE "st.shared.u32 [%r3], 5;\n"
#define CONSUME "ld.shared.u32 %r5, [%r4];\n"
#define OTHER_BLOCK "xor.b32 %r8, %r63, 1;\nmad.wide.u32 %d2, %r8, 4, %d0;\n"
#define OWN_BLOCK "mad.wide.u32 %d3, %r63, 4, %d0;\n"
#define ONE_THREAD "setp.ne.u32 %p4, %r61, 0;\n@%p4 ret;\n"

struct check_case {
    const char *name, *text;
    uint32_t blocks, threads;
    const char *found; /* NULL: nothing */
};

static const struct check_case cases[] = {
    {"other warp", EXEC_BODY(WORDS("32") WRITE READ), 1, 64, "race"},
    {"other warp, barrier", EXEC_BODY(WORDS("32") WRITE BARRIER READ), 1, 64, NULL},
    {"other lane", EXEC_BODY(WORDS("1") WRITE READ), 1, 32, "race"},
    {"other lane, warp's barrier", EXEC_BODY(WORDS("1") WRITE "bar.warp.sync -1;\n" READ), 1, 32,
     NULL},
    {"other lane, shfl",
     EXEC_BODY(WORDS("1") WRITE "shfl.sync.idx.b32 %r9, %r61, 0, 31, -1;\n" READ), 1, 32, "race"},
    {"other warp, warp's barrier", EXEC_BODY(WORDS("32") WRITE "bar.warp.sync -1;\n" READ), 1, 64,
     "race"},
    {"write after read", EXEC_BODY(WORDS("32") WRITE BARRIER READ "st.shared.u32 [%r3], %r5;\n"), 1,
     64, "race"},
    {"write after read, barrier",
     EXEC_BODY(WORDS("32") WRITE BARRIER READ BARRIER "st.shared.u32 [%r3], %r5;\n"), 1, 64, NULL},
    {"two writes", EXEC_BODY(SHARED "st.shared.u32 [s], %r61;\n"), 1, 64, "race"},
    {"two writes of one value", EXEC_BODY(SHARED "st.shared.u32 [s], 7;\n"), 1, 64, NULL},
    {"lanes write one word", EXEC_BODY(SHARED "st.shared.u32 [s], %r61;\n"), 1, 32, "race"},
    {"bytes side by side", EXEC_BODY(SHARED "add.u32 %r3, %r1, %r61;\nst.shared.u8 [%r3], %r61;\n"),
     1, 64, NULL},
    {"bytes of a word",
     EXEC_BODY(SHARED "st.shared.u32 [s], 0;\n" BARRIER "add.u32 %r3, %r1, %r61;\n"
                      "st.shared.u8 [%r3], 1;\nld.shared.u32 %r5, [s];\n"),
     1, 64, "race"},
    {"counter", EXEC_BODY(SHARED FIRST_ZERO BARRIER "atom.shared.add.u32 %r5, [s], 1;\n"), 1, 64,
     NULL},
    {"counter without atomics", EXEC_BODY(SHARED "st.shared.u32 [s+4], 0;\n" BARRIER ADD_PLAIN), 1,
     64, "race"},
    {"counter read too early",
     EXEC_BODY(SHARED FIRST_ZERO BARRIER LEADER "setp.lt.u32 %p3, %r61, 32;\n"
                                                "@%p3 red.shared.add.u32 [s], 1;\n"
                                                "@!%p3 ld.shared.u32 %r5, [s];\n"),
     1, 64, "race"},
    {"counter read behind a barrier",
     EXEC_BODY(SHARED FIRST_ZERO BARRIER "red.shared.add.u32 [s], 1;\n" BARRIER
                                         "ld.shared.u32 %r5, [s];\n"),
     1, 64, NULL},
    {"producer",
     EXEC_BODY(WORDS("32") WARPS_PART PRODUCE "bar.arrive 1, 64;\nret;\n"
                                              "CONSUMER:\nbar.sync 1, 64;\n" CONSUME),
     1, 64, NULL},
    {"producer not waited for",
     EXEC_BODY(WORDS("32") WARPS_PART PRODUCE "ret;\nCONSUMER:\n" CONSUME), 1, 64, "race"},
    {"barriers of each warp",
     EXEC_BODY(WORDS("32") WRITE "shr.u32 %r9, %r61, 5;\nbar.sync %r9, 32;\n" READ), 1, 64, "race"},
    {"barrier of both by number", EXEC_BODY(WORDS("32") WRITE "bar.sync 3, 64;\n" READ), 1, 64,
     NULL},
    {"lock",
     EXEC_BODY(SHARED "st.shared.v2.u32 [s], {0, 0};\n" BARRIER LEADER
                      "@!%p2 bra END;\nTRY:\natom.shared.cas.b32 %r9, [s], 0, 1;\n"
                      "setp.ne.u32 %p5, %r9, 0;\n@%p5 bra TRY;\n" ADD_PLAIN
                      "atom.shared.exch.b32 %r9, [s], 0;\nEND:\n"),
     1, 128, NULL},
    {"lock left out",
     EXEC_BODY(SHARED "st.shared.v2.u32 [s], {0, 0};\n" BARRIER LEADER "@!%p2 bra END;\n" ADD_PLAIN
                      "END:\n"),
     1, 128, "race"},
    {"flag",
     EXEC_BODY(WORDS("32") "st.shared.u32 [s+4096], 0;\n" BARRIER WARPS_PART PRODUCE
                           "membar.cta;\nbar.warp.sync -1;\nst.volatile.shared.u32 [s+4096], 1;\n"
                           "ret;\nCONSUMER:\nld.volatile.shared.u32 %r9, [s+4096];\n"
                           "setp.eq.u32 %p5, %r9, 0;\n@%p5 bra CONSUMER;\n" CONSUME),
     1, 64, NULL},
    {"mbarrier",
     EXEC_BODY(WORDS("32") FIRST_ZERO "@%p1 mbarrier.init.shared.b64 [s+4096], 64;\n" BARRIER WRITE
                                      "mbarrier.arrive.shared.b64 %d4, [s+4096];\nWAIT:\n"
                                      "mbarrier.test_wait.shared.b64 %p5, [s+4096], %d4;\n"
                                      "@!%p5 bra WAIT;\n" READ),
     1, 64, NULL},
    {"sum",
     EXEC_BODY(WORDS("32") WRITE "mov.u32 %r9, 32;\nNEXT:\n" BARRIER
                                 "setp.lt.u32 %p5, %r61, %r9;\nshl.b32 %r10, %r9, 2;\n"
                                 "add.u32 %r10, %r10, %r3;\n@%p5 ld.shared.u32 %r11, [%r10];\n"
                                 "@%p5 ld.shared.u32 %r12, [%r3];\n"
                                 "add.u32 %r12, %r12, %r11;\n@%p5 st.shared.u32 [%r3], %r12;\n"
                                 "shr.u32 %r9, %r9, 1;\nsetp.ne.u32 %p6, %r9, 0;\n"
                                 "@%p6 bra NEXT;\n"),
     1, 64, NULL},
    {"sum without barriers",
     EXEC_BODY(WORDS("32") WRITE "mov.u32 %r9, 32;\n" BARRIER "NEXT:\n"
                                 "setp.lt.u32 %p5, %r61, %r9;\nshl.b32 %r10, %r9, 2;\n"
                                 "add.u32 %r10, %r10, %r3;\n@%p5 ld.shared.u32 %r11, [%r10];\n"
                                 "@%p5 ld.shared.u32 %r12, [%r3];\n"
                                 "add.u32 %r12, %r12, %r11;\n@%p5 st.shared.u32 [%r3], %r12;\n"
                                 "shr.u32 %r9, %r9, 1;\nsetp.ne.u32 %p6, %r9, 0;\n"
                                 "@%p6 bra NEXT;\n"),
     1, 64, "race"},
    {"blocks write one word", EXEC_BODY("st.global.u32 [%d0], %r63;\n"), 2, 32, "race"},
    {"blocks write one value", EXEC_BODY("st.global.u32 [%d0], 1;\n"), 2, 32, NULL},
    {"blocks count", EXEC_BODY("red.global.add.u32 [%d0], 1;\n"), 4, 64, NULL},
    {"own words", EXEC_BODY("st.global.u32 [%d1], %r0;\nld.global.u32 %r5, [%d1];\n"), 4, 64, NULL},
    {"other block's word",
     EXEC_BODY(OTHER_BLOCK OWN_BLOCK ONE_THREAD
               "st.global.u32 [%d3], 1;\nld.global.u32 %r5, [%d2];\n"),
     2, 32, "race"},
    {"last block",
     EXEC_BODY(OTHER_BLOCK OWN_BLOCK ONE_THREAD
               "st.global.u32 [%d3], 1;\nmembar.gl;\natom.global.add.u32 %r9, [%d0+64], 1;\n"
               "setp.ne.u32 %p5, %r9, 1;\n@%p5 ret;\nld.global.u32 %r5, [%d2];\n"),
     2, 32, NULL},
    {"global, other warp",
     EXEC_BODY("st.global.u32 [%d1], %r0;\nxor.b32 %r8, %r0, 32;\n"
               "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, "race"},
    {"global, other warp, barrier",
     EXEC_BODY("st.global.u32 [%d1], %r0;\n" BARRIER "xor.b32 %r8, %r0, 32;\n"
               "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     1, 64, NULL},
    {"local memory by a generic address",
     EXEC_BODY(".local .align 8 .b8 l[64];\ncvta.local.u64 %d2, l;\nst.u32 [%d2], %r0;\n"
               "ld.u32 %r5, [%d2];\n"),
     2, 64, NULL},
    {"never written", EXEC_BODY(WORDS("32") "ld.shared.u32 %r5, [%r3];\n"), 1, 64, "init"},
    {"written", EXEC_BODY(WORDS("32") WRITE "ld.shared.u32 %r5, [%r3];\n"), 1, 64, NULL},
    {"partly written", EXEC_BODY(WORDS("32") "st.shared.u8 [%r3], 1;\nld.shared.u32 %r5, [%r3];\n"),
     1, 64, "init"},
    {"written byte", EXEC_BODY(WORDS("32") "st.shared.u8 [%r3], 1;\nld.shared.u8 %r5, [%r3];\n"), 1,
     64, NULL},
    {"counter never set", EXEC_BODY(SHARED "red.shared.add.u32 [s], 1;\n"), 1, 64, "init"},
    {"written by the block before",
     EXEC_BODY(WORDS("32") "setp.eq.u32 %p5, %r63, 0;\n@%p5 st.shared.u32 [%r3], 1;\n"
                           "ld.shared.u32 %r5, [%r3];\n"),
     2, 32, "init"},
    {"copied",
     EXEC_BODY(WORDS("32") "cp.async.ca.shared.global [%r3], [%d1], 4;\n"
                           "cp.async.wait_all;\n" BARRIER READ),
     1, 64, NULL},
    {"mask without the thread", EXEC_BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, 1;\n"), 1, 32,
     "sync"},
    {"mask of all", EXEC_BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, -1;\n"), 1, 32, NULL},
    {"mask of a warp that is not full", EXEC_BODY("shfl.sync.idx.b32 %r5, %r61, 0, 31, -1;\n"), 1,
     20, NULL},
    {"mask with ended threads",
     EXEC_BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nvote.sync.ballot.b32 %r5, %p5, -1;\n"), 1,
     32, "sync"},
    {"mask without them",
     EXEC_BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nvote.sync.ballot.b32 %r5, %p5, 0xffff;\n"),
     1, 32, NULL},
    {"warp's barrier without the thread", EXEC_BODY("bar.warp.sync 2;\n"), 1, 32, "sync"},
    {"warp's barrier behind an end",
     EXEC_BODY("setp.ge.u32 %p5, %r61, 16;\n@%p5 ret;\nbar.warp.sync -1;\n"), 1, 32, NULL},
};

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

static void finds(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct check_case *what = &cases[i];
        struct exec_case one;

        exec_open(&one, what->text, what->blocks, what->threads);
        one.world.calls.note = keep_note;
        exec_good(&one);
        const char *said = one.world.printed ? one.world.printed : "";
        bool good = what->found ? has_line(said, what->found) : said[0] == '\0';

        if (!good)
            print_error("%s: '%s', not %s\n", what->name, said,
                        what->found ? what->found : "nothing");
        wrong += !good;
        exec_close(&one);
    }
    assert_int_equal(wrong, 0);
}

/* Global memory, of which the driver has told that the first bytes are written. */
struct global_case {
    const char *name, *text;
    uint64_t written;
    bool found;
};

static const struct global_case globals[] = {
    {"never written", EXEC_BODY("ld.global.u32 %r5, [%d1];\n"), 0, true},
    {"copied", EXEC_BODY("ld.global.u32 %r5, [%d1];\n"), 256, false},
    {"copied, but for the last byte", EXEC_BODY("ld.global.u32 %r5, [%d1];\n"), 255, true},
    {"the bytes that are there", EXEC_BODY("ld.global.u8 %r5, [%d1];\n"), 253, false},
    {"stored before", EXEC_BODY("st.global.u32 [%d1], 1;\nld.global.u32 %r5, [%d1];\n"), 0, false},
    {"stored by others",
     EXEC_BODY("st.global.u32 [%d1], 1;\n" BARRIER "xor.b32 %r8, %r0, 32;\n"
               "mad.wide.u32 %d2, %r8, 4, %d0;\nld.global.u32 %r5, [%d2];\n"),
     0, false},
    {"stored beside", EXEC_BODY("st.global.u8 [%d1], 1;\nld.global.u32 %r5, [%d1];\n"), 0, true},
    {"atomic", EXEC_BODY("red.global.add.u32 [%d0], 1;\n"), 0, true},
    {"atomic, copied", EXEC_BODY("red.global.add.u32 [%d0], 1;\n"), 4, false},
    {"generic", EXEC_BODY("ld.u32 %r5, [%d1];\n"), 252, true},
    {"by one lane", EXEC_BODY(ONE_THREAD "ld.global.u32 %r5, [%d0+252];\n"), 252, true},
    {"by one lane, copied", EXEC_BODY(ONE_THREAD "ld.global.u32 %r5, [%d0+248];\n"), 252, false},
    {"copied into",
     EXEC_BODY(WORDS("32") WRITE BARRIER ONE_THREAD
               "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 256;\n"
               "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
               "ld.global.u32 %r5, [%d0+252];\n"),
     0, false},
};

static void finds_in_global(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        const struct global_case *what = &globals[i];
        struct exec_case one;

        exec_open(&one, what->text, 1, 64);
        one.world.calls.note = keep_note;
        ptx_memory_begin(one.words, EXEC_WORDS * 4);
        ptx_memory_written(one.words, what->written);
        exec_good(&one);
        const char *said = one.world.printed ? one.world.printed : "";
        bool good = what->found ? has_line(said, "init") : said[0] == '\0';

        if (!good)
            print_error("%s: '%s'\n", what->name, said);
        wrong += !good;
        ptx_memory_end(one.words);
        exec_close(&one);
    }
    assert_int_equal(wrong, 0);
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
                        "init: kernel 'k', block (0,0,0), thread (63,0,0), line 19 (sum.cu:12), "
                        "ld: it reads global memory that nothing wrote\n");
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
               "race: kernel 'k', block (0,0,0), thread (32,0,0), line 26, ld: it reads "
               "shared memory that thread (0,0,0), line 25, st, wrote, and nothing "
               "orders the two\n"));
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(finds_in_global),
        cmocka_unit_test(source_lines),
        cmocka_unit_test(words),
    };

    ptx_checks(PTX_CHECK_RACE | PTX_CHECK_INIT | PTX_CHECK_SYNC);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
