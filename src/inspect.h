/* SPDX-License-Identifier: MIT */
/* Looks at a file before the system's loader does. */
#ifndef CUSHIM_SRC_INSPECT_H
#define CUSHIM_SRC_INSPECT_H

#include <stddef.h>

#include <cushim/cushim.h>

/*
 * Whether a file can be a shared library of this process: exists, is readable, is ELF of this
 * class and machine, and is as long as its segments say (the system's loader maps a truncated one
 * and dies of SIGBUS).
 *
 * @return CUSHIM_OK, or a status with a message of what is wrong
 */
enum cushim_status cushim_inspect(const char *path, char *message, size_t size);

#endif
