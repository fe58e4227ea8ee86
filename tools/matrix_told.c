/* SPDX-License-Identifier: MIT */
/* What a program's words say of an error. */
#include "matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - text) >= length && strncasecmp(end - length, word, length) == 0;
}

/* Whether a number before which the text ends is one of an error: "error 2", "failed (2". */
static bool is_code(const char *text, const char *end)
{
    static const char *const words[] = {"error", "code", "status", "result", "returned", "failed"};

    while (end > text && strchr(" :=(#", end[-1]))
        end--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ends_with(text, end, words[i]))
            return true;
    }
    return false;
}

/* Whether a word before which the text ends is "CUDA", or a name such as cuMemAlloc. */
static bool is_of_cuda(const char *text, const char *end)
{
    const char *begin;

    while (end > text && strchr(" :", end[-1]))
        end--;
    for (begin = end; begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_');)
        begin--;
    return ends_with(text, end, "cuda") ||
           (end - begin > 2 && strncmp(begin, "cu", 2) == 0 && isupper((unsigned char)begin[2]));
}

/* Whether a number, which ends there, is plainly no code: "999 wrong", of values. */
static bool is_count(const char *text, const char *number, const char *end)
{
    bool counts = end[0] == ' ' && isalpha((unsigned char)end[1]);

    return counts && !is_code(text, number) && !is_of_cuda(text, number) &&
           (number == text || !strchr("(=", number[-1]));
}

/* Whether words of a program name the error of an answer, its sentence in the simulated driver, or
 * its number; one digit alone says nothing. */
static bool has_error(const char *words, const char *answer)
{
    const char *error = strchr(answer, ' ');
    size_t digits = strspn(answer, "0123456789");

    if (error &&
        (strstr(words, error + 1) || strstr(words, cushim_error_string((CUresult)atoi(answer)))))
        return true;
    for (const char *at = words; digits > 0 && *at != '\0'; at++) {
        bool begins = at == words || at[-1] < '0' || at[-1] > '9';
        if (begins && strncmp(at, answer, digits) == 0 && (at[digits] < '0' || at[digits] > '9') &&
            (digits > 1 ? !is_count(words, at, at + digits) : is_code(words, at)))
            return true;
    }
    return false;
}

bool matrix_says(const struct matrix_case *one, const char *word)
{
    return strstr(one->output, word) || strstr(one->errors, word);
}

bool matrix_tells(const struct matrix_case *one, const char *answer)
{
    return has_error(one->output, answer) || has_error(one->errors, answer);
}
