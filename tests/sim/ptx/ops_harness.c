/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ops_harness.h"

const struct ptx_world *test_world;
static enum ptx_fault_kind last_fault;

const struct ptx_world *fault_world(const struct ptx_warp *warp)
{
    (void)warp;
    return test_world;
}

bool fault_warp(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                enum ptx_fault_kind kind, uint64_t address, const char *what)
{
    (void)warp;
    (void)step;
    (void)address;
    assert_true(lane < PTX_LANES);
    assert_non_null(what);
    last_fault = kind;
    return false;
}

const struct step_source *fault_source(const struct ptx_module *module, const struct ptx_step *step)
{
    (void)module;
    (void)step;
    return NULL;
}

void fault_describe(const struct ptx_module *module, const struct step_source *source, char *text,
                    size_t size)
{
    (void)module;
    (void)source;
    snprintf(text, size, "?");
}

enum ptx_fault_kind take_fault(void)
{
    const enum ptx_fault_kind kind = last_fault;
    last_fault = PTX_FAULT_NONE;
    return kind;
}

uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Edges of integers and of every float format, and random bits of random length. */
uint64_t interesting(unsigned size)
{
    static const uint64_t edges[] = {
        0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x1f, 0x1fff,
    };
    static const uint16_t halves[] = {
        0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3bff, 0x7bff, 0x7c00,
        0xfc00, 0x7e00, 0x7d01, 0xffff, 0x7fff, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x007f,
    };
    static const uint32_t words[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
        0x3f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
        0xffc12345, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000,
        0x3effffff, 0x3f7fffff, 0x3fc00000, 0x33000000, 0x477fe000, 0x477ff000, 0x7fffffff,
        0x80000001, 0xffffffff, 0x5f000000, 0xdf000000, 0x387fc000, 0x38800000, 0x0000ffff,
    };
    static const uint64_t longs[] = {
        UINT64_C(0x0000000000000000), UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000001),
        UINT64_C(0x000fffffffffffff), UINT64_C(0x0010000000000000), UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000), UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000),
        UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000001), UINT64_C(0xfff0000000000123),
        UINT64_C(0x41dfffffffc00000), UINT64_C(0x41e0000000000000), UINT64_C(0xc1e0000000000000),
        UINT64_C(0x43e0000000000000), UINT64_C(0x43f0000000000000), UINT64_C(0xc3e0000000000000),
        UINT64_C(0x3fe0000000000000), UINT64_C(0x3ff8000000000000), UINT64_C(0x47efffffefffffff),
        UINT64_C(0x47effffff0000000), UINT64_C(0x380fffffffffffff), UINT64_C(0x36a0000000000000),
        UINT64_C(0x7fffffffffffffff), UINT64_C(0xffffffffffffffff), UINT64_C(0x00000000ffffffff),
    };
    const uint64_t choice = random_bits();
    uint64_t bits = random_bits();
    switch (choice % 8) {
    case 0:
        bits = edges[bits % (sizeof edges / sizeof edges[0])];
        break;
    case 1:
        bits = 0 - edges[bits % (sizeof edges / sizeof edges[0])];
        break;
    case 2:
    case 3:
        if (size == 8)
            bits = longs[bits % (sizeof longs / sizeof longs[0])];
        else if (size == 4)
            bits = words[bits % (sizeof words / sizeof words[0])];
        else
            bits = halves[bits % (sizeof halves / sizeof halves[0])];
        break;
    case 4: /* two halves */
        bits = halves[bits % 22] | (uint64_t)halves[(bits >> 8) % 22] << 16;
        break;
    case 5:
        bits >>= choice >> 8 & 63;
        break;
    case 6: /* a float or double near one, so that sums round */
        if (size == 8)
            bits = (bits & UINT64_C(0x80ffffffffffffff)) | UINT64_C(0x3f00000000000000);
        else
            bits = (bits & 0x83ffffff) | 0x3c000000;
        break;
    default:
        break;
    }
    return size == 8 ? bits : bits & ((UINT64_C(1) << (8 * size)) - 1);
}

void warp_reset(struct test_warp *test)
{
    memset(test, 0, sizeof *test);
    test->warp.registers = (char *)test->registers;
    test->warp.constants = (const char *)test->registers;
    test->warp.predicates = test->predicates;
    test->warp.active = test->warp.alive = PTX_FULL;
    for (unsigned i = 0; i < STEP_OPERANDS; i++)
        test->step.operand[i] = PTX_ABSENT;
}

