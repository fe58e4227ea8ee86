/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <string.h>

const char *matrix_end_name(enum matrix_end end)
{
    static const char *const names[] = {"passes",  "degrades", "fails",
                                        "crashes", "hangs",    "not run"};

    return names[end];
}

const char *matrix_words(const struct matrix_case *one, char text[MATRIX_NAME_SIZE])
{
    switch (one->end) {
    case MATRIX_CRASHES:
        snprintf(text, MATRIX_NAME_SIZE, "signal %d (%s)", one->code, strsignal(one->code));
        break;
    case MATRIX_HANGS:
        snprintf(text, MATRIX_NAME_SIZE, "over the time limit");
        break;
    case MATRIX_NOT_RUN:
        snprintf(text, MATRIX_NAME_SIZE, "could not be started");
        break;
    default:
        snprintf(text, MATRIX_NAME_SIZE, "exit code %d", one->code);
    }
    return text;
}

/* Text of XML: what is no character of it becomes '?'. */
static void xml(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", file);
        else if (c == '<')
            fputs("&lt;", file);
        else if (c == '>')
            fputs("&gt;", file);
        else if (c == '"')
            fputs("&quot;", file);
        else
            fputc((c < ' ' && c != '\n' && c != '\t') || c >= 0x7f ? '?' : c, file);
    }
}

void matrix_junit(FILE *file, const struct matrix_case *cases, size_t count)
{
    char words[MATRIX_NAME_SIZE];
    size_t failures = 0;

    for (size_t i = 0; i < count; i++)
        failures += cases[i].end > MATRIX_DEGRADES;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"cushim matrix\" tests=\"%zu\" failures=\"%zu\">\n",
            count, failures);
    for (size_t i = 0; i < count; i++) {
        const struct matrix_case *one = &cases[i];
        fputs("  <testcase classname=\"cushim matrix\" name=\"", file);
        xml(file, one->name);
        fprintf(file, "\" time=\"%.3f\">\n", one->seconds);
        if (one->end > MATRIX_DEGRADES) {
            fprintf(file, "    <failure type=\"%s\" message=\"", matrix_end_name(one->end));
            xml(file, matrix_words(one, words));
            fputs("\">", file);
            xml(file, one->call);
            fputs("</failure>\n", file);
        }
        fputs("    <system-out>", file);
        xml(file, one->output);
        fputs("</system-out>\n  </testcase>\n", file);
    }
    fputs("</testsuite>\n", file);
}

/* A cell of a table: its separators must not be in it. */
static void cell(FILE *file, const char *text)
{
    fputs(" ", file);
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputs("\\|", file);
        else
            fputc(*text == '\n' ? ' ' : *text, file);
    }
    fputs(" |", file);
}

void matrix_markdown(FILE *file, const struct matrix_case *cases, size_t count)
{
    char words[MATRIX_NAME_SIZE];

    fputs("| driver | result | how it ended | first failing call |\n|---|---|---|---|\n", file);
    for (size_t i = 0; i < count; i++) {
        fputs("|", file);
        cell(file, cases[i].name);
        cell(file, matrix_end_name(cases[i].end));
        cell(file, matrix_words(&cases[i], words));
        cell(file, cases[i].call);
        fputs("\n", file);
    }
}
