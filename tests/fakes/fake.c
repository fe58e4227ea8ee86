/* SPDX-License-Identifier: MIT */
/*
 * A fake CUDA driver, just enough to be loaded and resolved. One source, many variants:
 *
 *   FAKE_VERSION  what cuDriverGetVersion says (12040 is 12.4)
 *   FAKE_ROWS     release whose entries it exports; FAKE_VERSION where not given
 *   FAKE_PROC     cuGetProcAddress: 0 none, 1 the four-argument one, 2 both
 *   FAKE_MODE     what cuGetProcAddress does: one of FAKE_MODE_* below
 *   FAKE_STUB     all return 34 and write nothing, as the toolkit's link-time stub
 *   FAKE_VERSION_CODE  what cuDriverGetVersion returns
 *   FAKE_INIT_ABORTS   cuInit ends the process: for what must never call it
 *
 * The calls that the loader makes have their real types. All others are int(void): they only
 * record that they were called, and return 0.
 */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "fake.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAKE_MODE_HONEST 0    /* as real drivers do */
#define FAKE_MODE_FAILS 1     /* 999 for everything, writes nothing */
#define FAKE_MODE_GARBAGE 2   /* success, a status that does not exist, a pointer to nowhere */
#define FAKE_MODE_LIES 3      /* success, status and all, but always the same wrong function */
#define FAKE_MODE_DENIES 4    /* finds nothing, though all is exported */
#define FAKE_MODE_SCRIBBLES 5 /* fails, and writes a pointer to nowhere all the same */
#define FAKE_MODE_MOODY 6     /* honest about a few, success and a pointer to nowhere for others */
#define FAKE_MODE_CONSTANT 7  /* as LIES, with a function that it does not export */
#define FAKE_MODE_SINGLE 8    /* wrong about one name with one ABI alone, honest about all others */

#ifndef FAKE_VERSION
#define FAKE_VERSION 12040
#endif
#ifndef FAKE_ROWS
#define FAKE_ROWS FAKE_VERSION
#endif
#ifndef FAKE_PROC
#define FAKE_PROC 2
#endif
#ifndef FAKE_MODE
#define FAKE_MODE FAKE_MODE_HONEST
#endif
#ifndef FAKE_VERSION_CODE
#define FAKE_VERSION_CODE FAKE_SUCCESS
#endif
#ifdef FAKE_STUB
#define FAKE_RESULT FAKE_STUB_LIBRARY
#else
#define FAKE_RESULT FAKE_SUCCESS
#endif

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT struct fake_control fake_control = {.version = FAKE_VERSION,
                                           .version_code = FAKE_VERSION_CODE};

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);

#ifndef FAKE_STUB
static void take_time(int milliseconds)
{
    if (milliseconds > 0)
        nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}
#endif

EXPORT int cuInit(unsigned flags)
{
    atomic_fetch_add(&fake_control.init_calls, 1);
    fake_control.called = "cuInit";
#ifdef FAKE_INIT_ABORTS
    abort();
#endif
#ifdef FAKE_STUB
    (void)flags;
    return FAKE_STUB_LIBRARY;
#else
    static pid_t initialised; /* as drivers do: 3 in a child of the process that succeeded */
    if (initialised && initialised != getpid())
        return FAKE_NOT_INITIALIZED;
    if (fake_control.init_code == FAKE_SUCCESS)
        initialised = getpid();
    atomic_fetch_add(&fake_control.inside_init, 1);
    take_time(fake_control.init_milliseconds);
    atomic_fetch_sub(&fake_control.inside_init, 1);
    return flags && fake_control.init_code == FAKE_SUCCESS ? FAKE_INVALID_VALUE
                                                           : fake_control.init_code;
#endif
}

EXPORT int cuDriverGetVersion(int *version)
{
    atomic_fetch_add(&fake_control.version_calls, 1);
#ifdef FAKE_STUB
    (void)version;
    return FAKE_STUB_LIBRARY;
#else
    take_time(fake_control.version_milliseconds);
    if (fake_control.version_code != FAKE_SUCCESS)
        return fake_control.version_code;
    if (!version)
        return FAKE_INVALID_VALUE;
    *version = fake_control.version;
    return FAKE_SUCCESS;
#endif
}

#if FAKE_ROWS >= 6000
EXPORT int cuGetErrorName(int error, const char **name);
EXPORT int cuGetErrorName(int error, const char **name)
{
    fake_control.called = "cuGetErrorName";
    if (name && error == FAKE_LATER_CODE) {
        *name = NULL;
        return FAKE_INVALID_VALUE;
    }
    if (name)
        *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "another";
    return FAKE_RESULT;
}
#endif

#define ROW(symbol, name, since, per_thread)                                                       \
    EXPORT int symbol(void);                                                                       \
    EXPORT int symbol(void)                                                                        \
    {                                                                                              \
        fake_control.called = #symbol;                                                             \
        return FAKE_RESULT;                                                                        \
    }
#include "fake_rows.h"
#undef ROW

#if FAKE_PROC > 0

struct row {
    const char *name;
    int since;
    int per_thread;
    void (*function)(void);
};

typedef void any_function(void);

