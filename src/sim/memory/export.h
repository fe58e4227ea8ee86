/* SPDX-License-Identifier: MIT */
/* Files of address ranges, for programs that know nothing of this driver. A range's bytes move into
 * a file of their own when they are first exported; the file begins where the range begins. */
#ifndef CUSHIM_SIM_MEMORY_EXPORT_H
#define CUSHIM_SIM_MEMORY_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Is any of the bytes in such a file? */
bool sim_export_has(const char *bytes, size_t size);
/* The bytes end: the file stays with those who have it. */
void sim_export_end(const char *bytes, size_t size);

#endif
