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

/** All guards are settled: which of them do not count, as nothing shows that the program leaves. */
void scan_require_settle(const struct scan_guards *guards, const struct scan_scope *scope,
                         struct scan_source *source);

#endif
