/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether a guard asks the table that is called: CUSHIM_HAS(other, cuName) and cu->cuName.
 */
#ifndef CUSHIM_TOOLS_SCAN_INSTANCE_H
#define CUSHIM_TOOLS_SCAN_INSTANCE_H

#include "scan_guard.h"

/** Whether both are of variables that the function declares, and that it does not assign to one
 * another. */
bool scan_instance_differs(struct scan_guards *guards, const struct scan_scope *scope,
                           const struct scan_guard *guard, const struct scan_source_call *call);

#endif
