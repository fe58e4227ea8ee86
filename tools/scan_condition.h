/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Expressions: which guards hold if one is true, or if it is not, and the names of answers.
 */
#ifndef CUSHIM_TOOLS_SCAN_CONDITION_H
#define CUSHIM_TOOLS_SCAN_CONDITION_H

#include "scan_flow.h"

/** Read an expression with its commas, of which the last counts. `more`: there was one. */
struct flow_facts scan_condition_read(struct flow *flow, bool colons, bool *more);

/**
 * Read what is in brackets, from the first to behind the last.
 *
 * @param part    of those between ';', the one whose facts count; FLOW_LAST: the last
 * @param single  receives whether it is one expression; NULL: is not needed
 */
struct flow_facts scan_condition_group(struct flow *flow, int part, bool *single);

#endif
