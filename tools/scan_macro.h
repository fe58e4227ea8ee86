/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Macros that ask: one that uses an entry only behind its question, and one that leaves otherwise.
 */
#ifndef CUSHIM_TOOLS_SCAN_MACRO_H
#define CUSHIM_TOOLS_SCAN_MACRO_H

#include "scan_guard.h"

/** Whether the text of a macro has "->parameter". */
bool scan_macro_uses(const struct scan_text *macro, struct scan_word parameter);

/** What a macro with a guard is to those who use it; index KNOWN_NONE: nothing. */
struct scan_name scan_macro_name(const struct scan_text *file, const struct scan_function *macro,
                                 const struct scan_guard *guard);

#endif
