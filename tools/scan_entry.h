/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The entry of the driver that a word of a source means.
 */
#ifndef CUSHIM_TOOLS_SCAN_ENTRY_H
#define CUSHIM_TOOLS_SCAN_ENTRY_H

#include "scan_guard.h"

/** The entry that a member of the table is; KNOWN_NONE: none.
 * @param level  the release that plain names mean */
size_t scan_entry_find(int level, struct scan_word word);

/** The same, or that of a macro of this name. */
size_t scan_entry_named(const struct scan_guards *guards, int level, struct scan_word word);

/** That of an argument of a macro that may make its name of it. */
size_t scan_entry_argument(const struct scan_guards *guards, int level, struct scan_word macro,
                           struct scan_word argument);

/** That of CALL(MemAlloc, ...) where the macro has cu->cu##name(...), and the argument. `in` is at
 * the parenthesis. */
size_t scan_entry_pasted(const struct scan_guards *guards, int level, const struct scan_text *in,
                         struct scan_word macro, struct scan_word *argument);

#endif
