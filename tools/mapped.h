/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A file's bytes in memory, to be read and never executed. A struct mapped stays where it is while
 * it is open.
 */
#ifndef CUSHIM_TOOLS_MAPPED_H
#define CUSHIM_TOOLS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped {
    const void *data; /* NULL for an empty file */
    size_t size;
    struct mapped *next; /* of all that are open */
};

/**
 * @param problem  on failure what is wrong, which lives until the next call
 * @return false where it is no file that can be read
 */
bool mapped_open(struct mapped *mapped, const char *path, const char **problem);

/** The same for a descriptor, which is closed. */
bool mapped_descriptor(struct mapped *mapped, int descriptor, const char **problem);

void mapped_close(struct mapped *mapped);

/**
 * Bytes that will not be needed soon: they take no memory until they are. A range that is of no
 * open file is left alone.
 */
void mapped_passed(const void *data, size_t size);

/** A descriptor of a new file without a name, where large temporary files belong; -1: none. */
int mapped_temporary(const char **problem);

#endif
