/* SPDX-License-Identifier: MIT */
/* Annotations of a GitHub workflow. */
#include "matrix.h"

#include "names.h"
#include "output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether two releases, or two calls that are made to fail, fail for one cause. */
static bool is_same(const struct matrix_case *one, const struct matrix_case *other)
{
    return one->bad &&
           (matrix_is_release(one) ? matrix_is_release(other)
                                   : matrix_is_fault(one) && matrix_is_fault(other)) &&
           matrix_is_same(one, other);
}

static bool is_told(const struct matrix_case *cases, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (is_same(&cases[i], &cases[number]))
            return true;
    }
    return false;
}

/* "CUDA 13.5 to 12.0 and 2 others" */
static void put_title(FILE *file, const struct matrix_case *cases, size_t first, size_t count)
{
    size_t last = first, others = 0;
    const char *name = cases[first].name;

    while (last + 1 < count && matrix_is_release(&cases[first]) &&
           is_same(&cases[first], &cases[last + 1]) &&
           version_parse(cases[last + 1].cuda) < version_parse(cases[last].cuda))
        last++;
    for (size_t i = last + 1; i < count; i++)
        others += is_same(&cases[first], &cases[i]);
    output_command(file, name, true);
    if (last > first)
        fprintf(file, " to %s", cases[last].cuda);
    if (others > 0)
        fprintf(file, " and %zu other%s", others, output_plural(others));
}

/* "file=src/a.c,line=66," of a file that is there. */
static bool put_line(FILE *file, const char *path, int line)
{
    if (line <= 0 || access(path, R_OK) != 0)
        return false;
    fputs("file=", file);
    output_command(file, path, true);
    fprintf(file, ",line=%d,", line);
    return true;
}

/* "BESIDE's folder/NAME", or NAME in the working directory. */
static bool put_beside(FILE *file, const char *beside, const char *name, int line)
{
    const char *slash = strrchr(beside, '/');
    char path[2 * PLACE_SIZE], source[PATH_MAX];

    snprintf(path, sizeof path, "%.*s%s", (int)(slash ? slash + 1 - beside : 0), beside, name);
    place_source(source, path);
    return put_line(file, source, line);
}

/* Where a kernel was: "..., thread (0,0,0), src/sum.cu:6 (PTX line 42), ...". The PTX may have the
 * source's name alone: it lies beside that of the launch, or in the working directory. */
static bool put_kernel(FILE *file, const struct matrix_case *one)
{
    const char *end = strstr(one->kernel, " (PTX line "), *begin = end, *slash;
    char path[PLACE_SIZE];
    char *colon;

    while (begin && begin > one->kernel + 2 && strncmp(begin - 2, ", ", 2) != 0)
        begin--;
    if (!begin)
        return false;
    snprintf(path, sizeof path, "%.*s", (int)(end - begin), begin);
    colon = strrchr(path, ':');
    if (!colon)
        return false;
    *colon = '\0';
    slash = strrchr(path, '/');
    return put_beside(file, "", path, atoi(colon + 1)) ||
           put_beside(file, one->place, slash ? slash + 1 : path, atoi(colon + 1)) ||
           put_beside(file, "", slash ? slash + 1 : path, atoi(colon + 1));
}

/* Where the program made the call: "src/a.c:66 (main)". */
static bool put_call(FILE *file, const char *place)
{
    char path[PLACE_SIZE];
    char *colon;

    snprintf(path, sizeof path, "%s", place);
    path[strcspn(path, "(")] = '\0';
    colon = strrchr(path, ':');
    if (colon)
        *colon = '\0';
    return colon && put_line(file, path, atoi(colon + 1));
}

/* A place that the program's own words have. */
static void put_words(FILE *file, const char *words)
{
    for (const char *colon = words; (colon = strchr(colon, ':')); colon++) {
        const char *begin = colon;
        char path[MATRIX_WORDS_SIZE];
        while (begin > words && (isalnum((unsigned char)begin[-1]) || strchr("_-+./", begin[-1])))
            begin--;
        snprintf(path, sizeof path, "%.*s", (int)(colon - begin), begin);
        if (strchr(path, '.') && put_line(file, path, atoi(colon + 1)))
            return;
    }
}

/* Of all runs, which have no row. */
static void put_note(FILE *file, const char *note)
{
    if (note[0] == '\0')
        return;
    fputs("::error ", file);
    put_words(file, note);
    fputs("title=all runs::", file);
    output_command(file, note, false);
    fputs("\n", file);
}

void matrix_github(FILE *file, const struct matrix_case *cases, size_t count, const char *note)
{
    char words[MATRIX_WORDS_SIZE];

    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *one = &cases[i];
        if (!one->bad || is_told(cases, i))
            continue;
        fputs("::error ", file);
        if ((matrix_ignored(one) || !put_kernel(file, one)) && !put_call(file, one->place))
            put_words(file, matrix_last_words(one, words));
        fputs("title=", file);
        put_title(file, cases, i, count);
        fprintf(file, "::%s: ", matrix_end_name(one->end));
        output_command(file, matrix_words(one, words), false);
        for (int k = 0; k < 2; k++) {
            const char *more = k == 0 ? matrix_call(one) : matrix_last_words(one, words);
            fputs(more[0] != '\0' ? "; " : "", file);
            output_command(file, more, false);
        }
        if (matrix_may_survive(one))
            fprintf(file, "; " MATRIX_SURVIVES "%s", one->fired);
        fputs("\n", file);
    }
    put_note(file, note);
}
