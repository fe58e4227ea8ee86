/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Calls without a guard whose result is compared with the error of an entry that the driver lacks.
 */
#ifndef CUSHIM_TOOLS_SCAN_RESULT_H
#define CUSHIM_TOOLS_SCAN_RESULT_H

#include "scan_guard.h"

/** Of each call without a guard: whether its function compares the result with that error. Or else
 * the line that compares another one. */
void scan_result_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source);

#endif
