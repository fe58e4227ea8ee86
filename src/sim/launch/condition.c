/* SPDX-License-Identifier: MIT */
#include "launch/launch.h"

/* Kernels look here while they run, so the list has a lock of its own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_condition *first;

static struct sim_condition *find(CUgraphConditionalHandle handle)
{
    struct sim_condition *found = first;
    while (found && found->handle != handle)
        found = found->next;
    return found;
}

struct sim_condition *sim_condition_make(uint64_t graph, uint32_t initial, bool assigned)
{
    static CUgraphConditionalHandle next_handle = 1;
    struct sim_condition *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct sim_condition){.handle = next_handle++,
                                   .initial = initial,
                                   .assigned = assigned,
                                   .graph = graph,
                                   .references = 1};
    pthread_mutex_lock(&lock);
    made->next = first;
    first = made;
    pthread_mutex_unlock(&lock);
    return made;
}

struct sim_condition *sim_condition_find(CUgraphConditionalHandle handle)
{
    pthread_mutex_lock(&lock);
    struct sim_condition *found = find(handle);
    pthread_mutex_unlock(&lock);
    return found;
}

struct sim_condition *sim_condition_retain(struct sim_condition *condition)
{
    condition->references++;
    return condition;
}

void sim_condition_release(struct sim_condition *condition)
{
    if (--condition->references)
        return;
    pthread_mutex_lock(&lock);
    SIM_UNLINK(first, condition);
    pthread_mutex_unlock(&lock);
    free(condition);
}

bool sim_condition_all_used(uint64_t graph)
{
    for (const struct sim_condition *each = first; each; each = each->next)
        if (each->graph == graph && !each->used)
            return false;
    return true;
}

void sim_condition_graph_gone(uint64_t graph)
{
    for (struct sim_condition *each = first, *next; each; each = next) {
        next = each->next;
        if (each->graph != graph)
            continue;
        each->graph = 0;
        sim_condition_release(each);
    }
}

void sim_condition_set(CUgraphConditionalHandle handle, uint32_t value)
{
    pthread_mutex_lock(&lock);
    struct sim_condition *found = find(handle);
    if (found)
        __atomic_store_n(&found->value, value, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
