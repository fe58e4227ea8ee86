/* SPDX-License-Identifier: MIT */
/* Approximate functions and divisions, bit for bit as C's functions and operators give them, at
 * every ISA level. exact_all.c does it for all floats, by hand. */
#include <math.h>
#include <string.h>

#include "ops_harness.h"
#include "ptx/ops/approx.h"

#define FUNCTION(name, value)                                                                      \
    static void name##_plain(const uint64_t in[4], uint64_t out[2])                                \
    {                                                                                              \
        const double a = (double)f32_of((uint32_t)in[0]);                                          \
        out[0] = f32_out((float)(value));                                                          \
    }                                                                                              \
    static void name##_ftz(const uint64_t in[4], uint64_t out[2])                                  \
    {                                                                                              \
        const double a = (double)f32_flush(f32_of((uint32_t)in[0]));                               \
        out[0] = f32_out_ftz((float)(value));                                                      \
    }
FUNCTION(sin, sin(a))
FUNCTION(cos, cos(a))
FUNCTION(ex2, exp2(a))
FUNCTION(lg2, log2(a))
FUNCTION(rsqrt, 1.0 / sqrt(a))

/* clang-format off */
#define BOTH(name, number)                                                                         \
    {#name, "4:4", name##_plain, {.op = number, .types = {IR_F32}, .approx = true}, false},        \
    {#name ".ftz", "4:4", name##_ftz,                                                              \
     {.op = number, .types = {IR_F32}, .approx = true, .ftz = true}, false},
static const struct op_case functions[] = {
    BOTH(sin, IR_SIN)
    BOTH(cos, IR_COS)
    BOTH(ex2, IR_EX2)
    BOTH(lg2, IR_LG2)
    BOTH(rsqrt, IR_RSQRT)
};
/* clang-format on */

static void test_any_bits(void **state)
{
    (void)state;
    CHECK(functions);
}

static struct test_warp test;

static uint32_t *words(unsigned place)
{
    return (uint32_t *)(void *)test.registers[place];
}

static void run_at(enum ops_level level, const struct ir_insn *insn, uint32_t mask)
{
    ptx_run *const run = select_at(level, insn, &test.step.how, NULL);
    assert_non_null(run);
    for (unsigned i = 0; i < 3; i++)
        test.step.operand[i] = i * (uint32_t)sizeof test.registers[0];
    run(&test.warp, &test.step, mask);
}

/* Numbers that programs have: small ones, whole ones, multiples of pi, exponents of softmax. */
static void test_usual_numbers(void **state)
{
    static const float reach[] = {1, 7, 100, 150, 3000, 1.2e6F, 1e-6F, 0x1p-130F};
    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        const uint32_t mask = round & 4 ? (uint32_t)random_bits() | 1 : PTX_FULL;
        const struct op_case *op = &functions[round % (sizeof functions / sizeof *functions)];
        uint32_t from[PTX_LANES];
        warp_reset(&test);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const double part = (double)(int32_t)random_bits() / 0x1p31;
            const float near = (float)part * reach[round / 16 % 8];
            const float turned = (float)(rint((double)near) * 3.14159265358979323846 / 2);
            const float value = lane % 4 == 1 ? rintf(near) : lane % 4 == 2 ? turned : near;
            from[lane] = f32_bits(value);
        }
        for (enum ops_level level = OPS_BASE; level <= select_best_level(); level++) {
            memcpy(words(1), from, sizeof from);
            memset(words(0), 0x5a, sizeof from);
            run_at(level, &op->insn, mask);
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {
                const uint64_t in[4] = {from[lane]};
                uint64_t out[2] = {UINT32_C(0x5a5a5a5a)};
                if (mask >> lane & 1)
                    op->expect(in, out);
                if (words(0)[lane] != out[0])
                    fail_msg("%s at level %d: of %08x %08x, not %08x", op->name, (int)level,
                             from[lane], words(0)[lane], (uint32_t)out[0]);
            }
        }
    }
}

/* --- Divisions: which way one goes depends on what all lanes hold --- */

/* Of at most so many bits, the upper of which are mostly zero or mostly not. */
static uint64_t number(unsigned bits, unsigned shift)
{
    const uint64_t any = random_bits();
    return shift >= bits ? any & 1 : any >> (64 - bits + shift);
}

static uint64_t division(const struct ir_insn *insn, uint64_t a, uint64_t b)
{
    const bool rest = insn->op == IR_REM, is_signed = ops_is_signed(insn->types[0]);
    const bool wide = ops_size_of(insn->types[0]) == OPS_64;
    const int64_t over = wide ? (int64_t)a : (int32_t)a, by = wide ? (int64_t)b : (int32_t)b;
    if (!b)
        return UINT64_MAX;
    if (!is_signed)
        return rest ? a % b : a / b;
    if (by == -1)
        return rest ? 0 : 0 - a;
    return (uint64_t)(rest ? over % by : over / by);
}

