/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include "sim_check.h"
#include "output.h"

#include <ctype.h>
#include <string.h>

const char *matrix_end_name(enum matrix_end end)
{
    static const char *const names[] = {"passes",  "notices", "degrades", "unused", "fails",
                                        "crashes", "hangs",   "unknown",  "not run"};

    return names[end];
}

/* But for the check. */
static bool is_good(const struct matrix_case *one)
{
    return one->end == MATRIX_FAILS && one->code == COMMAND_CHECK && one->check[0] != '\0';
}

bool matrix_ignored(const struct matrix_case *one)
{
    bool well = one->code == 0 || is_good(one);

    return one->ruled && one->fired[0] != '\0' &&
           (one->went_on[0] != '\0' || (well && one->silent));
}

bool matrix_left_behind(const struct matrix_case *one)
{
    bool left = strncmp(one->check, "leaked ", 7) == 0 || strncmp(one->check, "left to ", 8) == 0;

    return is_good(one) && left && !one->ruled && one->fired[0] != '\0' &&
           strncmp(one->fired, "cushim", 6) != 0 && one->kernel[0] == '\0';
}

/* " with 800 CUDA_ERROR_NOT_PERMITTED", if the call that is told is the one that failed first. */
static void put_error(const struct matrix_case *one, char text[MATRIX_CALL_SIZE])
{
    size_t length = strlen(one->fired);
    bool told = strncmp(one->call, one->fired, length) == 0 && one->call[length] == ':';

    snprintf(text, MATRIX_CALL_SIZE, "%s%s", told ? " with" : "",
             told ? one->call + length + 1 : "");
}

/* What came before its end: "cuX failed at a.c:7 (f), the program went on with cuY, then ". */
static void put_ignored(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE])
{
    bool goes_on = one->went_on[0] != '\0', later = one->code != 0 || one->end == MATRIX_HANGS;
    char error[MATRIX_CALL_SIZE];

    text[0] = '\0';
    put_error(one, error);
    if (matrix_left_behind(one))
        snprintf(text, MATRIX_WORDS_SIZE, "%s failed%s%s%s, then ", one->fired,
                 one->fired_at[0] != '\0' ? " at " : "", one->fired_at, error);
    else if (matrix_ignored(one) && (goes_on || later))
        snprintf(text, MATRIX_WORDS_SIZE, "%s failed%s%s%s%s, then ", one->fired,
                 one->fired_at[0] != '\0' ? " at " : "", one->fired_at,
                 goes_on ? ", the program went on with " : "", one->went_on);
}

static void put_code(const struct matrix_case *one, char text[MATRIX_NAME_SIZE])
{
    if (is_good(one))
        snprintf(text, MATRIX_NAME_SIZE, "the check found");
    else if (one->code == 0 && one->went_on[0] == '\0' &&
             (one->end == MATRIX_NOTICES || one->end == MATRIX_DEGRADES))
        snprintf(text, MATRIX_NAME_SIZE, "exit code 0, and it said why");
    else if (one->code == 0 && one->fired[0] != '\0' && one->went_on[0] == '\0')
        snprintf(text, MATRIX_NAME_SIZE,
                 strncmp(one->fired, "cushim", 6) == 0
                     ? "exit code 0 though %s refused what it was given%s%s"
                     : "exit code 0 though %s failed%s%s",
                 one->fired, one->fired_at[0] != '\0' ? " at " : "", one->fired_at);
    else if (one->code == 0 && one->end == MATRIX_FAILS && one->missed)
        snprintf(text, MATRIX_NAME_SIZE, "called what the driver lacks");
    else if (one->must && one->end == MATRIX_FAILS)
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d, but it must work", one->code);
    else if (one->fell && one->fired[0] != '\0' && one->went_on[0] == '\0')
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d after %s failed%s%s", one->code, one->fired,
                 one->fired_at[0] != '\0' ? " at " : "", one->fired_at);
    else if (one->code > 128 && one->code < 160)
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d (a shell's for signal %d)", one->code,
                 one->code - 128);
    else
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d", one->code);
}

/* Whether it ignored a failure, and the check found what it left behind. */
static bool leaves(const struct matrix_case *one)
{
    return one->bad && is_good(one) && matrix_ignored(one);
}

const char *matrix_left(const struct matrix_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (leaves(&cases[i]))
            return ", but what it leaves behind then stays a failure";
    }
    return "";
}

