/* SPDX-License-Identifier: MIT */
/* The log of every call. */
#ifndef CUSHIM_SIM_LOG_H
#define CUSHIM_SIM_LOG_H

#include "sim.h"

/* `path`: file that lines are appended to, "-" for stderr, NULL or empty for none. False: it cannot
 * be opened, and errno says why. */
bool sim_log_open(const char *path);
void sim_log_call(const struct sim_call *call);
/* A line without its newline to stderr, and to the log. Needs no lock. */
void sim_log_quiet(void); /* no report on standard error */
/* What went wrong in a kernel: as sim_log_say, but quiet where that was asked for. */
void sim_log_report(const char *text);
void sim_log_say(const char *line);

#endif
