/* SPDX-License-Identifier: MIT */
/* Inputs: the same on every machine. Half of them are values at which instructions change what
 * they do, the others are random. */
#include <string.h>

#include "harness.h"

static const uint32_t words32[] = {
    0,          1,          2,          3,          0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000,
    0x80000001, 0x7ffffffe, 0xffff,     0x10000,    0x8000,     0x7fff,     0xffff8000, 0xff,
    0x80,       0x7f,       0xffffff80, 31,         32,         33,         0x00ffffff, 0x01000000,
    0x007fffff, 0xff800000, 0x55555555, 0xaaaaaaaa, 0x01010101, 0x80808080, 0x7f7f7f7f, 0x12345678};

static const uint64_t words64[] = {0,
                                   1,
                                   2,
                                   0xffffffffffffffff,
                                   0xfffffffffffffffe,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0x8000000000000001,
                                   0xffffffff,
                                   0x100000000,
                                   0x80000000,
                                   0x7fffffff,
                                   0xffffffff80000000,
                                   0x001fffffffffffff,
                                   0x0020000000000001,
                                   0x5555555555555555};

/* Zeros, ones, halves, limits, the ends of the subnormal numbers, infinities, NaNs quiet and
 * signalling, and the ends of the integers' ranges. */
static const uint32_t floats[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0xbfc00000,
    0x40200000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00400000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xffbfffff,
    0x7fffffff, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x4f7fffff, 0x5f000000, 0xdf000000,
    0x5f800000, 0x5f7fffff, 0x3f7fffff, 0x3f800001, 0x4b000000, 0x4affffff, 0x42fe0000, 0x43000000,
    0x437f0000, 0x477fe000, 0x477ff000, 0x33000000, 0x33800000, 0x38800000, 0x3effffff, 0x34000000};

static const uint64_t doubles[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000, 0xc004000000000000,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x800fffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001,
    0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x41efffffffe00000,
    0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x43dfffffffffffff,
    0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000,
    0x380fffffffffffff, 0x3810000000000000, 0x3fefffffffffffff, 0x3ff0000000000001};

static const uint16_t halves[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0xc100,
                                  0x0001, 0x8001, 0x03ff, 0x0400, 0x83ff, 0x7bff, 0xfbff, 0x7c00,
                                  0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x7fff, 0x3bff, 0x3c01, 0x5bf8};

static const uint16_t brains[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0xbf00, 0x3fc0, 0xc020,
                                  0x0001, 0x8001, 0x007f, 0x0080, 0x807f, 0x7f7f, 0xff7f, 0x7f80,
                                  0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x7fff, 0x3f7f, 0x3f81, 0x4f00};

#define PICK(values, random) (values)[(random) % (sizeof(values) / sizeof *(values))]

uint32_t next_random(uint32_t *state)
{
    uint32_t x = *state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x * 0x9e3779b1U;
}

uint32_t seed_of(const char *name)
{
    uint32_t hash = 2166136261U;

    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 16777619U;
    return hash ? hash : 1;
}

