/* SPDX-License-Identifier: MIT */
/* Pairs of floats, sums of a half and a float, random rounding, packing into few bits, the least
 * and greatest float of a warp: against the CPU's scalar arithmetic and plain searches. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "float_case.h"
#include "ops_harness.h"

/* Volatile operands keep the compiler from working out or moving what depends on the mode. */
enum operation { SUM, DIFFERENCE, PRODUCT, FUSED };
static float rounded(enum operation operation, int mode, float x, float y, float z)
{
    volatile float a = x, b = y, c = z, result;
    fesetround(mode);
    result = operation == SUM ? a + b : operation == DIFFERENCE ? a - b : a * b;
    if (operation == FUSED)
        result = fmaf(a, b, c);
    fesetround(FE_TONEAREST);
    return result;
}

/* --- .f32x2 --- */
static uint64_t pair_of(enum operation operation, int mode, bool ftz, const uint64_t in[4])
{
    uint64_t result = 0;
    for (unsigned half = 0; half < 2; half++) {
        float x[3];
        for (unsigned i = 0; i < 3; i++)
            x[i] = ftz ? flush(as_float(in[i] >> 32 * half)) : as_float(in[i] >> 32 * half);
        const float value = rounded(operation, mode, x[0], x[1], x[2]);
        result |= (uint64_t)float_word(ftz ? flush(value) : value) << 32 * half;
    }
    return result;
}

#define MODES(X, more)                                                                             \
    X(rn, IR_RN, FE_TONEAREST, more)                                                               \
    X(rz, IR_RZ, FE_TOWARDZERO, more)                                                              \
    X(rm, IR_RM, FE_DOWNWARD, more)                                                                \
    X(rp, IR_RP, FE_UPWARD, more)
#define OPERATIONS(X, r, R, mode)                                                                  \
    X(add, SUM, IR_ADD, "8:88", r, R, mode)                                                        \
    X(sub, DIFFERENCE, IR_SUB, "8:88", r, R, mode)                                                 \
    X(mul, PRODUCT, IR_MUL, "8:88", r, R, mode)                                                    \
    X(fma, FUSED, IR_FMA, "8:888", r, R, mode)
#define PAIR(name, operation, op_, shape, r, R, mode)                                              \
    static void name##_##r(const uint64_t in[4], uint64_t out[2])                                  \
    {                                                                                              \
        out[0] = pair_of(operation, mode, false, in);                                              \
    }                                                                                              \
    static void name##_ftz_##r(const uint64_t in[4], uint64_t out[2])                              \
    {                                                                                              \
        out[0] = pair_of(operation, mode, true, in);                                               \
    }
#define PAIR_ROWS(name, operation, op_, shape, r, R, mode)                                         \
    {#name "." #r ".f32x2",                                                                        \
     shape,                                                                                        \
     name##_##r,                                                                                   \
     {.op = op_, .rounding = R, .types = {IR_F32X2}},                                              \
     false},                                                                                       \
        {#name "." #r ".ftz.f32x2",                                                                \
         shape,                                                                                    \
         name##_ftz_##r,                                                                           \
         {.op = op_, .rounding = R, .ftz = true, .types = {IR_F32X2}},                             \
         false},
#define EACH_PAIR(r, R, mode, X) OPERATIONS(X, r, R, mode)
MODES(EACH_PAIR, PAIR)

static void test_pairs(void **state)
{
    (void)state;
    static const struct op_case cases[] = {MODES(EACH_PAIR, PAIR_ROWS)};
    CHECK(cases);
}

/* --- .f32.f16 and .f32.bf16 --- */
static float half_value(uint64_t bits)
{
    const unsigned exponent = (unsigned)bits >> 10 & 31, fraction = (unsigned)bits & 1023;
    const float sign = bits & 0x8000 ? -1.0F : 1.0F;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf((float)(1024 + fraction), (int)exponent - 25)
                            : ldexpf((float)fraction, -24));
}
static float brain_value(uint64_t bits)
{
    return as_float(bits << 16);
}
static uint64_t mixed(enum operation operation, int mode, bool brain, bool saturate,
                      const uint64_t in[4])
{
    float (*const value)(uint64_t) = brain ? brain_value : half_value;
    const bool fused = operation == FUSED;
    const float result = rounded(operation, mode, value(in[0] & 0xffff),
                                 fused ? value(in[1] & 0xffff) : as_float(in[1]), as_float(in[2]));
    return saturate ? bits_of(limit(result)) : float_word(result);
}
#define MIXED(name, operation, brain, r, mode)                                                     \
    static void name##_##r(const uint64_t in[4], uint64_t out[2])                                  \
    {                                                                                              \
        out[0] = mixed(operation, mode, brain, false, in);                                         \
    }                                                                                              \
    static void name##_sat_##r(const uint64_t in[4], uint64_t out[2])                              \
    {                                                                                              \
        out[0] = mixed(operation, mode, brain, true, in);                                          \
    }
