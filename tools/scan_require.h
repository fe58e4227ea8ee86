/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a source does with the result of cushim_require.
 */
#ifndef CUSHIM_TOOLS_SCAN_REQUIRE_H
#define CUSHIM_TOOLS_SCAN_REQUIRE_H

#include "scan_guard.h"
#include "scan_source.h"
#include "scan_text.h"

/** Where a call is. */
struct scan_require_place {
    const char *call;      /* its name */
    struct scan_word last; /* the word before it; empty: another character */
    char before;
    bool program; /* it is in main() */
};

/** Whether the call counts. `close`: its last parenthesis. */
enum scan_require scan_require_use(const struct scan_text *in,
                                   const struct scan_require_place *place, const char *close);

/** It has an entry, too. */
void scan_require_add(struct scan_source_require *require, size_t index);

/** What a CUSHIM_FEATURE_ constant between two places tells, as if it were required; false: there
 * is none that is known. */
bool scan_require_feature(const char *at, const char *end, struct scan_source_require *require);

/** What a variable or constant tells that has one such value alone, wherever a text gives it one.
 */
bool scan_require_variable(struct scan_text part, struct scan_word name,
                           struct scan_source_require *require);

/** All guards are settled: which of them do not count, as nothing shows that the program leaves. */
void scan_require_settle(const struct scan_guards *guards, const struct scan_scope *scope,
                         struct scan_source *source);

#endif
