/* SPDX-License-Identifier: MIT */
/* What is said to the user. Needs no lock. */
#ifndef CUSHIM_SIM_CORE_REPORT_H
#define CUSHIM_SIM_CORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `path`: file that lines are appended to, "-" for stderr, NULL or empty for none. False: it cannot
 * be opened, and errno says why. */
bool sim_report_open(const char *path);
bool sim_report_has_log(void);
uint64_t sim_report_start_ns(void); /* when the log was opened */
void sim_report_quiet(void);        /* no problem on standard error */
/* A line without its newline to standard error, and to the log. */
void sim_report_say(const char *text);
/* The same of what went wrong, but to the log alone after sim_report_quiet. */
void sim_report_problem(const char *text);
/* The same, one sentence about a device. */
void sim_report_device(int ordinal, const char *sentence);

/* A line for the log, put together. */
struct sim_report_line {
    char text[4096];
    size_t used;
};
void sim_report_put(struct sim_report_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_report_log(struct sim_report_line *line);

#endif
