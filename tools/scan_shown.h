/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether a file shows all values of the names in a condition. What it does not show may be the
 * answer of a guard in another file.
 */
#ifndef CUSHIM_TOOLS_SCAN_SHOWN_H
#define CUSHIM_TOOLS_SCAN_SHOWN_H

#include "scan_guard.h"
#include "scan_token.h"

/** A token, the bracket that matches it, and the one that is open around it: 0 is none. */
struct scan_node {
    struct scan_token token;
    size_t match, outer;
};

struct scan_nodes {
    struct scan_node *node; /* the first one is no token */
    size_t count;
};

struct scan_nodes scan_nodes_read(struct scan_text text, bool macro);

/** What a list of names that are being examined holds. */
struct scan_shown {
    struct scan_guards *guards;
    const struct scan_scope *scope;
    struct scan_nodes file;
    struct scan_word names[8];
    size_t depth;
};

/** Whether a part of the nodes, which are a function's, has a name whose values are not all shown.
 * Without time to find out it has. */
bool scan_shown_lacks(struct scan_shown *shown, const struct scan_nodes *nodes, size_t from,
                      size_t until, size_t function);

#endif
