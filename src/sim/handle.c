/* SPDX-License-Identifier: MIT */
/* The live objects: a hash by address, and a list of each kind in order of creation. */
#include "sim.h"

#define BUCKETS 1024

static struct sim_object *buckets[BUCKETS];
static struct sim_object *first[SIM_KIND_COUNT], *last[SIM_KIND_COUNT];
static size_t counts[SIM_KIND_COUNT];

static struct sim_object **bucket(const void *handle)
{
    uintptr_t value = (uintptr_t)handle >> 4;
    return &buckets[(value ^ value >> 10) % BUCKETS];
}

void sim_object_add(struct sim_object *object, enum sim_kind kind, struct sim_context *context)
{
    struct sim_object **head = bucket(object);
    static uint64_t next_serial = 1;
    object->kind = kind;
    object->context = context;
    object->serial = next_serial++;
    object->chain = *head;
    *head = object;
    object->next = NULL;
    object->previous = last[kind];
    if (last[kind])
        last[kind]->next = object;
    else
        first[kind] = object;
    last[kind] = object;
    counts[kind]++;
}

void sim_object_remove(struct sim_object *object)
{
    enum sim_kind kind = object->kind;
    struct sim_object **link = bucket(object);
    while (*link != object)
        link = &(*link)->chain;
    *link = object->chain;
    if (object->previous)
        object->previous->next = object->next;
    else
        first[kind] = object->next;
    if (object->next)
        object->next->previous = object->previous;
    else
        last[kind] = object->previous;
    counts[kind]--;
}

void *sim_object(enum sim_kind kind, const void *handle)
{
    for (struct sim_object *object = *bucket(handle); object; object = object->chain)
        if (object == handle)
            return object->kind == kind ? object : NULL;
    return NULL;
}

bool sim_object_alive(enum sim_kind kind, const void *handle, uint64_t serial)
{
    const struct sim_object *found = sim_object(kind, handle);
    return found && found->serial == serial;
}

struct sim_object *sim_objects(enum sim_kind kind)
{
    return first[kind];
}

size_t sim_object_count(enum sim_kind kind)
{
    return counts[kind];
}

const char *sim_kind_name(enum sim_kind kind)
{
    static const char *const names[SIM_KIND_COUNT] = {
        [SIM_CONTEXT] = "context",
        [SIM_STREAM] = "stream",
        [SIM_EVENT] = "event",
        [SIM_MODULE] = "module",
        [SIM_FUNCTION] = "function",
        [SIM_LIBRARY] = "library",
        [SIM_KERNEL] = "kernel",
        [SIM_LINK] = "linker state",
        [SIM_ARRAY] = "array",
        [SIM_MIPMAP] = "mipmapped array",
        [SIM_TEXREF] = "texture reference",
        [SIM_SURFREF] = "surface reference",
        [SIM_TEXTURE] = "texture object",
        [SIM_SURFACE] = "surface object",
        [SIM_POOL] = "memory pool",
        [SIM_PHYSICAL] = "physical memory",
        [SIM_GRAPH] = "graph",
        [SIM_GRAPH_NODE] = "graph node",
        [SIM_GRAPH_EXEC] = "executable graph",
        [SIM_USER_OBJECT] = "user object",
        [SIM_GREEN] = "green context",
        [SIM_OTHER] = "object",
    };
    return names[kind];
}
