/* SPDX-License-Identifier: MIT */
/* Contexts, as every room knows them. */
#ifndef CUSHIM_SIM_CORE_CONTEXT_H
#define CUSHIM_SIM_CORE_CONTEXT_H

#include "core/object.h"
#include "sim.h"

struct sim_device;
struct sim_heap;
struct sim_peer;
struct sim_stream;

struct sim_context {
    struct sim_object object;
    struct sim_device *device;
    unsigned flags;
    uint64_t id;
    bool primary;
    unsigned attached; /* use count of cuCtxAttach */
    CUresult sticky;   /* error that every later call answers */
    size_t limits[16]; /* by enum CUlimit */
    CUfunc_cache cache;
    CUsharedconfig shared_config;
    struct sim_stream *legacy;     /* the NULL stream */
    struct sim_stream *per_thread; /* list, one per host thread */
    unsigned references;           /* to this memory: sim_context_retain */
    bool closing;                  /* read without the lock: what waits for memory gives up */
    size_t tickets;                /* of work that is not done */
    uint64_t serial;               /* of this memory: a thread's stack remembers it */
    unsigned api_version;          /* of the entry that made it: 3010, 3020, ... */
    struct sim_peer *peers;        /* contexts whose memory this one may use */
    struct sim_context *next_kept; /* of those that sim_context_keep was given */
    struct sim_heap *heap;         /* of malloc in kernels (device_heap.c); NULL: none yet */
};
struct sim_peer {
    uint64_t serial; /* of the context whose memory may be used */
    struct sim_peer *next;
};
/* Memory of a context: kept while a reference is held, long after its end if need be. */
struct sim_context *sim_context_retain(struct sim_context *context);
void sim_context_release(struct sim_context *context);
/* A primary context's memory stays for good, and its handle is known while it is not active. */
void sim_context_keep(struct sim_context *context);
struct sim_context *sim_context_kept(CUcontext handle); /* NULL: none of them */
/* The handle stays known when its context is gone. */
void sim_context_remember(const struct sim_context *context);
/* The device of a context, also of one that is gone; NULL: it never was one. */
struct sim_device *sim_context_was_on(const void *handle);
/* The link to what `from` has about `to`; to NULL: no access was enabled. */
struct sim_peer **sim_context_peer(const struct sim_context *from, const struct sim_context *to);
/* Whether the one may use the memory of the other. */
bool sim_context_reaches(const struct sim_context *from, const struct sim_context *to);

#endif
