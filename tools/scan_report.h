/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What was found in programs, as text and as JSON.
 */
#ifndef CUSHIM_TOOLS_SCAN_REPORT_H
#define CUSHIM_TOOLS_SCAN_REPORT_H

#include "scan_file.h"
#include "subject.h"
#include "verdict.h"

#include <jansson.h>

/** A GPU that was asked for: by the word for it. */
struct scan_gpu_asked {
    const char *word;
    int capability;
};

struct scan_options {
    const struct subject *drivers; /* to judge with; none: any */
    size_t driver_count;
    const struct scan_gpu_asked *gpus; /* to judge on; none: any */
    size_t gpu_count;
    bool entries; /* list each entry */
    bool explain; /* each verdict */
    bool strict;  /* what is not known is a failure, too */
};

/** @param verdicts  from scan_table_add; NULL: none */
void scan_print(const struct scan_file *file, const struct scan_options *options,
                const struct verdict *verdicts);

json_t *scan_json(const struct scan_file *file, const struct scan_options *options,
                  const struct verdict *verdicts);

/** What was asked for: the members `drivers` and `gpus`. */
json_t *scan_drivers_json(const struct scan_options *options);
json_t *scan_gpus_json(const struct scan_options *options);

#endif
