/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Comparisons of the driver's version.
 */
#ifndef CUSHIM_TOOLS_SCAN_VERSION_H
#define CUSHIM_TOOLS_SCAN_VERSION_H

#include "scan_flow.h"

enum {
    SCAN_THOUSAND = 1000, /* 12040 / SCAN_THOUSAND is 12 */
    SCAN_MINOR = 10       /* 12040 + SCAN_MINOR is the next release that there can be */
};

bool scan_version_is_comparison(int kind);

/** The comparison with its sides exchanged. */
int scan_version_mirrored(int comparison);

/** The number that begins at the token, as "12040" or "11 * 1000 + 2 * 10" or the name of one; 0:
 * another value. */
int scan_version_number(struct flow *flow);

/** Of "make_version(11, 2)", of a function or macro that is major * 1000 + minor * 10; 0: it is
 * none. */
int scan_version_made(struct scan_guards *guards, const struct scan_scope *scope,
                      struct scan_word word);

/** Go behind that number, or behind "major * 1000 + minor * 10" of two parameters in this order. */
void scan_version_pass(struct flow *flow);

/** Behind the version: "/ 1000", "/ 10", "% 1000 / 10", "- major * 1000", and behind its parts
 * "* 1000 + minor * 10". */
void scan_version_divide(struct flow *flow, struct flow_facts *facts);

/** Whether such an operator is there. */
bool scan_version_goes_on(const struct flow *flow, const struct flow_facts *facts);

/** Of guards that hold together: the newest release that the version is at least; 0: none. Of two
 * such ones of which one holds: the older one. And the first part of a version that tells nothing
 * alone. */
size_t scan_version_least(const struct flow *flow, struct flow_list list);
size_t scan_version_lesser(const struct flow *flow, size_t one, size_t other);
size_t scan_version_rest(const struct flow *flow, struct flow_list list);

/**
 * "major == 11 && minor >= 2": the first is of 11.2.
 *
 * @param rest  "minor < 2" behind "major == 11 &&"; 0: none
 * @return it, if it does not hold behind "major < 11 ||", or 0
 */
size_t scan_version_unite(const struct flow *flow, struct flow_list list, size_t rest);

/** Whether "name /= 1000" was read, or "name = name / 1000". */
bool scan_version_divides(const struct flow *flow, struct scan_word name,
                          const struct scan_token *value);

/** Whether that is done wherever the name has its value: in the same block, and behind no `if`. */
bool scan_version_divides_always(struct flow *flow, struct scan_word name);

/** Whether the statement behind the declaration of a name gives it another value. */
bool scan_version_is_set_anew(struct flow *flow, struct scan_word name);

/** "version >= 12000": which release it has at least, if that is true, or if it is not. */
struct flow_facts scan_version_compare(const struct flow *flow, const struct flow_facts *version,
                                       int comparison, int number);

#endif
