/* SPDX-License-Identifier: MIT */
/* ptx_checks on kernels made at random: no pair of instructions is accused that is right by the
 * model, and none is missed that is wrong in any order. The suite runs the first ones. More:
 *     test_ptx_check_random FIRST COUNT
 * A kernel that differs is printed with its number. */
#include "check_text.h"
#include "exec_case.h"

#include <inttypes.h>

static struct {
    uint32_t kernels, races, exact, quiet, inits, wrong;
} seen;

static uint64_t first = 1, count = 400;

static void keep_note(void *user, const char *sentence)
{
    world_print(user, sentence, strlen(sentence));
    world_print(user, "\n", 1);
}

static uint32_t line_after(const char **at, const char *end)
{
    const char *found = strstr(*at, ", PTX line ");

    if (!found || found > end)
        return 0;
    *at = found + strlen(", PTX line ");
    return (uint32_t)strtoul(*at, NULL, 10);
}

/* What was said, against the model; NULL: nothing differs. */
static const char *differs(const struct model_answer *answer, const char *said)
{
    static bool inits[MODEL_LINES], pairs[MODEL_LINES][MODEL_LINES];
    uint32_t races = 0, notes = 0;

    memset(inits, 0, sizeof inits);
    memset(pairs, 0, sizeof pairs);
    for (const char *end; (end = strchr(said, '\n')); said = end + 1, notes++) {
        const bool race = strncmp(said, "race:", 5) == 0;
        const char *at = said;
        const uint32_t one = line_after(&at, end), other = race ? line_after(&at, end) : 0;

        if (!race && strncmp(said, "init:", 5) != 0)
            return "a fault that is none";
        if (race ? pairs[one][other] : inits[one])
            return "a pair that was told before";
        if (race && !answer->race_some[one][other])
            return "a race that is none";
        if (!race && !answer->init_some[one])
            return "a read that is accused wrongly";
        races += race;
        pairs[one][other] |= race;
        inits[one] |= !race;
    }
    if (answer->races && !races)
        return "a race that is missed";
    for (uint32_t line = 0; notes < 16 && line < MODEL_LINES; line++)
        if (answer->init[line] && !inits[line])
            return "a read that is missed";
    if (notes < 16 && answer->races == 1 && answer->races_some == 1)
        seen.exact++;
    return NULL;
}

static void print_pairs(const struct model_answer *answer)
{
    for (uint32_t one = 0; one < MODEL_LINES; one++)
        for (uint32_t other = one; other < MODEL_LINES; other++)
            if (answer->race_some[one][other])
                fprintf(stderr, "    race %u %u%s\n", one, other,
                        answer->race[one][other] ? "" : " in some order");
    for (uint32_t line = 0; line < MODEL_LINES; line++)
        if (answer->init_some[line])
            fprintf(stderr, "    init %u%s\n", line, answer->init[line] ? "" : " in some order");
}

static void try_one(uint64_t seed, bool alone)
{
    static struct check_text text;
    static struct model_answer answer;
    struct exec_case one;
    const char *said, *wrong;

    check_text_make(&text, seed, alone);
    model_answer(&text.program, &answer);
    exec_open(&one, text.text, text.program.blocks, text.program.threads);
    one.world.calls.note = keep_note;
    ptx_memory_begin(one.words, EXEC_WORDS * 4);
    ptx_memory_written(one.words, text.program.written);
    exec_good(&one);
    said = one.world.printed ? one.world.printed : "";
    wrong = differs(&answer, said);
    seen.kernels++;
    seen.races += answer.races != 0;
    seen.inits += answer.inits != 0;
    seen.quiet += !answer.races_some && !answer.inits_some;
    if (wrong) {
        seen.wrong++;
        fprintf(stderr,
                "%s: number %" PRIu64
                "%s, %u blocks of %u threads, %u bytes written\n%sby the model:\n",
                wrong, seed, alone ? ", warps alone" : "", text.program.blocks,
                text.program.threads, text.program.written, said);
        print_pairs(&answer);
        if (count == 1)
            fputs(text.text, stderr);
    }
    ptx_memory_end(one.words);
    exec_close(&one);
}

static void same(void **state)
{
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (unsigned alone = 0; alone < 2; alone++)
            try_one(seed, alone);
    print_message("# %u kernels: %u with a race, %u of them with one pair alone, %u with a read of "
                  "nothing written, %u with neither\n",
                  seen.kernels, seen.races, seen.exact, seen.inits, seen.quiet);
    assert_int_equal(seen.wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same)};

    if (argc == 3) {
        first = strtoull(argv[1], NULL, 10);
        count = strtoull(argv[2], NULL, 10);
    }
    ptx_checks(PTX_CHECK_RACE | PTX_CHECK_INIT | PTX_CHECK_SYNC | PTX_CHECK_LITTLE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
