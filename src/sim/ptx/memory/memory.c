/* SPDX-License-Identifier: MIT */
/* From the addresses of a warp to checked pointers. */
#include "ptx/memory/memory.h"

#include <stdio.h>

/* The allocation that holds `size` bytes at `address`, with a small cache in front. */
bool memory_find(struct worker *worker, unsigned slot, uint64_t address, uint64_t size,
                 uint32_t flags, struct ptx_range **range)
{
    struct ptx_range *cached = &worker->cache[slot & (RANGE_CACHE - 1)];
    struct launch *launch = worker->launch;

    if (!memory_holds(cached, address, size)) {
        struct ptx_range found = {.flags = PTX_RANGE_READ | PTX_RANGE_WRITE};

        if (address - GRID_WINDOW < GRID_WORKSPACE) {
            found.base = GRID_WINDOW;
            found.size = GRID_WORKSPACE;
            found.host = (char *)launch->workspace;
        } else if ((!launch->world->heap || !heap_range(launch->world->heap, address, &found)) &&
                   (!launch->world->find ||
                    !launch->world->find(launch->world->user, address, &found))) {
            return false;
        }
        if (!memory_holds(&found, address, size))
            return false;
        *cached = found;
    }
    *range = cached;
    return (!cached->live || heap_holds(cached->live, address - cached->base, size)) &&
           (cached->flags & flags) == flags;
}

uint64_t memory_in_block(uint64_t address, unsigned rank)
{
    return address % CLUSTER_STRIDE + (rank + 1) * CLUSTER_STRIDE;
}

static char *window_resolve(struct ptx_warp *warp, unsigned lane, enum ptx_space space, uint64_t at,
                            uint32_t size)
{
    struct ptx_block *block = warp->block;
    struct launch *launch = block->launch;

    if (space == PTX_SPACE_SHARED) {
        uint64_t rank = at / CLUSTER_STRIDE;

        if (rank && block->cluster && rank <= block->cluster->size) {
            block = block->cluster->blocks[rank - 1];
            at %= CLUSTER_STRIDE;
        } else if (rank == 1) {
            at -= CLUSTER_STRIDE;
        }
        return at < block->shared_size && block->shared_size - at >= size ? block->shared + at
                                                                          : NULL;
    }
    if (space == PTX_SPACE_LOCAL) {
        struct ptx_warp_state *state = warp->state;

        return at < state->local_stride && state->local_stride - at >= size
                   ? state->local + (size_t)lane * state->local_stride + at
                   : NULL;
    }
    /* Read only, but nobody writes through what is resolved for reading. */
    return at < launch->param_size && launch->param_size - at >= size
               ? (char *)(uintptr_t)launch->params + at
               : NULL;
}

/* The bytes of one lane at `address`, of which the first `needed` must be there; NULL after a
 * fault. */
static char *memory_resolve_in(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                               enum ptx_space space, uint64_t address, uint32_t size,
                               uint32_t needed, bool write)
{
    struct ptx_range *range;
    uint64_t at = address;
    char *host = NULL;
    char what[80];

    if (size > 1 && address & (size - 1)) {
        snprintf(what, sizeof what, "the address of %u bytes is misaligned", (unsigned)size);
        fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, address, what);
        return NULL;
    }
    if (space == PTX_SPACE_GENERIC) {
        if (address - PTX_SHARED_WINDOW < PTX_WINDOW_SIZE) {
            space = PTX_SPACE_SHARED;
            at = address - PTX_SHARED_WINDOW;
        } else if (address - PTX_LOCAL_WINDOW < PTX_WINDOW_SIZE) {
            space = PTX_SPACE_LOCAL;
            at = address - PTX_LOCAL_WINDOW;
        } else if (address - PTX_PARAM_WINDOW < PTX_WINDOW_SIZE) {
            space = PTX_SPACE_PARAM;
            at = address - PTX_PARAM_WINDOW;
        }
    } else if (space == PTX_SPACE_SHARED || space == PTX_SPACE_LOCAL) {
        /* They have 32 bits, and compilers let the sum of register and offset overflow. */
        at = address = (uint32_t)address;
    }
    if (space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST) {
        if (memory_find(warp->state->worker, step->how.memory.slot, address, needed,
                        write ? PTX_RANGE_WRITE : PTX_RANGE_READ, &range))
            host = range->host + (address - range->base);
    } else if (space != PTX_SPACE_PARAM || !write) {
        host = window_resolve(warp, lane, space, at, size);
    }
    if (!host) {
        const char *verb = write ? "writes" : "reads", *s = size == 1 ? "" : "s";
        snprintf(what, sizeof what, "%s %u byte%s that %s no live memory", verb, (unsigned)size, s,
                 size == 1 ? "is" : "are");
        if (space == PTX_SPACE_SHARED)
            snprintf(what, sizeof what, "%s %u byte%s outside of the block's %u of shared memory",
                     verb, (unsigned)size, s, (unsigned)warp->block->shared_size);
        fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_ADDRESS, address, what);
    }
    return host;
}

