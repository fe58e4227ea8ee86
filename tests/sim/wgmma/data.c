/* SPDX-License-Identifier: MIT */
#include "data.h"

#include <string.h>

uint32_t data_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static const struct type {
    const char *name;
    unsigned bytes, mantissa, exponent; /* mantissa 0: any bits */
    unsigned least, span;               /* exponents whose products nearly vanish */
} types[] = {{"f32", 4, 23, 8, 0, 3},    {"f16", 2, 10, 5, 0, 12}, {"bf16", 2, 7, 8, 44, 20},
             {"tf32", 4, 23, 8, 44, 20}, {"e4m3", 1, 3, 4, 0, 3},  {"e5m2", 1, 2, 5, 0, 6},
             {"s8", 1, 0, 0, 0, 0},      {"u8", 1, 0, 0, 0, 0},    {"s4", 1, 0, 0, 0, 0},
             {"u4", 1, 0, 0, 0, 0},      {"b1", 4, 0, 0, 0, 0},    {"s32", 4, 0, 0, 0, 0}};

static const struct type *type_of(const char *name)
{
    const struct type *type = types;
    while (strcmp(type->name, name) != 0)
        type++;
    return type;
}

static uint32_t element(const struct type *type, unsigned mode, uint64_t *state)
{
    const uint32_t bits = data_next(state), low = bits & ((1U << type->mantissa) - 1);
    const unsigned bias = (1U << type->exponent >> 1) - 1;
    const unsigned reach = mode == 0 ? 3 : bias < 20 ? bias : 20;
    if (type->mantissa == 0 || mode == 2)
        return bits;
    const uint32_t exponent = mode == 4 ? type->least + data_next(state) % type->span
                                        : bias - reach + data_next(state) % (2 * reach);
    if (mode == 3 && data_next(state) % 4 > 0)
        return 0;
    return (bits >> 31 << type->exponent | exponent) << type->mantissa | low;
}

void data_fill(void *to, size_t bytes, const char *name, unsigned mode, uint64_t *state)
{
    const struct type *type = type_of(name);
    for (size_t i = 0; i < bytes; i += type->bytes) {
        const uint32_t bits = element(type, mode, state);
        memcpy((char *)to + i, &bits, type->bytes);
    }
}

/* Two of four places in ascending order, each time; of tf32 one of two, which have two places. */
void data_fill_metadata(uint32_t *to, unsigned count, const char *type, bool ordered,
                        uint64_t *state)
{
    static const uint8_t pairs[] = {4, 8, 9, 12, 13, 14}, ones[] = {4, 14};
    const bool is_wide = strcmp(type, "tf32") == 0;
    for (unsigned i = 0; i < count; i++) {
        to[i] = data_next(state);
        for (unsigned digit = 0; digit < 8 && ordered; digit++)
            to[i] =
                to[i] << 4 | (is_wide ? ones[data_next(state) % 2] : pairs[data_next(state) % 6]);
    }
}

uint64_t data_sum(uint64_t sum, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return sum;
}