static uint32_t float_from(double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* A float with the exponent in a range, all its other bits random. */
static uint32_t float_between(uint32_t *state, int low, int high)
{
    uint32_t random = next_random(state);
    uint32_t exponent = (uint32_t)(low + 127) + next_random(state) % (uint32_t)(high - low + 1);

    return (random & 0x807fffff) | exponent << 23;
}

static uint32_t random_word(uint32_t *state)
{
    uint32_t random = next_random(state);

    return random & 0x10000 ? PICK(words32, random >> 20) : next_random(state);
}

static uint32_t random_float(uint32_t *state)
{
    uint32_t random = next_random(state);

    switch (random >> 16 & 7) {
    case 0:
    case 1:
    case 2:
        return PICK(floats, random >> 20);
    case 3:
        return next_random(state);
    case 4:
        return float_between(state, 0, 66);
    case 5:
        return float_from(((int)(random & 0x3ff) - 512) * 0.5);
    default:
        return float_between(state, -6, 6);
    }
}

static uint64_t random_double(uint32_t *state)
{
    uint32_t random = next_random(state);
    uint64_t bits = next_random(state) | (uint64_t)next_random(state) << 32;

    switch (random >> 16 & 7) {
    case 0:
    case 1:
    case 2:
        return PICK(doubles, random >> 20);
    case 3:
        return bits;
    case 4:
        return (bits & 0x800fffffffffffff) | (uint64_t)(1023 + (random & 63)) << 52;
    case 5:
        return (bits & 0x800ff80000000000) | (uint64_t)(1023 + (random & 7)) << 52;
    default:
        return (bits & 0x800fffffffffffff) | (uint64_t)(1019 + (random & 7)) << 52;
    }
}

static uint16_t random_half(uint32_t *state)
{
    uint32_t random = next_random(state);

    if (random & 0x30000)
        return random & 0x10000 ? PICK(halves, random >> 20)
                                : (uint16_t)((random & 0x83ff) | (12 + (random >> 20) % 7) << 10);
    return (uint16_t)(random >> 4);
}

static uint16_t random_brain(uint32_t *state)
{
    uint32_t random = next_random(state);

    if (random & 0x30000)
        return random & 0x10000 ? PICK(brains, random >> 20)
                                : (uint16_t)((random & 0x807f) | (123 + (random >> 20) % 9) << 7);
    return (uint16_t)(random >> 4);
}

/* For approximate functions: their usual range, one octave, and what is special. */
static uint32_t moderate(uint32_t *state)
{
    uint32_t random = next_random(state);

    switch (random >> 16 & 3) {
    case 0:
        return PICK(floats, random >> 20);
    case 1:
        return float_from((double)(int32_t)next_random(state) / 0x80000000U * 6.2831853);
    case 2:
        return float_between(state, -30, 30);
    default:
        return float_from(0.5 + next_random(state) / 4294967296.0 * 1.5);
    }
}

/* From -1.5 to 2.5; each second one a multiple of 1/64, where texels of common sizes begin. */
static uint32_t coordinate(uint32_t *state)
{
    uint32_t random = next_random(state);
    double value = next_random(state) / 4294967296.0 * 4.0 - 1.5;

    return float_from(random & 0x10000 ? (int)(value * 64.0) / 64.0 : value);
}

/* Rows 0 to 2 halves, row 3 floats and rows 4 and 5 doubles about their range, then words. */
static void fill_halves(uint32_t *words, unsigned n, uint32_t *state)
{
    for (unsigned i = 0; i < 8 * n; i++)
        if (i < 3 * n)
            words[i] = random_half(state) | (uint32_t)random_half(state) << 16;
        else if (i < 4 * n)
            words[i] =
                next_random(state) & 0x10000 ? random_float(state) : float_between(state, -26, 17);
        else if (i >= 6 * n)
            words[i] = random_word(state);
    for (unsigned i = 4 * n; i < 6 * n; i += 2) {
        uint64_t bits = random_double(state);

        if (next_random(state) & 0x10000)
            bits = (bits & 0x800fffffffffffff) | (uint64_t)(997 + bits % 44) << 52;
        words[i] = (uint32_t)bits;
        words[i + 1] = (uint32_t)(bits >> 32);
    }
}

static uint32_t fill_word(enum fill fill, uint32_t *state, bool last_rows)
{
    switch (fill) {
    case FILL_FLOATS:
    case FILL_MIXED:
        return random_float(state);
    case FILL_BRAINS:
        return random_brain(state) | (uint32_t)random_brain(state) << 16;
    case FILL_MODERATE:
        return moderate(state);
    case FILL_COORDINATES:
        return last_rows ? next_random(state) : coordinate(state);
    default:
        return random_word(state);
    }
}

void fill_input(const struct kernel *kernel, uint32_t *words)
{
    const unsigned n = kernel->n;
    uint32_t state = seed_of(kernel->name);

    if (kernel->fill == FILL_HALVES) {
        fill_halves(words, n, &state);
        return;
    }
    for (unsigned i = 0; i < 8 * n; i++) {
        bool pair = kernel->fill == FILL_WIDES || kernel->fill == FILL_DOUBLES ||
                    (kernel->fill == FILL_MIXED && i >= 2 * n);
        uint64_t bits;

        if (!pair) {
            words[i] = fill_word(kernel->fill, &state, i >= 4 * n);
            continue;
        }
        if (kernel->fill == FILL_WIDES)
            bits = next_random(&state) & 0x10000
                       ? PICK(words64, next_random(&state) >> 8)
                       : next_random(&state) | (uint64_t)next_random(&state) << 32;
        else
            bits = random_double(&state);
        words[i++] = (uint32_t)bits;
        words[i] = (uint32_t)(bits >> 32);
    }
}
