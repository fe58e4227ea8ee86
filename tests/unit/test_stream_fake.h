/* SPDX-License-Identifier: MIT */
/* A driver that notes what is called; for tests of streams, events and capture. */
#ifndef CUSHIM_TESTS_UNIT_TEST_STREAM_FAKE_H
#define CUSHIM_TESTS_UNIT_TEST_STREAM_FAKE_H

#include <cushim/stream.h>

#include "common.h"

extern struct fake_streams {
    int version;
    char calls[512];   /* names, each behind a space */
    const char *fails; /* the call that returns `code` */
    CUresult code;
    unsigned flags;
    int priority;
    unsigned long long graph_flags;
    CUstreamCaptureStatus capture;
    CUgraphInstantiateResult finding;
    const char *log;
    CUhostFn function;
    CUstreamCallback callback;
    void *user;
} fake;

extern char marks[8]; /* their addresses are handles */
#define A_STREAM ((CUstream)(void *)&marks[0])
#define AN_EVENT ((CUevent)(void *)&marks[1])
#define AN_END ((CUevent)(void *)&marks[2])
#define A_GRAPH ((CUgraph)(void *)&marks[3])
#define AN_EXEC ((CUgraphExec)(void *)&marks[4])

/* An instance on a fresh fake of a CUDA version. */
const struct cushim_api *open_version(int version);

/* The driver's calls since the last time, each behind a space. */
void assert_calls(const char *names);

/* From now on this call fails; NULL: none. */
void let_fail(const char *name, CUresult code);

#define FAILS(call, expected, words)                                                               \
    do {                                                                                           \
        assert_int_equal((call), (expected));                                                      \
        assert_contains(cushim_last_error(), words);                                               \
    } while (0)

#endif
