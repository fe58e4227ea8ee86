/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A driver that has every entry, returns success from each and writes nothing: what a helper then
 * hands out is what it began with, and no rest of a stack. Opened through a resolver.
 */
#ifndef CUSHIM_TESTS_FAKE_SILENT_H
#define CUSHIM_TESTS_FAKE_SILENT_H

#include "common.h"

enum { SILENT_MOST_OTHERS = 8 };

typedef void silent_fn(void);

struct silent_other {
    const char *symbol;
    silent_fn *function; /* NULL: it is not exported */
};

struct silent {
    int version;     /* what cuDriverGetVersion writes; 0: nothing */
    int attribute;   /* what cuDeviceGetAttribute writes; negative: nothing */
    int capability;  /* what it writes of the compute capability: 90 is 9.0; negative: as above */
    CUdevice device; /* what it was asked about last */
    unsigned attributes;                            /* how often it was asked */
    struct silent_other others[SILENT_MOST_OTHERS]; /* read when the driver is opened */
};

extern struct silent silent;

/** Forget all settings but the newest version that the library knows. */
void silent_reset(void);

/** `symbol` is this function in what is opened from now on. */
void silent_use(const char *symbol, silent_fn *function);

/** The same, and the function returns a code: one that fake_silent.c has a function for. */
void silent_fail(const char *symbol, CUresult code);

/** An instance on it, which the caller closes. */
const struct cushim_api *silent_open(void);

#endif
