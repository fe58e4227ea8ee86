/* SPDX-License-Identifier: MIT */
/* A heap of the device for a test, behind the headers that cmocka wants. */
#ifndef CUSHIM_TEST_PTX_HEAP_CASE_H
#define CUSHIM_TEST_PTX_HEAP_CASE_H

#include "ptx/memory/memory.h"
#include "ptx/ptx.h"

#define HEAP_BASE UINT64_C(0x7e0000000000)
#define HEAP_SIZE (UINT64_C(8) << 20)

static inline struct ptx_heap *heap_make(uint64_t size)
{
    struct ptx_heap *heap = ptx_heap_create(HEAP_BASE, size);

    assert_non_null(heap);
    return heap;
}

/* All blocks are free again: they are one, as large as the heap. */
static inline void heap_is_empty(struct ptx_heap *heap, uint64_t size)
{
    uint64_t block = heap_allocate(heap, size - HEAP_GRAIN, 16);

    assert_int_equal(block, HEAP_BASE);
    assert_int_equal(heap_free(heap, block), HEAP_FREED);
}

#endif
