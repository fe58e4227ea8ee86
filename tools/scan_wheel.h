/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The programs in a wheel, which is a zip file.
 */
#ifndef CUSHIM_TOOLS_SCAN_WHEEL_H
#define CUSHIM_TOOLS_SCAN_WHEEL_H

#include "scan_file.h"

/** Room for one more element behind `count` of them: an array that began with none doubles. Want of
 *  memory ends the program. */
void *scan_grow(void *array, size_t count, size_t size);

/** A copy that ends with 0; to be freed. */
char *scan_copy(const char *text, size_t length);

/** As scan_bytes, for a zip file: each program in it is visited as "NAME:MEMBER".
 *  A member that cannot be read, or is too large, is passed over by this name. */
enum scan_result scan_wheel(const char *name, const void *data, size_t size,
                            const struct scan_sink *sink, const char **problem);

#endif
