/* SPDX-License-Identifier: MIT */
/* A driver whose live objects are counted: an instance on the real one, in which every call that
 * makes or ends an object counts. */
#ifndef TESTS_DEVICE_LIVE_H
#define TESTS_DEVICE_LIVE_H

#include <cushim/cushim.h>

enum live_kind {
    LIVE_CONTEXTS = 0,
    LIVE_PRIMARIES, /* times retained */
    LIVE_PUSHED,    /* contexts pushed and not popped */
    LIVE_MEMORY,
    LIVE_HOST_MEMORY,
    LIVE_REGISTERED,
    LIVE_ARRAYS,
    LIVE_POOLS,
    LIVE_ADDRESSES,
    LIVE_HANDLES, /* of memory to be mapped */
    LIVE_MAPPINGS,
    LIVE_MODULES,
    LIVE_LIBRARIES,
    LIVE_LINKS,
    LIVE_STREAMS,
    LIVE_EVENTS,
    LIVE_GRAPHS,
    LIVE_EXECS,
    LIVE_KINDS
};

/* How many of each kind there are. */
struct live {
    long count[LIVE_KINDS];
};

/* An instance whose driver is the loaded one; the caller closes it. */
const struct cushim_api *live_open(void);

struct live live_now(void);

/* How many calls were counted since live_open: shows that the counting is at work. */
unsigned long live_calls(void);

/* So many ended without a call: with the context that they were in. */
void live_gone(enum live_kind kind, long many);

/* Whether the counts are these; prints those that are not. */
bool live_same(const struct live *expected);

#endif
