/* SPDX-License-Identifier: MIT */
/* User objects: something of the program's that graphs keep alive, with its own destructor. */
#include "graph/graph.h"

struct sim_user_object {
    struct sim_object object;
    unsigned count; /* references of the program and of graphs */
    unsigned held;  /* those of graphs, which the program cannot give back */
    void *data;
    CUhostFn destroy;
};

/* The program's function runs in a thread of the driver's, without its lock. */
static void release(struct sim_user_object *object, unsigned count)
{
    if (count == 0)
        return;
    object->count -= count;
    if (object->count != 0)
        return;
    sim_object_remove(&object->object);
    struct sim_item item;
    CUresult result = sim_callback_prepare(object->destroy, object->data, &item);
    free(object);
    struct sim_ticket *ticket =
        result == CUDA_SUCCESS ? sim_ticket_make(NULL, item.run, item.user, item.drop) : NULL;
    if (!ticket)
        return; /* no memory: better a leak than a deadlock */
    sim_ticket_begin(ticket);
}

void sim_user_object_holds_free(struct sim_hold *holds)
{
    while (holds) {
        struct sim_hold *next = holds->next;
        holds->object->held -= holds->count;
        release(holds->object, holds->count);
        free(holds);
        holds = next;
    }
}

static CUresult hold(struct sim_hold **holds, struct sim_user_object *object, unsigned count)
{
    for (struct sim_hold *found = *holds; found; found = found->next)
        if (found->object == object) {
            found->count += count;
            object->held += count;
            return CUDA_SUCCESS;
        }
    SIM_NEW(struct sim_hold, made);
    *made = (struct sim_hold){object, count, *holds};
    *holds = made;
    object->held += count;
    return CUDA_SUCCESS;
}

/* A copy of a graph has one reference to each object. */
CUresult sim_user_object_holds_copy(const struct sim_hold *holds, struct sim_hold **copy)
{
    for (; holds; holds = holds->next) {
        SIM_TRY(hold(copy, holds->object, 1));
        holds->object->count++;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy_function,
                                unsigned int initialRefcount, unsigned int flags)
{
    SIM_REFUSE(!object_out || !destroy_function || initialRefcount == 0 ||
               initialRefcount > INT32_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    SIM_NEW(struct sim_user_object, object);
    object->count = initialRefcount;
    object->data = ptr;
    object->destroy = destroy_function;
    sim_object_add(&object->object, SIM_USER_OBJECT, NULL);
    *object_out = (CUuserObject)object;
    return CUDA_SUCCESS;
}

CUresult sim_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    struct sim_user_object *found = sim_object(SIM_USER_OBJECT, object);
    SIM_REFUSE(!object || count == 0 || count > INT32_MAX);
    if (!found) /* gone: a device does not notice */
        return CUDA_SUCCESS;
    SIM_REFUSE(found->count > UINT32_MAX - count);
    found->count += count;
    return CUDA_SUCCESS;
}

CUresult sim_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    struct sim_user_object *found = sim_object(SIM_USER_OBJECT, object);
    SIM_REFUSE(!object || count == 0);
    /* More than the program has: all of its own; a device does not count either. */
    unsigned own = found ? found->count - found->held : 0;
    if (found)
        release(found, count < own ? count : own);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuGraphRetainUserObject)
{
    struct sim_graph *holder = sim_graph(graph);
    struct sim_user_object *found = sim_object(SIM_USER_OBJECT, object);
    SIM_REFUSE(!holder || !found || count == 0 || count > INT32_MAX ||
               flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE);
    SIM_REFUSE(flags & CU_GRAPH_USER_OBJECT_MOVE && count > found->count - found->held);
    SIM_REFUSE(!(flags & CU_GRAPH_USER_OBJECT_MOVE) && found->count > UINT32_MAX - count);
    CUresult result = hold(&holder->holds, found, count);
    if (result == CUDA_SUCCESS && !(flags & CU_GRAPH_USER_OBJECT_MOVE))
        found->count += count;
    return result;
}

CUresult sim_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct sim_graph *holder = sim_graph(graph);
    struct sim_user_object *found = sim_object(SIM_USER_OBJECT, object);
    struct sim_hold **link = holder ? &holder->holds : NULL;
    while (link && *link && (*link)->object != found)
        link = &(*link)->next;
    SIM_REFUSE(!found || !link || !*link || count == 0 || count > (*link)->count);
    (*link)->count -= count;
    found->held -= count;
    if ((*link)->count == 0) {
        struct sim_hold *empty = *link;
        *link = empty->next;
        free(empty);
    }
    release(found, count);
    return CUDA_SUCCESS;
}
