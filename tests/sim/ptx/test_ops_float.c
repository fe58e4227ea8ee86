/* SPDX-License-Identifier: MIT */
/* float, double, f16, bf16 and conversions: against the CPU's scalar arithmetic under each rounding
 * mode, and against a search for the nearest number of a small format. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "float_case.h"
#include "ops_harness.h"

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t double_word(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* Volatile operands keep the compiler from working out or moving what depends on the mode. */
#define MODES(X) X(rn, FE_TONEAREST) X(rz, FE_TOWARDZERO) X(rm, FE_DOWNWARD) X(rp, FE_UPWARD)
#define ROUNDED(name, mode, T, from, to, value)                                                    \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        volatile T a = from(in[0]), b = from(in[1]), c = from(in[2]), result;                      \
        fesetround(mode);                                                                          \
        result = value;                                                                            \
        fesetround(FE_TONEAREST);                                                                  \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        out[0] = to(result);                                                                       \
    }
#define OPERATIONS(r, mode)                                                                        \
    ROUNDED(add_f32_##r, mode, float, as_float, float_word, a + b)                                 \
    ROUNDED(sub_f32_##r, mode, float, as_float, float_word, a - b)                                 \
    ROUNDED(mul_f32_##r, mode, float, as_float, float_word, a *b)                                  \
    ROUNDED(div_f32_##r, mode, float, as_float, float_word, a / b)                                 \
    ROUNDED(fma_f32_##r, mode, float, as_float, float_word, fmaf(a, b, c))                         \
    ROUNDED(sqrt_f32_##r, mode, float, as_float, float_word, sqrtf(a))                             \
    ROUNDED(rcp_f32_##r, mode, float, as_float, float_word, 1.0F / a)                              \
    ROUNDED(add_f64_##r, mode, double, as_double, double_word, a + b)                              \
    ROUNDED(mul_f64_##r, mode, double, as_double, double_word, a *b)                               \
    ROUNDED(div_f64_##r, mode, double, as_double, double_word, a / b)                              \
    ROUNDED(fma_f64_##r, mode, double, as_double, double_word, fma(a, b, c))                       \
    ROUNDED(sqrt_f64_##r, mode, double, as_double, double_word, sqrt(a))                           \
    static void narrow_##r(const uint64_t in[4], uint64_t out[2])                                  \
    {                                                                                              \
        volatile double a = as_double(in[0]);                                                      \
        volatile float result;                                                                     \
        fesetround(mode);                                                                          \
        result = (float)a;                                                                         \
        fesetround(FE_TONEAREST);                                                                  \
        out[0] = float_word(result);                                                               \
    }                                                                                              \
    static void from_s64_##r(const uint64_t in[4], uint64_t out[2])                                \
    {                                                                                              \
        volatile int64_t a = (int64_t)in[0];                                                       \
        volatile float result;                                                                     \
        fesetround(mode);                                                                          \
        result = (float)a;                                                                         \
        fesetround(FE_TONEAREST);                                                                  \
        out[0] = float_word(result);                                                               \
    }
MODES(OPERATIONS)
#define ROW(name, shape, op_, r, mode_, type)                                                      \
    {#name, shape, name, {.op = op_, .rounding = mode_, .types = {type}}, true},
#define ROWS(r, R)                                                                                 \
    ROW(add_f32_##r, "4:44", IR_ADD, r, R, IR_F32)                                                 \
    ROW(sub_f32_##r, "4:44", IR_SUB, r, R, IR_F32)                                                 \
    ROW(mul_f32_##r, "4:44", IR_MUL, r, R, IR_F32)                                                 \
    ROW(div_f32_##r, "4:44", IR_DIV, r, R, IR_F32)                                                 \
    ROW(fma_f32_##r, "4:444", IR_FMA, r, R, IR_F32)                                                \
    ROW(sqrt_f32_##r, "4:4", IR_SQRT, r, R, IR_F32)                                                \
    ROW(rcp_f32_##r, "4:4", IR_RCP, r, R, IR_F32)                                                  \
    ROW(add_f64_##r, "8:88", IR_ADD, r, R, IR_F64)                                                 \
    ROW(mul_f64_##r, "8:88", IR_MUL, r, R, IR_F64)                                                 \
    ROW(div_f64_##r, "8:88", IR_DIV, r, R, IR_F64)                                                 \
    ROW(fma_f64_##r, "8:888", IR_FMA, r, R, IR_F64)                                                \
    ROW(sqrt_f64_##r, "8:8", IR_SQRT, r, R,                                                        \
        IR_F64){"cvt.f32.f64 " #r,                                                                 \
                "4:8",                                                                             \
                narrow_##r,                                                                        \
                {.op = IR_CVT, .rounding = R, .types = {IR_F32, IR_F64}},                          \
                true},                                                                             \
        {"cvt.f32.s64 " #r,                                                                        \
         "4:8",                                                                                    \
         from_s64_##r,                                                                             \
         {.op = IR_CVT, .rounding = R, .types = {IR_F32, IR_S64}},                                 \
         false},

static void test_rounding(void **state)
{
    (void)state;
    static const struct op_case cases[] = {ROWS(rn, IR_RN) ROWS(rz, IR_RZ) ROWS(rm, IR_RM)
                                               ROWS(rp, IR_RP)};
    CHECK(cases);
}

/* --- .ftz, .sat, the one NaN, signs, extremes, classes --- */
#define REF32(name, value)                                                                         \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const float a = as_float(in[0]), b = as_float(in[1]), c = as_float(in[2]);                 \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        out[0] = (uint64_t)(value);                                                                \
    }
/* fminf and fmaxf leave the order of zeros open. */
static float least(float a, float b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static float most(float a, float b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    return a > b || (a == b && signbit(b)) ? a : b;
}
static float xor_least(float a, float b)
{
    const float value = least(fabsf(a), fabsf(b));
    return (signbit(a) != 0) != (signbit(b) != 0) ? -value : value;
}
REF32(add_ftz, float_word(flush(flush(a) + flush(b))))
REF32(mul_sat, float_word(limit(a *b)))
REF32(fma_ftz_sat, float_word(limit(flush(fmaf(flush(a), flush(b), flush(c))))))
REF32(min_f32, float_word(least(a, b)))
REF32(max_ftz, float_word(most(flush(a), flush(b))))
REF32(min_nan, float_word(isnan(a) || isnan(b) ? NAN : least(a, b)))
REF32(min_xorsign, float_word(xor_least(a, b)))
REF32(neg_f32, float_word(-a))
REF32(abs_ftz, float_word(fabsf(flush(a))))
REF32(is_normal, isnormal(a) || a == 0)
REF32(is_subnormal, fpclassify(a) == FP_SUBNORMAL)
REF32(lt_f32, a < b)
REF32(geu_f32, !(a < b))
REF32(ne_ftz, flush(a) < flush(b) || flush(a) > flush(b))
REF32(num_f32, !isnan(a) && !isnan(b))

static void test_variants(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {"add.ftz", "4:44", add_ftz, {.op = IR_ADD, .ftz = true, .types = {IR_F32}}, false},
        {"mul.sat", "4:44", mul_sat, {.op = IR_MUL, .saturate = true, .types = {IR_F32}}, false},
        {"fma.ftz.sat",
         "4:444",
         fma_ftz_sat,
         {.op = IR_FMA, .rounding = IR_RN, .ftz = true, .saturate = true, .types = {IR_F32}},
         false},
        {"min", "4:44", min_f32, {.op = IR_MIN, .types = {IR_F32}}, false},
        {"max.ftz", "4:44", max_ftz, {.op = IR_MAX, .ftz = true, .types = {IR_F32}}, false},
        {"min.NaN", "4:44", min_nan, {.op = IR_MIN, .nan = true, .types = {IR_F32}}, false},
        {"min.xorsign.abs",
         "4:44",
         min_xorsign,
         {.op = IR_MIN, .xorsign = true, .abs = true, .types = {IR_F32}},
         false},
        {"neg", "4:4", neg_f32, {.op = IR_NEG, .types = {IR_F32}}, false},
        {"abs.ftz", "4:4", abs_ftz, {.op = IR_ABS, .ftz = true, .types = {IR_F32}}, false},
        {"testp.normal",
         "p:4",
         is_normal,
         {.op = IR_TESTP, .mode = IR_TESTP_NORMAL, .types = {IR_F32}},
         false},
        {"testp.subnormal",
         "p:4",
         is_subnormal,
         {.op = IR_TESTP, .mode = IR_TESTP_SUBNORMAL, .types = {IR_F32}},
         false},
        {"setp.lt", "p:44", lt_f32, {.op = IR_SETP, .compare = IR_LT, .types = {IR_F32}}, false},
        {"setp.geu", "p:44", geu_f32, {.op = IR_SETP, .compare = IR_GEU, .types = {IR_F32}}, false},
        {"setp.ne.ftz",
         "p:44",
         ne_ftz,
         {.op = IR_SETP, .compare = IR_NE, .ftz = true, .types = {IR_F32}},
         false},
        {"setp.num", "p:44", num_f32, {.op = IR_SETP, .compare = IR_NUM, .types = {IR_F32}}, false},
    };
    CHECK(cases);
}

/* --- f16 and bf16: every finite number in order, and the nearest to an exact value --- */
static long double small_value(unsigned bits, unsigned exponent_bits, unsigned fraction_bits)
{
    const unsigned exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1);
    const unsigned fraction = bits & ((1U << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == (1U << exponent_bits) - 1)
        return fraction ? (long double)NAN : HUGE_VALL;
    return exponent ? ldexpl(1 + ldexpl(fraction, -(int)fraction_bits), (int)exponent - bias)
                    : ldexpl(fraction, 1 - bias - (int)fraction_bits);
}
static long double value_of(uint64_t half, unsigned exponent_bits)
{
    const long double magnitude =
        small_value((unsigned)half & 0x7fff, exponent_bits, 15 - exponent_bits);
    return half & 0x8000 ? -magnitude : magnitude;
}
/* To nearest, ties to even: the bits of positive numbers are in their order. `rest` is what the
 * exact value has beyond `value`, too little to matter but in a tie. */
static uint64_t nearest_with(long double value, long double rest, unsigned exponent_bits)
{
    const unsigned width = 15 - exponent_bits, infinity = ((1U << exponent_bits) - 1) << width;
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const long double magnitude = fabsl(value);
    unsigned low = 0, high = infinity;
    if (isnan(value))
        return 0x7fff;
    while (high - low > 1) { /* value(low) <= magnitude < value(high) */
        const unsigned middle = (low + high) / 2;
        if (small_value(middle, exponent_bits, width) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    /* The step above the largest number counts as long as the one below. */
    const long double floor_value = small_value(low, exponent_bits, width);
    const long double above = low + 1 < infinity
                                  ? small_value(low + 1, exponent_bits, width)
                                  : 2 * floor_value - small_value(low - 1, exponent_bits, width);
    const long double down = magnitude - floor_value, up = above - magnitude;
    if (down == up && rest != 0)
        return sign | (low + (signbit(rest) == signbit(value)));
    return sign | (down < up || (down == up && !(low & 1)) ? low : low + 1);
}
static uint64_t nearest(long double value, unsigned exponent_bits)
{
    return nearest_with(value, 0, exponent_bits);
}
/* The product is exact; the error of the sum is, too. */
static uint64_t nearest_fma(long double a, long double b, long double c, unsigned exponent_bits)
{
    const long double product = a * b, sum = product + c, added = sum - product;
    const long double rest = (product - (sum - added)) + (c - added);
    return nearest_with(sum, isfinite(rest) ? rest : 0, exponent_bits);
}
#define HALF_REF(name, bits, value)                                                                \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const long double a = value_of(in[0], bits), b = value_of(in[1], bits);                    \
        const long double c = value_of(in[2], bits);                                               \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        out[0] = value;                                                                            \
    }
#define TWICE(name, single)                                                                        \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const uint64_t low[4] = {in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff, 0};               \
        const uint64_t high[4] = {in[0] >> 16, in[1] >> 16, in[2] >> 16, 0};                       \
        uint64_t part[2];                                                                          \
        single(low, out);                                                                          \
        single(high, part);                                                                        \
        out[0] |= part[0] << 16;                                                                   \
    }
HALF_REF(add_f16, 5, nearest(a + b, 5))
HALF_REF(mul_f16, 5, nearest(a *b, 5))
HALF_REF(fma_f16, 5, nearest_fma(a, b, c, 5))
HALF_REF(sub_bf16, 8, nearest(a - b, 8))
HALF_REF(mul_bf16, 8, nearest(a *b, 8))
HALF_REF(fma_bf16, 8, nearest_fma(a, b, c, 8))
HALF_REF(wider_f16, 5, float_word((float)a))
TWICE(fma_f16x2, fma_f16)
TWICE(fma_bf16x2, fma_bf16)
TWICE(mul_f16x2, mul_f16)
static void to_f16(const uint64_t in[4], uint64_t out[2])
{
    out[0] = nearest((long double)as_float(in[0]), 5);
}
static void to_bf16(const uint64_t in[4], uint64_t out[2])
{
    out[0] = nearest((long double)as_float(in[0]), 8);
}
static void to_f16x2(const uint64_t in[4], uint64_t out[2])
{
    out[0] =
        nearest((long double)as_float(in[0]), 5) << 16 | nearest((long double)as_float(in[1]), 5);
}
static void e4m3(const uint64_t in[4], uint64_t out[2])
{
    /* Two numbers of 8 bits, without infinity: 448 is the largest. */
    uint64_t parts[2];
    for (unsigned i = 0; i < 2; i++) {
        const long double value = (long double)as_float(in[i]), magnitude = fabsl(value);
        const uint64_t sign = signbit(value) ? 0x80 : 0;
        unsigned best = 0;
        for (unsigned bits = 1; bits <= 0x7e; bits++) {
            const int exponent = (int)(bits >> 3);
            const long double number =
                exponent ? ldexpl(1 + (bits & 7) / 8.0L, exponent - 7) : ldexpl(bits & 7, -9);
            const int last = (int)(best >> 3);
            const long double old =
                last ? ldexpl(1 + (best & 7) / 8.0L, last - 7) : ldexpl(best & 7, -9);
            const long double near = fabsl(number - magnitude), before = fabsl(old - magnitude);
            if (near < before || (near == before && !(bits & 1)))
                best = bits;
        }
        parts[i] = isnan(value) ? 0x7f : isinf(value) ? sign | 0x7e : sign | best;
    }
    out[0] = parts[0] << 8 | parts[1];
}

static void test_halves(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {"add.f16", "2:22", add_f16, {.op = IR_ADD, .types = {IR_F16}}, false},
        {"mul.f16", "2:22", mul_f16, {.op = IR_MUL, .types = {IR_F16}}, false},
        {"fma.f16", "2:222", fma_f16, {.op = IR_FMA, .rounding = IR_RN, .types = {IR_F16}}, false},
        {"sub.bf16", "2:22", sub_bf16, {.op = IR_SUB, .types = {IR_BF16}}, false},
        {"mul.bf16", "2:22", mul_bf16, {.op = IR_MUL, .types = {IR_BF16}}, false},
        {"fma.bf16",
         "2:222",
         fma_bf16,
         {.op = IR_FMA, .rounding = IR_RN, .types = {IR_BF16}},
         false},
        {"fma.f16x2",
         "4:444",
         fma_f16x2,
         {.op = IR_FMA, .rounding = IR_RN, .types = {IR_F16X2}},
         false},
        {"fma.bf16x2",
         "4:444",
         fma_bf16x2,
         {.op = IR_FMA, .rounding = IR_RN, .types = {IR_BF16X2}},
         false},
        {"mul.f16x2", "4:44", mul_f16x2, {.op = IR_MUL, .types = {IR_F16X2}}, false},
        {"cvt.f32.f16", "4:2", wider_f16, {.op = IR_CVT, .types = {IR_F32, IR_F16}}, false},
        {"cvt.rn.f16.f32",
         "2:4",
         to_f16,
         {.op = IR_CVT, .rounding = IR_RN, .types = {IR_F16, IR_F32}},
         false},
        {"cvt.rn.bf16.f32",
         "2:4",
         to_bf16,
         {.op = IR_CVT, .rounding = IR_RN, .types = {IR_BF16, IR_F32}},
         false},
        {"cvt.rn.f16x2.f32",
         "4:44",
         to_f16x2,
         {.op = IR_CVT, .rounding = IR_RN, .types = {IR_F16X2, IR_F32}},
         false},
        {"cvt.rn.satfinite.e4m3x2.f32",
         "2:44",
         e4m3,
         {.op = IR_CVT, .rounding = IR_RN, .satfinite = true, .types = {IR_E4M3X2, IR_F32}},
         false},
    };
    CHECK(cases);
}

/* --- float to integer --- */
static uint64_t whole(long double value, long double low, long double high, uint64_t nan,
                      unsigned width)
{
    if (isnan(value))
        return nan;
    const long double limited = value < low ? low : value > high ? high : value;
    const uint64_t bits = limited < 0 ? (uint64_t)(int64_t)limited : (uint64_t)limited;
    return width == 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}
#define WHOLE(name, from, round, low, high, nan, width)                                            \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        out[0] = whole(round((long double)from(in[0])), low, high, nan, width);                    \
    }
WHOLE(rzi_s32, as_float, truncl, -0x1p31L, 0x1p31L - 1, 0, 32)
WHOLE(rni_u32, as_float, rintl, 0, 0x1p32L - 1, 0, 32)
WHOLE(rmi_s8, as_float, floorl, -128, 127, 0, 8)
WHOLE(rpi_u16, as_float, ceill, 0, 65535, 0, 16)
WHOLE(rzi_s64, as_float, truncl, -0x1p63L, 0x1p63L - 1, UINT64_C(1) << 63, 64)
WHOLE(rni_d_s32, as_double, rintl, -0x1p31L, 0x1p31L - 1, UINT64_C(1) << 31, 32)
WHOLE(rpi_d_u64, as_double, ceill, 0, 0x1p64L - 1, UINT64_C(1) << 63, 64)

static void test_integers(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {"cvt.rzi.s32.f32",
         "4:4",
         rzi_s32,
         {.op = IR_CVT, .rounding = IR_RZI, .types = {IR_S32, IR_F32}},
         false},
        {"cvt.rni.u32.f32",
         "4:4",
         rni_u32,
         {.op = IR_CVT, .rounding = IR_RNI, .types = {IR_U32, IR_F32}},
         false},
        {"cvt.rmi.s8.f32",
         "4:4",
         rmi_s8,
         {.op = IR_CVT, .rounding = IR_RMI, .types = {IR_S8, IR_F32}},
         false},
        {"cvt.rpi.u16.f32",
         "4:4",
         rpi_u16,
         {.op = IR_CVT, .rounding = IR_RPI, .types = {IR_U16, IR_F32}},
         false},
        {"cvt.rzi.s64.f32",
         "8:4",
         rzi_s64,
         {.op = IR_CVT, .rounding = IR_RZI, .types = {IR_S64, IR_F32}},
         false},
        {"cvt.rni.s32.f64",
         "4:8",
         rni_d_s32,
         {.op = IR_CVT, .rounding = IR_RNI, .types = {IR_S32, IR_F64}},
         false},
        {"cvt.rpi.u64.f64",
         "8:8",
         rpi_d_u64,
         {.op = IR_CVT, .rounding = IR_RPI, .types = {IR_U64, IR_F64}},
         false},
    };
    CHECK(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
