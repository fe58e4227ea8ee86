/* SPDX-License-Identifier: MIT */
/* Which bytes of the device's global memory were written, by whom ever: a bit each, for the blocks
 * that the driver has told of. All other memory counts as written. Local memory is at the end. */
#include "ptx/memory/check_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct check_bits *blocks; /* in order */
static size_t count, capacity;
static _Atomic unsigned generation = 1; /* another one if blocks come or go */
static unsigned holders;                /* launches under way */
static struct gone {
    struct gone *next;
} * gone; /* bits that they may look at */
static bool on;

void check_init_start(bool wanted)
{
    on = wanted;
}

/* Number of blocks that begin at or before the address. */
static size_t position(uintptr_t at)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (blocks[middle].first <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct check_bits *find(uintptr_t at, uint64_t size)
{
    const size_t after = position(at);
    const struct check_bits *block = after ? &blocks[after - 1] : NULL;

    return block && at - block->first < block->size && block->size - (at - block->first) >= size
               ? block
               : NULL;
}

void ptx_memory_begin(const void *host, uint64_t size)
{
    struct check_bits made = {.first = (uintptr_t)host, .size = size};

    if (!on || !size)
        return;
    made.bits = calloc(size / 64 + 1 + size / 4096 + 1, sizeof *made.bits);
    pthread_rwlock_wrlock(&lock);
    if (count == capacity) {
        const size_t more = capacity ? 2 * capacity : 64;
        struct check_bits *grown = realloc(blocks, more * sizeof *grown);

        if (grown) {
            blocks = grown;
            capacity = more;
        }
    }
    if (made.bits && count < capacity) {
        const size_t at = position(made.first);

        memmove(blocks + at + 1, blocks + at, (count - at) * sizeof *blocks);
        blocks[at] = made;
        count++;
        generation++;
        made.bits = NULL;
    }
    pthread_rwlock_unlock(&lock);
    free(made.bits);
}

/* With the lock. */
static void free_gone(void)
{
    while (!holders && gone) {
        struct gone *next = gone->next;

        free(gone);
        gone = next;
    }
}

void check_init_hold(void)
{
    pthread_rwlock_wrlock(&lock);
    holders++;
    pthread_rwlock_unlock(&lock);
}

void check_init_release(void)
{
    pthread_rwlock_wrlock(&lock);
    holders--;
    free_gone();
    pthread_rwlock_unlock(&lock);
}

void ptx_memory_end(const void *host)
{
    if (!on)
        return;
    pthread_rwlock_wrlock(&lock);
    const size_t after = position((uintptr_t)host);
    if (after && blocks[after - 1].first == (uintptr_t)host) {
        struct gone *bits = (struct gone *)blocks[after - 1].bits;

        bits->next = gone;
        gone = bits;
        free_gone();
        generation++;
        memmove(blocks + after - 1, blocks + after, (count - after) * sizeof *blocks);
        count--;
    }
    pthread_rwlock_unlock(&lock);
}

/* Behind the bits: which words of them are full, a bit each. */
static uint64_t *words_of(const struct check_bits *block)
{
    return block->bits + block->size / 64 + 1;
}

static bool are_full(const struct check_bits *block, uint64_t at, uint64_t end)
{
    const uint64_t *words = words_of(block), last = (end + 63) / 64;
    uint64_t missing = 0;

    for (uint64_t word = at / 64; word < last; word = (word | 63) + 1)
        missing |=
            ~__atomic_load_n(&words[word / 64], __ATOMIC_RELAXED) & check_bits_of(word, last);
    return !missing;
}

static void set(uint64_t *word, uint64_t bits)
{
    if (~__atomic_load_n(word, __ATOMIC_RELAXED) & bits)
        __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

static void write_bits(const struct check_bits *block, uintptr_t host, uint64_t size)
{
    const uint64_t end = host - block->first + size;

    if (are_full(block, end - size, end))
        return;
    for (uint64_t at = end - size; at < end; at = (at | 63) + 1) {
        set(&block->bits[at / 64], check_bits_of(at, end));
        if (!~__atomic_load_n(&block->bits[at / 64], __ATOMIC_RELAXED))
            set(&words_of(block)[at / 4096], UINT64_C(1) << at / 64 % 64);
    }
}

void ptx_memory_written(const void *host, uint64_t size)
{
    const struct check_bits *block;

    if (!on || !size)
        return;
    pthread_rwlock_rdlock(&lock);
    block = find((uintptr_t)host, size);
    if (block)
        write_bits(block, (uintptr_t)host, size);
    pthread_rwlock_unlock(&lock);
}

/* The bits of a block that has all of it, for a launch that holds them; NULL: none is known. */
static const struct check_bits *bits_near(struct check *check, uintptr_t host, uint64_t size)
{
    struct check_bits *near = &check->memory[check_slot(host / CHECK_PAGE)];
    const struct check_bits *block;
    const unsigned now = generation;

    if (check->generation != now) {
        memset(check->memory, 0, sizeof check->memory);
        check->generation = now;
    }
    if (host - near->first < near->size && near->size - (host - near->first) >= size)
        return near;
    pthread_rwlock_rdlock(&lock);
    block = find(host, size);
    if (block)
        *near = *block;
    pthread_rwlock_unlock(&lock);
    return block ? near : NULL;
}

void check_init_write(struct check *check, uintptr_t host, uint64_t size)
{
    const struct check_bits *block = bits_near(check, host, size);

    if (block)
        write_bits(block, host, size);
}

bool check_init_read(struct check *check, uintptr_t host, uint64_t size)
{
    const struct check_bits *block = bits_near(check, host, size);
    uint64_t missing = 0;

    if (!block)
        return true;
    const uint64_t end = host - block->first + size;
    if (are_full(block, end - size, end))
        return true;
    for (uint64_t at = end - size; at < end; at = (at | 63) + 1)
        missing |=
            ~__atomic_load_n(&block->bits[at / 64], __ATOMIC_RELAXED) & check_bits_of(at, end);
    return !missing;
}

/* --- Local memory --- */

/* Which bytes of local memory nothing wrote: those of a function's variables when it begins. All
 * others, such as arguments and what a function takes while it runs, count as written. */
static uint64_t *local_bits(const struct ptx_warp_state *state)
{
    return state->warp.block->check->locals[state->warp.index];
}

/* Of a lane's bytes, bits in order; set: unwritten. */
static void mark_local(uint64_t *bits, uint64_t first, uint64_t size, bool unwritten)
{
    for (uint64_t at = first, end = first + size; at < end; at = (at | 63) + 1) {
        if (unwritten)
            bits[at / 64] |= check_bits_of(at, end);
        else
            bits[at / 64] &= ~check_bits_of(at, end);
    }
}

static bool any_written(const uint64_t *bits, uint64_t first, uint64_t size)
{
    for (uint64_t at = first; at < first + size; at++)
        if (!(bits[at / 64] >> at % 64 & 1))
            return true;
    return false;
}

void check_init_frame(struct ptx_warp_state *state, const struct ptx_frame *frame, uint32_t lanes)
{
    const struct ptx_code *code = frame->code;
    struct check_block *check = state->warp.block->check;
    uint64_t *bits;

    if (!check || !(state->launch->check->which & PTX_CHECK_INIT) ||
        (!code->local_count && !local_bits(state)))
        return;
    if (!local_bits(state))
        check->locals[state->warp.index] =
            calloc((size_t)PTX_LANES * state->local_stride / 64 + 1, sizeof *bits);
    bits = local_bits(state);
    if (!bits)
        return;
    FOR_LANES (lane, lanes) {
        const uint64_t base = (uint64_t)lane * state->local_stride + frame->local_base;

        mark_local(bits, base, code->local_size, false);
        for (uint32_t i = 0; i < code->local_count; i++)
            mark_local(bits, base + code->locals[i].offset, code->locals[i].size, true);
    }
}

bool check_init_local(struct ptx_warp *warp, uintptr_t host, uint64_t size, bool write)
{
    const struct ptx_warp_state *state = warp->state;
    const uint64_t at = host - (uintptr_t)state->local;
    uint64_t *bits = local_bits(state);
    bool were;

    if (!bits || at >= (uint64_t)PTX_LANES * state->local_stride)
        return true;
    were = any_written(bits, at, size);
    if (write)
        mark_local(bits, at, size, false);
    return were;
}
