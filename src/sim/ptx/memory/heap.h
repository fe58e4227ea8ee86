/* SPDX-License-Identifier: MIT */
/* The device's heap, for the engine: blocks, and which of its bytes kernels may touch. */
#ifndef CUSHIM_SIM_PTX_MEMORY_HEAP_H
#define CUSHIM_SIM_PTX_MEMORY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_heap;
struct ptx_range;

#define HEAP_GRAIN 16 /* one count of live bytes each; no block shares one with another */

/* The address of a block, a multiple of `align`; 0: no room, or no power of two. */
uint64_t heap_allocate(struct ptx_heap *heap, uint64_t size, uint64_t align);
enum heap_answer { HEAP_FREED, HEAP_NO_BLOCK, HEAP_TWICE };
enum heap_answer heap_free(struct ptx_heap *heap, uint64_t address);
/* All of the heap as one range, if it contains the address. */
bool heap_range(const struct ptx_heap *heap, uint64_t address, struct ptx_range *range);

/* Are the bytes live? They are inside the heap, `at` bytes from its beginning. Without the heap's
 * lock: a kernel that frees what another thread uses has a race of its own. */
static inline bool heap_holds(const unsigned char *live, uint64_t at, uint64_t size)
{
    for (;;) {
        uint64_t inside = at % HEAP_GRAIN;
        unsigned have = __atomic_load_n(&live[at / HEAP_GRAIN], __ATOMIC_RELAXED);

        if (inside + size <= have)
            return true;
        if (have < HEAP_GRAIN)
            return false;
        at += HEAP_GRAIN - inside;
        size -= HEAP_GRAIN - inside;
    }
}

#endif
