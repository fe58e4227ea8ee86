/* SPDX-License-Identifier: MIT */
/* Device addresses: reserved address space that nobody may touch, so that a program which
 * dereferences one on the CPU faults, as with a real device. Handed out in chunks, each next to the
 * one before: what was freed comes back only after all others were used, and a use after free is
 * noticed. Small pieces share a chunk, which is free again when its last piece is. */
#include "memory/memory.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define REGION_SIZE (UINT64_C(1) << 42)   /* at most */
#define REGION_WISHED (UINT64_C(1) << 36) /* for devices of any size */
#define REGION_LEAST (UINT64_C(1) << 28)  /* at least */
#define CHUNK SIM_ADDRESS_CHUNK
#define CHUNKS (REGION_SIZE / CHUNK)
#define SMALL (CHUNK / 4)

static uint64_t region; /* aligned to a chunk; 0: not reserved yet */
static size_t chunks;   /* in the region */
static uint64_t taken[CHUNKS / 64];
static uint16_t pieces[CHUNKS]; /* small ones in each chunk; 0: not such a chunk */
static size_t cursor;           /* chunk to look at first */
static size_t shared;           /* chunk that small pieces are cut from */
static uint64_t shared_used = CHUNK;

/* A quarter of the addresses that a process has. Kernels for 64-bit Arm give it 39, 42 or 48 bits;
 * the stack is at their upper end. */
static uint64_t share_of_addresses(void)
{
    uint64_t highest = getauxval(AT_RANDOM), share = REGION_LEAST;
    while (share < REGION_SIZE && highest / 4 >= share)
        share *= 2;
    return share;
}

/* Of that, half of what the process may still take, by RLIMIT_AS. */
static uint64_t allowed(void)
{
    struct rlimit limit;
    unsigned long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return share_of_addresses();
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%lu", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t left = limit.rlim_cur > used ? (limit.rlim_cur - used) / 2 : 0;
    return left < share_of_addresses() ? left : share_of_addresses();
}

/* Four times the devices' memory: freed addresses do not come back at once, and programs reserve
 * more than they map. Not much more: tools that keep account of all address space, such as
 * emulators, pay for it. */
static uint64_t wanted(uint64_t size)
{
    uint64_t bytes = 2 * size, most = allowed();
    for (int i = 0; i < sim_device_count(); i++)
        bytes += 4 * (uint64_t)sim_device_all[i].total;
    bytes = (bytes + CHUNK - 1) / CHUNK * CHUNK;
    bytes = bytes < REGION_WISHED ? REGION_WISHED : bytes;
    bytes = bytes < REGION_SIZE ? bytes : REGION_SIZE;
    return bytes < most ? bytes : most;
}

static bool reserve_region(uint64_t asked)
{
    for (uint64_t size = region ? 0 : wanted(asked); !region && size >= REGION_LEAST; size /= 2) {
        void *found =
            mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED)
            continue;
        region = ((uint64_t)(uintptr_t)found + CHUNK - 1) / CHUNK * CHUNK;
        chunks = (size_t)((size - (region - (uint64_t)(uintptr_t)found)) / CHUNK);
    }
    return region != 0;
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* a hint; another place is given back */
#endif

/* More addresses behind the region, where those are free: false if not. */
static bool extend_region(uint64_t size)
{
    uint64_t end = region + chunks * CHUNK, left = REGION_SIZE - chunks * CHUNK;
    size = (size + CHUNK - 1) / CHUNK * CHUNK;
    if (size > left || size > allowed())
        return false;
    void *found = mmap((void *)(uintptr_t)end, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (found == MAP_FAILED)
        return false;
    if ((uint64_t)(uintptr_t)found != end) {
        munmap(found, size);
        return false;
    }
    chunks += (size_t)(size / CHUNK);
    return true;
}

static void mark(size_t first, size_t count, bool now)
{
    for (size_t i = first; i < first + count; i++) {
        if (now)
            taken[i / 64] |= UINT64_C(1) << i % 64;
        else
            taken[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
}

/* First of `count` free chunks in [from, to), its address a multiple of `align`; `to`: none. */
static size_t find_free(size_t from, size_t to, size_t count, uint64_t align)
{
    size_t step = (size_t)(align / CHUNK ? align / CHUNK : 1);
    size_t bias = (size_t)(region / CHUNK % step);
    size_t first = from;
    for (;;) {
        first += (step - (first + bias) % step) % step;
        if (first >= to || to - first < count)
            return to;
        size_t run = 0;
        while (run < count && !(taken[(first + run) / 64] >> (first + run) % 64 & 1))
            run++;
        if (run == count)
            return first;
        first += run + 1;
        while (first < to && first % 64 == 0 && taken[first / 64] == UINT64_MAX)
            first += 64;
    }
}

static uint64_t take(size_t size, uint64_t align)
{
    size_t count = size / CHUNK + (size % CHUNK != 0);
    size_t first = find_free(cursor, chunks, count, align);
    if (first == chunks) {
        first = find_free(0, chunks, count, align);
        if (first == chunks && extend_region(size + (align > CHUNK ? align : 0)))
            first = find_free(0, chunks, count, align);
        if (first == chunks)
            return 0;
    }
    mark(first, count, true);
    cursor = first + count;
    return region + first * CHUNK;
}

static void leave_shared(void)
{
    if (shared_used < CHUNK && pieces[shared] == 0)
        mark(shared, 1, false);
    shared_used = CHUNK;
}

static uint64_t take_small(size_t size, uint64_t align)
{
    uint64_t start = (shared_used + align - 1) & ~(align - 1);
    if (start > CHUNK || CHUNK - start < size) {
        uint64_t address = take(CHUNK, CHUNK);
        if (!address)
            return 0;
        leave_shared();
        shared = (size_t)((address - region) / CHUNK);
        start = 0;
    }
    shared_used = start + size;
    pieces[shared]++;
    return region + shared * CHUNK + start;
}

uint64_t sim_address_reserve(size_t size, size_t align)
{
    if (size == 0 || size > REGION_SIZE || !reserve_region(size))
        return 0;
    if (size <= SMALL && align <= SMALL)
        return take_small(size, align ? align : 1);
    return take(size, align);
}

uint64_t sim_address_reserve_chunks(size_t size, size_t align, uint64_t wanted)
{
    if (size == 0 || size > REGION_SIZE || !reserve_region(size))
        return 0;
    if (wanted >= region && wanted % CHUNK == 0 && (!align || wanted % align == 0)) {
        size_t first = (size_t)((wanted - region) / CHUNK);
        size_t count = size / CHUNK + (size % CHUNK != 0);
        if (first < chunks && find_free(first, chunks, count, CHUNK) == first) {
            mark(first, count, true);
            return wanted;
        }
    }
    return take(size, align);
}

void sim_address_release(uint64_t address, size_t size)
{
    size_t chunk = (size_t)((address - region) / CHUNK);
    if (pieces[chunk] == 0)
        mark(chunk, size / CHUNK + (size % CHUNK != 0), false);
    else if (--pieces[chunk] == 0 && (chunk != shared || shared_used == CHUNK))
        mark(chunk, 1, false);
}

bool sim_address_is_device(uint64_t address)
{
    return region && address >= region && address - region < chunks * CHUNK;
}
