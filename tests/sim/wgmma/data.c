/* SPDX-License-Identifier: MIT */
/* What the instructions are given: random bits, always the same ones. Of three problems in a row,
 * floats have exponents near 0, exponents of a wide range, and any bits. */
#include <string.h>

#include "wgmma.h"

enum { HALF = WGMMA_SHARED / 4 }; /* where b begins */

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static const struct type {
    const char *name;
    unsigned bytes, mantissa, exponent; /* mantissa 0: any bits */
} types[] = {{"f32", 4, 23, 8}, {"f16", 2, 10, 5}, {"bf16", 2, 7, 8}, {"tf32", 4, 23, 8},
             {"e4m3", 1, 3, 4}, {"e5m2", 1, 2, 5}, {"s8", 1, 0, 0},   {"u8", 1, 0, 0},
             {"b1", 4, 0, 0},   {"s32", 4, 0, 0}};

static const struct type *type_of(const char *name)
{
    const struct type *type = types;
    while (strcmp(type->name, name) != 0)
        type++;
    return type;
}

static uint32_t element(const struct type *type, unsigned mode, uint64_t *state)
{
    const uint32_t bits = next(state), low = bits & ((1U << type->mantissa) - 1);
    const unsigned bias = (1U << type->exponent >> 1) - 1;
    const unsigned reach = mode == 0 ? 3 : bias < 20 ? bias : 20;
    if (type->mantissa == 0 || mode == 2)
        return bits;
    const uint32_t exponent = bias - reach + next(state) % (2 * reach);
    return (bits >> 31 << type->exponent | exponent) << type->mantissa | low;
}

static void fill(void *to, size_t bytes, const char *name, unsigned mode, uint64_t *state)
{
    const struct type *type = type_of(name);
    for (size_t i = 0; i < bytes; i += type->bytes) {
        const uint32_t bits = element(type, mode, state);
        memcpy((char *)to + i, &bits, type->bytes);
    }
}

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
    const unsigned mode = number % 3;
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + one->n * 1000 + one->k;
    fill(problem->shared, HALF, one->a, mode, &state);
    fill(problem->shared + HALF, WGMMA_SHARED - HALF, one->b, mode, &state);
    fill(problem->a, sizeof problem->a, one->a, mode, &state);
    fill(problem->d, sizeof problem->d, one->d, mode, &state);
    problem->descriptor_a = descriptor(number / 2, 0);
    problem->descriptor_b = descriptor(number, HALF);
    problem->add = number % 5 != 4;
    problem->times = 1;
}
