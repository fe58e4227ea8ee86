/* SPDX-License-Identifier: MIT */
/* What the instructions are given: random bits, always the same ones. Of three problems in a row,
 * floats have exponents near 0, exponents of a wide range, and any bits; where a is sparse,
 * problems in a row have all kinds in turn. */
#include "data.h"
#include "wgmma.h"

enum { HALF = WGMMA_SHARED / 4 }; /* where b begins */

/* Each swizzle and base offset, with offsets that let the parts of a matrix lie apart, side by side
 * or one on another, from addresses that suit the swizzle and others. */
static uint64_t descriptor(unsigned number, unsigned start)
{
    static const unsigned offsets[][2] = {
        {128, 256}, {1024, 1024}, {1040, 512}, {512, 1040}, {0, 16}};
    const unsigned leading = offsets[number % 5][0], stride = offsets[number % 5][1];
    const uint64_t swizzle = number % 4, base = number / 8 % 8;
    const unsigned at = start + (number % 3 == 2 ? number % 7 * 16 : number % 3 * 1024);
    return at / 16 | (uint64_t)(leading / 16) << 16 | (uint64_t)(stride / 16) << 32 | base << 49 |
           swizzle << 62;
}

void wgmma_fill(const struct instruction *one, unsigned number, struct problem *problem)
{
    const unsigned mode = number % (one->selectors ? DATA_MODES : 3);
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + one->n * 1000 + one->k;
    data_fill(problem->shared, HALF, one->a, mode, &state);
    data_fill(problem->shared + HALF, WGMMA_SHARED - HALF, one->b, mode, &state);
    data_fill(problem->a, sizeof problem->a, one->a, mode, &state);
    data_fill(problem->d, sizeof problem->d, one->d, mode, &state);
    data_fill_metadata(problem->metadata, WGMMA_THREADS, one->a, number % 2 == 0, &state);
    problem->descriptor_a = descriptor(number / 2, 0);
    problem->descriptor_b = descriptor(number, HALF);
    problem->add = number % 5 != 4;
    problem->times = 1;
}
