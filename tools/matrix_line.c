/* SPDX-License-Identifier: MIT */
/* The line of a source file that a run's failure belongs to, for annotations. */
#include "matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "a.c:66", "a.c:66 (main)": of a file that is there. */
static bool find(const char *path, int line, struct matrix_line *found)
{
    if (line <= 0 || access(path, R_OK) != 0)
        return false;
    snprintf(found->path, sizeof found->path, "%s", path);
    found->line = line;
    return true;
}

/* "BESIDE's folder/NAME", or NAME in the working directory. */
static bool find_beside(const char *beside, const char *name, int line, struct matrix_line *found)
{
    const char *slash = strrchr(beside, '/');
    char path[2 * PLACE_SIZE], source[PATH_MAX];

    snprintf(path, sizeof path, "%.*s%s", (int)(slash ? slash + 1 - beside : 0), beside, name);
    place_source(source, path);
    return find(source, line, found);
}

/* Where a kernel was: "..., thread (0,0,0), src/sum.cu:6 (PTX line 42), ...". The PTX may have the
 * source's name alone: it lies beside that of the launch, or in the working directory. */
static bool find_kernel(const struct matrix_case *one, struct matrix_line *found)
{
    const char *end = strstr(one->kernel, " (PTX line "), *begin = end, *slash;
    char path[PLACE_SIZE];
    char *colon;
    int line;

    while (begin && begin > one->kernel + 2 && strncmp(begin - 2, ", ", 2) != 0)
        begin--;
    if (!begin)
        return false;
    snprintf(path, sizeof path, "%.*s", (int)(end - begin), begin);
    colon = strrchr(path, ':');
    if (!colon)
        return false;
    *colon = '\0';
    line = atoi(colon + 1);
    slash = strrchr(path, '/');
    return find_beside("", path, line, found) ||
           find_beside(one->place, slash ? slash + 1 : path, line, found) ||
           find_beside("", slash ? slash + 1 : path, line, found);
}

/* Where the program made the call: "src/a.c:66 (main)". */
static bool find_call(const char *place, struct matrix_line *found)
{
    char path[PLACE_SIZE];
    char *colon;

    snprintf(path, sizeof path, "%s", place);
    path[strcspn(path, "(")] = '\0';
    colon = strrchr(path, ':');
    if (colon)
        *colon = '\0';
    return colon && find(path, atoi(colon + 1), found);
}

bool matrix_line_of_words(const char *words, struct matrix_line *found)
{
    for (const char *colon = words; (colon = strchr(colon, ':')); colon++) {
        const char *begin = colon;
        char path[MATRIX_WORDS_SIZE];
        while (begin > words && (isalnum((unsigned char)begin[-1]) || strchr("_-+./", begin[-1])))
            begin--;
        snprintf(path, sizeof path, "%.*s", (int)(colon - begin), begin);
        if (strchr(path, '.') && find(path, atoi(colon + 1), found))
            return true;
    }
    return false;
}

bool matrix_line(const struct matrix_case *one, struct matrix_line *found)
{
    char words[MATRIX_WORDS_SIZE];

    bool order = one->first_by || one->late_by; /* what a kernel then read is no cause */

    return (!matrix_ignored(one) && !order && find_kernel(one, found)) ||
           find_call(one->place, found) ||
           matrix_line_of_words(matrix_last_words(one, words), found);
}

const char *matrix_where(const struct matrix_case *one, char place[MATRIX_NAME_SIZE])
{
    struct matrix_line line;

    snprintf(place, MATRIX_NAME_SIZE, "%s", one->place);
    if (place[0] == '\0' && matrix_line(one, &line))
        snprintf(place, MATRIX_NAME_SIZE, "%.*s:%d", MATRIX_NAME_SIZE - 16, line.path, line.line);
    return place;
}
