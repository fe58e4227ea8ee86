/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a test can see and set in a fake driver. Each fake exports one `fake_control`; find it with
 * dlsym. The numbers are what calls did; the settings apply from the next call on.
 */
#ifndef CUSHIM_TESTS_FAKE_H
#define CUSHIM_TESTS_FAKE_H

#include <stdatomic.h>

/* The codes of the driver API that the fakes return. */
enum {
    FAKE_SUCCESS = 0,
    FAKE_INVALID_VALUE = 1,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_STUB_LIBRARY = 34,
    FAKE_LATER_CODE = 36, /* that a fake has no name for */
    FAKE_NOT_FOUND = 500,
    FAKE_UNKNOWN = 999
};

struct fake_control {
    /* Settings. */
    atomic_int version;              /* what cuDriverGetVersion writes */
    atomic_int version_code;         /* what it returns; on failure it writes nothing */
    atomic_int version_milliseconds; /* how long it takes */
    atomic_int init_code;            /* what cuInit returns */
    atomic_int init_milliseconds;    /* how long it takes */
    atomic_uint seed;                /* of a driver whose look-up answers at random */
    /* Counts. */
    atomic_uint version_calls;
    atomic_uint init_calls;
    atomic_int inside_init;       /* calls of cuInit that have not returned yet */
    atomic_uint proc_calls;       /* of cuGetProcAddress, both ABIs */
    atomic_int newest_asked;      /* highest version that cuGetProcAddress was asked for */
    _Atomic(const char *) called; /* symbol of the entry that was called last */
};

#endif
