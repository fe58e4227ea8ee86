/* SPDX-License-Identifier: MIT */
/**
 * @file
 * By which names a function is reached.
 */
#ifndef CUSHIM_TOOLS_SCAN_OWNER_H
#define CUSHIM_TOOLS_SCAN_OWNER_H

#include "scan_guard.h"

/** The class that a function is a member of; empty: none. */
struct scan_word scan_owner_class(struct scan_guards *guards, const struct scan_scope *scope,
                                  size_t function);

/** The variable of the file whose first value has the function, as "struct ops name = {take};";
 * empty: none. */
struct scan_word scan_owner_table(struct scan_guards *guards, const struct scan_scope *scope,
                                  size_t function);

#endif
