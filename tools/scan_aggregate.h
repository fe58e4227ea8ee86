/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lists that give the members of a struct their values in its order.
 */
#ifndef CUSHIM_TOOLS_SCAN_AGGREGATE_H
#define CUSHIM_TOOLS_SCAN_AGGREGATE_H

#include "scan_guard.h"

/** A member that holds an answer has another value, too, where such a list does not give it 0. */
void scan_aggregate_find(struct scan_guards *guards);

#endif
