/* SPDX-License-Identifier: MIT */
/* What a process says at its end: what it called, and what it made and did not destroy. */
#ifndef CUSHIM_SIM_CALL_SUMMARY_H
#define CUSHIM_SIM_CALL_SUMMARY_H

#include "sim.h"

/* At the process's end: lines on standard error and in the log (`text`), and a line with a JSON
 * object appended to a file (`report`, copied; NULL: none). */
void sim_summary_at_end(bool text, const char *report);
/* One more call, with its result. */
void sim_summary_call(CUresult result);

#endif
