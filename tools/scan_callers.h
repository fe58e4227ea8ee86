/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Functions that call a newer entry without a guard, and whether other files call them behind one.
 * SCAN_CALLEE is such a function and entry, SCAN_REACHED how a file calls it.
 */
#ifndef CUSHIM_TOOLS_SCAN_CALLERS_H
#define CUSHIM_TOOLS_SCAN_CALLERS_H

#include "scan_guard.h"

/** The names that a file has of them; to be freed. `header`: other files have its text, too. */
struct scan_name *scan_callers_list(struct scan_guards *guards, const struct scan_scope *scope,
                                    const struct scan_source *source, bool header, size_t *count);

/** Calls without a guard in functions that other files call: behind guards alone, or here and
 * there. */
void scan_callers_apply(struct scan_guards *guards, const struct scan_scope *scope,
                        struct scan_source *source);

/** Whether a call is in a lambda that its function calls by name, each time behind a guard. */
bool scan_callers_of_lambda(struct scan_guards *guards, const struct scan_scope *scope,
                            const struct scan_source_call *call);

#endif
