/* SPDX-License-Identifier: MIT */
#include "sentences.h"

#include <string.h>

/* Fewer letters may be anybody's words. */
enum { LEAST = 12 };

static const char varies[] = "\xE2\x80\xA6"; /* U+2026 */

static const char *find_piece(const char *text, const char *piece, size_t length)
{
    while (*text && strncmp(text, piece, length) != 0)
        text++;
    return *text || length == 0 ? text : NULL;
}

/* The letters of a sentence that are in the text, in their order; 0: not all of them. */
static size_t letters_in(const char *text, const char *sentence)
{
    size_t letters = 0;

    while (*sentence) {
        const char *end = strstr(sentence, varies);
        size_t length = end ? (size_t)(end - sentence) : strlen(sentence);
        const char *found = find_piece(text, sentence, length);
        if (!found)
            return 0;
        text = found + length;
        letters += length;
        sentence += length + (end ? sizeof varies - 1 : 0);
    }
    return letters;
}

const struct sentences_row *sentences_find(const char *text)
{
    const struct sentences_row *best = NULL;
    size_t most = LEAST - 1;

    for (size_t i = 0; i < sentences_count; i++) {
        const struct sentences_row *row = &sentences_rows[i];
        size_t letters = letters_in(text, row->sentence);
        /* Advice is a cure itself, and the page leads from it to a table. */
        if (letters > most && strncmp(row->cure, "see ", 4) != 0) {
            most = letters;
            best = row;
        }
    }
    return best;
}
