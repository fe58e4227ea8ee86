/* SPDX-License-Identifier: MIT */
/* Views by handle. A handle says slot and generation, so that one which is destroyed is not taken
 * for its successor. */
#include "texture/texture.h"

#define INDEX_BITS 24

struct slot {
    struct sim_view *view;
    struct sim_view *before; /* newest first */
    void *owner;
    uint32_t generation;
    bool used, surface;
    size_t next_free; /* index + 1; 0: none */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct slot *slots;
static size_t count, first_free; /* the latter as next_free */
uint64_t sim_table_changes;

static struct slot *find_slot(uint64_t handle)
{
    uint64_t index = (handle & ((1U << INDEX_BITS) - 1)) - 1;
    if (index >= count || !slots[index].used ||
        slots[index].generation != (uint32_t)(handle >> INDEX_BITS))
        return NULL;
    return &slots[index];
}

/* What was bound at that number of changes. */
static const struct sim_view *view_at(const struct slot *slot, uint64_t when)
{
    const struct sim_view *view = slot->view;
    if (when == SIM_TABLE_NEWEST || (view && view->since <= when))
        return view;
    for (view = slot->before; view && when < view->since; view = view->before)
        ;
    return view && when < view->until ? view : NULL;
}

const struct ptx_texture *sim_table_find(uint64_t handle, bool surface, uint64_t when)
{
    struct sim_allocation memory;
    const struct sim_view *view = NULL;
    pthread_rwlock_rdlock(&lock);
    const struct slot *slot = find_slot(handle);
    if (slot && slot->surface == surface)
        view = view_at(slot, when);
    pthread_rwlock_unlock(&lock);
    if (!view || !sim_range_copy(view->address, &memory) || memory.id != view->memory)
        return NULL;
    return &view->seen;
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

static void move_view(struct sim_view *view, uint64_t memory, const char *from, char *to)
{
    if (view && view->memory == memory)
        view->levels[0].data = to + (view->levels[0].data - from);
}

/* Plain memory alone moves, while no work runs; its views have one level. */
static void moved(uint64_t memory, const char *from, char *to)
{
    pthread_rwlock_wrlock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (!slots[i].used)
            continue;
        move_view(slots[i].view, memory, from, to);
        for (struct sim_view *view = slots[i].before; view; view = view->before)
            move_view(view, memory, from, to);
    }
    pthread_rwlock_unlock(&lock);
}

uint64_t sim_table_publish(struct sim_view *view, bool surface, void *owner)
{
    uint64_t handle = 0;
    sim_memory_hooks.moved = moved;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = free_slot();
    if (slot) {
        *slot = (struct slot){view, NULL, owner, slot->generation, true, surface, 0};
        handle = (uint64_t)slot->generation << INDEX_BITS | (uint64_t)(slot - slots + 1);
    }
    pthread_rwlock_unlock(&lock);
    return handle;
}

void *sim_table_owner(uint64_t handle, bool surface)
{
    pthread_rwlock_rdlock(&lock);
    const struct slot *slot = find_slot(handle);
    void *owner = slot && slot->surface == surface ? slot->owner : NULL;
    pthread_rwlock_unlock(&lock);
    return owner;
}

/* They come in the order in which they were replaced: the oldest is the last of its list. */
static void forget(void *data)
{
    struct sim_view *view = data;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = find_slot(view->handle);
    struct sim_view **link = slot ? &slot->before : NULL;
    while (link && *link && *link != view)
        link = &(*link)->before;
    if (link)
        *link = NULL;
    pthread_rwlock_unlock(&lock);
    free(view);
}

void sim_table_change(uint64_t handle, struct sim_view *view)
{
    struct sim_view *before = NULL;
    pthread_rwlock_wrlock(&lock);
    struct slot *slot = find_slot(handle);
    sim_table_changes++;
    if (view)
        view->since = sim_table_changes;
    if (slot) {
        before = slot->view;
        slot->view = view;
    }
    if (before) {
        before->handle = handle;
        before->until = sim_table_changes;
        before->before = slot->before;
        slot->before = before;
    }
    pthread_rwlock_unlock(&lock);
    if (before)
        sim_idle_call(forget, before);
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

void sim_table_withdraw(uint64_t handle)
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
    sim_idle_call(retire, view);
}
