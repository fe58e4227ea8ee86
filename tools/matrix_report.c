/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include "output.h"

#include <string.h>

const char *matrix_end_name(enum matrix_end end)
{
    static const char *const names[] = {"passes",  "degrades", "unused",  "fails",
                                        "crashes", "hangs",    "unknown", "not run"};

    return names[end];
}

const char *matrix_words(const struct matrix_case *one, char text[MATRIX_NAME_SIZE])
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
        snprintf(text, MATRIX_NAME_SIZE, "could not be started");
        break;
    default:
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d", one->code);
    }
    return text;
}

const char *matrix_call(const struct matrix_case *one)
{
    bool wrong = one->end == MATRIX_FAILS || one->end == MATRIX_CRASHES;

    if (wrong && one->cuda[0] != '\0' && one->call[0] == '\0' && one->output[0] == '\0' &&
        one->errors[0] == '\0')
        return "no call that reached the driver failed";
    return one->call;
}

static void last_line(const char *words, char text[MATRIX_NAME_SIZE])
{
    size_t end = strlen(words), begin;

    while (end > 0 && strchr(" \t\n", words[end - 1]))
        end--;
    for (begin = end; begin > 0 && words[begin - 1] != '\n';)
        begin--;
    snprintf(text, MATRIX_NAME_SIZE, "%.*s", (int)(end - begin), words + begin);
}

const char *matrix_last_words(const struct matrix_case *one, char text[MATRIX_NAME_SIZE])
{
    text[0] = '\0';
    if (one->end == MATRIX_PASSES || one->end == MATRIX_UNUSED)
        return text;
    last_line(one->errors, text);
    if (text[0] == '\0')
        last_line(one->output, text);
    return text;
}

void matrix_junit(FILE *file, const struct matrix_case *cases, size_t count)
{
    char words[MATRIX_NAME_SIZE];
    size_t failures = 0, skipped = 0;

    for (size_t i = 0; i < count; i++) {
        failures += cases[i].bad;
        skipped += cases[i].end == MATRIX_UNUSED && !cases[i].bad;
    }
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"cushim matrix\" tests=\"%zu\" failures=\"%zu\" "
            "skipped=\"%zu\">\n",
            count, failures, skipped);
    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *one = &cases[i];
        fputs("  <testcase classname=\"cushim matrix\" name=\"", file);
        output_xml(file, one->name);
        fprintf(file, "\" time=\"%.3f\">\n", one->seconds);
        if (one->end == MATRIX_UNUSED && !one->bad)
            fputs("    <skipped message=\"no call of the driver\"/>\n", file);
        if (one->bad) {
            fprintf(file, "    <failure type=\"%s\" message=\"", matrix_end_name(one->end));
            output_xml(file, matrix_words(one, words));
            fputs("\">", file);
            output_xml(file, matrix_call(one));
            fputs("\n", file);
            output_xml(file, matrix_last_words(one, words));
            fputs("</failure>\n", file);
        }
        fputs("    <system-out>", file);
        output_xml(file, one->output);
        fputs("</system-out>\n    <system-err>", file);
        output_xml(file, one->errors);
        fputs("</system-err>\n  </testcase>\n", file);
    }
    fputs("</testsuite>\n", file);
}

void matrix_markdown(FILE *file, const struct matrix_case *cases, size_t count)
{
    char words[MATRIX_NAME_SIZE];

    fputs("| driver | result | how it ended | failing call | last words |\n"
          "|---|---|---|---|---|\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fputs("|", file);
        output_markdown(file, cases[i].name);
        output_markdown(file, matrix_end_name(cases[i].end));
        output_markdown(file, matrix_words(&cases[i], words));
        output_markdown(file, matrix_call(&cases[i]));
        output_markdown(file, matrix_last_words(&cases[i], words));
        fputs("\n", file);
    }
}
