/* SPDX-License-Identifier: MIT */
/**
 * @file
 * All sources of a scan: which calls of newer entries nothing guards.
 */
#ifndef CUSHIM_TOOLS_SCAN_SOURCES_H
#define CUSHIM_TOOLS_SCAN_SOURCES_H

#include "scan_shared.h"
#include "scan_source.h"

#include <stdio.h>

struct scan_sources {
    struct scan_source *item;
    size_t count;
    struct scan_shared shared; /* names that several of them may have */
    bool dropin;               /* names alone are calls, whether or not a source names cushim */
    bool dropped;              /* those were not taken, by scan_sources_judge */
    bool summary;              /* findings and the counts of all are printed, and not each file's */
    int oldest;                /* the release that each driver has; 0: none was asked for */
};

/** Take a source. */
void scan_sources_add(struct scan_sources *sources, const struct scan_source *source,
                      const char *name);

/** Read those again that have names of others. */
void scan_sources_share(struct scan_sources *sources, const struct option_list *defines);

/** Find the cushim_require of each call. To be done once, when all sources were added. */
void scan_sources_judge(struct scan_sources *sources);

/** A call of a newer entry, without a guard. */
struct scan_finding {
    char *file, *text;
    size_t line;
    const char *rule;
    bool unknown; /* a guard is in the file, and nothing shows that the call runs only behind it */
};

struct scan_findings {
    struct scan_finding *item;
    size_t count;
};

/** What is printed of a call: "unknown: ..."; NULL if it is no finding. To be freed. */
char *scan_sources_words(const struct scan_source_call *call, int oldest, bool *unknown);

struct scan_findings scan_sources_find(const struct scan_sources *sources);

/** Whether one of them is no `unknown`, or `strict` and there is one. */
bool scan_sources_fail(const struct scan_findings *findings, bool strict);

void scan_sources_forget(struct scan_findings *findings);

/** With `oldest` each such call, and the counts of each file with calls of newer entries; without
 * it the entries and their releases. With `summary` no counts of a file. */
void scan_sources_print(const struct scan_sources *sources);

/** Whether the source has calls, or those of helpers. */
bool scan_sources_uses(const struct scan_source *source);

/** How many sources use cushim; 0 without `oldest`. */
size_t scan_sources_count(const struct scan_sources *sources);

/** The counts of one source: "calls through cushim's table: 3; ..." */
void scan_sources_print_counts(FILE *file, const struct scan_sources *sources,
                               const struct scan_source *source);

/** One line with the counts of all sources. */
void scan_sources_print_all(FILE *file, const struct scan_sources *sources);

void scan_sources_free(struct scan_sources *sources);

#endif