char *memory_resolve(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                     enum ptx_space space, uint64_t address, uint32_t size, bool write)
{
    char *host = memory_resolve_in(warp, step, lane, space, address, size, size, write);

    if (warp->block->launch->check && host)
        check_touch(warp, step, host, size, write);
    return host;
}

/* What a step of memory_how has to find of so many bytes: the rest is not used. Blocks of device
 * memory are aligned to more than any access, so that the rest can be read all the same. */
static uint32_t needed_of(const struct ptx_step *step, uint32_t size)
{
    return size - size / 4 * step->how.memory.unused;
}

static const enum ptx_space space_of[MEMORY_SPACES] = {[MEMORY_GLOBAL] = PTX_SPACE_GLOBAL,
                                                       [MEMORY_GENERIC] = PTX_SPACE_GENERIC,
                                                       [MEMORY_SHARED] = PTX_SPACE_SHARED,
                                                       [MEMORY_LOCAL] = PTX_SPACE_LOCAL,
                                                       [MEMORY_PARAM] = PTX_SPACE_PARAM};

/* Every lane on its own. */
static void access_slow(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                        enum memory_space space, const reg64 *addresses, uint32_t size, bool write,
                        struct access *access)
{
    access_gather(access);
    FOR_LANES (lane, mask) {
        char *host = memory_resolve_in(warp, step, lane, space_of[space],
                                       addresses[lane] + step->how.memory.offset, size,
                                       needed_of(step, size), write);

        if (!host) {
            access->pattern = ACCESS_FAILED;
            return;
        }
        access->pointers[lane] = (uintptr_t)host;
    }
}

/* Are both halves of the warp rows of one stride, 0 or the size? Lane i at first + i * stride. */
static bool row_detect(const reg64 *addresses, uint32_t size, uint64_t *stride)
{
    uint64_t low = addresses[0], high = addresses[16], step = addresses[1] - low, difference = 0;

    *stride = step;
    if (step != 0 && step != size)
        return false;
    for (unsigned i = 0; i < 16; i++) {
        difference |= (addresses[i] - low) ^ (i * step);
        difference |= (addresses[i + 16] - high) ^ (i * step);
    }
    return difference == 0;
}

/* The memory that a warp's accesses are compared with, perhaps `own`; NULL: there is none. */
static const struct ptx_range *span_of(struct ptx_warp *warp, const struct ptx_step *step,
                                       enum memory_space space, uint64_t address, uint32_t size,
                                       bool write, struct ptx_range *own)
{
    struct ptx_block *block = warp->block;
    struct ptx_range *range;

    if (space == MEMORY_SHARED || (space == MEMORY_GENERIC && address >= PTX_SHARED_WINDOW)) {
        memory_near(warp, step, space, address, write, own);
        return own;
    }
    if (space == MEMORY_PARAM) {
        *own = (struct ptx_range){.size = block->launch->param_size,
                                  .host = (char *)(uintptr_t)block->launch->params};
        return write ? NULL : own;
    }
    return memory_find(warp->state->worker, step->how.memory.slot, address, size,
                       write ? PTX_RANGE_WRITE : PTX_RANGE_READ, &range)
               ? range
               : NULL;
}

