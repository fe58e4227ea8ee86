/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The names that the next reading of a source looks for: of what holds an answer, and of functions
 * that have a call.
 */
#ifndef CUSHIM_TOOLS_SCAN_NAMES_H
#define CUSHIM_TOOLS_SCAN_NAMES_H

#include "scan_guard.h"

/** Whether its name is that of one that answers. */
bool scan_names_is_answer(const struct scan_guards *guards, const struct scan_function *function);

/** Take a name for the next reading; false: there are too many. */
bool scan_names_find(struct scan_guards *guards, struct scan_name name);

/** The next name with the word, function and output of `owner`, behind `last`; NULL: the first,
 * none. */
const struct scan_name *scan_names_next(const struct scan_guards *guards, struct scan_name owner,
                                        const struct scan_name *last);

/** A macro or a function that asks for its parameter or compares with it, or NULL. */
const struct scan_name *scan_names_parameter(const struct scan_guards *guards,
                                             struct scan_word word, size_t function);

/** Take a word of the code, where `place` is, if its name is looked for. */
void scan_names_word(struct scan_guards *guards, struct scan_word word,
                     const struct scan_guard *place, bool called);

/** Bring names in an order, with one of each, and no other value of what holds no answer; how many
 * are left. */
size_t scan_names_reduce(struct scan_name *names, size_t count);

/** Look for the names of other files from the first reading on; they live as long as that. */
void scan_names_seed(struct scan_guards *guards, const struct scan_name *names, size_t count);

/** Such a name of another file; NULL: none. */
const struct scan_name *scan_names_seeded(const struct scan_guards *guards, struct scan_word word,
                                          size_t index);

/** Add names to look for, when all was settled. If there are more than before, the next reading
 * goes a level deeper. */
bool scan_names_learn(struct scan_guards *guards, const struct scan_scope *scope,
                      const struct scan_source *source);

#endif
