/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A scenario is run once for each call that it makes of a kind, and that call fails; then again
 * with all later ones failing too.
 */
#ifndef CUSHIM_TESTS_FAULTS_H
#define CUSHIM_TESTS_FAULTS_H

#include <stddef.h>

#include "inject.h"

struct faults_scenario {
    const char *name;
    /**
     * Does the work between inject_begin, which the caller calls, and inject_end, which it calls
     * itself before it checks or cleans up. Checks that outputs are right or untouched.
     *
     * @param text  what the library says of the failure
     * @return 0 as if nothing had failed, or the code
     */
    int (*run)(char *text, size_t size);
    /** Whether a code and its text name the cause. */
    bool (*names)(enum inject_kind kind, int code, const char *text);
};

/** Fails the current test if any run crashes, leaks or names another cause. */
void faults_run(const struct faults_scenario *scenario);

#endif
