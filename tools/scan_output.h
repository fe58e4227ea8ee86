/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Verdicts for other programs: JUnit, Markdown, SARIF, and annotations of GitHub.
 */
#ifndef CUSHIM_TOOLS_SCAN_OUTPUT_H
#define CUSHIM_TOOLS_SCAN_OUTPUT_H

#include "scan_report.h"
#include "scan_sources.h"
#include "verdict.h"

#include <stdio.h>

/** The verdicts on all files together, and what was found in sources. */
struct scan_outcome {
    const struct scan_options *options;
    const struct scan_sources *sources;
    const struct scan_findings *findings;
    size_t cells;               /* 0: there are sources alone */
    const struct verdict *cell; /* as from scan_table_all */
    const char *const *file;
    bool strict; /* what is not known is a failure too */
};

typedef void scan_writer(FILE *file, const struct scan_outcome *outcome);

/** A test case for each cell, one for each finding, and one for each source without. */
scan_writer scan_output_junit;

/** A table of drivers and GPUs, one of reasons, and the counts of the sources. */
scan_writer scan_output_markdown;

/** SARIF 2.1.0: a rule for each one that applied, a result for each cell that does not run,
 * and for each finding. */
scan_writer scan_output_sarif;

/** A workflow command for each cell that does not run, and for each finding: error, warning or
 * notice. */
scan_writer scan_output_github;

/** The calls of each source that has some: the member `sources`. */
json_t *scan_output_sources(const struct scan_sources *sources);

#endif
