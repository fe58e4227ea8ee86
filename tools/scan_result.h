/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Calls without a guard whose result is compared with the error of an entry that the driver lacks.
 */
#ifndef CUSHIM_TOOLS_SCAN_RESULT_H
#define CUSHIM_TOOLS_SCAN_RESULT_H

#include "scan_guard.h"

/** The next function or macro, from number `first` on, whose value is a comparison of its parameter
 * with that error; 0: none. Numbers are from 1. */
size_t scan_result_next(const struct scan_guards *guards, const struct scan_scope *scope,
                        size_t first);

/** Of each call without a guard: whether its function compares the result with that error. Or else
 * the line that compares another one, or goes on after any error. */
void scan_result_find(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_source *source);

#endif
