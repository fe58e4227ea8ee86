/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A driver that has every entry, returns success from each and writes nothing: what a helper then
 * hands out is what it began with, and no rest of a stack. Opened through a resolver.
 */
#ifndef CUSHIM_TESTS_FAKE_SILENT_H
#define CUSHIM_TESTS_FAKE_SILENT_H

#include "common.h"

enum { SILENT_MOST_FAILURES = 4 };

struct silent_failure {
    const char *symbol;
    CUresult code; /* one of those that fake_silent.c has a function for */
};

struct silent {
    int version;         /* what cuDriverGetVersion writes; 0: nothing */
    int attribute;       /* what cuDeviceGetAttribute writes; negative: nothing */
    CUdevice device;     /* what it was asked about last */
    unsigned attributes; /* how often it was asked */
    struct silent_failure fails[SILENT_MOST_FAILURES]; /* read when the driver is opened */
};

extern struct silent silent;

/** Forget all settings but the newest version that the library knows. */
void silent_reset(void);

/** Calls of `symbol` fail with `code` in what is opened from now on. */
void silent_fail(const char *symbol, CUresult code);

/** An instance on it, which the caller closes. */
const struct cushim_api *silent_open(void);

#endif
