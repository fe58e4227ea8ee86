/* SPDX-License-Identifier: MIT */
/*
 * The allocations of all instances: two arrays, of the live and of the last freed ones, sorted by
 * instance and address. Writers take a lock; readers as a rule none, because they are in the way of
 * every copy: they read again where a writer was at work meanwhile (a sequence lock). So every word
 * is atomic, and an array that was outgrown stays where it is.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "instance.h"
#include "lock.h"
#include "memory_internal.h"

#define TRACK_FREED 64     /* how many freed allocations are remembered */
#define TRACK_FIRST 128    /* capacity of the first array */
#define TRACK_RETRIES 1000 /* of a reader, before it waits for the writers */

struct track_slot {
    atomic_uintptr_t owner, base;
    atomic_size_t size;
    _Atomic(unsigned long long) id;
    atomic_uint kind, order; /* order: in which the freed ones were freed */
};

struct track_block {
    struct track_block *outgrown; /* the one before it, which a reader may still read */
    size_t capacity;
    struct track_slot slots[];
};

struct track_set {
    _Atomic(struct track_block *) block;
    atomic_size_t count;
};

static struct cushim_lock track_lock;
static struct track_set track_live, track_freed;
static atomic_uint track_sequence; /* odd: a writer is at work */
static unsigned int track_order;