#define EACH_MIXED(r, R, mode, more)                                                               \
    MIXED(add_half, SUM, false, r, mode)                                                           \
    MIXED(sub_half, DIFFERENCE, false, r, mode)                                                    \
    MIXED(fma_half, FUSED, false, r, mode)                                                         \
    MIXED(add_brain, SUM, true, r, mode)                                                           \
    MIXED(sub_brain, DIFFERENCE, true, r, mode)                                                    \
    MIXED(fma_brain, FUSED, true, r, mode)
MODES(EACH_MIXED, )
#define MIXED_ROWS(name, op_, shape, type, r, R)                                                   \
    {#name "." #r, shape, name##_##r, {.op = op_, .rounding = R, .types = {IR_F32, type}}, false}, \
        {#name ".sat." #r,                                                                         \
         shape,                                                                                    \
         name##_sat_##r,                                                                           \
         {.op = op_, .rounding = R, .saturate = true, .types = {IR_F32, type}},                    \
         false},
#define EACH_MIXED_ROWS(r, R, mode, more)                                                          \
    MIXED_ROWS(add_half, IR_ADD, "4:24", IR_F16, r, R)                                             \
    MIXED_ROWS(sub_half, IR_SUB, "4:24", IR_F16, r, R)                                             \
    MIXED_ROWS(fma_half, IR_FMA, "4:224", IR_F16, r, R)                                            \
    MIXED_ROWS(add_brain, IR_ADD, "4:24", IR_BF16, r, R)                                           \
    MIXED_ROWS(sub_brain, IR_SUB, "4:24", IR_BF16, r, R)                                           \
    MIXED_ROWS(fma_brain, IR_FMA, "4:224", IR_BF16, r, R)

static void test_mixed(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        MODES(EACH_MIXED_ROWS, ){"add without a rounding",
                                 "4:24",
                                 add_half_rn,
                                 {.op = IR_ADD, .types = {IR_F32, IR_F16}},
                                 false},
    };
    CHECK(cases);
}

/* --- cvt.rs: numbers are a sum of the format's steps and a rest, which random bits may lift. ---
 */
static uint32_t lifted(float value, uint32_t random, int exponent_bits, bool finite)
{
    const int width = 15 - exponent_bits, lost = 23 - width; /* bits of the fraction; fewer */
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t sign = signbit(value) ? 0x8000 : 0;
    const uint32_t infinity = ((1U << exponent_bits) - 1) << width;
    int exponent = 0;
    if (isnan(value))
        return 0x7fff;
    if (isinf(value))
        return sign | (infinity - finite);
    frexp((double)value, &exponent); /* magnitude in [0.5, 1) times 2^exponent */
    if (exponent < 2 - bias || value == 0.0F)
        exponent = 2 - bias;
    const double step = ldexp(1, exponent - 1 - width), magnitude = fabs((double)value);
    double whole = floor(magnitude / step);
    const double rest = floor((magnitude / step - whole) * ldexp(1, lost));
    if (rest + (double)(random & ((1U << lost) - 1)) >= ldexp(1, lost))
        whole++;
    const double result = whole * step;
    if (result >= ldexp(1, bias + 1))
        return sign | (infinity - finite);
    if (result < ldexp(1, 1 - bias))
        return sign | (uint32_t)whole;
    frexp(result, &exponent);
    return sign | (uint32_t)(exponent - 1 + bias) << width |
           (uint32_t)(ldexp(result, width + 1 - exponent) - ldexp(1, width));
}
static uint32_t not_negative(uint32_t half)
{
    return half & 0x8000 ? 0 : half;
}
#define RANDOM(name, exponent_bits, finite, relu)                                                  \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const uint32_t upper =                                                                     \
            lifted(as_float(in[0]), (uint32_t)in[2] >> 16, exponent_bits, finite);                 \
        const uint32_t lower = lifted(as_float(in[1]), (uint32_t)in[2], exponent_bits, finite);    \
        out[0] =                                                                                   \
            (relu ? not_negative(upper) : upper) << 16 | (relu ? not_negative(lower) : lower);     \
    }
