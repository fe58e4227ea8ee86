/* SPDX-License-Identifier: MIT */
/* Annotations of a GitHub workflow. */
#include "matrix.h"

#include "names.h"
#include "output.h"

#include <string.h>

enum { MOST = 10 }; /* GitHub shows so many errors of a step */

/* "CUDA 13.5 to 12.0 and 2 others" */
static void put_title(FILE *file, const struct matrix_case *cases, size_t first, size_t count)
{
    const struct matrix_case *one = &cases[first];
    bool releases = matrix_is_release(one);
    size_t last = first, others = 0;
    char name[MATRIX_WORDS_SIZE];

    if (one->folded != 0) {
        matrix_row(one, count - first, name);
        output_command(file, name, true);
        return;
    }

    while (releases && last + 1 < count && matrix_is_one_cause(one, &cases[last + 1]) &&
           version_parse(cases[last + 1].cuda) < version_parse(cases[last].cuda))
        last++;
    for (size_t i = last + 1; i < count; i++)
        others += matrix_is_one_cause(one, &cases[i]);
    output_command(file, one->name, true);
    if (last > first)
        fprintf(file, " to %s", cases[last].cuda);
    if (others > 0)
        fprintf(file, "%s %zu other%s", releases ? " and" : "%2C likewise", others,
                output_plural(others));
}

static void put_line(FILE *file, bool known, const struct matrix_line *line)
{
    if (!known)
        return;
    fputs("file=", file);
    output_command(file, line->path, true);
    fprintf(file, ",line=%d,", line->line);
}

static void put_cause(FILE *file, const struct matrix_case *cases, size_t first, size_t count)
{
    const struct matrix_case *one = &cases[first];
    const size_t same = matrix_folded(one, count - first);
    char reason[MATRIX_REASON_SIZE], names[MATRIX_REASON_SIZE], cure[MATRIX_WORDS_SIZE];
    struct matrix_line line;

    if (same > 1)
        matrix_fold_words(one, same, MATRIX_SHOWN, reason);
    else
        matrix_reason(one, 1, reason);
    fputs("::error ", file);
    put_line(file, matrix_line(one, &line), &line);
    fputs("title=", file);
    put_title(file, cases, first, count);
    fprintf(file, "::%s: ", matrix_end_name(one->end));
    output_command(file, reason, false);
    if (matrix_cure(one, reason, cure)) {
        fputs("%0A", file);
        output_command(file, cure, false);
    }
    if (matrix_survivable(one, same, one->missed, names))
        fprintf(file, "%%0A%s--survives %s%s", one->missed ? MATRIX_WITHOUT : MATRIX_GOES_ON, names,
                matrix_left(one, same));
    fputs("\n", file);
}

static bool is_cause(const struct matrix_case *cases, size_t number)
{
    return cases[number].bad && matrix_first(cases, number) == number;
}

void matrix_github(FILE *file, const struct matrix_case *cases, size_t count, const char *note)
{
    size_t causes = note[0] != '\0', shown = 0;
    struct matrix_line line;

    for (size_t i = 0; i < count; i++)
        causes += is_cause(cases, i);
    for (size_t i = 0; i < count && (causes <= MOST || shown < MOST - 1); i++) {
        if (is_cause(cases, i)) {
            put_cause(file, cases, i, count);
            shown++;
        }
    }
    if (causes > MOST)
        fprintf(file,
                "::error title=%zu more causes::the table in the log has them, and so has the file "
                "of --junit\n",
                causes - shown);
    if (causes > MOST || note[0] == '\0')
        return;
    fputs("::error ", file); /* of all runs, which have no row */
    put_line(file, matrix_line_of_words(note, &line), &line);
    fputs("title=all runs::", file);
    output_command(file, note, false);
    fputs("\n", file);
}