static void store(void **pfn, any_function *function)
{
    memcpy(pfn, &function, sizeof function);
}

#if FAKE_PROC >= 1
EXPORT int cuGetProcAddress(const char *name, void **pfn, int version, uint64_t flags);
#endif
#if FAKE_PROC >= 2
EXPORT int cuGetProcAddress_v2(const char *name, void **pfn, int version, uint64_t flags,
                               int *status);
#endif

static const struct row rows[] = {
    {"cuInit", 2000, 0, (any_function *)cuInit},
    {"cuDriverGetVersion", 2020, 0, (any_function *)cuDriverGetVersion},
    {"cuGetProcAddress", 11030, 0, (any_function *)cuGetProcAddress},
#if FAKE_PROC >= 2
    {"cuGetProcAddress", 12000, 0, (any_function *)cuGetProcAddress_v2},
#endif
#if FAKE_ROWS >= 6000
    {"cuGetErrorName", 6000, 0, (any_function *)cuGetErrorName},
#endif
#define ROW(symbol, name, since, per_thread) {#name, since, per_thread, (any_function *)symbol},
#include "fake_rows.h"
#undef ROW
};

enum { PER_THREAD_FLAG = 2, STATUS_SUCCESS = 0, STATUS_NOT_FOUND = 1, STATUS_VERSION = 2 };

/* The newest ABI not newer than `version`: a request for a newer one gets an older one, silently,
   as from a real driver. The per-thread flag means legacy where a name has no twin. */
static const struct row *find(const char *name, int version, uint64_t flags, int *status)
{
    *status = STATUS_NOT_FOUND;
    for (int per_thread = (flags & PER_THREAD_FLAG) != 0; per_thread >= 0; per_thread--) {
        const struct row *newest = NULL;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (strcmp(rows[i].name, name) != 0 || rows[i].per_thread != per_thread)
                continue;
            *status = STATUS_VERSION;
            if (rows[i].since <= version && (!newest || rows[i].since > newest->since))
                newest = &rows[i];
        }
        if (newest) {
            *status = STATUS_SUCCESS;
            return newest;
        }
    }
    return NULL;
}

static void count_call(int version)
{
    atomic_fetch_add(&fake_control.proc_calls, 1);
    if (version > fake_control.newest_asked)
        fake_control.newest_asked = version;
}

/* True where the variant's misbehaviour is the whole answer. */
static int misbehave(const char *name, void **pfn, int *status, int *result)
{
    void *const nowhere = (void *)(uintptr_t)0xbad0bad0; /* NOLINT(performance-no-int-to-ptr) */

    *result = FAKE_SUCCESS;
    switch (FAKE_MODE) {
    case FAKE_MODE_MOODY:
        if (strcmp(name, "cuInit") == 0 || strcmp(name, "cuDriverGetVersion") == 0 ||
            strstr(name, "NoSuch"))
            return 0;
        *pfn = nowhere;
        *status = STATUS_SUCCESS;
        return 1;
    case FAKE_MODE_FAILS:
        *result = FAKE_UNKNOWN;
        return 1;
    case FAKE_MODE_GARBAGE:
        *pfn = nowhere;
        *status = 77;
        return 1;
    case FAKE_MODE_LIES:
        store(pfn, (any_function *)cuDeviceGet);
        *status = STATUS_SUCCESS;
        return 1;
    case FAKE_MODE_CONSTANT:
        store(pfn, (any_function *)count_call);
        *status = STATUS_SUCCESS;
        return 1;
    case FAKE_MODE_SINGLE:
        if (strcmp(name, "cuDeviceGetCount") != 0)
            return 0;
        store(pfn, (any_function *)cuDeviceGet);
        *status = STATUS_SUCCESS;
        return 1;
    case FAKE_MODE_SCRIBBLES:
        *pfn = nowhere;
        *status = STATUS_SUCCESS;
        *result = FAKE_INVALID_VALUE;
        return 1;
    default:
        return 0;
    }
}

#if FAKE_PROC >= 1
/* Four arguments: 500 for what it does not find, and *pfn stays as it was. */
EXPORT int cuGetProcAddress(const char *name, void **pfn, int version, uint64_t flags)
{
    int status, result;
    count_call(version);
    if (misbehave(name, pfn, &status, &result))
        return result;
    const struct row *row = find(name, version, flags, &status);
    if (!row || FAKE_MODE == FAKE_MODE_DENIES)
        return FAKE_NOT_FOUND;
    store(pfn, row->function);
    return FAKE_SUCCESS;
}
#endif

#if FAKE_PROC >= 2
/* Five arguments: always 0; what it does not find is NULL and told in *status. */
EXPORT int cuGetProcAddress_v2(const char *name, void **pfn, int version, uint64_t flags,
                               int *status)
{
    int ignored, result;
    if (!status)
        status = &ignored;
    count_call(version);
    if (misbehave(name, pfn, status, &result))
        return result;
    const struct row *row = find(name, version, flags, status);
    *pfn = NULL;
    if (FAKE_MODE == FAKE_MODE_DENIES)
        *status = STATUS_NOT_FOUND;
    else if (row)
        store(pfn, row->function);
    return FAKE_SUCCESS;
}
#endif

#endif