RANDOM(rs_half, 5, false, false)
RANDOM(rs_half_finite, 5, true, false)
RANDOM(rs_half_relu, 5, false, true)
RANDOM(rs_brain, 8, false, false)
RANDOM(rs_brain_finite_relu, 8, true, true)
#define RS(name, type, finite_, relu_)                                                             \
    {#name,                                                                                        \
     "4:444",                                                                                      \
     name,                                                                                         \
     {.op = IR_CVT,                                                                                \
      .rounding = IR_RS,                                                                           \
      .satfinite = finite_,                                                                        \
      .relu = relu_,                                                                               \
      .types = {type, IR_F32}},                                                                    \
     false},

/* --- Floats of 4 and 6 bits, which are all numbers: by trying each --- */
static double tiny_value(unsigned bits, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double magnitude =
        exponent ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                 : ldexp(fraction, 1 - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}
static uint32_t tiny_bits(float value, int exponent_bits, int fraction_bits)
{
    const unsigned count = 1U << (exponent_bits + fraction_bits);
    const double magnitude = fmin(fabs((double)value), 100); /* all are less */
    unsigned best = count - 1;
    if (isnan(value))
        return best;
    for (unsigned bits = count - 1; bits-- > 0;) {
        const double here = fabs(tiny_value(bits, exponent_bits, fraction_bits) - magnitude);
        const double before = fabs(tiny_value(best, exponent_bits, fraction_bits) - magnitude);
        if (here < before || (here == before && !(bits & 1)))
            best = bits;
    }
    return best | (signbit(value) ? count : 0);
}
/* The halves are all exact: a normal number of f16. */
static uint32_t half_bits(double value)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    const uint32_t sign = signbit(value) ? 0x8000 : 0;
    if (value == 0)
        return sign;
    return sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)(fraction * 2048) & 1023);
}
#define TINY(name, exponent_bits, fraction_bits, apart)                                            \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        out[0] = tiny_bits(as_float(in[0]), exponent_bits, fraction_bits) << (apart) |             \
                 tiny_bits(as_float(in[1]), exponent_bits, fraction_bits);                         \
    }                                                                                              \
    static void name##_relu(const uint64_t in[4], uint64_t out[2])                                 \
    {                                                                                              \
        const float a = as_float(in[0]), b = as_float(in[1]);                                      \
        out[0] = tiny_bits(signbit(a) && !isnan(a) ? 0 : a, exponent_bits, fraction_bits)          \
                     << (apart) |                                                                  \
                 tiny_bits(signbit(b) && !isnan(b) ? 0 : b, exponent_bits, fraction_bits);         \
    }                                                                                              \
    static void of_##name(const uint64_t in[4], uint64_t out[2])                                   \
    {                                                                                              \
        const unsigned upper = (unsigned)in[0] >> (apart), lower = (unsigned)in[0];                \
        out[0] = half_bits(tiny_value(upper, exponent_bits, fraction_bits)) << 16 |                \
                 half_bits(tiny_value(lower, exponent_bits, fraction_bits));                       \
    }
TINY(e2m1, 2, 1, 4)
TINY(e2m3, 2, 3, 8)
TINY(e3m2, 3, 2, 8)
#define TINY_ROWS(name, type)                                                                      \
    {#name,                                                                                        \
     "2:44",                                                                                       \
     name,                                                                                         \
     {.op = IR_CVT, .rounding = IR_RN, .satfinite = true, .types = {type, IR_F32}},                \
     false},                                                                                       \
        {#name ".relu",                                                                            \
         "2:44",                                                                                   \
         name##_relu,                                                                              \
         {.op = IR_CVT,                                                                            \
          .rounding = IR_RN,                                                                       \
          .satfinite = true,                                                                       \
          .relu = true,                                                                            \
          .types = {type, IR_F32}},                                                                \
         false},                                                                                   \
        {"f16x2." #name,                                                                           \
         "4:2",                                                                                    \
         of_##name,                                                                                \
         {.op = IR_CVT, .rounding = IR_RN, .types = {IR_F16X2, type}},                             \
         false},

