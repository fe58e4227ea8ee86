/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The lists of entries' names that a source has, such as cushim_require takes:
 * const char *const list[] = {"cuName", NULL}.
 */
#ifndef CUSHIM_TOOLS_SCAN_LIST_H
#define CUSHIM_TOOLS_SCAN_LIST_H

#include "scan_text.h"

enum { SCAN_LIST_DEPTH = 64 }; /* brackets that are deeper are no lists */

/** An entry's name in the list that `list` names. */
struct scan_listed {
    struct scan_word list;
    size_t index;
};

struct scan_lists {
    struct scan_listed *listed;
    size_t count, depth;
    struct { /* that is open, and the name of the list that it begins */
        struct scan_word list;
    } brackets[SCAN_LIST_DEPTH];
};

/** Another character of the code, that `in` is at. */
void scan_list_bracket(struct scan_lists *lists, const struct scan_text *in);

/** A string, from behind its first mark to `in`. An argument of a call is in no list. */
void scan_list_name(struct scan_lists *lists, const struct scan_text *in, const char *string);

#endif
