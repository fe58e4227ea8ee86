/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the names of one source tell in the others: members, variables and functions that hold the
 * answer of a guard, and macros and functions of headers. All files are read once; then those with
 * names of others are read again, until nothing is new.
 */
#ifndef CUSHIM_TOOLS_SCAN_SHARED_H
#define CUSHIM_TOOLS_SCAN_SHARED_H

#include "scan_guard.h"

struct scan_shared_file;
struct scan_shared_word;

struct scan_shared {
    struct scan_shared_file *files;
    size_t file_count;
    struct scan_shared_word *words; /* in their order; of the rounds before */
    size_t word_count;
    bool changed; /* since those were listed */
};

/** Take the names that a reading of a file found. */
void scan_shared_take(struct scan_shared *shared, const struct scan_source_text *in,
                      struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source);

/** Begin another round; false: all is known. */
bool scan_shared_begin(struct scan_shared *shared);

/** Whether other files tell a text more, or less, than when that was asked last. `calls`: the text
 * calls entries. */
bool scan_shared_concerns(struct scan_shared *shared, size_t file, const char *text, size_t size,
                          bool calls);

/** Count which structs and variables of a file have the words; before those of a round are given.
 */
void scan_shared_count(struct scan_shared *shared, const char *text, size_t size);

/** The names of other files that a file may use. To be freed. */
struct scan_name *scan_shared_give(const struct scan_shared *shared, size_t file,
                                   const struct scan_text *text, const struct scan_scope *scope,
                                   size_t *count);

void scan_shared_free(struct scan_shared *shared);

#endif
