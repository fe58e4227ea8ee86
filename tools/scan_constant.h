/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers that have a name in a source or on the compiler's command line.
 */
#ifndef CUSHIM_TOOLS_SCAN_CONSTANT_H
#define CUSHIM_TOOLS_SCAN_CONSTANT_H

#include "options.h"
#include "scan_scope.h"

/** The number that "NAME=VALUE" of a command line gives; 0: none. */
int scan_constant_defined(const struct option_list *defines, struct scan_word name);

/**
 * The number that a text gives a name, or the smallest of several: "#define NAME 12000",
 * "NAME = 12000". The command line's is first.
 *
 * @param fixed  no variable's, whose value may change
 * @return 0: none
 */
int scan_constant_read(const struct scan_text *in, const struct option_list *defines,
                       struct scan_word name, bool fixed);

/** The next name of a release in a text, from `at` on, as "#define NAME 12000"; NULL: none. */
const char *scan_constant_next(const struct scan_text *in, const char *at, struct scan_word *name,
                               int *release);

/** Whether a function or a macro is major * 1000 + minor * 10 of its two parameters. */
bool scan_constant_is_maker(const struct scan_text *in, const struct scan_function *function);

#endif
