/* SPDX-License-Identifier: MIT */
/* What to do about a finding. */
#include "matrix.h"

#include "output.h"

#include <string.h>

const struct sentences_row *matrix_cure(const struct matrix_case *one, const char *reason,
                                        char text[MATRIX_WORDS_SIZE])
{
    char words[MATRIX_WORDS_SIZE];
    bool queued =
        (strcmp(one->fault, MATRIX_LATE) == 0 || strcmp(one->fault, MATRIX_REORDER) == 0) &&
        one->end <= MATRIX_HANGS;
    const struct sentences_row *row;

    if (!queued && one->folded == 0 && (one->check[0] != '\0' || one->fired[0] == '\0'))
        return NULL;
    matrix_words(one, words);
    if (one->folded != 0)
        snprintf(words, sizeof words, "%.*s", (int)strcspn(reason, "\n"), reason);
    if (queued)
        snprintf(words, sizeof words, "%.*s", (int)strcspn(one->call, ";"), one->call);
    row = sentences_find(words);
    if (row) /* behind a semicolon is --survives, which has a line of its own */
        snprintf(text, MATRIX_WORDS_SIZE, "%.*s", (int)strcspn(row->cure, ";"), row->cure);
    return row;
}

void matrix_cures(const struct matrix_case *cases, size_t count, size_t width)
{
    const struct sentences_row *told[MATRIX_SHOWN], *kind;
    char row[MATRIX_WORDS_SIZE], reason[MATRIX_REASON_SIZE], cure[MATRIX_WORDS_SIZE];
    char line[2 * MATRIX_WORDS_SIZE + 2];

    for (size_t i = 0, same, kinds = 0; i < count && kinds < MATRIX_SHOWN; i += same) {
        size_t k = 0;
        same = matrix_row(&cases[i], count - i, row);
        kind = NULL;
        if (cases[i].bad && !matrix_survivor(&cases[i]))
            kind = matrix_cure(&cases[i], matrix_why(cases, i, same, reason), cure);
        while (kind && k < kinds && told[k] != kind)
            k++;
        if (!kind || k < kinds)
            continue;
        told[kinds++] = kind;
        snprintf(line, sizeof line, "%s: %s", row, cure);
        output_folded(line, width);
    }
}
