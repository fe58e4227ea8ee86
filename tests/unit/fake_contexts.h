/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A fake driver of devices and contexts within the test program, opened through
 * cushim_options.resolver: it keeps stacks and counts as a driver does, notes every call, and fails
 * the call that a test says.
 */
#ifndef CUSHIM_TESTS_FAKE_CONTEXTS_H
#define CUSHIM_TESTS_FAKE_CONTEXTS_H

#include "common.h"

enum { FAKE_DEVICES = 2, FAKE_DEPTH = 32, FAKE_CONTEXTS = 64 };

/* Of device 0; each further one has twice that. More than 32 bits, where a size has them. */
#define FAKE_MEMORY ((size_t)1 << (SIZE_MAX > UINT32_MAX ? 33 : 29))

struct fake_contexts {
    int version;        /* what is newer than that is not exported */
    const char *lacks;  /* a symbol that is not exported either, or NULL */
    CUresult init_code; /* of cuInit */
    long initialised;   /* process in which cuInit succeeded; it is noted once */
    int fail_at;        /* which call from now on fails, 1 being the next; 0: none */
    const char *fails;  /* a call that always fails, or NULL */
    CUresult fail_code; /* with what */
    char calls[4096];   /* all calls since fake_open or fake_forget: "cuInit cuDeviceGet " */
    unsigned call_count;
    unsigned primary_retains[FAKE_DEVICES], primary_flags[FAKE_DEVICES];
    CUexecAffinityParam affinity; /* what the last creation was given */
    CUctxCigParam cig;
    unsigned flags;
    int affinities;
    bool had_cig;
    bool takes_gone; /* push and set take what is no context, as driver 580 does */
    size_t limit;
};

extern struct fake_contexts fake;

/** An instance on the fake, which is as new. The caller closes it. */
const struct cushim_api *fake_open(int version);

/** Forget the calls so far. */
void fake_forget(void);

/** Contexts of one's own that exist, and whether this one does. */
unsigned fake_live(void);
bool fake_is_live(CUcontext context);

/** Depth of this thread's stack, and what is at a depth; 0 is the bottom. */
int fake_depth(void);
CUcontext fake_at(int depth);

/** Forget this thread's stack. */
void fake_clear_stack(void);

/** A handle that is of no context. */
CUcontext fake_stranger(void);

/* ---- for the fake's own functions ---- */

typedef void any_fn(void);

struct fake_export {
    const char *symbol;
    any_fn *function;
};

extern const struct fake_export fake_device_exports[];
extern const size_t fake_device_export_count;

/** Note a call; what it fails with, if it is the one to fail. */
CUresult fake_note(const char *call);

#define FAKE_CALLED(call)                                                                          \
    do {                                                                                           \
        CUresult code_ = fake_note(call);                                                          \
        if (code_ != CUDA_SUCCESS)                                                                 \
            return code_;                                                                          \
    } while (0)

#define FAKE_EXPORT(symbol)                                                                        \
    {                                                                                              \
#symbol, (any_fn *)f_##symbol                                                              \
    }

static inline bool fake_is_device(CUdevice device)
{
    return device >= 0 && device < FAKE_DEVICES;
}

#endif