/* Are all lanes inside and aligned? */
static bool span_has_all(const struct ptx_range *span, const reg64 *addresses, uint64_t offset,
                         uint32_t size, uint32_t needed, uint32_t mask)
{
    uint64_t limit = span->size - needed, outside = 0, low = 0;
    uint64_t shift = offset - span->base;

    if (span->size < needed)
        return false;
    EACH_LANE(mask, lane, {
        outside |= (addresses[lane] + shift) | (limit - (addresses[lane] + shift));
        low |= addresses[lane] + offset;
    });
    return !(outside >> 63) && !(low & (size - 1));
}

/* In a heap, each lane has to be in a live block, and the next lane may be in another one. */
static bool span_live(const struct ptx_range *span, const reg64 *addresses, uint64_t offset,
                      uint32_t size, uint32_t mask)
{
    FOR_LANES (lane, mask) {
        uint64_t address = addresses[lane] + offset;

        if (!memory_holds(span, address, size) ||
            !heap_holds(span->live, address - span->base, size))
            return false;
    }
    return true;
}

static void access_local(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                         const reg64 *addresses, uint32_t size, bool write, struct access *access)
{
    const struct ptx_warp_state *state = warp->state;
    const struct ptx_range span = {.size = state->local_stride, .host = state->local};
    uint64_t from = (uintptr_t)state->local + step->how.memory.offset;

    if (!span_has_all(&span, addresses, step->how.memory.offset, size, size, mask)) {
        access_slow(warp, step, mask, MEMORY_LOCAL, addresses, size, write, access);
        return;
    }
    access_gather(access);
    for (unsigned i = 0; i < PTX_LANES; i++)
        access->pointers[i] = from + addresses[i] + (uint64_t)i * state->local_stride;
}

static void access_find(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                        enum memory_space space, const reg64 *addresses, uint32_t size, bool write,
                        struct access *access)
{
    uint64_t offset = step->how.memory.offset, first, stride;
    uint32_t needed = needed_of(step, size);
    struct ptx_range own;

    if (space == MEMORY_LOCAL) {
        access_local(warp, step, mask, addresses, size, write, access);
        return;
    }
    first = addresses[__builtin_ctz(mask)] + offset;
    const struct ptx_range *span = span_of(warp, step, space, first, needed, write, &own);
    if (!span || (span->live && !span_live(span, addresses, offset, needed, mask))) {
        access_slow(warp, step, mask, space, addresses, size, write, access);
        return;
    }
    if (mask == PTX_FULL && !(first & (size - 1)) && row_detect(addresses, size, &stride)) {
        uint64_t second = addresses[16] + offset, length = 15 * stride + needed;

        if (!(second & (size - 1)) && memory_holds(span, first, length) &&
            memory_holds(span, second, length)) {
            access->base = span->host + (first - span->base);
            access->second = span->host + (second - span->base);
            access->stride = stride;
            access->pattern = ACCESS_HALVES;
            return;
        }
    }
    if (span_has_all(span, addresses, offset, size, needed, mask)) {
        access->pattern = ACCESS_GATHER;
        access->base = (char *)((uintptr_t)span->host + (offset - span->base));
        access->offsets = addresses;
        return;
    }
    access_slow(warp, step, mask, space, addresses, size, write, access);
}

void memory_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                   enum memory_space space, const reg64 *addresses, uint32_t size, bool write,
                   struct access *access)
{
    access_find(warp, step, mask, space, addresses, size, write, access);
    if (__builtin_expect(!!warp->block->launch->check, 0) && access->pattern != ACCESS_FAILED)
        check_access(warp, step, mask, space, needed_of(step, size), write, access);
}
