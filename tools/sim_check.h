/* SPDX-License-Identifier: MIT */
/* What the processes under `cushim sim` reported at their ends: written as JSON, and judged. */
#ifndef CUSHIM_TOOLS_SIM_CHECK_H
#define CUSHIM_TOOLS_SIM_CHECK_H

#include <stdbool.h>

enum { COMMAND_CHECK = 5 }; /* the exit code of a program that itself found nothing wrong */

/** Room for the report, made before the program begins: the disk may be full at its end. False
 * after saying why there is none. */
bool sim_check_reserve(const char *report);

/**
 * @param report   file with a JSON object a line, one for each process; need not be there
 * @param summary  where all is written as one object; NULL: nowhere
 * @param check    say on stderr what was not released and which rule never fired
 * @param code     the program's exit code
 * @return `code`; COMMAND_CHECK for a check that failed where `code` is 0; COMMAND_SYSTEM where the
 *         summary cannot be written, or a report is not whole
 */
int sim_check(const char *report, const char *summary, bool check, int code);

#endif
