/* SPDX-License-Identifier: MIT */
/* The heap of the device's malloc and free by itself, beside a list of what it has given away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "heap_case.h"

static uint32_t random_word(void)
{
    static uint64_t number = 88172645463325252U;

    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    return (uint32_t)(number >> 16);
}

static void check_block(const struct ptx_range *range, uint64_t address, uint64_t size, bool live)
{
    uint64_t at = address - range->base;

    if (size) {
        assert_int_equal(heap_holds(range->live, at, 1), live);
        assert_int_equal(heap_holds(range->live, at, size), live);
        assert_int_equal(heap_holds(range->live, at + size - 1, 1), live);
    }
    assert_false(heap_holds(range->live, at + size, 1));
    assert_false(heap_holds(range->live, at, size + 1));
}

static void random_blocks(void **state)
{
    enum { BLOCKS = 600 };
    static struct {
        uint64_t address, size;
    } blocks[BLOCKS];
    const uint64_t size = UINT64_C(1) << 20;
    struct ptx_heap *heap = heap_make(size);
    struct ptx_range range;
    unsigned refused = 0;

    (void)state;
    assert_true(heap_range(heap, HEAP_BASE + size - 1, &range));
    assert_false(heap_range(heap, HEAP_BASE + size, &range));
    for (unsigned i = 0; i < 60000; i++) {
        unsigned k = random_word() % BLOCKS;

        if (blocks[k].address) {
            check_block(&range, blocks[k].address, blocks[k].size, true);
            for (uint64_t b = 0; b < blocks[k].size; b++)
                if (range.host[blocks[k].address - HEAP_BASE + b] != (char)k)
                    fail_msg("byte %u of block %u is another's", (unsigned)b, k);
            assert_int_equal(heap_free(heap, blocks[k].address), HEAP_FREED);
            assert_int_equal(heap_free(heap, blocks[k].address) == HEAP_FREED, 0);
            check_block(&range, blocks[k].address, blocks[k].size, false);
            blocks[k].address = 0;
        } else {
            uint64_t align = UINT64_C(1) << random_word() % 9;

            blocks[k].size = random_word() % (random_word() % 16 ? 2000 : 60000);
            blocks[k].address = heap_allocate(heap, blocks[k].size, align);
            refused += !blocks[k].address;
            if (!blocks[k].address)
                continue;
            assert_int_equal(blocks[k].address % align | blocks[k].address % 16, 0);
            memset(range.host + (blocks[k].address - HEAP_BASE), (int)k, blocks[k].size);
            check_block(&range, blocks[k].address, blocks[k].size, true);
        }
    }
    assert_true(refused > 100); /* the heap was full at times */
    for (unsigned k = 0; k < BLOCKS; k++)
        if (blocks[k].address)
            assert_int_equal(heap_free(heap, blocks[k].address), HEAP_FREED);
    heap_is_empty(heap, size);
    ptx_heap_destroy(heap);
}

/* A block that was freed is not the next one, though it would fit. */
static void freed_blocks_rest(void **state)
{
    struct ptx_heap *heap = heap_make(HEAP_SIZE);
    uint64_t first = heap_allocate(heap, 100, 16);

    (void)state;
    assert_int_equal(heap_free(heap, first), HEAP_FREED);
    for (unsigned i = 0; i < 500; i++) {
        uint64_t next = heap_allocate(heap, 100, 16);

        assert_true(next != first);
        assert_int_equal(heap_free(heap, next), HEAP_FREED);
    }
    assert_int_equal(heap_free(heap, first), HEAP_TWICE);
    ptx_heap_destroy(heap);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks),
        cmocka_unit_test(freed_blocks_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