const char *matrix_survivor(const struct matrix_case *one)
{
    const char *answer = strstr(one->call, ": ");
    int code = answer ? atoi(answer + 2) : 0; /* of one that failed by itself: no mistake of use */
    bool may = one->ruled || code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_NOT_SUPPORTED ||
               code == CUDA_ERROR_NOT_FOUND;

    if (!one->bad || one->end != MATRIX_FAILS ||
        (one->code != 0 && one->went_on[0] == '\0' && !leaves(one)))
        return NULL;
    if (one->missed)
        return one->ruled ? NULL : one->missing;
    return may && one->fired[0] != '\0' ? one->fired : NULL;
}

static void put_end(const struct matrix_case *one, char text[MATRIX_NAME_SIZE])
{
    switch (one->end) {
    case MATRIX_UNUSED:
        snprintf(text, MATRIX_NAME_SIZE, "no call of the driver");
        break;
    case MATRIX_CRASHES:
        snprintf(text, MATRIX_NAME_SIZE, "signal %d (%s)", one->code, strsignal(one->code));
        break;
    case MATRIX_HANGS:
        snprintf(text, MATRIX_NAME_SIZE, "over the time limit");
        break;
    case MATRIX_UNKNOWN:
        snprintf(text, MATRIX_NAME_SIZE, "the CUDA runtime is not simulated");
        break;
    case MATRIX_NOT_RUN:
        snprintf(text, MATRIX_NAME_SIZE, "%s",
                 one->left_out ? "left out, because all before took too long"
                 : !one->bad   ? "linked to libcuda, which --needs-driver allows"
                 : matrix_is_linked(one)
                     ? "does not start without libcuda.so.1: it is linked with -lcuda (load it at "
                       "run time, or --needs-driver)"
                     : "could not be started");
        break;
    default:
        put_code(one, text);
    }
}

const char *matrix_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE])
{
    char end[MATRIX_NAME_SIZE];
    size_t length;

    put_ignored(one, text);
    put_end(one, end);
    length = strlen(text);
    snprintf(text + length, MATRIX_WORDS_SIZE - length, "%s%s", end, one->ended);
    return text;
}

/* Whether the call is the one that this run's name has. */
static bool is_own_fault(const struct matrix_case *one)
{
    size_t length = strcspn(one->fault, ":");

    return length > 0 && strncmp(one->call, one->fault, length) == 0 && one->call[length] == ':';
}

const char *matrix_call(const struct matrix_case *one)
{
    bool wrong = one->end == MATRIX_FAILS || one->end == MATRIX_CRASHES;

    bool silent = one->call[0] == '\0' && one->output[0] == '\0' && one->errors[0] == '\0';

    if (wrong && one->cuda[0] != '\0' && silent && one->calls == 0)
        return "it printed nothing, and called no driver";
    if (wrong && one->cuda[0] != '\0' && silent)
        return "it printed nothing, and every call of the driver succeeded";
    if (((one->end <= MATRIX_NOTICES || (is_good(one) && !one->ordered)) && !one->missed) ||
        is_own_fault(one))
        return "";
    return one->shown;
}

void matrix_put_before(struct matrix_case *one, const char *reason)
{
    char call[MATRIX_CALL_SIZE];

    memcpy(call, one->call, sizeof call);
    if (snprintf(one->call, sizeof one->call, "%s%s%s", reason, call[0] != '\0' ? "; " : "",
                 call) >= (int)sizeof one->call)
        memcpy(one->call + sizeof one->call - sizeof "...", "...", sizeof "...");
}

/* The last line with words; of the program's own ones, unless it did not begin. */
static void last_line(const char *words, bool own, char text[MATRIX_WORDS_SIZE])
{
    size_t end = strlen(words), begin;

    do {
        while (end > 0 && strchr(" \t\n", words[end - 1]))
            end--;
        for (begin = end; begin > 0 && words[begin - 1] != '\n';)
            begin--;
        snprintf(text, MATRIX_NAME_SIZE, "%.*s", (int)(end - begin), words + begin);
        end = begin;
    } while (own && strncmp(text, "cushim sim: ", 12) == 0);
}

