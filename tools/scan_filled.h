/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Names that a call fills: a handle that an entry gives is there only if the driver has the entry,
 * as the driver's version, a device's attribute, and what functions of the file give.
 */
#ifndef CUSHIM_TOOLS_SCAN_FILLED_H
#define CUSHIM_TOOLS_SCAN_FILLED_H

#include "scan_guard.h"

/** A call of an entry, a macro's that has its name and ',', or a helper's, behind the table: what
 * it is given by its address holds an answer. `in` is behind the name. */
void scan_filled_by_entry(struct scan_guards *guards, const struct scan_scope *scope,
                          const struct scan_text *in, size_t index, bool helper);

/** The same of a call of a function of this file that fills what it is given. */
void scan_filled_by_function(struct scan_guards *guards, const struct scan_scope *scope,
                             const struct scan_text *in, struct scan_word function);

/** The entry without which a helper of cushim's fails; KNOWN_NONE: it is no such helper. */
size_t scan_filled_helper(struct scan_word word);

/** Which parameter of a function it is, of those that a pointer or a reference is, from 1; 0: none.
 */
size_t scan_filled_parameter(const struct scan_scope *scope, const struct scan_text *text,
                             size_t function, struct scan_word word, char mark);

/** Whether a word is the name of what the call around it fills. */
bool scan_filled_is(const struct scan_guards *guards, struct scan_word word);

#endif
