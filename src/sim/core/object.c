/* SPDX-License-Identifier: MIT */
/* The live objects: a hash by address, and a list of each kind in order of creation. */
#include "core/core.h"

#define BUCKETS 1024

static struct sim_object *buckets[BUCKETS];
static struct sim_object *first[SIM_KIND_COUNT], *last[SIM_KIND_COUNT];

static struct sim_object **bucket(const void *handle)
{
    uintptr_t value = (uintptr_t)handle >> 4;
    return &buckets[(value ^ value >> 10) % BUCKETS];
}

SIM_UNCHECKED void sim_object_add(struct sim_object *object, enum sim_kind kind,
                                  struct sim_context *context)
{
    struct sim_object **head = bucket(object);
    static uint64_t next_serial = 1;
    object->kind = kind;
    object->context = context;
    object->serial = next_serial++;
    object->origin = sim_callers_of_call();
    object->chain = *head;
    *head = object;
    SIM_LIST_ADD(first[kind], last[kind], object, next, previous);
}

SIM_UNCHECKED void sim_object_remove(struct sim_object *object)
{
    enum sim_kind kind = object->kind;
    sim_expire_renew(object); /* it is the caller's from now on */
    struct sim_object **link = bucket(object);
    while (*link != object)
        link = &(*link)->chain;
    *link = object->chain;
    SIM_LIST_REMOVE(first[kind], last[kind], object, next, previous);
    free(object->origin);
}

SIM_UNCHECKED void *sim_object(enum sim_kind kind, const void *handle)
{
    struct sim_object *object = *bucket(handle);
    while (object && object != handle)
        object = object->chain;
    if (!object || object->kind != kind)
        return NULL;
    sim_expire_renew(object);
    sim_expire_renew(object->context); /* which lives as long as what it owns */
    return object;
}

bool sim_object_alive(enum sim_kind kind, const void *handle, uint64_t serial)
{
    const struct sim_object *found = sim_object(kind, handle);
    return found && found->serial == serial;
}

SIM_UNCHECKED static void renew(enum sim_kind kind)
{
    for (struct sim_object *object = first[kind]; object; object = object->next) {
        sim_expire_renew(object);
        sim_expire_renew(object->context);
    }
}

struct sim_object *sim_object_first(enum sim_kind kind)
{
    renew(kind);
    return first[kind];
}

#ifdef SIM_EXPIRES
SIM_UNCHECKED void sim_object_expire_all(void)
{
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++)
        for (struct sim_object *object = first[kind]; object; object = object->next)
            if (!object->pinned &&
                (kind != SIM_CONTEXT || ((struct sim_context *)object)->references == 1))
                sim_expire(object);
}

void sim_object_renew_all(void)
{
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++)
        renew((enum sim_kind)kind);
}
#endif
