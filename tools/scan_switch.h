/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `switch` of an answer or of the driver's version: what holds behind its labels.
 */
#ifndef CUSHIM_TOOLS_SCAN_SWITCH_H
#define CUSHIM_TOOLS_SCAN_SWITCH_H

#include "scan_flow.h"

/** Its value was read. */
void scan_switch_begin(struct flow *flow, struct flow_switch *own, struct flow_facts facts);

/** Read `case value:` or `default:`. */
void scan_switch_label(struct flow *flow);

/** `break` or `goto` leaves it, or its end is reached. */
void scan_switch_leave(struct flow *flow);

/** Its end, which is reached or not. What holds behind it. */
struct flow_list scan_switch_end(struct flow *flow, bool leaves);

#endif
