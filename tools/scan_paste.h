/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Macros that make an entry's name: "#define alias cuName", and cu->cu##name of a parameter.
 */
#ifndef CUSHIM_TOOLS_SCAN_PASTE_H
#define CUSHIM_TOOLS_SCAN_PASTE_H

#include "scan_scope.h"

enum { SCAN_MOST_PASTES = 64 };

struct scan_paste {
    struct scan_word macro, prefix, suffix;
    size_t parameter; /* that is between both, from 1; 0: the prefix is the name */
};

struct scan_pastes {
    struct scan_paste paste[SCAN_MOST_PASTES];
    size_t count;
};

/** The one of a macro; NULL: none. */
const struct scan_paste *scan_paste_find(const struct scan_pastes *pastes, struct scan_word macro);

/** Take what a macro makes of a word of its own that the reader is behind. `member`: "->" is before
 * it. True: the word is all of the macro. */
bool scan_paste_note(struct scan_pastes *pastes, const struct scan_scope *scope,
                     const struct scan_text *in, struct scan_word word, bool member);

/** The name that it makes where it is used, from its parenthesis on, and the argument. False: there
 * is none. */
bool scan_paste_name(const struct scan_paste *paste, const struct scan_text *in, char *name,
                     size_t size, struct scan_word *argument);

/** And of an argument. */
bool scan_paste_join(const struct scan_paste *paste, struct scan_word argument, char *name,
                     size_t size);

#endif