/* A child forked while a thread of the parent wrote finds the number odd, and no such thread. */
static void track_begin(void)
{
    cushim_lock_take(&track_lock);
    unsigned int now = atomic_load_explicit(&track_sequence, memory_order_relaxed);
    atomic_store_explicit(&track_sequence, now | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void track_end(void)
{
    unsigned int now = atomic_load_explicit(&track_sequence, memory_order_relaxed);
    atomic_store_explicit(&track_sequence, now + 1, memory_order_release);
    cushim_lock_release(&track_lock);
}

#define TRACK_LOAD(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define TRACK_STORE(word, value) atomic_store_explicit(&(word), (value), memory_order_relaxed)

static void track_read(const struct track_slot *slot, struct cushim_range *range)
{
    range->base = TRACK_LOAD(slot->base);
    range->size = TRACK_LOAD(slot->size);
    range->kind = (enum cushim_memory_kind)TRACK_LOAD(slot->kind);
    range->id = TRACK_LOAD(slot->id);
}

static void track_write(struct track_slot *slot, uintptr_t owner, const struct cushim_range *range)
{
    TRACK_STORE(slot->owner, owner);
    TRACK_STORE(slot->base, range->base);
    TRACK_STORE(slot->size, range->size);
    TRACK_STORE(slot->kind, (unsigned int)range->kind);
    TRACK_STORE(slot->id, range->id);
}

static void track_move(struct track_slot *to, const struct track_slot *from)
{
    struct cushim_range range;
    track_read(from, &range);
    track_write(to, TRACK_LOAD(from->owner), &range);
    TRACK_STORE(to->order, TRACK_LOAD(from->order));
}

/* A set as a reader may see it: never more elements than the array it sees has room for. */
static struct track_slot *track_slots(struct track_set *set, size_t *count)
{
    struct track_block *block = atomic_load_explicit(&set->block, memory_order_acquire);
    *count = TRACK_LOAD(set->count);
    if (!block)
        return NULL;
    if (*count > block->capacity)
        *count = block->capacity;
    return block->slots;
}

/* Index of the first element behind those of the owner up to the address. */
static size_t track_after(const struct track_slot *slots, size_t count, uintptr_t owner,
                          uintptr_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uintptr_t its = TRACK_LOAD(slots[middle].owner);
        if (its < owner || (its == owner && TRACK_LOAD(slots[middle].base) <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the element that an address lies in, or the count. */
static size_t track_index(const struct track_slot *slots, size_t count, uintptr_t owner,
                          uintptr_t address)
{
    size_t after = count ? track_after(slots, count, owner, address) : 0;
    if (!after || TRACK_LOAD(slots[after - 1].owner) != owner)
        return count;
    uintptr_t inside = address - TRACK_LOAD(slots[after - 1].base);
    return inside < TRACK_LOAD(slots[after - 1].size) ? after - 1 : count;
}

static bool track_search(struct track_set *set, uintptr_t owner, uintptr_t address,
                         struct cushim_range *range)
{
    size_t count, index;
    const struct track_slot *slots = track_slots(set, &count);
    index = track_index(slots, count, owner, address);
    if (index == count)
        return false;
    track_read(&slots[index], range);
    return true;
}

static enum cushim_known track_known(uintptr_t owner, uintptr_t address, struct cushim_range *range)
{
    if (track_search(&track_live, owner, address, range))
        return CUSHIM_RANGE_LIVE;
    if (track_search(&track_freed, owner, address, range))
        return CUSHIM_RANGE_FREED;
    return CUSHIM_RANGE_UNKNOWN;
}

enum cushim_known cushim_track_find(const struct cushim_api *cu, uintptr_t address,
                                    struct cushim_range *range)
{
    uintptr_t owner = (uintptr_t)cu;
    enum cushim_known known;
    for (int i = 0; i < TRACK_RETRIES; i++) {
        unsigned int before = atomic_load_explicit(&track_sequence, memory_order_acquire);
        if (before & 1)
            continue;
        known = track_known(owner, address, range);
        atomic_thread_fence(memory_order_acquire);
        if (TRACK_LOAD(track_sequence) == before)
            return known;
    }
    /* A writer lost its processor in mid-work. */
    cushim_lock_take(&track_lock);
    known = track_known(owner, address, range);
    cushim_lock_release(&track_lock);
    return known;
}

/* Room for one more; false for want of memory. */
static bool track_grow(struct track_set *set)
{
    struct track_block *old = TRACK_LOAD(set->block);
    size_t count = TRACK_LOAD(set->count), capacity = old ? old->capacity : 0;
    if (count < capacity)
        return true;
    capacity = capacity ? capacity * 2 : TRACK_FIRST;
    struct track_block *block = calloc(1, sizeof *block + capacity * sizeof *block->slots);
    if (!block)
        return false;
    block->outgrown = old;
    block->capacity = capacity;
    for (size_t i = 0; i < count; i++)
        track_move(&block->slots[i], &old->slots[i]);
    atomic_store_explicit(&set->block, block, memory_order_release);
    return true;
}

static void track_remove(struct track_set *set, size_t index)
{
    size_t count;
    struct track_slot *slots = track_slots(set, &count);
    for (size_t i = index; i + 1 < count; i++)
        track_move(&slots[i], &slots[i + 1]);
    TRACK_STORE(set->count, count - 1);
}

static bool track_insert(struct track_set *set, uintptr_t owner, const struct cushim_range *range)
{
    size_t count;
    if (!track_grow(set))
        return false;
    struct track_slot *slots = track_slots(set, &count);
    size_t index = track_after(slots, count, owner, range->base);
    for (size_t i = count; i > index; i--)
        track_move(&slots[i], &slots[i - 1]);
    track_write(&slots[index], owner, range);
    TRACK_STORE(slots[index].order, ++track_order);
    TRACK_STORE(set->count, count + 1);
    return true;
}

static void track_remove_overlaps(struct track_set *set, uintptr_t owner,
                                  const struct cushim_range *range)
{
    for (;;) {
        size_t count, last;
        struct track_slot *slots = track_slots(set, &count);
        if (!count)
            return;
        /* The last element that begins before the range's end. */
        last = track_after(slots, count, owner, range->base + (range->size - 1));
        if (!last || TRACK_LOAD(slots[last - 1].owner) != owner)
            return;
        uintptr_t base = TRACK_LOAD(slots[last - 1].base);
        if (base < range->base && range->base - base >= TRACK_LOAD(slots[last - 1].size))
            return;
        track_remove(set, last - 1);
    }
}

static void track_evict_oldest_freed(void)
{
    size_t count, oldest = 0;
    const struct track_slot *slots = track_slots(&track_freed, &count);
    if (count < TRACK_FREED)
        return;
    for (size_t i = 1; i < count; i++)
        /* The numbers may wrap around. */
        if ((int)(TRACK_LOAD(slots[i].order) - TRACK_LOAD(slots[oldest].order)) < 0)
            oldest = i;
    track_remove(&track_freed, oldest);
}

/* Take the element out that begins at an address. */
static bool track_take(struct track_set *set, uintptr_t owner, uintptr_t base,
                       struct cushim_range *range)
{
    size_t count, index;
    const struct track_slot *slots = track_slots(set, &count);
    index = track_index(slots, count, owner, base);
    if (index == count || TRACK_LOAD(slots[index].base) != base)
        return false;
    track_read(&slots[index], range);
    track_remove(set, index);
    return true;
}

void cushim_track_add(const struct cushim_api *cu, const struct cushim_range *range)
{
    atomic_store_explicit(&cushim_on_close, cushim_track_forget, memory_order_release);
    uintptr_t owner = (uintptr_t)cu;
    track_begin();
    track_remove_overlaps(&track_live, owner, range);
    track_remove_overlaps(&track_freed, owner, range);
    track_insert(&track_live, owner, range);
    track_end();
}

bool cushim_track_free(const struct cushim_api *cu, uintptr_t base)
{
    struct cushim_range range;
    uintptr_t owner = (uintptr_t)cu;
    track_begin();
    bool was_live = track_take(&track_live, owner, base, &range);
    if (was_live) {
        track_evict_oldest_freed();
        track_insert(&track_freed, owner, &range);
    }
    track_end();
    return was_live;
}

void cushim_track_restore(const struct cushim_api *cu, uintptr_t base)
{
    struct cushim_range range;
    uintptr_t owner = (uintptr_t)cu;
    track_begin();
    if (track_take(&track_freed, owner, base, &range))
        track_insert(&track_live, owner, &range);
    track_end();
}

void cushim_track_resize(const struct cushim_api *cu, uintptr_t base, size_t size)
{
    struct cushim_range range;
    uintptr_t owner = (uintptr_t)cu;
    track_begin();
    if (track_take(&track_live, owner, base, &range)) {
        range.size = size;
        track_insert(&track_live, owner, &range);
    }
    track_end();
}

void cushim_track_drop(const struct cushim_api *cu, uintptr_t base)
{
    struct cushim_range range;
    track_begin();
    track_take(&track_live, (uintptr_t)cu, base, &range);
    track_take(&track_freed, (uintptr_t)cu, base, &range);
    track_end();
}

static void track_forget(struct track_set *set, uintptr_t owner)
{
    size_t count, kept = 0;
    struct track_slot *slots = track_slots(set, &count);
    for (size_t i = 0; i < count; i++)
        if (TRACK_LOAD(slots[i].owner) != owner)
            track_move(&slots[kept++], &slots[i]);
    TRACK_STORE(set->count, kept);
}

void cushim_track_forget(const struct cushim_api *cu)
{
    track_begin();
    track_forget(&track_live, (uintptr_t)cu);
    track_forget(&track_freed, (uintptr_t)cu);
    track_end();
}

size_t cushim_memory_live(const struct cushim_api *cu, size_t *bytes)
{
    size_t count, live = 0, sum = 0;
    cushim_lock_take(&track_lock);
    const struct track_slot *slots = track_slots(&track_live, &count);
    for (size_t i = 0; i < count; i++) {
        struct cushim_range range;
        if (TRACK_LOAD(slots[i].owner) != (uintptr_t)cu)
            continue;
        track_read(&slots[i], &range);
        live++;
        sum += range.kind == CUSHIM_MEMORY_ARRAY ? (size_t)range.id : range.size;
    }
    cushim_lock_release(&track_lock);
    if (bytes)
        *bytes = sum;
    return live;
}
