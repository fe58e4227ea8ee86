/* SPDX-License-Identifier: MIT */
#include "sentences.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Fewer letters may be anybody's words; a longer text is no part of a sentence. */
enum { LEAST = 12, LEAST_OF_PART = 14, LONGEST_PART = 512, WORD_SIZE = 32 };

#define VARIES "\xE2\x80\xA6" /* U+2026 */

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

    const char *bare =
        sentence + (strncmp(sentence, VARIES, sizeof VARIES - 1) == 0 ? sizeof VARIES - 1 : 0);
    if (strncmp(bare, ": ", 2) == 0)
        sentence = bare + 2; /* the text may have no name before it */
    while (*sentence) {
        const char *end = strstr(sentence, VARIES);
        size_t length = end ? (size_t)(end - sentence) : strlen(sentence);
        const char *found = find_piece(text, sentence, length);
        if (!found)
            return 0;
        text = found + length;
        if (end && length >= 2 && strncmp(end - 2, "cu", 2) == 0 && islower((unsigned char)*text))
            return 0; /* cuInit is the driver's, and curl_init is not */
        letters += length;
        sentence += length + (end ? sizeof VARIES - 1 : 0);
    }
    return letters;
}

bool sentences_within(const char *text, const char *sentence)
{
    return letters_in(text, sentence) > 0;
}

/* Whether a short sentence is the whole text, a column of its own in one of a table's lines, or a
 * rule of `cushim scan` that is named. */
static bool is_alone(const char *text, const char *sentence)
{
    char column[WORD_SIZE], rule[WORD_SIZE];
    size_t length = strlen(sentence);
    const char *at;

    if (length >= LEAST || strstr(sentence, VARIES))
        return false;
    snprintf(column, sizeof column, "  %s", sentence);
    at = strstr(text, column);
    snprintf(rule, sizeof rule, "(rule %s)", sentence);
    return strstr(text, rule) || strcmp(text, sentence) == 0 ||
           (at && (at[length + 2] == '\0' || strncmp(at + length + 2, "  ", 2) == 0));
}

/* Advice is a cure itself, and the page leads from it to a table. */
static bool is_led(const struct sentences_row *row)
{
    return strncmp(row->cure, "see ", 4) == 0;
}

const struct sentences_row *sentences_find(const char *text)
{
    const struct sentences_row *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < sentences_count; i++) {
        const struct sentences_row *row = &sentences_rows[i];
        size_t letters = letters_in(text, row->sentence);
        if (letters > most && (letters >= LEAST || is_alone(text, row->sentence)) && !is_led(row)) {
            most = letters;
            best = row;
        }
    }
    return best;
}

static bool is_boundary(const char *text, const char *at)
{
    return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)*at);
}

/* Letters that a text and a sentence have in common at one place, of whole words. */
static size_t common_at(const char *text, const char *at, const char *sentence, const char *from)
{
    size_t length = 0, whole = 0;

    while (at[length] && at[length] == from[length]) {
        length++;
        if (is_boundary(text, at + length) && is_boundary(sentence, from + length))
            whole = length;
    }
    return whole;
}

static size_t common(const char *text, const char *sentence)
{
    size_t most = 0;

    for (const char *at = text; *at; at++) {
        for (const char *from = sentence; *from; from++) {
            if (*at != *from || !is_boundary(text, at) || !is_boundary(sentence, from))
                continue;
            size_t length = common_at(text, at, sentence, from);
            most = length > most ? length : most;
        }
    }
    return most;
}

size_t sentences_near(const char *text, const struct sentences_row *found[SENTENCES_NEAR])
{
    size_t most = LEAST - 1, count = 0, length = strlen(text);

    if (length > LONGEST_PART)
        return 0;
    for (size_t i = 0; i < sentences_count; i++) {
        size_t letters = common(text, sentences_rows[i].sentence);
        bool whole = letters == length && letters >= LEAST;
        if (letters < most || (letters < LEAST_OF_PART && !whole) || letters * 2 < length ||
            is_led(&sentences_rows[i]))
            continue;
        if (letters > most)
            count = 0;
        most = letters;
        if (count < SENTENCES_NEAR)
            found[count++] = &sentences_rows[i];
    }
    return count;
}
