/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The text of a source of C or C++ that is read from its beginning to its end: words, numbers, and
 * what ends a string or a comment. Nothing is read beyond its end, whatever bytes it has.
 */
#ifndef CUSHIM_TOOLS_SCAN_TEXT_H
#define CUSHIM_TOOLS_SCAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct scan_text {
    const char *text, *at, *end;
    size_t line; /* that `at` is in, from 1 */
};

struct scan_word {
    const char *text;
    size_t length;
};

/** A part of the text. */
struct scan_part {
    const char *from, *end;
};

/** Whether a file's name ends as a source's does. */
bool scan_text_is_source(const char *name);

/** Whether others include it. */
bool scan_text_is_header(const char *name);

/** Whether a source is cushim itself, in one of its two files. */
bool scan_text_is_own(const char *text, size_t size);

/** The length of the mark of UTF-8 that a text begins with. */
size_t scan_text_mark(const char *text, size_t size);

/** Whether it is UTF-16, which cannot be read. */
bool scan_text_is_wide(const char *text, size_t size);

bool scan_text_is_letter(char c);
bool scan_text_begins(const struct scan_text *in, const char *text);
void scan_text_step(struct scan_text *in);

/** Go behind the next `text`, or to the end. */
void scan_text_skip_behind(struct scan_text *in, const char *text, size_t length);

/** Go behind a string, a character or a comment of one line: to its mark, and without one to the
 * end of the line. */
void scan_text_skip_line(struct scan_text *in, char mark);

/** Whether only white space is before it in its line. */
bool scan_text_is_first(const struct scan_text *in);

/** From the '#' of "#if 0" go to that of its #else, #elif or #endif, and from the last behind its
 * line; to the end if there is none. False: it is no such place. */
bool scan_text_skip_dead(struct scan_text *in);

/** Go behind R"name(text)name", from behind the R. */
void scan_text_skip_raw(struct scan_text *in);

struct scan_word scan_text_word(struct scan_text *in);

/** Behind the white space at a place, and before the one that ends there. */
const char *scan_text_skip_spaces(const char *at, const char *end);
const char *scan_text_back_over_spaces(const char *from, const char *at);

/** Whether "==" or "!=" is there; the begin of "name = WRAPPER(cu->", before the name of an entry:
 * behind "name =". */
bool scan_text_is_equality(const char *at, const char *end);
const char *scan_text_find_begin(const char *from, const char *at);

/** The next place of a word as a whole; NULL: none. */
const char *scan_text_find_word(const char *at, const char *end, struct scan_word word);

/** Where the parenthesis at a place closes; `end`: nowhere. */
const char *scan_text_find_close(const char *at, const char *end);

/** A sum of products of literal numbers, as "11 * 1000 + 20", and where it ends; 0: another value.
 */
int scan_text_sum(const char *at, const char *end, const char **behind);

/** The number at a place of the text; 0: none. */
int scan_text_number(const struct scan_text *in, const char *at);

/** The release of "11, 2", major and minor number; 0: it is none. */
int scan_text_pair(const char *at, const char *end);

/** The first word of some text; its length is 0 if there is none. */
struct scan_word scan_word_at(const char *at, const char *end);

bool scan_word_is(struct scan_word word, const char *text);

/** Negative, 0 or positive: an order of words. */
int scan_word_compare(struct scan_word a, struct scan_word b);

/** The first of the structs that begin with the word; NULL: none.
 * @param rows  structs of a size that begin with a scan_word each, in the order of these */
const void *scan_word_find(const void *rows, size_t count, size_t size, struct scan_word word);

/** @param list  its last element is NULL */
bool scan_word_is_one_of(struct scan_word word, const char *const *list);

/** Whether the text is in the word, or ends it, in letters of any case. */
bool scan_word_has(struct scan_word word, const char *text);
bool scan_word_ends(struct scan_word word, const char *text);

/** Whether the text has the word before, as "type name", "type other, name", or with one of the
 * marks before it. */
bool scan_text_declares(const char *from, struct scan_word word, const char *marks);

/** Whether a string behind the word is a raw one. */
bool scan_word_is_raw(struct scan_word word);

#endif