/* Register i and predicate i hold operand i. */
static uint64_t get(const struct test_warp *test, unsigned index, char shape, unsigned lane)
{
    if (shape == 'p')
        return test->predicates[index] >> lane & 1;
    if (shape == '8')
        return test->registers[index][lane];
    uint32_t word;
    memcpy(&word, (const char *)test->registers[index] + sizeof word * lane, sizeof word);
    return word;
}

static void fill(struct test_warp *test, unsigned index, char shape)
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (shape == '8') {
            test->registers[index][lane] = interesting(8);
        } else {
            const uint32_t word = (uint32_t)interesting(shape == '2' ? 2 : 4);
            memcpy((char *)test->registers[index] + sizeof word * lane, &word, sizeof word);
        }
    }
    test->predicates[index] = (uint32_t)random_bits();
}

static bool is_nan(uint64_t bits, char shape)
{
    return shape == '8' ? bits << 1 > UINT64_C(0x7ff) << 53
                        : (uint32_t)(bits << 1) > UINT32_C(0xff) << 24;
}

static void check_warp(const struct op_case *op, struct test_warp *test,
                       const struct test_warp *before, uint32_t mask, unsigned alias)
{
    const char *colon = strchr(op->shape, ':');
    const unsigned destinations = (unsigned)(colon - op->shape);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        uint64_t in[4] = {0, 0, 0, 0}, out[2] = {0, 0};
        for (unsigned i = 0, place = destinations; colon[1 + i] && i < 4; i++, place++)
            in[i] = get(before, place, colon[1 + i], lane);
        op->expect(in, out);
        for (unsigned i = 0; i < destinations; i++) {
            const unsigned place = i == 0 ? alias : i;
            const uint64_t old = get(before, place, op->shape[i], lane);
            const uint64_t now = get(test, place, op->shape[i], lane);
            const uint64_t want = mask >> lane & 1 ? out[i] : old;
            if (now == want)
                continue;
            if (op->any_nan && is_nan(now, op->shape[i]) && is_nan(want, op->shape[i]))
                continue;
            fail_msg("%s: (%#llx, %#llx, %#llx, %#llx) gives %#llx, not %#llx; lane %u of %#x",
                     op->name, (unsigned long long)in[0], (unsigned long long)in[1],
                     (unsigned long long)in[2], (unsigned long long)in[3], (unsigned long long)now,
                     (unsigned long long)want, lane, mask);
        }
    }
}

static void check_at(const struct op_case *op, enum ops_level level)
{
    static struct test_warp tests[2], before[2];
    struct test_warp *const test = &tests[0];
    const char *colon = strchr(op->shape, ':'), *reason = NULL;
    const unsigned destinations = (unsigned)(colon - op->shape);
    const unsigned operands = (unsigned)strlen(op->shape) - 1;
    struct ir_insn insn = op->insn;
    insn.count = (uint8_t)operands;
    insn.destinations = (uint8_t)destinations;
    for (unsigned round = 0; round < 60; round++) {
        /* Of the warp, and of one that follows it. */
        const uint32_t masks[2] = {round % 3 == 0   ? PTX_FULL
                                   : round % 3 == 1 ? (uint32_t)random_bits() | 1U << (round % 32)
                                                    : 1U << (round % 32),
                                   round % 4 ? (uint32_t)random_bits() * (round % 4 - 1)
                                             : PTX_FULL};
        warp_reset(test);
        ptx_run *const run = select_at(level, &insn, &test->step.how, &reason);
        if (!run)
            fail_msg("%s: not selected (%s)", op->name, reason ? reason : "no reason");
        for (unsigned i = 0; i < operands; i++) {
            const char shape = op->shape[i < destinations ? i : i + 1];
            fill(test, i, shape);
            fill(&tests[1], i, shape);
            test->step.operand[i] = shape == 'p' ? i : (uint32_t)(sizeof test->registers[0] * i);
        }
        /* Every other time the destination is the first source, where that has its shape. */
        unsigned alias = 0;
        if (round & 1 && destinations == 1 && colon[1] == op->shape[0]) {
            alias = 1;
            test->step.operand[0] = test->step.operand[1];
        }
        memcpy(before, tests, sizeof tests);
        test->warp.follow = 1;
        test->warp.stride = sizeof *test;
        test->warp.masks = masks;
        run(&test->warp, &test->step, masks[0]);
        check_warp(op, test, &before[0], masks[0], alias);
        check_warp(op, &tests[1], &before[1], test->warp.follow ? 0 : masks[1], alias);
    }
}

void check_ops(const struct op_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (enum ops_level level = OPS_BASE; level <= select_best_level(); level++)
            check_at(&cases[i], level);
}
