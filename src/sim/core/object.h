/* SPDX-License-Identifier: MIT */
/* Objects behind handles: a destroyed handle is recognised, never touched. */
#ifndef CUSHIM_SIM_CORE_OBJECT_H
#define CUSHIM_SIM_CORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_context;

enum sim_kind {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_LIBRARY,
    SIM_KERNEL,
    SIM_LINK,
    SIM_ARRAY,
    SIM_MIPMAP,
    SIM_TEXREF,
    SIM_SURFREF,
    SIM_TEXTURE, /* objects of textures and surfaces: their handle is an integer */
    SIM_SURFACE,
    SIM_POOL,
    SIM_PHYSICAL, /* cuMemCreate */
    SIM_GRAPH,
    SIM_GRAPH_NODE,
    SIM_GRAPH_EXEC,
    SIM_USER_OBJECT,
    SIM_GREEN,
    SIM_REGISTRATION, /* of a function to call back */
    SIM_OTHER,        /* what a family keeps for itself */
    SIM_KIND_COUNT
};
struct sim_object { /* first member of every object */
    enum sim_kind kind;
    struct sim_context *context;        /* or NULL */
    struct sim_object *next, *previous; /* of its kind */
    struct sim_object *chain;           /* hash */
    uint64_t serial; /* no two objects have the same: a new one may get a dead one's address */
    bool pinned;     /* by what owns or claims it: its look-ups do not expire (expire.h) */
};
struct sim_class { /* of a kind: context/kinds.c has the table */
    const char *name;
    void (*end)(struct sim_object *object); /* with its context; NULL: it ends with another object,
                                               or is the process's */
};
void sim_object_add(struct sim_object *object, enum sim_kind kind, struct sim_context *context);
void sim_object_remove(struct sim_object *object); /* the memory stays the caller's */
/* The live object of this kind at `handle`, or NULL. Never dereferences a dead handle. */
void *sim_object(enum sim_kind kind, const void *handle);
/* Whether the object that had this handle and serial is still alive. Ask after every place that
 * gave the driver's lock up: another thread may have destroyed it. */
bool sim_object_alive(enum sim_kind kind, const void *handle, uint64_t serial);
struct sim_object *sim_object_first(enum sim_kind kind); /* first of the list, through ->next */
size_t sim_object_count(enum sim_kind kind);
/* For expire.c. */
void sim_object_expire_all(void);
void sim_object_renew_all(void);

#endif
