/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Python text that names the CUDA driver: what it calls is not read.
 */
#ifndef CUSHIM_TOOLS_SCAN_PYTHON_H
#define CUSHIM_TOOLS_SCAN_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

/** Whether a file's name is one of Python text. */
bool scan_python_is(const char *name);

/** Whether a text names the driver's library, or the package that calls it. */
bool scan_python_names(const char *text, size_t size);

#endif
