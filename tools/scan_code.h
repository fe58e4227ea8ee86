/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The fatbins and the PTX of a file, for people.
 */
#ifndef CUSHIM_TOOLS_SCAN_CODE_H
#define CUSHIM_TOOLS_SCAN_CODE_H

#include "scan_file.h"

/** Put them in the order of their first architectures. PTX as text comes last. */
void scan_code_sort(struct scan_file *file);

/** A line for each. */
void scan_code_print(const struct scan_file *file);

#endif
