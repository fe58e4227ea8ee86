/* SPDX-License-Identifier: MIT */
/*
 * Asks one library for one entry, by two routes: dlsym, and the driver's own cuGetProcAddress.
 *
 * On a driver both give the same address for every entry (measured on ten). They differ if a tool
 * is in front of the driver that traces it or shares it out, and hooks one of the routes. Programs
 * take either route, so the tool's answer is the one that counts.
 */
#ifndef CUSHIM_LOADER_LOOKUP_H
#define CUSHIM_LOADER_LOOKUP_H

#include "loader/dylib.h"

struct cushim_lookup {
    const struct cushim_dylib *library;
    int version; /* of the driver; 0: there is none */
    /* Its cuGetProcAddress, in the form that its version has; both NULL: it is not asked. */
    CUresult(CUDAAPI *proc_v1)(const char *, void **, int, cuuint64_t);
    CUresult(CUDAAPI *proc_v2)(const char *, void **, int, cuuint64_t,
                               CUdriverProcAddressQueryResult *);
    bool interposed;    /* the routes may differ: both are asked for every entry */
    const void *driver; /* then where the driver itself is loaded; NULL: not known */
};

/* The library's cuDriverGetVersion, by either route; NULL if it has none. */
void *cushim_lookup_version(const struct cushim_dylib *library);

/* Whoever hooks dlsym may have forms of cuGetProcAddress that the driver lacks, and that crash: the
 * version decides which one is asked. */
void cushim_lookup_start(struct cushim_lookup *lookup, const struct cushim_dylib *library,
                         int version, enum cushim_order order);

/* The driver's answer for a name: the newest ABI that it has, up to the version. NULL: none. */
void *cushim_lookup_ask(const struct cushim_lookup *lookup, const char *name, int version,
                        bool per_thread);

/* What dlsym returns for the entry's own symbol. */
void *cushim_lookup_symbol(const struct cushim_lookup *lookup, size_t index);

/*
 * An entry, as the system has it. An entry newer than the driver is not asked about: the answer
 * would be an older ABI, or a hook's for a function that the driver lacks.
 *
 * @param via  written: which route gave it
 */
void *cushim_lookup_entry(const struct cushim_lookup *lookup, size_t index, enum cushim_via *via);

/* An entry that every driver of this one's release has and this one lacks; CUSHIM_ENTRY_COUNT if
 * there is none. */
size_t cushim_lookup_lacks(const struct cushim_lookup *lookup);

#endif
