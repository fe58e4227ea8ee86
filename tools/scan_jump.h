/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What leads past a guard: goto, case and #if.
 */
#ifndef CUSHIM_TOOLS_SCAN_JUMP_H
#define CUSHIM_TOOLS_SCAN_JUMP_H

#include "scan_flow.h"

/** The function was read: guards hold up to where it is entered from outside of them. */
void scan_jump_settle(struct flow *flow, size_t first_case);

/** Take the name of a label or of a goto. */
struct flow_label *scan_jump_label(struct flow_label *labels, size_t *count,
                                   const struct scan_token *name);

#endif
