/* SPDX-License-Identifier: MIT */
/* What the runs are together: a gate that tries nothing is red. */
#include "matrix.h"

#include "names.h"

#include <string.h>

/* A run of a simulated release in which nothing was made to fail. */
static bool is_base(const struct matrix_case *one)
{
    return one->cuda[0] != '\0' && !one->devices && one->fault[0] == '\0';
}

static bool is_real(const struct matrix_case *one)
{
    return one->driver && !matrix_is_without(one);
}

/* What a real driver was called for is not known, nor where the log is not whole. */
static bool may_use(const struct matrix_case *one)
{
    return is_real(one) ||
           (is_base(one) && (one->works || one->calls < 0 || one->end == MATRIX_UNKNOWN));
}

/* The first call that failed by itself may be why: " (cuX failed at a.c:7)", or "". */
static void put_refused(const struct matrix_case *cases, size_t count, char text[MATRIX_CALL_SIZE])
{
    const char *by = NULL;
    char place[PLACE_SIZE];

    for (size_t i = 0; i < count && !by; i++)
        by = is_base(&cases[i]) ? cases[i].refused_by : NULL;
    text[0] = '\0';
    if (by)
        snprintf(text, MATRIX_CALL_SIZE, " (%.*s failed%s%s)", (int)strcspn(by, "\t"), by,
                 matrix_place_by(by, place)[0] != '\0' ? " at " : "", place);
}

void matrix_note(const struct matrix_case *cases, size_t count, bool idle,
                 char text[MATRIX_WORDS_SIZE])
{
    bool passed = false, used = false, bad = false;
    char refused[MATRIX_CALL_SIZE];

    for (size_t i = 0; i < count; i++) {
        passed |= cases[i].end == MATRIX_PASSES && (is_base(&cases[i]) || is_real(&cases[i]));
        used |= may_use(&cases[i]);
        bad |= cases[i].bad;
    }
    text[0] = '\0';
    if (!passed && !bad) {
        snprintf(text, MATRIX_WORDS_SIZE, "no run passes, so that nothing was tried");
    } else if (passed && !used && !idle) {
        put_refused(cases, count, refused);
        snprintf(text, MATRIX_WORDS_SIZE,
                 "no run launched a kernel, copied or filled memory%s: if the program need not, "
                 "add --idle",
                 refused);
    }
}

/* The release below that of `one`; the newest, if that is NULL. NULL: none, of those that passed,
 * or failed for no entry that they lack, nor for a cause that another run has. */
static const struct matrix_case *next_release(const struct matrix_case *cases, size_t count,
                                              const struct matrix_case *one)
{
    const struct matrix_case *next = NULL;

    for (size_t i = 0; i < count; i++) {
        int version = version_parse(cases[i].cuda);
        bool fails = cases[i].bad && cases[i].end < MATRIX_UNKNOWN && !cases[i].told &&
                     !cases[i].missed && !cases[i].by_chance && !cases[i].beside;
        if (matrix_is_release(&cases[i]) && (fails || cases[i].end == MATRIX_PASSES) &&
            (!one || version < version_parse(one->cuda)) &&
            (!next || version > version_parse(next->cuda)))
            next = &cases[i];
    }
    return next;
}

void matrix_note_order(const struct matrix_case *cases, size_t count, char text[MATRIX_WORDS_SIZE])
{
    const struct matrix_case *one = next_release(cases, count, NULL), *next;
    unsigned changes = 0;

    for (; one; one = next) {
        next = next_release(cases, count, one);
        changes += next && next->bad != one->bad;
    }
    text[0] = '\0';
    if (changes > 1)
        snprintf(text, MATRIX_WORDS_SIZE,
                 "it passes under some releases and fails under others: "
                 "this may be a matter of timing");
}
