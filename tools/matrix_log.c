/* SPDX-License-Identifier: MIT */
/* What the simulated driver's log says of a run. */
#include "matrix.h"

#include "known.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

/* "cuX(...) = 801 CUDA_ERROR_NOT_SUPPORTED, 1 us" of a line of the log as its name and its answer;
 * false where the line has no call. */
static bool read_call(char *line, const char **name, const char **answer, bool *missed)
{
    char *open = strchr(line, '('), *equals = NULL, *comma;

    if (!open)
        return false;
    for (char *at = open; (at = strstr(at, ") = ")); at++)
        equals = at;
    if (!equals)
        return false;
    comma = strrchr(equals, ',');
    *missed = comma && strcmp(comma, ", the driver lacks it\n") == 0;
    if (comma)
        *comma = '\0';
    *open = '\0';
    *name = strrchr(line, ' ') ? strrchr(line, ' ') + 1 : line;
    *answer = equals + strlen(") = ");
    return true;
}

/* Calls by which programs find out what there is, and what a code means; that they fail is no
 * news. */
static bool is_probe(const char *name)
{
    return strncmp(name, "cuGetProcAddress", 16) == 0 || strcmp(name, "cuGetExportTable") == 0 ||
           strcmp(name, "cuGetErrorName") == 0 || strcmp(name, "cuGetErrorString") == 0;
}

/* Whether words of a program name a call, its error, or the error's number. */
static bool is_named(const char *words, const char *name, const char *answer)
{
    const char *error = strchr(answer, ' ');
    size_t digits = strspn(answer, "0123456789");

    if (strstr(words, name) || (error && strstr(words, error + 1)))
        return true;
    for (const char *at = words; digits > 1 && *at != '\0'; at++) {
        bool begins = at == words || at[-1] < '0' || at[-1] > '9';
        if (begins && strncmp(at, answer, digits) == 0 && (at[digits] < '0' || at[digits] > '9'))
            return true;
    }
    return false;
}

/* A call that ended in a stub of cushim: the first is the reason that comes first. */
static void note_missed(struct matrix_case *one, const char *name, char reason[MATRIX_CALL_SIZE])
{
    size_t index = known_symbol(name);
    char since[VERSION_TEXT_SIZE];

    if (one->missed || index == KNOWN_NONE)
        return;
    one->missed = true;
    if (known_entry(index).since > version_parse(one->cuda))
        snprintf(reason, MATRIX_CALL_SIZE,
                 "%s is not available: it came with CUDA %s, and the driver, of CUDA %s, is older",
                 name, version_text(since, known_entry(index).since), one->cuda);
    else
        snprintf(reason, MATRIX_CALL_SIZE,
                 "%s is not available: the driver, of CUDA %s, does not export it", name,
                 one->cuda);
}

/* The call that failed. 600 says that work is not ready. */
static void note_call(struct matrix_case *one, const char *name, const char *answer)
{
    one->last = known_symbol(name);
    if (one->named || strncmp(answer, "0 ", 2) == 0 || strncmp(answer, "600 ", 4) == 0 ||
        is_probe(name))
        return;
    one->named = is_named(one->output, name, answer) || is_named(one->errors, name, answer);
    if (one->named || one->call[0] == '\0')
        snprintf(one->call, sizeof one->call, "%s: %s", name, answer);
}

void matrix_log(const char *path, struct matrix_case *one,
                void (*used)(void *user, const char *symbol), void *user)
{
    static const char wrong[] = "cushim: wrong ABI called: ";
    FILE *file = fopen(path, "re");
    char *line = NULL, reason[MATRIX_CALL_SIZE] = "";
    size_t room = 0;

    one->last = KNOWN_NONE;
    while (file && getline(&line, &room, file) > 0) {
        const char *name, *answer;
        bool missed;
        if (strncmp(line, wrong, strlen(wrong)) == 0)
            snprintf(reason, sizeof reason, "%.*s", (int)strcspn(line + 8, ";\n"), line + 8);
        if (!read_call(line, &name, &answer, &missed))
            continue;
        one->calls++;
        if (missed) {
            note_missed(one, name, reason);
            continue;
        }
        if (used)
            used(user, name);
        note_call(one, name, answer);
    }
    one->told = reason[0] != '\0';
    if (one->told)
        matrix_put_before(one, reason);
    free(line);
    if (file)
        fclose(file);
}
