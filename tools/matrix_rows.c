/* SPDX-License-Identifier: MIT */
/* Runs that are one row of a table, for people. */
#include "matrix.h"

#include "names.h"
#include "output.h"
#include "sim_check.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SURVIVORS = 4 }; /* names of one hint; more are counted */

bool matrix_is_release(const struct matrix_case *one)
{
    return strncmp(one->name, "CUDA", 4) == 0 && !one->devices && one->fault[0] == '\0';
}

bool matrix_is_without(const struct matrix_case *one)
{
    return one->driver && strcmp(one->driver, MATRIX_NO_DRIVER) == 0;
}

bool matrix_is_linked(const struct matrix_case *one)
{
    return matrix_is_without(one) && one->code == 127 &&
           strstr(one->errors, "loading shared librar") && strstr(one->errors, "libcuda.so");
}

/* Whether a number is a line of a file, behind "a.c:". */
static bool is_line(const char *text, const char *number)
{
    const char *colon = number - 1, *begin = colon;

    if (number == text || *colon != ':')
        return false;
    while (begin > text && isalnum((unsigned char)begin[-1]))
        begin--;
    return begin > text && begin[-1] == '.' && isalpha((unsigned char)*begin);
}

/* Whether two texts differ in nothing but numbers: processes, addresses, times; lines count. */
static bool is_same_text(const char *one, const char *other)
{
    static const char number[] = "x.0123456789abcdef";
    const char *text = one;
    char before = ' ';

    while (*one != '\0' || *other != '\0') {
        bool begins = !isalnum((unsigned char)before) && before != '_' && !is_line(text, one);
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

/* Whether a signal or the time limit ended it at a place of its own: one of abort is where the
 * program tells of any error. */
static bool has_end(const struct matrix_case *one)
{
    bool aborts = one->end == MATRIX_CRASHES && one->code == SIGABRT;

    return (one->end == MATRIX_CRASHES || one->end == MATRIX_HANGS) && !aborts &&
           strncmp(one->ended, " at ", 4) == 0;
}

/* What the check found first, without the count of more; returns the place where it was made, or
 * NULL. */
static const char *first_found(const struct matrix_case *one, char text[MATRIX_CALL_SIZE])
{
    const char *by;
    char *more = NULL;

    snprintf(text, MATRIX_CALL_SIZE, "%s", one->end == MATRIX_FAILS ? one->check : "");
    by = strstr(text, " by cu");
    for (char *at = text; by && (at = strstr(at, ", and ")); at++)
        more = at;
    if (more)
        *more = '\0';
    return by ? strstr(by, " at ") : NULL;
}

/* Whether what a kernel did is the cause, whatever the exit code: what the kernel read or wrote may
 * differ from run to run. */
static bool fails_by_kernel(const struct matrix_case *one)
{
    return one->end == MATRIX_FAILS && one->kernel[0] != '\0' && one->code != 0 &&
           one->went_on[0] == '\0';
}

/* Whether both used memory that one call freed: a kernel or the next call finds it, by chance. */
static bool is_one_use(const struct matrix_case *one, const struct matrix_case *other)
{
    return one->end == MATRIX_FAILS && one->code != 0 && other->code != 0 &&
           one->went_on[0] == '\0' && other->went_on[0] == '\0' && one->freed_by &&
           other->freed_by && strcmp(one->freed_by, other->freed_by) == 0;
}

/* What it did, without its launch: of two that do the same, one or the other is told. */
static const char *kernel_words(const struct matrix_case *one)
{
    const char *words = strstr(one->kernel, ": kernel '");

    return words ? words : one->kernel;
}

bool matrix_is_same(const struct matrix_case *one, const struct matrix_case *other)
{
    char text[2][MATRIX_WORDS_SIZE], found[2][MATRIX_CALL_SIZE];
    const char *place = first_found(one, found[0]), *second = first_found(other, found[1]);

    if (one->end != other->end || one->bad != other->bad)
        return false;
    if (is_one_use(one, other))
        return true;
    if (fails_by_kernel(one) && fails_by_kernel(other))
        return is_same_text(kernel_words(one), kernel_words(other));
    if (strcmp(matrix_words(one, text[0]), matrix_words(other, text[1])) != 0)
        return false;
    if (has_end(one))
        return true;
    if (one->kernel[0] != '\0') /* the call that fails because of it is one or another */
        return is_same_text(kernel_words(one), kernel_words(other));
    if (place || second)
        return place && second && strcmp(place, second) == 0 && is_same_text(found[0], found[1]);
    return is_same_text(matrix_call(one), matrix_call(other)) &&
           is_same_text(matrix_last_words(one, text[0]), matrix_last_words(other, text[1])) &&
           is_same_text(matrix_check_words(one, text[0]), matrix_check_words(other, text[1]));
}

/* Whether the second is the release after the first, downwards, and ended the same. */
static bool is_next(const struct matrix_case *one, const struct matrix_case *other)
{
    return matrix_is_release(one) && matrix_is_release(other) && one->number + 1 == other->number &&
           version_parse(other->cuda) < version_parse(one->cuda) && matrix_is_same(one, other);
}

bool matrix_is_fault(const struct matrix_case *one)
{
    return strncmp(one->fault, "cu", 2) == 0;
}

/* Whether a call was made to fail, and the program did as it should: its end tells it all. */
static bool is_bare(const struct matrix_case *one)
{
    return matrix_is_fault(one) && !one->bad && one->went_on[0] == '\0' &&
           (one->end == MATRIX_NOTICES || one->end == MATRIX_DEGRADES);
}

/* Whether calls failed in both under one release, with one result, or for one cause. */
static bool is_alike(const struct matrix_case *one, const struct matrix_case *other)
{
    bool faults = matrix_is_fault(one) && matrix_is_fault(other);

    return faults && strcmp(one->cuda, other->cuda) == 0 &&
           ((is_bare(one) && is_bare(other) && one->end == other->end) ||
            matrix_is_same(one, other));
}

bool matrix_may_lack_order(const struct matrix_case *one)
{
    bool data = one->kernel[0] != '\0' && !one->refused;

    return one->end == MATRIX_FAILS && one->calls > 0 && !one->missed &&
           (data || (one->call[0] == '\0' && one->check[0] == '\0'));
}

bool matrix_has_order(const struct matrix_case *one)
{
    return one->end >= MATRIX_FAILS && (one->late_by || one->first_by);
}

/* Whether a call was made to fail, and a kernel of a case that fails by chance did the same. */
static bool has_finding(const struct matrix_case *cases, size_t count,
                        const struct matrix_case *one)
{
    for (size_t i = 0; i < count && matrix_is_fault(one) && one->bad && one->kernel[0]; i++) {
        const struct matrix_case *other = &cases[i];
        if ((other->by_chance || matrix_has_order(other)) && other->kernel[0] != '\0' &&
            is_same_text(kernel_words(one), kernel_words(other)))
            return true;
    }
    return false;
}

void matrix_gather(struct matrix_case *cases, size_t count)
{
    size_t cause = 0;

    for (size_t i = 0; i < count; i++) {
        cases[i].number = i;
        cases[i].by_chance &= cases[i].bad;
    }
    while (cause < count && !(cases[cause].bad && matrix_has_order(&cases[cause])))
        cause++;
    for (size_t i = cause; i < count; i++)
        cases[i].by_chance = has_finding(cases, count, &cases[i]);
    for (size_t i = cause; i-- > 0 && cause < count;) {
        struct matrix_case moved = cases[i];
        if (!moved.by_chance)
            continue;
        memmove(&cases[i], &cases[i + 1], (cause - i) * sizeof *cases);
        cases[cause--] = moved;
    }
}

/* Of a release, or with one of several devices. */
static bool is_base(const struct matrix_case *one)
{
    return matrix_is_release(one) || (one->devices && atoi(one->devices) > 0);
}

bool matrix_is_one_cause(const struct matrix_case *one, const struct matrix_case *other)
{
    if (other->by_chance)
        return one->bad && matrix_has_order(one);
    if (one->folded != 0 || other->folded != 0)
        return one->folded == other->folded;
    return one->bad &&
           (is_base(one)           ? is_base(other)
            : matrix_is_fault(one) ? matrix_is_fault(other)
                                   : strcmp(one->fault, other->fault) == 0) &&
           matrix_is_same(one, other);
}

size_t matrix_first(const struct matrix_case *cases, size_t number)
{
    size_t first = 0;

    while (first < number && !matrix_is_one_cause(&cases[first], &cases[number]))
        first++;
    return first;
}

size_t matrix_row(const struct matrix_case *cases, size_t count, char name[MATRIX_WORDS_SIZE])
{
    size_t same = 1, alike = 1, chance = 0, folded = matrix_folded(cases, count);

    if (folded > 1) {
        matrix_fold_name(cases, folded, name);
        return folded;
    }
    while (same < count && is_next(&cases[same - 1], &cases[same]))
        same++;
    while (alike < count && is_alike(&cases[0], &cases[alike]))
        alike++;
    while (chance < count && cases[chance].by_chance)
        chance++;
    if (chance > same) {
        snprintf(name, MATRIX_WORDS_SIZE, "%s and %zu other%s", cases[0].name, chance - 1,
                 output_plural(chance - 1));
        return chance;
    }
    if (same > 1)
        snprintf(name, MATRIX_WORDS_SIZE, "%s to %s", cases[0].name, cases[same - 1].cuda);
    else if (alike > 1 && is_bare(&cases[0]))
        snprintf(name, MATRIX_WORDS_SIZE, "CUDA %s, each of %zu calls fails in turn", cases[0].cuda,
                 alike);
    else if (alike > 1)
        snprintf(name, MATRIX_WORDS_SIZE, "%s, likewise %zu other%s", cases[0].name, alike - 1,
                 output_plural(alike - 1));
    else
        snprintf(name, MATRIX_WORDS_SIZE, "%s", cases[0].name);
    return same > 1 ? same : alike;
}

/* Whether the cases of a row may have different calls and words of the program. */
static bool has_cause(const struct matrix_case *one, size_t count)
{
    char text[MATRIX_CALL_SIZE];

    return count > 1 && matrix_is_fault(one) && (has_end(one) || first_found(one, text));
}

/* Whether what a kernel did is the cause, and not what the program ignored, lacks or did not order:
 * it comes before the exit code. */
static bool begins_with_kernel(const struct matrix_case *one)
{
    bool checked = one->check[0] != '\0' && one->code == COMMAND_CHECK;

    return fails_by_kernel(one) && !checked && !one->ordered && !one->missed && !one->told;
}

/* "the check found: leaked ...", "exit code 3; cuX: 801 ..." */
static void add(char text[MATRIX_REASON_SIZE], const char *words)
{
    static const char found[] = "the check found";
    size_t length = strlen(text), end = sizeof found - 1;
    bool opens = length >= end && strcmp(text + length - end, found) == 0;

    if (words[0] != '\0')
        snprintf(text + length, MATRIX_REASON_SIZE - length, "%s%s",
                 length == 0 ? ""
                 : opens     ? ": "
                             : "; ",
                 words);
}

const char *matrix_reason(const struct matrix_case *one, size_t count,
                          char text[MATRIX_REASON_SIZE])
{
    char words[MATRIX_WORDS_SIZE], last[MATRIX_WORDS_SIZE] = "", found[MATRIX_WORDS_SIZE] = "";
    bool cause = has_cause(one, count), plain = one->end == MATRIX_PASSES && one->fired[0] == '\0';
    const char *call = cause ? "" : matrix_call(one);

    text[0] = '\0';
    if (is_bare(one)) {
        snprintf(text, MATRIX_REASON_SIZE, "%s", matrix_words(one, words));
        return text;
    }
    if (one->bad || call[0] == '\0') {
        matrix_check_words(one, found);
        matrix_last_words(one, cause ? words : last);
    }
    if (one->spoiled)
        add(text, found[0] != '\0' ? found : one->kernel);
    else if (begins_with_kernel(one))
        add(text, last);
    if (!plain)
        add(text, matrix_words(one, words));
    add(text, strstr(last, call) ? "" : call);
    add(text, strstr(text, last) ? "" : last);
    add(text, one->spoiled ? "" : found);
    if (one->advised > 0) {
        snprintf(words, sizeof words, "compute without a GPU, or end with %d", one->advised);
        add(text, words);
    }
    return text;
}

/* "exit code 0 in 20 runs, 1 in 9" */
static void put_codes(const struct matrix_case *cases, size_t count, char text[MATRIX_REASON_SIZE])
{
    size_t runs[256] = {0}, length = 0;

    for (size_t i = 0; i < count; i++)
        runs[cases[i].code & 255]++;
    for (int code = 0; code < 256; code++) {
        if (runs[code] == count)
            snprintf(text, MATRIX_REASON_SIZE, "exit code %d in each", code);
        if (runs[code] == 0 || runs[code] == count || length >= MATRIX_REASON_SIZE)
            continue;
        const char *noun = length > 0 ? "" : runs[code] == 1 ? " run" : " runs";
        length += (size_t)snprintf(text + length, MATRIX_REASON_SIZE - length, "%s%d in %zu%s",
                                   length > 0 ? ", " : "exit code ", code, runs[code], noun);
    }
}

const char *matrix_why(const struct matrix_case *cases, size_t number, size_t count,
                       char text[MATRIX_REASON_SIZE])
{
    size_t first = matrix_first(cases, number);

    if (first != number)
        snprintf(text, MATRIX_REASON_SIZE, "same as %s", cases[first].name);
    else if (count > 1 && is_bare(&cases[number]))
        put_codes(&cases[number], count, text);
    else if (count > 1 && cases[number].folded != 0)
        matrix_fold_words(&cases[number], count, MATRIX_SHOWN, text);
    else
        matrix_reason(&cases[number], count, text);
    return text;
}

void matrix_totals(FILE *file, const struct matrix_case *cases, size_t count)
{
    size_t counts[MATRIX_NOT_RUN + 1] = {0}, rows = 0;
    const char *between = "";

    for (size_t i = 0; i < count; i++)
        counts[cases[i].end]++;
    for (size_t i = 0, same; i < count; i += same, rows++)
        same = matrix_folded(&cases[i], count - i);
    fprintf(file, "%zu run%s: ", count, output_plural(count));
    for (int end = 0; end <= MATRIX_NOT_RUN; end++) {
        size_t more = end == MATRIX_FAILS ? count - rows : 0;
        if (counts[end] == 0)
            continue;
        fprintf(file, "%s%zu %s", between, counts[end] - more,
                matrix_end_name((enum matrix_end)end));
        if (more > 0)
            fprintf(file, " in %zu runs", counts[end]);
        between = ", ";
    }
}

/* Whether one of the first cases has the name: of a call that the driver lacks, or of another. */
static bool has_survivor(const struct matrix_case *cases, size_t count, bool lacked,
                         const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *other = matrix_survivor(&cases[i]);
        if (other && cases[i].missed == lacked && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

bool matrix_survivable(const struct matrix_case *cases, size_t count, bool lacked,
                       char text[MATRIX_REASON_SIZE])
{
    size_t names = 0, length = 0, least = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = matrix_survivor(&cases[i]);
        if (!name || cases[i].missed != lacked || has_survivor(cases, i, lacked, name) ||
            (lacked && has_survivor(cases, count, false, name)))
            continue;
        if (names++ < SURVIVORS)
            length += (size_t)snprintf(text + length, MATRIX_REASON_SIZE - length, "%s%s",
                                       names > 1 ? "," : "", name);
        if (names < SURVIVORS)
            least = length;
    }
    if (names > SURVIVORS)
        snprintf(text + least, MATRIX_REASON_SIZE - least, " and %zu others",
                 names - SURVIVORS + 1);
    return names > 0;
}
