/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The calls through cushim's table that the text of a C or C++ source has. It is read as text:
 * without macros, and without what decides whether a call is reached.
 */
#ifndef CUSHIM_TOOLS_SCAN_SOURCE_H
#define CUSHIM_TOOLS_SCAN_SOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct scan_source_call {
    size_t line, index; /* of the entry */
    bool guarded;       /* a CUSHIM_HAS of the entry is in the file */
};

struct scan_source {
    struct scan_source_call *calls;
    size_t count;
    int level; /* the release that plain names mean */
};

/** Whether a file's name ends as a source's does. */
bool scan_source_is(const char *name);

/** Whether a source is cushim itself, in one of its two files. */
bool scan_source_is_own(const char *text, size_t size);

struct scan_source scan_source_read(const char *text, size_t size);

/* `oldest`: the release that each driver has; 0: none was asked for. */

/** A call of a newer entry, without a guard. */
struct scan_finding {
    char *file, *text;
    size_t line;
};

struct scan_findings {
    struct scan_finding *item;
    size_t count;
};

/** Add those of a source. */
void scan_source_find(const struct scan_source *source, const char *name, int oldest,
                      struct scan_findings *findings);

void scan_source_forget(struct scan_findings *findings);

/** With `oldest` each such call, and the counts; without it the entries and their releases. */
void scan_source_print(const struct scan_source *source, const char *name, int oldest);

json_t *scan_source_json(const struct scan_source *source, const char *name, int oldest);

void scan_source_free(struct scan_source *source);

#endif
