/* SPDX-License-Identifier: MIT */
/* ptx_checks: what is found in the kernels of check_cases.h, and nothing else. */
#include "check_cases.h"
#include "exec_case.h"

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
    for (size_t i = 0; i < sizeof check_cases / sizeof *check_cases; i++) {
        const struct check_case *what = &check_cases[i];
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
    assert_non_null(strstr(one.world.printed,
                           "race: kernel 'k', block (0,0,0), thread (0,0,0), line 26, ld: it reads "
                           "shared memory that thread (32,0,0), line 25, st, wrote, and nothing "
                           "orders the two\n"));
    exec_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(source_lines),
        cmocka_unit_test(words),
    };

    ptx_checks(PTX_CHECK_RACE | PTX_CHECK_INIT | PTX_CHECK_SYNC);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
