/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A file's bytes in memory, to be read and never executed.
 */
#ifndef CUSHIM_TOOLS_MAPPED_H
#define CUSHIM_TOOLS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped {
    const void *data; /* NULL for an empty file */
    size_t size;
};

/**
 * @param problem  on failure what is wrong, which lives until the next call
 * @return false where it is no file that can be read
 */
bool mapped_open(struct mapped *mapped, const char *path, const char **problem);

void mapped_close(struct mapped *mapped);

#endif
