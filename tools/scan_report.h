/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What was found in programs, as text and as JSON.
 */
#ifndef CUSHIM_TOOLS_SCAN_REPORT_H
#define CUSHIM_TOOLS_SCAN_REPORT_H

#include "scan_file.h"
#include "subject.h"

#include <jansson.h>

struct scan_options {
    const struct subject *against; /* NULL: nothing to compare with */
    int gpu;                       /* compute capability; 0: all that are known */
    bool entries;                  /* list each entry */
};

/** Whether an entry, or code for the GPU, is missing in what the options compare with. */
bool scan_missing(const struct scan_file *file, const struct scan_options *options);

void scan_print(const struct scan_file *file, const struct scan_options *options);

json_t *scan_json(const struct scan_file *file, const struct scan_options *options);

#endif