/* --- cvt.pack --- */
static uint32_t cut(uint64_t word, int least, int most)
{
    const int32_t value = (int32_t)(uint32_t)word;
    return (uint32_t)(value < least  ? least
                      : value > most ? most
                                     : value) &
           (uint32_t)(most - least);
}
#define PACK(name, width, least, most)                                                             \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        out[0] = (uint32_t)(in[2] << 2 * (width)) | cut(in[0], least, most) << (width) |           \
                 cut(in[1], least, most);                                                          \
    }
PACK(pack_u4, 4, 0, 15)
PACK(pack_s4, 4, -8, 7)
PACK(pack_u2, 2, 0, 3)
PACK(pack_s2, 2, -2, 1)
PACK(pack_s8, 8, -128, 127)
#define PACKED(name, type)                                                                         \
    {#name, "4:444", name, {.op = IR_CVT_PACK, .types = {type, IR_S32, IR_B32}}, false},

static void test_conversions(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        RS(rs_half, IR_F16X2, false, false) RS(rs_half_finite, IR_F16X2, true, false)
            RS(rs_half_relu, IR_F16X2, false, true) RS(rs_brain, IR_BF16X2, false, false)
                RS(rs_brain_finite_relu, IR_BF16X2, true, true) PACKED(pack_u4, IR_U4)
                    PACKED(pack_s4, IR_S4) PACKED(pack_u2, IR_U2) PACKED(pack_s2, IR_S2)
                        PACKED(pack_s8, IR_S8) TINY_ROWS(e2m1, IR_E2M1X2) TINY_ROWS(e2m3, IR_E2M3X2)
                            TINY_ROWS(e3m2, IR_E3M2X2)};
    for (unsigned i = 0; i < 20; i++)
        CHECK(cases);
}

/* --- redux.sync of floats --- */
static uint32_t extreme_of(const uint32_t *values, uint32_t members, bool max, bool abs, bool nan)
{
    float best = NAN;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const float value = abs ? fabsf(as_float(values[lane])) : as_float(values[lane]);
        const bool before = value < best || (value == best && signbit(value) && !signbit(best));
        const bool after = value > best || (value == best && !signbit(value) && signbit(best));
        if (!(members >> lane & 1))
            continue;
        if (isnan(value) && nan)
            return 0x7fffffff;
        if (!isnan(value) && (isnan(best) || (max ? after : before)))
            best = value;
    }
    return float_word(best);
}

static void check_redux(enum ops_level level, unsigned round)
{
    static struct test_warp test;
    const bool max = round & 1, abs = round & 2, nan = round & 4, many_nans = round & 8;
    const uint32_t all = (uint32_t)random_bits() | 1U << round % 32;
    const uint32_t mask = round & 16 ? PTX_FULL : all;
    const struct ir_insn insn = {.op = IR_REDUX,
                                 .atomic = max ? IR_ATOM_MAX : IR_ATOM_MIN,
                                 .abs = abs,
                                 .nan = nan,
                                 .sync = true,
                                 .types = {IR_F32},
                                 .count = 3,
                                 .destinations = 1};
    const char *reason = NULL;
    uint32_t values[PTX_LANES], result[PTX_LANES];
    warp_reset(&test);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        values[lane] = (uint32_t)interesting(4);
        if (!many_nans && isnan(as_float(values[lane])))
            values[lane] ^= 0x40000000;
        if (many_nans && round & 32)
            values[lane] |= 0x7fc00000;
        if (round & 64)
            values[lane] &= 0x80000001;
        ((uint32_t *)(void *)test.registers[2])[lane] = all;
    }
    memcpy(test.registers[1], values, sizeof values);
    memset(test.registers[0], 0x55, sizeof values);
    for (unsigned i = 0; i < 3; i++)
        test.step.operand[i] = i * (uint32_t)sizeof test.registers[0];
    ptx_run *const run = select_at(level, &insn, &test.step.how, &reason);
    assert_non_null(run);
    run(&test.warp, &test.step, mask);
    memcpy(result, test.registers[0], sizeof result);
    const uint32_t want = extreme_of(values, mask, max, abs, nan); /* of those that are there */
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        assert_int_equal(result[lane], mask >> lane & 1 ? want : 0x55555555);
}

static void test_redux(void **state)
{
    (void)state;
    for (enum ops_level level = OPS_BASE; level <= select_best_level(); level++)
        for (unsigned round = 0; round < 2048; round++)
            check_redux(level, round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_redux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
