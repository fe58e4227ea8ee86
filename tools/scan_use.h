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

/** Entries whose slot was compared last: each place, a round. */
struct scan_compared {
    struct {
        size_t index, function, line;
    } item[8];
    size_t count;
};

void scan_compared_add(struct scan_compared *compared, size_t index, size_t function, size_t line);

/** The line in which this function compares the slot; 0: none. */
size_t scan_compared_line(const struct scan_compared *compared, size_t index, size_t function);

/** Whether a table's member, with `in` behind its name, is compared or asked as a pointer that may
 * be NULL, and not called. */
bool scan_use_is_compared(const struct scan_text *in, struct scan_word name);

#endif
