/* SPDX-License-Identifier: MIT */
/* Floats as the words of a register, and what modifiers make of them. */
#ifndef CUSHIM_TEST_PTX_FLOAT_CASE_H
#define CUSHIM_TEST_PTX_FLOAT_CASE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float as_float(uint64_t bits)
{
    const uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
static inline uint32_t bits_of(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}
/* What the device makes of a float result. */
static inline uint32_t float_word(float value)
{
    return isnan(value) ? 0x7fffffff : bits_of(value);
}
static inline float flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}
static inline float limit(float value)
{
    return isnan(value) || value <= 0 ? 0.0F : value >= 1 ? 1.0F : value;
}

#endif
