/* SPDX-License-Identifier: MIT */
/* Views by handle. A handle says slot and generation, so that one which is destroyed is not taken
 * for its successor. */
#include <pthread.h>
#include <stdlib.h>

#include "texture.h"

#define INDEX_BITS 24

struct slot {
    struct sim_view *view;
    void *owner;
    uint32_t generation;
    bool used, surface;
    size_t next_free; /* index + 1; 0: none */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct slot *slots;
static size_t count, first_free; /* the latter as next_free */

static struct slot *find_slot(uint64_t handle)
{
    uint64_t index = (handle & ((1U << INDEX_BITS) - 1)) - 1;
    if (index >= count || !slots[index].used ||
        slots[index].generation != (uint32_t)(handle >> INDEX_BITS))
        return NULL;
    return &slots[index];
}

static const struct ptx_texture *find(uint64_t handle, bool surface)
{
    struct sim_allocation memory;
    const struct sim_view *view = NULL;
    pthread_rwlock_rdlock(&lock);
    const struct slot *slot = find_slot(handle);
    if (slot && slot->surface == surface)
        view = slot->view;
    pthread_rwlock_unlock(&lock);
    if (!view || !sim_range_copy(view->address, &memory) || memory.id != view->memory)
        return NULL;
    return &view->seen;
}

const struct ptx_texture *sim_texture_find(uint64_t handle)
{
    return find(handle, false);
}

const struct ptx_texture *sim_surface_find(uint64_t handle)
{
    return find(handle, true);
}

/* A slot that is not in use; NULL: no memory. */
static struct slot *free_slot(void)
{
    if (first_free) {
        struct slot *slot = &slots[first_free - 1];
        first_free = slot->next_free;
        return slot;
    }
    size_t more = count ? 2 * count : 16;
    struct slot *grown = more < 1U << INDEX_BITS ? realloc(slots, more * sizeof *grown) : NULL;
    if (!grown)
        return NULL;
    slots = grown;
    for (size_t i = count; i < more; i++)
        slots[i] = (struct slot){.next_free = i + 1 < more ? i + 2 : 0};
    struct slot *first = &slots[count];
    first_free = first->next_free;
    count = more;
    return first;
}

uint64_t sim_view_publish(struct sim_view *view, bool surface, void *owner)
{
    uint64_t handle = 0;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = free_slot();
    if (slot) {
        *slot = (struct slot){view, owner, slot->generation, true, surface, 0};
        handle = (uint64_t)slot->generation << INDEX_BITS | (uint64_t)(slot - slots + 1);
    }
    pthread_rwlock_unlock(&lock);
    return handle;
}

void *sim_view_owner(uint64_t handle, bool surface)
{
    pthread_rwlock_rdlock(&lock);
    const struct slot *slot = find_slot(handle);
    void *owner = slot && slot->surface == surface ? slot->owner : NULL;
    pthread_rwlock_unlock(&lock);
    return owner;
}

void sim_view_change(uint64_t handle, struct sim_view *view)
{
    struct sim_view *before = NULL;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = find_slot(handle);
    if (slot) {
        before = slot->view;
        slot->view = view;
    }
    pthread_rwlock_unlock(&lock);
    if (before)
        sim_when_idle(free, before);
}

/* With the table's lock. */
static void free_used(struct slot *slot)
{
    slot->view = NULL;
    slot->used = false;
    slot->generation++;
    slot->next_free = first_free;
    first_free = (size_t)(slot - slots) + 1;
}

static void retire(void *data)
{
    struct sim_view *view = data;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = find_slot(view->handle);
    if (slot)
        free_used(slot);
    pthread_rwlock_unlock(&lock);
    free(view);
}

void sim_view_withdraw(uint64_t handle)
{
    struct sim_view *view = NULL;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = find_slot(handle);
    if (slot) {
        slot->owner = NULL;
        view = slot->view;
        if (!view)
            free_used(slot);
    }
    pthread_rwlock_unlock(&lock);
    if (!view)
        return;
    view->handle = handle;
    sim_when_idle(retire, view);
}
