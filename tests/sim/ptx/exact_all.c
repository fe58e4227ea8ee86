/* SPDX-License-Identifier: MIT */
/* By hand, for it takes minutes on many cores: approximate functions of all 2^32 floats, quotients
 * and remainders of all pairs of 16 bits and of all numbers of 32 bits by some, at every ISA level
 * of this CPU, against C's own functions and operators, one lane at a time:
 *     exact_all THREADS [NAME] */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower/lower.h"
#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"

enum { SLICES = 1 << 12, PER_SLICE = 1 << 20, FUNCTIONS = 64 };

typedef uint32_t expected(uint32_t a, uint32_t b);

static uint32_t sin_of(uint32_t a, uint32_t b)
{
    return f32_out((float)sin((double)f32_of(a))) + b;
}
static uint32_t cos_of(uint32_t a, uint32_t b)
{
    return f32_out((float)cos((double)f32_of(a))) + b;
}
static uint32_t ex2_of(uint32_t a, uint32_t b)
{
    return f32_out((float)exp2((double)f32_of(a))) + b;
}
static uint32_t lg2_of(uint32_t a, uint32_t b)
{
    return f32_out((float)log2((double)f32_of(a))) + b;
}
static uint32_t rsqrt_of(uint32_t a, uint32_t b)
{
    return f32_out((float)(1.0 / sqrt((double)f32_of(a)))) + b;
}
static uint32_t div_u(uint32_t a, uint32_t b)
{
    return b ? a / b : UINT32_MAX;
}
static uint32_t rem_u(uint32_t a, uint32_t b)
{
    return b ? a % b : UINT32_MAX;
}
static uint32_t div_s(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a / (int32_t)b) : UINT32_MAX;
}
static uint32_t rem_s(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a % (int32_t)b) : UINT32_MAX;
}

static const struct {
    const char *name;
    expected *expect;
    struct ir_insn insn;
} functions[] = {
    {"sin", sin_of, {.op = IR_SIN, .types = {IR_F32}, .approx = true}},
    {"cos", cos_of, {.op = IR_COS, .types = {IR_F32}, .approx = true}},
    {"ex2", ex2_of, {.op = IR_EX2, .types = {IR_F32}, .approx = true}},
    {"lg2", lg2_of, {.op = IR_LG2, .types = {IR_F32}, .approx = true}},
    {"rsqrt", rsqrt_of, {.op = IR_RSQRT, .types = {IR_F32}, .approx = true}},
    {"div.u32", div_u, {.op = IR_DIV, .types = {IR_U32}}},
    {"rem.u32", rem_u, {.op = IR_REM, .types = {IR_U32}}},
    {"div.s32", div_s, {.op = IR_DIV, .types = {IR_S32}}},
    {"rem.s32", rem_s, {.op = IR_REM, .types = {IR_S32}}},
    {"div.u16", div_u, {.op = IR_DIV, .types = {IR_U16}}},
    {"rem.s16", rem_s, {.op = IR_REM, .types = {IR_S16}}},
};

static size_t chosen;
static atomic_uint next;
static atomic_ullong wrong;

/* Registers: the result, then a and b. */
struct place {
    struct ptx_warp warp;
    struct ptx_step step;
    uint32_t registers[3][2 * PTX_LANES] __attribute__((aligned(64)));
    uint32_t predicates[2];
};

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The divisor for number `n`: of few bits, of many, and its neighbours. */
static uint32_t divisor(uint32_t n, uint64_t *state)
{
    const uint32_t bits = (uint32_t)(random_bits(state) >> (32 + (n & 31)));
    switch (n >> 5 & 3) {
    case 0:
        return bits;
    case 1:
        return 0 - bits;
    case 2:
        return (bits & 3) - 1 + (1U << (bits >> 3 & 31));
    default:
        return n / (bits & 0xffff ? bits & 0xffff : 1) + (bits >> 30) - 1;
    }
}

static void *worker(void *unused)
{
    static const enum ops_level levels[] = {OPS_BASE, OPS_V3, OPS_V4};
    const unsigned type = functions[chosen].insn.types[0];
    const bool is_short = type == IR_U16 || type == IR_S16;
    struct place place = {.predicates = {0}};
    ptx_run *runs[3];

    place.warp.registers = (char *)place.registers;
    place.warp.predicates = place.predicates;
    place.step.operand[1] = sizeof place.registers[0];
    place.step.operand[2] = 2 * sizeof place.registers[0];
    for (unsigned i = 0; i <= select_best_level(); i++)
        runs[i] = select_at(levels[i], &functions[chosen].insn, &place.step.how, NULL);
    for (uint32_t slice; (slice = atomic_fetch_add(&next, 1)) < SLICES;) {
        /* Of angles beyond 2^24, for which the engine asks C's slow functions too, a few. */
        const bool turns = functions[chosen].expect == sin_of || functions[chosen].expect == cos_of;
        if (turns && slice % (SLICES / 2) * PER_SLICE >= UINT32_C(0x4b800000) && slice % 64 != 0)
            continue;
        uint64_t state = slice * UINT64_C(0x9e3779b97f4a7c15) + 1;
        for (uint32_t i = 0; i < PER_SLICE; i += PTX_LANES) {
            uint32_t want[PTX_LANES];
            const uint32_t same = divisor(i, &state);
            for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
                const uint32_t n = slice * PER_SLICE + i + lane;
                uint32_t a = n, b = 0;
                if (is_short) {
                    a = n >> 16;
                    b = n & 0xffff;
                } else if (type != IR_F32) {
                    b = i & 0x200 ? same : divisor(n, &state);
                }
                place.registers[1][lane] = a;
                place.registers[2][lane] = b;
                if (type == IR_S16)
                    want[lane] =
                        functions[chosen].expect((uint32_t)(int16_t)a, (uint32_t)(int16_t)b) &
                        0xffff;
                else
                    want[lane] = functions[chosen].expect(a, b) & (is_short ? 0xffff : ~0U);
            }
            for (unsigned level = 0; level <= select_best_level(); level++) {
                memset(place.registers[0], 0xa5, sizeof place.registers[0]);
                runs[level](&place.warp, &place.step, PTX_FULL);
                if (memcmp(place.registers[0], want, sizeof want) == 0)
                    continue;
                for (unsigned lane = 0; lane < PTX_LANES; lane++)
                    if (place.registers[0][lane] != want[lane] && atomic_fetch_add(&wrong, 1) < 20)
                        printf("%s at level %u: of %08x %08x %08x, expected %08x\n",
                               functions[chosen].name, level, place.registers[1][lane],
                               place.registers[2][lane], place.registers[0][lane], want[lane]);
            }
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[FUNCTIONS];
    int count = argc > 1 ? atoi(argv[1]) : 1;

    count = count < 1 ? 1 : count > FUNCTIONS ? FUNCTIONS : count;
    for (chosen = 0; chosen < sizeof functions / sizeof *functions; chosen++) {
        if (argc > 2 && strcmp(argv[2], functions[chosen].name) != 0)
            continue;
        atomic_store(&next, 0);
        for (int i = 0; i < count; i++)
            if (pthread_create(&threads[i], NULL, worker, NULL))
                return 2;
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
        printf("%s: %llu wrong so far\n", functions[chosen].name,
               (unsigned long long)atomic_load(&wrong));
        fflush(stdout);
    }
    return atomic_load(&wrong) != 0;
}
