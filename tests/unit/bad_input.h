/* SPDX-License-Identifier: MIT */
/** @file Everything that is not a driver, for test_locate. */
#ifndef CUSHIM_TESTS_BAD_INPUT_H
#define CUSHIM_TESTS_BAD_INPUT_H

#include <cushim/cushim.h>

struct bad_input {
    const char *label;
    /** Makes the input and returns the path to open; a static string or as in_folder. */
    const char *(*make)(void);
    enum cushim_status status; /* that it must give */
    const char *cause;         /* a word that its sentence must contain */
    /** The path that the sentence must name; NULL: the one that make() returned. */
    const char *named;
};

extern const struct bad_input bad_inputs[];
extern const size_t bad_input_count;

#endif
