/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A driver for the memory helpers' tests, in the test itself: "device" memory is host memory, so
 * that contents can be looked at, and every call is recorded and can be told to fail.
 */
#ifndef CUSHIM_TEST_MEMORY_FAKE_H
#define CUSHIM_TEST_MEMORY_FAKE_H

#include <cushim/memory.h>

#include "common.h"

enum { FAKE_LOG = 64 };

/* What a test sets and looks at. All of it is reset by fake_open. */
struct memory_fake {
    const char *missing[4];    /* symbols that it does not export */
    const char *fails;         /* symbol that fails, "*": all, */
    CUresult code;             /* with this code, */
    int after;                 /* once it has worked this many times */
    int pools;                 /* the device's attribute */
    const char *log[FAKE_LOG]; /* symbols called, the first FAKE_LOG of them */
    unsigned calls;
    CUstream stream;        /* of the last call that had one */
    CUmemLocation location; /* of the last cuMemPrefetchAsync_v2 */
    CUdeviceptr prefetched; /* and what */
    size_t prefetched_bytes;
    int device;                  /* of the last cuMemPrefetchAsync */
    unsigned pointer_attributes; /* number asked for in the last cuPointerGetAttributes */
    unsigned blocks;             /* live */
};
extern struct memory_fake memory_fake;

/** An instance on the fake, as new; its driver has this CUDA version. */
const struct cushim_api *fake_open(int version);

/** The same without some entries: a list that ends with NULL, of at most three. */
const struct cushim_api *fake_open_without(int version, const char *const missing[]);

/** Close it; fails if a block is left in the fake. */
void fake_close(const struct cushim_api *cu);

/** Make a call fail from now on, after it worked a number of times; "*": all, NULL: none. */
void fake_fail(const char *symbol, CUresult code, int after);

/** Forget which calls there were. */
void fake_forget(void);

/** Whether the calls since fake_forget were these, in order: a list that ends with NULL. */
void assert_calls(const char *const symbols[]);
#define ASSERT_CALLS(...) assert_calls((const char *const[]){__VA_ARGS__, NULL})
#define ASSERT_NO_CALLS() assert_int_equal(memory_fake.calls, 0)

/** The helper failed with this code, and its sentence has these parts: a list that ends with NULL.
 * No call was made. */
void assert_refused(CUresult result, CUresult code, const char *const parts[]);
#define ASSERT_REFUSED(result, code, ...)                                                          \
    do {                                                                                           \
        fake_forget();                                                                             \
        assert_refused((result), (code), (const char *const[]){__VA_ARGS__, NULL});                \
    } while (0)

#define ASSERT_OK(call) assert_ok((call), #call)
void assert_ok(CUresult result, const char *call);

/* ---- between the files of the fake */

struct fake_entry {
    const char *symbol; /* NULL: end of the list */
    void (*function)(void);
};
#define ENTRY(name)                                                                                \
    {                                                                                              \
#name, (void (*)(void))fake_##name                                                         \
    }

/** Record a call; the code that it was told to fail with. */
CUresult fake_called(const char *symbol);

/* What a function of the fake, named fake_SYMBOL, does first. */
#define CALLED()                                                                                   \
    do {                                                                                           \
        CUresult scripted_ = fake_called(__func__ + sizeof "fake_" - 1);                           \
        if (scripted_ != CUDA_SUCCESS)                                                             \
            return scripted_;                                                                      \
    } while (0)

#endif
