/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A condition around a call that another file decides.
 */
#ifndef CUSHIM_TOOLS_SCAN_AROUND_H
#define CUSHIM_TOOLS_SCAN_AROUND_H

#include "scan_guard.h"

/** Of each call without a guard: the line of an `if` around it that is of a member or a function
 * which the file does not define, as in "if (gpu->has_pools)". */
void scan_around_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source);

#endif
