/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A condition that decides whether a call runs, and that another file may answer.
 */
#ifndef CUSHIM_TOOLS_SCAN_AROUND_H
#define CUSHIM_TOOLS_SCAN_AROUND_H

#include "scan_guard.h"

/** Of each call without a guard: the line of a condition that has a name of which the file does not
 * show all values, as in "if (gpu->has_pools)". The call is in its branch, or behind one that
 * leaves. */
void scan_around_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source);

#endif
