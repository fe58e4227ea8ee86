/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The names that a file declares or defines: its functions and macros, its variables, and the
 * members of its structs.
 */
#ifndef CUSHIM_TOOLS_SCAN_OWNED_H
#define CUSHIM_TOOLS_SCAN_OWNED_H

#include "scan_scope.h"

enum scan_owned_kind {
    SCAN_OWNED_SHARED, /* a member, or a variable that other files may declare, too */
    SCAN_OWNED_STATIC, /* a variable of this file alone */
    SCAN_OWNED_FUNCTION,
    SCAN_OWNED_CLOSED, /* a function of this file alone, or a macro */
};

struct scan_owned {
    struct scan_word word;
    enum scan_owned_kind kind;
};

/** In the order of the words. To be freed. */
struct scan_owned *scan_owned_list(const struct scan_text *text, const struct scan_scope *scope,
                                   size_t *count);

/** The first one with a word; NULL: none. */
const struct scan_owned *scan_owned_find(const struct scan_owned *list, size_t count,
                                         struct scan_word word);

#endif
