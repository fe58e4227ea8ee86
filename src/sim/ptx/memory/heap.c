/* SPDX-License-Identifier: MIT */
/* The heap behind the device's malloc and free. What describes the blocks is apart from their
 * bytes, where no kernel gets at it. A block that was freed rests for a while before it is given
 * away again, so that its late users are noticed.
 *
 * A block is a run of units. It knows its size and that of the block before it, so free neighbours
 * join at once. Free blocks are in bins by size, eight bins to a power of two, with a bit for each
 * bin that has any: a search looks at one bin where a block may be too small, and takes the first
 * block of the next one that is filled. */
#include "ptx/memory/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define UNIT 32 /* bytes: blocks begin at multiples of it */
#define MOST_UNITS (UINT32_C(1) << 30)
#define MOST_RESTING 65536 /* units */
#define BINS 256           /* free blocks by size: eight bins to a power of two */
#define LOOKS 64           /* into the bin where not every block is large enough */

enum { INSIDE, FREE, LIVE, RESTING };
struct unit { /* of a block's first unit; all zero inside of blocks */
    uint32_t size : 30, state : 2;
    uint32_t before;         /* units of the block in front of it; 0: it is the first */
    uint32_t next, previous; /* of the same bin, or resting: index plus one; 0: none */
};

struct ptx_heap {
    pthread_mutex_t lock; /* for all but `live`, base, size and bytes */
    uint64_t base, size;
    char *bytes;
    unsigned char *live; /* of each grain, how many bytes from its start on */
    struct unit *units;
    uint32_t count; /* units */
    uint32_t rest_first, rest_last, resting, most_resting;
    uint32_t bins[BINS]; /* index plus one */
    uint64_t filled[BINS / 64];
    size_t mapped;
};

/* --- Free blocks --- */
static unsigned bin_of(uint32_t size)
{
    unsigned power = 31 - (unsigned)__builtin_clz(size);

    return size < 8 ? size : (power - 2) * 8 + (size >> (power - 3) & 7);
}

static void bin_add(struct ptx_heap *heap, uint32_t index)
{
    struct unit *unit = &heap->units[index];
    unsigned bin = bin_of(unit->size);

    unit->state = FREE;
    unit->previous = 0;
    unit->next = heap->bins[bin];
    if (unit->next)
        heap->units[unit->next - 1].previous = index + 1;
    heap->bins[bin] = index + 1;
    heap->filled[bin / 64] |= UINT64_C(1) << bin % 64;
}

static void bin_remove(struct ptx_heap *heap, uint32_t index)
{
    struct unit *unit = &heap->units[index];
    unsigned bin = bin_of(unit->size);

    if (unit->next)
        heap->units[unit->next - 1].previous = unit->previous;
    if (unit->previous)
        heap->units[unit->previous - 1].next = unit->next;
    else
        heap->bins[bin] = unit->next;
    if (!heap->bins[bin])
        heap->filled[bin / 64] &= ~(UINT64_C(1) << bin % 64);
}

/* Index plus one of a free block of so many units; 0: none. */
static uint32_t bin_search(const struct ptx_heap *heap, uint32_t size)
{
    unsigned bin = bin_of(size), looks = 0;

    for (uint32_t at = heap->bins[bin]; at && looks < LOOKS; looks++) {
        if (heap->units[at - 1].size >= size)
            return at;
        at = heap->units[at - 1].next;
    }
    for (bin++; bin < BINS; bin = (bin / 64 + 1) * 64) {
        uint64_t filled = heap->filled[bin / 64] >> bin % 64;

        if (filled)
            return heap->bins[bin + (unsigned)__builtin_ctzll(filled)];
    }
    return 0;
}

/* --- Blocks and their neighbours --- */
static void set_size(struct ptx_heap *heap, uint32_t index, uint32_t size)
{
    heap->units[index].size = size & (MOST_UNITS - 1);
    if (index + size < heap->count)
        heap->units[index + size].before = size;
}

/* The rest of a block beyond `size` becomes one that is free. */
static void split(struct ptx_heap *heap, uint32_t index, uint32_t size)
{
    uint32_t rest = heap->units[index].size - size;

    if (!rest)
        return;
    set_size(heap, index, size);
    set_size(heap, index + size, rest);
    bin_add(heap, index + size);
}

static void join(struct ptx_heap *heap, uint32_t index, uint32_t after)
{
    uint32_t size = heap->units[index].size + heap->units[after].size;

    heap->units[after] = (struct unit){0};
    set_size(heap, index, size);
}

static void make_free(struct ptx_heap *heap, uint32_t index)
{
    uint32_t after = index + heap->units[index].size, before = heap->units[index].before;

    if (after < heap->count && heap->units[after].state == FREE) {
        bin_remove(heap, after);
        join(heap, index, after);
    }
    if (before && heap->units[index - before].state == FREE) {
        bin_remove(heap, index - before);
        join(heap, index - before, index);
        index -= before;
    }
    bin_add(heap, index);
}

/* The oldest ones rest no longer, until so many units are left. */
static void rest_end(struct ptx_heap *heap, uint32_t most)
{
    while (heap->resting > most) {
        uint32_t index = heap->rest_first - 1;

        heap->rest_first = heap->units[index].next;
        if (!heap->rest_first)
            heap->rest_last = 0;
        heap->resting -= heap->units[index].size;
        make_free(heap, index);
    }
}

