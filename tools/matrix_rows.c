/* SPDX-License-Identifier: MIT */
/* Runs that are one row of a table, for people. */
#include "matrix.h"

#include "names.h"

#include <ctype.h>
#include <string.h>

bool matrix_is_release(const struct matrix_case *one)
{
    return strncmp(one->name, "CUDA", 4) == 0 && !one->bare && one->fault[0] == '\0';
}

/* Whether two texts differ in nothing but numbers: processes, addresses, times. */
static bool is_same_text(const char *one, const char *other)
{
    static const char number[] = "x.0123456789abcdef";
    char before = ' ';

    while (*one != '\0' || *other != '\0') {
        bool begins = !isalnum((unsigned char)before) && before != '_';
        if (begins && isdigit((unsigned char)*one) && isdigit((unsigned char)*other)) {
            one += strspn(one, number);
            other += strspn(other, number);
            before = '0';
            continue;
        }
        if (*one != *other)
            return false;
        before = *one++;
        other++;
    }
    return true;
}

bool matrix_is_same(const struct matrix_case *one, const struct matrix_case *other)
{
    char text[2][MATRIX_WORDS_SIZE];

    if (one->end != other->end || one->bad != other->bad ||
        strcmp(matrix_words(one, text[0]), matrix_words(other, text[1])) != 0)
        return false;
    if (one->kernel[0] != '\0') /* the call that fails because of it is one or another */
        return is_same_text(one->kernel, other->kernel);
    return is_same_text(matrix_call(one), matrix_call(other)) &&
           is_same_text(matrix_last_words(one, text[0]), matrix_last_words(other, text[1]));
}

/* Whether the second is the release after the first, downwards, and ended the same. */
static bool is_next(const struct matrix_case *one, const struct matrix_case *other)
{
    return matrix_is_release(one) && matrix_is_release(other) &&
           version_parse(other->cuda) < version_parse(one->cuda) && matrix_is_same(one, other);
}

/* Whether calls failed in both under one release, and the program took notice. */
static bool is_noticed(const struct matrix_case *one, const struct matrix_case *other)
{
    return one->end == MATRIX_NOTICES && other->end == MATRIX_NOTICES && !one->bad && !other->bad &&
           one->went_on[0] == '\0' && other->went_on[0] == '\0' &&
           strcmp(one->cuda, other->cuda) == 0;
}

size_t matrix_row(const struct matrix_case *cases, size_t count, char name[MATRIX_WORDS_SIZE])
{
    size_t same = 1, noticed = 1;

    while (same < count && is_next(&cases[same - 1], &cases[same]))
        same++;
    while (noticed < count && is_noticed(&cases[0], &cases[noticed]))
        noticed++;
    if (same > 2)
        snprintf(name, MATRIX_WORDS_SIZE, "%s to %s", cases[0].name, cases[same - 1].cuda);
    else if (noticed > 2)
        snprintf(name, MATRIX_WORDS_SIZE, "CUDA %s, each of %zu calls fails", cases[0].cuda,
                 noticed);
    else
        snprintf(name, MATRIX_WORDS_SIZE, "%s", cases[0].name);
    return same > 2 ? same : noticed > 2 ? noticed : 1;
}

bool matrix_row_is_bare(const struct matrix_case *one, size_t count)
{
    return count > 1 && one->end == MATRIX_NOTICES;
}