const char *matrix_check_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE])
{
    static const char faults[] = "the checks of kernels found ";
    /* which the first of them has told */
    bool told = one->kernel[0] != '\0' && !strstr(one->check, ", and ") &&
                strncmp(one->check, faults, sizeof faults - 1) == 0;

    text[0] = '\0';
    if (one->check[0] != '\0' && (one->end == MATRIX_FAILS || one->end == MATRIX_PASSES) && !told)
        snprintf(text, MATRIX_WORDS_SIZE, "%s%s",
                 is_good(one) || one->end == MATRIX_PASSES ? "" : "the check found: ", one->check);
    return text;
}

/* What the program said last, in quotes; nothing where that is the call. */
static void put_own_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE])
{
    bool began = one->end != MATRIX_NOT_RUN;
    const char *quote = began ? "\"" : "";
    char line[MATRIX_WORDS_SIZE];

    last_line(one->errors, began, line);
    if (line[0] == '\0')
        last_line(one->output, false, line);
    if (strstr(line, "CUSHIM_LIBCUDA: empty")) /* which this command set */
        return;
    if (line[0] != '\0' && strcmp(line, matrix_call(one)) != 0)
        snprintf(text, MATRIX_WORDS_SIZE, "%s%.*s%s", quote, MATRIX_NAME_SIZE, line, quote);
}

const char *matrix_last_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE])
{
    text[0] = '\0';
    if (one->end == MATRIX_PASSES || one->end == MATRIX_UNUSED || matrix_is_linked(one))
        return text;
    if (one->kernel[0] != '\0')
        snprintf(text, MATRIX_WORDS_SIZE, "%s%s", one->kernel,
                 one->race ? ", which may show under any release" : "");
    else if (!is_good(one))
        put_own_words(one, text);
    return text;
}

static bool is_skipped(const struct matrix_case *one)
{
    return !one->bad && (one->end == MATRIX_UNUSED || one->end == MATRIX_UNKNOWN);
}

/* A test that passes has no message: what it did without stands before its output. */
static void note_without(FILE *file, const struct matrix_case *one)
{
    char reason[MATRIX_REASON_SIZE];

    if (one->bad || (one->end != MATRIX_DEGRADES && !(one->end == MATRIX_PASSES && one->missed)))
        return;
    fprintf(file, "cushim matrix: %s: ", matrix_end_name(one->end));
    output_xml(file, matrix_reason(one, 1, reason));
    fputs("\n", file);
}

static void put_failure(FILE *file, const struct matrix_case *cases, size_t number, size_t count)
{
    size_t first = matrix_first(cases, number);
    char reason[MATRIX_REASON_SIZE], names[MATRIX_REASON_SIZE];
    bool lacked = cases[number].missed;

    if (count > 1)
        matrix_fold_words(&cases[number], count, count, reason);
    else
        matrix_reason(&cases[number], 1, reason);
    fprintf(file, "    <failure type=\"%s\" message=\"", matrix_end_name(cases[number].end));
    output_xml(file, reason);
    if (first != number) {
        fputs(" (same as ", file);
        output_xml(file, cases[first].name);
        fputs(")", file);
    }
    fputs("\">", file);
    output_xml(file, reason);
    if (matrix_survivable(&cases[number], count, lacked, names))
        fprintf(file, "; %s--survives %s%s", lacked ? MATRIX_WITHOUT : MATRIX_GOES_ON, names,
                matrix_left(&cases[number], count));
    fputs("</failure>\n", file);
}

static double seconds_of(const struct matrix_case *cases, size_t count)
{
    double seconds = 0;

    for (size_t i = 0; i < count; i++)
        seconds += cases[i].seconds;
    return seconds;
}

static void put_test(FILE *file, const struct matrix_case *cases, size_t number, size_t count)
{
    const struct matrix_case *one = &cases[number];
    char words[MATRIX_WORDS_SIZE];
    struct matrix_line line;

    if (count > 1)
        matrix_fold_name(one, count, words);
    else
        memcpy(words, one->name, sizeof one->name);
    fputs("  <testcase classname=\"cushim matrix\" name=\"", file);
    output_xml(file, words);
    if (one->bad && matrix_line(one, &line)) {
        fputs("\" file=\"", file);
        output_xml(file, line.path);
        fprintf(file, "\" line=\"%d", line.line);
    }
    fprintf(file, "\" time=\"%.3f\">\n", seconds_of(one, count));
    fputs("    <properties><property name=\"result\" value=\"", file);
    output_xml(file, matrix_end_name(one->end));
    fputs("\"/><property name=\"end\" value=\"", file);
    output_xml(file, matrix_words(one, words));
    fputs("\"/></properties>\n", file);
    if (is_skipped(one))
        fprintf(file, "    <skipped message=\"%s\"/>\n", matrix_words(one, words));
    if (one->bad)
        put_failure(file, cases, number, count);
    fputs("    <system-out>", file);
    note_without(file, one);
    output_xml(file, one->output);
    fputs("</system-out>\n    <system-err>", file);
    output_xml(file, one->errors);
    fputs("</system-err>\n  </testcase>\n", file);
}