static void load(unsigned place, bool wide, const uint64_t *values)
{
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (wide)
            test.registers[place][lane] = values[lane];
        else
            words(place)[lane] = (uint32_t)values[lane];
}

static void check_division(const struct ir_insn *insn, const uint64_t *a, const uint64_t *b,
                           uint32_t mask, unsigned to)
{
    const bool wide = ops_size_of(insn->types[0]) == OPS_64;
    const uint64_t *const before[] = {b, a, b};
    for (enum ops_level level = OPS_BASE; level <= select_best_level(); level++) {
        ptx_run *const run = select_at(level, insn, &test.step.how, NULL);
        warp_reset(&test);
        for (unsigned i = 0; i < 3; i++) {
            load(i, wide, before[i]);
            test.step.operand[i] = (i ? i : to) * (uint32_t)sizeof test.registers[0];
        }
        run(&test.warp, &test.step, mask);
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const uint64_t want =
                mask >> lane & 1 ? division(insn, a[lane], b[lane]) : before[to][lane];
            const uint64_t got = wide ? test.registers[to][lane] : words(to)[lane];
            if (got != (wide ? want : (uint32_t)want))
                fail_msg("op %u of type %u at level %d: of %llx and %llx %llx, not %llx", insn->op,
                         insn->types[0], (int)level, (unsigned long long)a[lane],
                         (unsigned long long)b[lane], (unsigned long long)got,
                         (unsigned long long)want);
        }
    }
}

/* Quotients near whole numbers, one divisor for all lanes or many, the edges of each way, zero,
 * a result in a source's place, and lanes that do not run. */
static void test_divisors(void **state)
{
    static const unsigned sizes[] = {8, 22, 23, 24, 25, 31, 32, 48, 49, 50, 51, 53, 55, 63, 64};
    static const uint8_t types[] = {IR_U32, IR_S32, IR_U64, IR_S64};
    (void)state;
    for (unsigned round = 0; round < 16000; round++) {
        const struct ir_insn insn = {.op = round & 4 ? IR_REM : IR_DIV,
                                     .types = {types[round & 3]}};
        const unsigned width = round & 2 ? 64 : 32, size = sizes[random_bits() % 15];
        const unsigned bits = size < width ? size : width, shift = (unsigned)random_bits() % bits;
        const uint64_t most = UINT64_MAX >> (64 - width), same = number(bits, shift);
        uint64_t a[PTX_LANES], b[PTX_LANES];
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const uint64_t by = round & 8 ? same : number(bits, shift), rare = random_bits();
            const uint64_t near = by * number(bits, bits - shift) + rare % 3 - 1;
            const uint64_t over = round & 16 ? number(bits, 0) : near & (UINT64_MAX >> (64 - bits));
            const bool negative = round & 1 && rare & 64, other = round & 1 && rare & 128;
            a[lane] = (negative ? 0 - over : over) & most;
            b[lane] = (other ? 0 - by : by) & most;
            if (rare >> 8 & 31 || round & 32)
                continue;
            a[lane] = rare & 1 ? UINT64_C(1) << (width - 1) : most;
            b[lane] = rare & 2 ? 0 : rare & 4 ? most : UINT64_C(1) << (bits - 1);
        }
        check_division(&insn, a, b, round & 64 ? (uint32_t)random_bits() : PTX_FULL,
                       (unsigned)random_bits() % 3);
        check_division(&insn, a, b, 1U << (random_bits() & 31) | 1U << (random_bits() & 31), 0);
    }
}

/* The polynomials come much nearer to C's functions than they need to: identical bits do not hang
 * on luck. In units of the last place of a double. */
static void check_margin(const char *name, double close, double exact)
{
    const int64_t units = (int64_t)(f64_bits(close) - f64_bits(exact));
    if (units > (int64_t)FAR / 4 || units < -(int64_t)FAR / 4)
        fail_msg("%s: %lld units from %a", name, (long long)units, exact);
}
static void test_margin(void **state)
{
    (void)state;
    for (uint32_t bits = 1; bits < F32_INFINITY; bits += 49999) {
        const double a = (double)f32_of(bits);
        check_margin("lg2", lg2_close(a), log2(a));
        check_margin("rsqrt", rsqrt_close(a), 1.0 / sqrt(a));
        for (int sign = -1; sign < 2; sign += 2) {
            if (a <= LARGEST_ANGLE) {
                check_margin("sin", sin_close(sign * a), sin(sign * a));
                check_margin("cos", cos_close(sign * a), cos(sign * a));
            }
            if (a < 150)
                check_margin("ex2", ex2_close(sign * a), exp2(sign * a));
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bits),
        cmocka_unit_test(test_margin),
        cmocka_unit_test(test_usual_numbers),
        cmocka_unit_test(test_divisors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
