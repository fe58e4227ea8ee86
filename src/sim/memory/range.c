/* SPDX-License-Identifier: MIT */
/* Live memory by address. Kernels look here while they run, without the driver's lock, so the
 * ranges have one of their own. */
#include "memory/memory.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct sim_allocation **ranges; /* sorted by address */
static size_t count, capacity;

/* The last ones that went, for the words of a fault. */
static struct freed {
    uint64_t address;
    size_t size;
    char *origin; /* what freed it, from malloc; or NULL */
} freed[256];
static size_t freed_count;

/* Number of ranges that begin at or before the address. */
SIM_UNCHECKED static size_t position(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#ifdef SIM_EXPIRES
static void expire(void)
{
    pthread_rwlock_rdlock(&lock);
    for (size_t i = 0; i < count; i++)
        sim_expire(ranges[i]);
    pthread_rwlock_unlock(&lock);
}

static void renew(void)
{
    pthread_rwlock_rdlock(&lock);
    for (size_t i = 0; i < count; i++)
        sim_expire_renew(ranges[i]);
    pthread_rwlock_unlock(&lock);
}
#endif

SIM_UNCHECKED CUresult sim_range_add(struct sim_allocation *allocation)
{
#ifdef SIM_EXPIRES
    sim_expire_also(expire, renew);
#endif
    pthread_rwlock_wrlock(&lock);
    struct sim_allocation **grown = sim_grown(ranges, count, &capacity, sizeof *grown);
    if (grown) {
        ranges = grown;
        size_t at = position(allocation->address);
        memmove(ranges + at + 1, ranges + at, (count - at) * sizeof *ranges);
        ranges[at] = allocation;
        count++;
    }
    pthread_rwlock_unlock(&lock);
    return grown ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_UNCHECKED void sim_range_remove(struct sim_allocation *allocation)
{
    sim_expire_renew(allocation); /* it is the caller's from now on */
    pthread_rwlock_wrlock(&lock);
    size_t at = position(allocation->address);
    /* Host memory that was freed while registered may come back, registered once more. */
    while (at > 0 && ranges[at - 1] != allocation && ranges[at - 1]->address == allocation->address)
        at--;
    if (at > 0 && ranges[at - 1] == allocation) {
        memmove(ranges + at - 1, ranges + at, (count - at) * sizeof *ranges);
        count--;
        struct freed *now = &freed[freed_count++ % (sizeof freed / sizeof *freed)];
        free(now->origin);
        *now = (struct freed){allocation->address, allocation->size,
                              allocation->freed ? allocation->freed : sim_callers_of_call()};
    }
    pthread_rwlock_unlock(&lock);
}

SIM_UNCHECKED static struct sim_allocation *find(uint64_t address)
{
    size_t at = position(address);
    return at > 0 && address - ranges[at - 1]->address < ranges[at - 1]->usable ? ranges[at - 1]
                                                                                : NULL;
}

struct sim_allocation *sim_range_find(uint64_t address)
{
    pthread_rwlock_rdlock(&lock);
    struct sim_allocation *found = find(address);
    sim_expire_renew(found);
    pthread_rwlock_unlock(&lock);
    if (!found && sim_callers_wanted)
        (void)sim_range_freed(address); /* the call that follows in the log may fail for that */
    return found;
}

/* The rest of an allocation changes with the driver's lock alone, which is not held here. */
SIM_UNCHECKED static struct sim_allocation constant_part(const struct sim_allocation *allocation)
{
    return (struct sim_allocation){.address = allocation->address,
                                   .size = allocation->size,
                                   .usable = allocation->usable,
                                   .host = allocation->host,
                                   .kind = allocation->kind,
                                   .flags = allocation->flags,
                                   .readable = allocation->readable,
                                   .writable = allocation->writable,
                                   .id = allocation->id,
                                   .context = allocation->context,
                                   .device = allocation->device,
                                   .room = allocation->room};
}

bool sim_range_copy(uint64_t address, struct sim_allocation *copy)
{
    pthread_rwlock_rdlock(&lock);
    struct sim_allocation *found = find(address);
    if (found)
        *copy = constant_part(found);
    pthread_rwlock_unlock(&lock);
    return found;
}

size_t sim_range_freed(uint64_t address)
{
    const size_t most = sizeof freed / sizeof *freed;
    struct sim_report_line line = {.used = 0};
    size_t size = 0;
    pthread_rwlock_rdlock(&lock);
    for (size_t i = freed_count; i > 0 && i + most > freed_count && !size; i--) {
        const struct freed *one = &freed[(i - 1) % most];
        size = address - one->address < one->size ? one->size : 0;
        if (size && one->origin)
            sim_report_put(&line, "cushim: it was freed by %s", one->origin);
    }
    pthread_rwlock_unlock(&lock);
    if (line.used > 0)
        sim_report_log(&line);
    return size;
}

void sim_range_neighbours(uint64_t address, struct sim_allocation *below, bool *has_below,
                          struct sim_allocation *above, bool *has_above)
{
    pthread_rwlock_rdlock(&lock);
    size_t after = position(address);
    *has_below = after > 0;
    *has_above = after < count;
    if (*has_below)
        *below = constant_part(ranges[after - 1]);
    if (*has_above)
        *above = constant_part(ranges[after]);
    pthread_rwlock_unlock(&lock);
}

SIM_UNCHECKED bool sim_range_overlaps(uint64_t address, size_t size)
{
    pthread_rwlock_rdlock(&lock);
    size_t after = position(address);
    bool overlaps = find(address) || (after < count && ranges[after]->address - address < size);
    pthread_rwlock_unlock(&lock);
    return overlaps;
}

struct sim_allocation *sim_range_before(uint64_t address)
{
    pthread_rwlock_rdlock(&lock);
    size_t at = address ? position(address - 1) : 0;
    struct sim_allocation *found = at ? ranges[at - 1] : NULL;
    sim_expire_renew(found);
    pthread_rwlock_unlock(&lock);
    return found;
}

SIM_UNCHECKED void sim_range_protect(struct sim_allocation *allocation, bool readable,
                                     bool writable)
{
    pthread_rwlock_wrlock(&lock);
    allocation->readable = readable;
    allocation->writable = writable;
    pthread_rwlock_unlock(&lock);
}

SIM_UNCHECKED void sim_range_move(struct sim_allocation *allocation, char *host)
{
    pthread_rwlock_wrlock(&lock);
    allocation->host = host;
    pthread_rwlock_unlock(&lock);
}

char *sim_range_host(uint64_t address, size_t size, bool write)
{
    struct sim_allocation found;
    if (!sim_range_copy(address, &found) || found.usable - (address - found.address) < size ||
        (write ? !found.writable : !found.readable))
        return NULL;
    return found.host + (address - found.address);
}

struct sim_physical *sim_range_behind(const struct sim_allocation *mapping)
{
    struct sim_physical *physical = mapping->owner;
    sim_expire_renew(physical);
    return physical;
}
