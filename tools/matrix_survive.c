/* SPDX-License-Identifier: MIT */
/* Which calls may fail by --survives: all of an entry, or those of one line. */
#include "matrix.h"

#include "known.h"
#include "sim_library.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MET = 256 };

/* Of the words of --survives: a call of its line failed. */
static bool met[MOST_MET];

/* Whether the first of two words, which ends at '@', is this entry's. */
static bool is_of(const char *word, const char *name)
{
    size_t length = strcspn(word, "@"), index = known_symbol(name);
    const char *plain = index != KNOWN_NONE ? known_entry(index).name : name;

    return (strlen(name) == length && strncmp(word, name, length) == 0) ||
           (strlen(plain) == length && strncmp(word, plain, length) == 0);
}

/* Whether "a.c:41" is the end of "src/a.c:41 (load)". */
static bool is_end(const char *line, const char *place)
{
    size_t length = strlen(line), whole = strcspn(place, " ");
    const char *end = place + whole - length;

    return whole >= length && strncmp(end, line, length) == 0 &&
           (end == place || end[-1] == '/' || line[0] == '/');
}

bool matrix_survives(const struct option_list *survived, const char *name, const char *callers,
                     const char **unplaced)
{
    char place[PLACE_SIZE];

    for (size_t i = 0; i < survived->count; i++) {
        const char *word = survived->item[i], *line = strchr(word, '@');
        if (!is_of(word, name))
            continue;
        if (!line || is_end(line + 1, place_of(callers, place))) {
            met[i % MOST_MET] = true;
            return true;
        }
        if (!strchr(place, ':'))
            *unplaced = word;
    }
    return false;
}

bool matrix_survives_good(const char *word)
{
    const char *line = strchr(word, '@'), *colon = line ? strrchr(line, ':') : NULL;
    char name[128];

    if (line && (!colon || colon == line + 1 || atoi(colon + 1) <= 0 ||
                 colon[1 + strspn(colon + 1, "0123456789")] != '\0')) {
        fprintf(stderr, "cushim matrix: --survives: '%s' has no line: a call is NAME@FILE:LINE\n",
                word);
        return false;
    }
    if (strncmp(word, "cushim", 6) == 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "@"), word);
    return sim_faults_good("matrix", true, name);
}

void matrix_survives_tell(const struct option_list *survived, const struct matrix_case *cases,
                          size_t count)
{
    for (size_t i = 0; i < survived->count; i++) {
        const char *word = survived->item[i];
        bool unplaced = false;
        for (size_t k = 0; k < count; k++)
            unplaced |= cases[k].unplaced == word;
        if (unplaced)
            fprintf(stderr,
                    "cushim matrix: --survives: %s: the lines of its calls are not known: build "
                    "the program with -g, and install addr2line\n",
                    word);
        else if (strchr(word, '@') && !met[i % MOST_MET])
            fprintf(stderr, "cushim matrix: --survives: %s: no call of this line failed\n", word);
    }
}