static void rest_begin(struct ptx_heap *heap, uint32_t index)
{
    heap->units[index].state = RESTING;
    heap->units[index].next = 0;
    if (heap->rest_last)
        heap->units[heap->rest_last - 1].next = index + 1;
    else
        heap->rest_first = index + 1;
    heap->rest_last = index + 1;
    heap->resting += heap->units[index].size;
    rest_end(heap, heap->most_resting);
}

static void mark(struct ptx_heap *heap, uint32_t index, uint64_t size)
{
    unsigned char *live = heap->live + (uint64_t)index * (UNIT / HEAP_GRAIN);
    uint64_t grains = (uint64_t)heap->units[index].size * (UNIT / HEAP_GRAIN);

    for (uint64_t i = 0; i < grains; i++) {
        uint64_t here = size < HEAP_GRAIN ? size : HEAP_GRAIN;

        __atomic_store_n(&live[i], (unsigned char)here, __ATOMIC_RELAXED);
        size -= here;
    }
}

static uint32_t search(struct ptx_heap *heap, uint32_t size)
{
    uint32_t found = bin_search(heap, size);

    if (!found && heap->resting) {
        rest_end(heap, 0);
        found = bin_search(heap, size);
    }
    return found;
}

uint64_t heap_allocate(struct ptx_heap *heap, uint64_t size, uint64_t align)
{
    uint64_t address = 0, units, extra;

    if (!align || align & (align - 1) || size > heap->size || align > heap->size)
        return 0;
    /* At least one grain behind the bytes is nobody's, and catches what runs over the end. */
    units = (size + HEAP_GRAIN + UNIT - 1) / UNIT;
    extra = align > UNIT ? align / UNIT - 1 : 0;
    if (units + extra > heap->count)
        return 0;
    pthread_mutex_lock(&heap->lock);
    uint32_t index = search(heap, (uint32_t)(units + extra));
    if (index--) {
        address = heap->base + (uint64_t)index * UNIT;
        uint32_t skip = (uint32_t)((((address + align - 1) & ~(align - 1)) - address) / UNIT);
        bin_remove(heap, index);
        if (skip) {
            split(heap, index, skip);
            bin_add(heap, index);
            index += skip;
            bin_remove(heap, index);
        }
        split(heap, index, (uint32_t)units);
        heap->units[index].state = LIVE;
        mark(heap, index, size);
        address = heap->base + (uint64_t)index * UNIT;
    }
    pthread_mutex_unlock(&heap->lock);
    return address;
}

enum heap_answer heap_free(struct ptx_heap *heap, uint64_t address)
{
    uint64_t at = address - heap->base;
    enum heap_answer answer = HEAP_NO_BLOCK;

    if (at >= (uint64_t)heap->count * UNIT || at % UNIT)
        return answer;
    uint32_t index = (uint32_t)(at / UNIT);
    pthread_mutex_lock(&heap->lock);
    if (heap->units[index].state == LIVE) {
        mark(heap, index, 0);
        rest_begin(heap, index);
        answer = HEAP_FREED;
    } else if (heap->units[index].state == RESTING) {
        answer = HEAP_TWICE;
    }
    pthread_mutex_unlock(&heap->lock);
    return answer;
}

bool heap_range(const struct ptx_heap *heap, uint64_t address, struct ptx_range *range)
{
    if (address - heap->base >= heap->size)
        return false;
    *range = (struct ptx_range){.base = heap->base,
                                .size = heap->size,
                                .host = heap->bytes,
                                .flags = PTX_RANGE_READ | PTX_RANGE_WRITE,
                                .live = heap->live};
    return true;
}

/* --- A heap's life --- */
struct ptx_heap *ptx_heap_create(uint64_t base, uint64_t size)
{
    uint64_t count = size / UNIT;
    struct ptx_heap *heap;

    if (!count || count >= MOST_UNITS || base % UNIT)
        return NULL;
    heap = calloc(1, sizeof *heap);
    if (!heap)
        return NULL;
    size = count * UNIT;
    heap->mapped = count * (UNIT + sizeof *heap->units + UNIT / HEAP_GRAIN);
    /* Pages that nobody touches cost nothing. */
    heap->bytes = mmap(NULL, heap->mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap->bytes == MAP_FAILED) {
        free(heap);
        return NULL;
    }
    pthread_mutex_init(&heap->lock, NULL);
    heap->base = base;
    heap->size = size;
    heap->count = (uint32_t)count;
    heap->units = (struct unit *)(void *)(heap->bytes + size);
    heap->live = (unsigned char *)(heap->units + count);
    heap->most_resting = heap->count / 8 < MOST_RESTING ? heap->count / 8 : MOST_RESTING;
    set_size(heap, 0, heap->count);
    bin_add(heap, 0);
    return heap;
}

void ptx_heap_destroy(struct ptx_heap *heap)
{
    if (!heap)
        return;
    munmap(heap->bytes, heap->mapped);
    pthread_mutex_destroy(&heap->lock);
    free(heap);
}
