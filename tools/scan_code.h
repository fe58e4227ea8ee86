/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The fatbins, cubins and PTX texts of a file: gathered, and printed for people.
 */
#ifndef CUSHIM_TOOLS_SCAN_CODE_H
#define CUSHIM_TOOLS_SCAN_CODE_H

#include "scan_file.h"

/** Add a fatbin, a cubin or a text of PTX, so many times, to those that are alike. */
void scan_code_add(struct scan_file *file, const struct fatbin *fatbin, size_t times, bool text);

/** Put them in the order of their first architectures, cubins behind fatbins, and PTX as text last.
 */
void scan_code_sort(struct scan_file *file);

/** A line for each. */
void scan_code_print(const struct scan_file *file);

#endif
