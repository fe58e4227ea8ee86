/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What cushim prints, and what to do about it. gen/registry/sentences.jsonl has the texts.
 */
#ifndef CUSHIM_TOOLS_SENTENCES_H
#define CUSHIM_TOOLS_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>

enum { SENTENCES_NEAR = 6 };

struct sentences_row {
    const char *sentence; /* "…" stands for what varies */
    const char *cure;
};

extern const struct sentences_row sentences_rows[];
extern const size_t sentences_count;

/**
 * The sentence that a text has in it, the longest if there are several.
 *
 * @param text  a message, with other words around it or without
 * @return the sentence; NULL: none of them
 */
const struct sentences_row *sentences_find(const char *text);

/** Whether all of a sentence is in a text. */
bool sentences_within(const char *text, const char *sentence);

/**
 * The sentences of which a text is a part: those that have most of its words in their order.
 *
 * @return how many
 */
size_t sentences_near(const char *text, const struct sentences_row *found[SENTENCES_NEAR]);

#endif