void matrix_junit(FILE *file, const struct matrix_case *cases, size_t count, const char *note)
{
    size_t tests = note[0] != '\0', failures = tests, skipped = 0;

    for (size_t i = 0; i < count; i += matrix_folded(&cases[i], count - i)) {
        tests++;
        failures += cases[i].bad;
        skipped += is_skipped(&cases[i]);
    }
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"cushim matrix\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
            tests, failures, skipped, seconds_of(cases, count));
    for (size_t i = 0, same; i < count; i += same) {
        same = matrix_folded(&cases[i], count - i);
        put_test(file, cases, i, same);
    }
    if (note[0] != '\0') {
        fputs("  <testcase classname=\"cushim matrix\" name=\"all runs\" time=\"0.000\">\n"
              "    <failure type=\"fails\" message=\"",
              file);
        output_xml(file, note);
        fputs("\"/>\n  </testcase>\n", file);
    }
    fputs("</testsuite>\n", file);
}

/* Take " at PLACE" out of a reason: the column beside it has the place. */
static void leave_out(char text[MATRIX_REASON_SIZE], const char *place)
{
    char words[MATRIX_NAME_SIZE + 8];
    size_t length = (size_t)snprintf(words, sizeof words, " at %s", place);

    for (char *at = text; place[0] != '\0' && (at = strstr(at, words));) {
        if (isdigit((unsigned char)at[length])) /* of another line */
            at += length;
        else
            memmove(at, at + length, strlen(at + length) + 1);
    }
}

/* The rows that fail, or those that do not. */
static void put_rows(FILE *file, const struct matrix_case *cases, size_t count, bool bad)
{
    char row[MATRIX_WORDS_SIZE], reason[MATRIX_REASON_SIZE], place[MATRIX_NAME_SIZE];

    fprintf(file, "\n| run | result | why |%s\n|---|---|---|%s\n", bad ? " where |" : "",
            bad ? "---|" : "");
    for (size_t i = 0, same; i < count; i += same) {
        const struct matrix_case *one = &cases[i];
        same = matrix_row(one, count - i, row);
        if (one->bad != bad)
            continue;
        fputs("|", file);
        output_markdown(file, row);
        output_markdown(file, matrix_end_name(one->end));
        matrix_why(cases, i, same, reason);
        matrix_where(one, place);
        if (bad && one->folded == 0)
            leave_out(reason, place);
        output_markdown(file, reason);
        if (bad)
            output_markdown(file, place);
        fputs("\n", file);
    }
}

void matrix_markdown(FILE *file, const struct matrix_case *cases, size_t count, const char *note)
{
    char names[MATRIX_REASON_SIZE];
    size_t bad = 0, good;

    for (size_t i = 0; i < count; i++)
        bad += cases[i].bad;
    good = count - bad;
    fputs("**cushim matrix, ", file);
    matrix_totals(file, cases, count);
    fputs("**\n", file);
    if (note[0] != '\0')
        fprintf(file, "\n%s\n", note);
    if (bad > 0)
        put_rows(file, cases, count, true);
    if (matrix_survivable(cases, count, false, names))
        fprintf(file, "\n" MATRIX_TELL MATRIX_GOES_ON "`--survives %s`%s\n", names,
                matrix_left(cases, count));
    if (matrix_survivable(cases, count, true, names))
        fprintf(file, "\n" MATRIX_WITHOUT "`--survives %s`\n", names);
    if (good == 0)
        return;
    fprintf(file, "\n<details><summary>%zu run%s not fail</summary>\n", good,
            good == 1 ? " does" : "s do");
    put_rows(file, cases, count, false);
    fputs("\n</details>\n", file);
}
