/* SPDX-License-Identifier: MIT */
/* Calls that fail in turn, and that the program ignores, are one row: one mistake, such as a
 * `catch` round all of them, may be the cause of each. */
#include "matrix.h"

#include <string.h>

enum { IGNORED = 256 /* above each exit code */, LEAST = 3 /* calls: fewer have their own rows */ };

/* Runs of one kind are one row; 0: it has its own. */
static int kind_of(const struct matrix_case *one)
{
    if (!one->bad || one->end != MATRIX_FAILS || !matrix_is_fault(one))
        return 0;
    return matrix_ignored(one) ? IGNORED : one->fell && one->check[0] == '\0' ? one->code : 0;
}

static bool is_same_call(const struct matrix_case *one, const struct matrix_case *other)
{
    return strcmp(one->fired, other->fired) == 0 && strcmp(one->fired_at, other->fired_at) == 0;
}

/* Whether an earlier run of its kind has the call. */
static bool is_told(const struct matrix_case *cases, size_t number)
{
    const int kind = kind_of(&cases[number]);
    size_t first = 0;

    while (kind_of(&cases[first]) != kind || !is_same_call(&cases[first], &cases[number]))
        first++;
    return first < number;
}

/* Put those of the kind of the first one behind it. */
static void gather(struct matrix_case *cases, size_t count)
{
    const int kind = kind_of(cases);
    size_t next = 1;

    cases[0].folded = kind;
    for (size_t i = 1; i < count; i++) {
        struct matrix_case moved = cases[i];
        if (kind_of(&moved) != kind)
            continue;
        memmove(&cases[next + 1], &cases[next], (i - next) * sizeof *cases);
        moved.folded = kind;
        cases[next++] = moved;
    }
}

void matrix_fold(struct matrix_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int kind = cases[i].folded == 0 ? kind_of(&cases[i]) : 0;
        int calls = 0;
        for (size_t k = i; k < count && kind != 0; k++)
            calls += kind_of(&cases[k]) == kind && !is_told(cases, k);
        if (calls >= LEAST)
            gather(&cases[i], count - i);
    }
}

size_t matrix_folded(const struct matrix_case *cases, size_t count)
{
    size_t same = 1;

    while (cases[0].folded != 0 && same < count && cases[same].folded == cases[0].folded)
        same++;
    return same;
}

void matrix_fold_name(const struct matrix_case *cases, size_t count, char name[MATRIX_WORDS_SIZE])
{
    const struct matrix_case *last = &cases[count - 1];
    bool two = strcmp(cases[0].cuda, last->cuda) != 0;
    size_t calls = 0;

    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (strcmp(cases[first].fault, cases[i].fault) != 0)
            first++;
        calls += first == i;
    }
    snprintf(name, MATRIX_WORDS_SIZE, "CUDA %s%s%s, %zu calls fail in turn", cases[0].cuda,
             two ? " and " : "", two ? last->cuda : "", calls);
}

void matrix_fold_words(const struct matrix_case *cases, size_t count, size_t most,
                       char text[MATRIX_REASON_SIZE])
{
    bool goes_on = false;
    size_t places = 0, shown = 0, length;

    for (size_t i = 0; i < count; i++) {
        goes_on |= cases[i].went_on[0] != '\0';
        places += !is_told(cases, i);
    }
    if (cases[0].folded != IGNORED)
        snprintf(text, MATRIX_REASON_SIZE,
                 "exit code %d after these calls failed:", cases[0].folded);
    else if (goes_on)
        snprintf(text, MATRIX_REASON_SIZE, "the program went on though these calls failed:");
    else
        snprintf(text, MATRIX_REASON_SIZE, "exit code 0 though these calls failed:");
    length = strlen(text);
    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *one = &cases[i];
        const size_t room = MATRIX_REASON_SIZE - length;
        if (is_told(cases, i))
            continue;
        if ((shown == most && places > most + 1) || room < 2 * sizeof one->fired + PLACE_SIZE) {
            snprintf(text + length, room, ",\nand %zu more", places - shown);
            return;
        }
        length +=
            (size_t)snprintf(text + length, room, "%s\n%s%s%s", shown > 0 ? "," : "", one->fired,
                             one->fired_at[0] != '\0' ? " at " : "", one->fired_at);
        shown++;
    }
}
