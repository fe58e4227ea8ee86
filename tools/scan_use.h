/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a source does with an entry's name: some uses are no calls.
 */
#ifndef CUSHIM_TOOLS_SCAN_USE_H
#define CUSHIM_TOOLS_SCAN_USE_H

#include "scan_scope.h"

/** Whether a call may be there: the slot is not assigned to, nothing around it leaves it without
 * evaluation, and it is no declaration or macro of that name.
 * @param in      behind the name, at what follows
 * @param before  the word before the name; empty: another character
 * @param member  the name is behind a table
 */
bool scan_use_is_call(const struct scan_text *in, const struct scan_scope *scope,
                      struct scan_word name, struct scan_word before, bool member);

#endif
