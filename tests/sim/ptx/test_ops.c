/* SPDX-License-Identifier: MIT */
/* Integer arithmetic, logic, bit fields, comparisons, selection: against bit loops and __int128. */
#include <limits.h>

#include "ops_harness.h"

typedef __int128 wide;
#define S16(x) ((int16_t)(uint16_t)(x))
#define S32(x) ((int32_t)(uint32_t)(x))
#define S64(x) ((int64_t)(x))
#define REF(name, value)                                                                           \
    static void name(const uint64_t in[4], uint64_t out[2])                                        \
    {                                                                                              \
        const uint64_t a = in[0], b = in[1], c = in[2], d = in[3];                                 \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        (void)d;                                                                                   \
        out[0] = (uint64_t)(value);                                                                \
    }

static uint64_t cut(wide value, unsigned width)
{
    const uint64_t low = (uint64_t)value;
    return width == 64 ? low : low & ((UINT64_C(1) << width) - 1);
}
static wide as(uint64_t bits, unsigned width, bool is_signed)
{
    const uint64_t low = cut((wide)bits, width);
    return is_signed && low >> (width - 1) ? (wide)low - ((wide)1 << width) : (wide)low;
}
static wide clamp(wide value, wide least, wide most)
{
    return value < least ? least : value > most ? most : value;
}

/* For each type: name, width, signed. */
#define TYPES(X)                                                                                   \
    X(U16, 16, false)                                                                              \
    X(S16, 16, true) X(U32, 32, false) X(S32, 32, true) X(U64, 64, false) X(S64, 64, true)
#define ARITHMETIC(T, W, S)                                                                        \
    REF(add_##T, cut(as(a, W, S) + as(b, W, S), W))                                                \
    REF(sub_##T, cut(as(a, W, S) - as(b, W, S), W))                                                \
    REF(mul_##T, cut((wide)((unsigned __int128)as(a, W, S) * (unsigned __int128)as(b, W, S)), W))  \
    REF(high_##T,                                                                                  \
        cut((wide)((unsigned __int128)as(a, W, S) * (unsigned __int128)as(b, W, S)) >> W, W))      \
    REF(mad_##T, cut((wide)((unsigned __int128)a * b + c), W))                                     \
    REF(sad_##T, cut((wide)c + (as(a, W, S) < as(b, W, S) ? as(b, W, S) - as(a, W, S)              \
                                                          : as(a, W, S) - as(b, W, S)),            \
                     W))                                                                           \
    REF(div_##T, cut(as(b, W, S) ? as(a, W, S) / as(b, W, S) : -1, W))                             \
    REF(min_##T, cut(as(a, W, S) < as(b, W, S) ? as(a, W, S) : as(b, W, S), W))                    \
    REF(max_##T, cut(as(a, W, S) > as(b, W, S) ? as(a, W, S) : as(b, W, S), W))                    \
    REF(shr_##T, cut(as(a, W, S) >> (b > W ? W : b), W))                                           \
    REF(lt_##T, as(a, W, S) < as(b, W, S))                                                         \
    REF(ge_##T, as(a, W, S) >= as(b, W, S))
TYPES(ARITHMETIC)

#define LETTER(W) (W == 16 ? "2:22" : W == 32 ? "4:44" : "8:88")
#define LETTER3(W) (W == 16 ? "2:222" : W == 32 ? "4:444" : "8:888")
#define LETTERP(W) (W == 16 ? "p:22" : W == 32 ? "p:44" : "p:88")
#define LETTERSH(W) (W == 16 ? "2:24" : W == 32 ? "4:44" : "8:84")
#define ROWS(T, W, S)                                                                              \
    {"add." #T, LETTER(W), add_##T, {.op = IR_ADD, .types = {IR_##T}}, false},                     \
        {"sub." #T, LETTER(W), sub_##T, {.op = IR_SUB, .types = {IR_##T}}, false},                 \
        {"mul.lo." #T,                                                                             \
         LETTER(W),                                                                                \
         mul_##T,                                                                                  \
         {.op = IR_MUL, .half = IR_LO, .types = {IR_##T}},                                         \
         false},                                                                                   \
        {"mul.hi." #T,                                                                             \
         LETTER(W),                                                                                \
         high_##T,                                                                                 \
         {.op = IR_MUL, .half = IR_HI, .types = {IR_##T}},                                         \
         false},                                                                                   \
        {"mad.lo." #T,                                                                             \
         LETTER3(W),                                                                               \
         mad_##T,                                                                                  \
         {.op = IR_MAD, .half = IR_LO, .types = {IR_##T}},                                         \
         false},                                                                                   \
        {"sad." #T, LETTER3(W), sad_##T, {.op = IR_SAD, .types = {IR_##T}}, false},                \
        {"div." #T, LETTER(W), div_##T, {.op = IR_DIV, .types = {IR_##T}}, false},                 \
        {"min." #T, LETTER(W), min_##T, {.op = IR_MIN, .types = {IR_##T}}, false},                 \
        {"max." #T, LETTER(W), max_##T, {.op = IR_MAX, .types = {IR_##T}}, false},                 \
        {"shr." #T, LETTERSH(W), shr_##T, {.op = IR_SHR, .types = {IR_##T}}, false},               \
        {"setp.lt." #T,                                                                            \
         LETTERP(W),                                                                               \
         lt_##T,                                                                                   \
         {.op = IR_SETP, .compare = IR_LT, .types = {IR_##T}},                                     \
         false},                                                                                   \
        {"setp.ge." #T,                                                                            \
         LETTERP(W),                                                                               \
         ge_##T,                                                                                   \
         {.op = IR_SETP, .compare = IR_GE, .types = {IR_##T}},                                     \
         false},

static void test_each_type(void **state)
{
    (void)state;
    const struct op_case cases[] = {TYPES(ROWS)};
    CHECK(cases);
}

/* --- rem, products of twice the width, saturation, 24 bits --- */
#define REMAINDER(T, W, S) REF(rem_##T, cut(as(b, W, S) ? as(a, W, S) % as(b, W, S) : -1, W))
TYPES(REMAINDER)
REF(wide_u16, (a & 0xffff) * (b & 0xffff))
REF(wide_s16, cut(S16(a) * S16(b), 32))
REF(wide_u32, a *b)
REF(wide_s32, (int64_t)S32(a) * S32(b))
REF(madwide_s16, cut((wide)S16(a) * S16(b) + (wide)c, 32))
REF(madwide_u32, a *b + c)
REF(madwide_s32, (uint64_t)((int64_t)S32(a) * S32(b)) + c)
REF(madhi_u32, cut((wide)(a *b >> 32) + (wide)c, 32))
REF(madhi_s64, cut(((wide)S64(a) * S64(b) >> 64) + (wide)c, 64))
REF(madhi_sat, cut(clamp(((wide)S32(a) * S32(b) >> 32) + S32(c), INT_MIN, INT_MAX), 32))
REF(add_sat, cut(clamp((wide)S32(a) + S32(b), INT_MIN, INT_MAX), 32))
REF(sub_sat, cut(clamp((wide)S32(a) - S32(b), INT_MIN, INT_MAX), 32))
REF(min_relu, clamp(S32(a) < S32(b) ? S32(a) : S32(b), 0, INT_MAX))
REF(neg_16, cut(-(wide)a, 16))
REF(neg_32, cut(-(wide)a, 32))
REF(neg_64, cut(-(wide)a, 64))
REF(abs_16, cut(S16(a) < 0 ? -S16(a) : S16(a), 16))
REF(abs_32, cut(S32(a) < 0 ? -(wide)S32(a) : S32(a), 32))
REF(abs_64, cut(S64(a) < 0 ? -(wide)S64(a) : S64(a), 64))
REF(mul24_lo, cut((wide)(a & 0xffffff) * (b & 0xffffff), 32))
REF(mul24_hi_s, cut(as(a, 24, true) * as(b, 24, true) >> 16, 32))
REF(mad24_hi_sat, cut(clamp(as(cut(as(a, 24, true) * as(b, 24, true) >> 16, 32), 32, true) + S32(c),
                            INT_MIN, INT_MAX),
                      32))
REF(add_16x2, cut(a + b, 16) | cut((a >> 16) + (b >> 16), 16) << 16)
REF(min_s16x2, cut(S16(a) < S16(b) ? S16(a) : S16(b), 16) |
                   cut(S16(a >> 16) < S16(b >> 16) ? S16(a >> 16) : S16(b >> 16), 16) << 16)
REF(max_u16x2, ((a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff) |
                   (a >> 16 > b >> 16 ? a >> 16 : b >> 16) << 16)

static void test_products(void **state)
{
#define DIVIDE(T, W, S) {"rem." #T, LETTER(W), rem_##T, {.op = IR_REM, .types = {IR_##T}}, false},
    (void)state;
    const struct op_case cases[] = {
        TYPES(DIVIDE){"wide.u16",
                      "4:22",
                      wide_u16,
                      {.op = IR_MUL, .half = IR_WIDE, .types = {IR_U16}},
                      false},
        {"wide.s16", "4:22", wide_s16, {.op = IR_MUL, .half = IR_WIDE, .types = {IR_S16}}, false},
        {"wide.u32", "8:44", wide_u32, {.op = IR_MUL, .half = IR_WIDE, .types = {IR_U32}}, false},
        {"wide.s32", "8:44", wide_s32, {.op = IR_MUL, .half = IR_WIDE, .types = {IR_S32}}, false},
        {"mad.wide.s16",
         "4:224",
         madwide_s16,
         {.op = IR_MAD, .half = IR_WIDE, .types = {IR_S16}},
         false},
        {"mad.wide.u32",
         "8:448",
         madwide_u32,
         {.op = IR_MAD, .half = IR_WIDE, .types = {IR_U32}},
         false},
        {"mad.wide.s32",
         "8:448",
         madwide_s32,
         {.op = IR_MAD, .half = IR_WIDE, .types = {IR_S32}},
         false},
        {"mad.hi.u32", "4:444", madhi_u32, {.op = IR_MAD, .half = IR_HI, .types = {IR_U32}}, false},
        {"mad.hi.s64", "8:888", madhi_s64, {.op = IR_MAD, .half = IR_HI, .types = {IR_S64}}, false},
        {"mad.hi.sat",
         "4:444",
         madhi_sat,
         {.op = IR_MAD, .half = IR_HI, .saturate = true, .types = {IR_S32}},
         false},
        {"add.sat", "4:44", add_sat, {.op = IR_ADD, .saturate = true, .types = {IR_S32}}, false},
        {"sub.sat", "4:44", sub_sat, {.op = IR_SUB, .saturate = true, .types = {IR_S32}}, false},
        {"min.relu", "4:44", min_relu, {.op = IR_MIN, .relu = true, .types = {IR_S32}}, false},
        {"neg.s16", "2:2", neg_16, {.op = IR_NEG, .types = {IR_S16}}, false},
        {"neg.s32", "4:4", neg_32, {.op = IR_NEG, .types = {IR_S32}}, false},
        {"neg.s64", "8:8", neg_64, {.op = IR_NEG, .types = {IR_S64}}, false},
        {"abs.s16", "2:2", abs_16, {.op = IR_ABS, .types = {IR_S16}}, false},
        {"abs.s32", "4:4", abs_32, {.op = IR_ABS, .types = {IR_S32}}, false},
        {"abs.s64", "8:8", abs_64, {.op = IR_ABS, .types = {IR_S64}}, false},
        {"mul24.lo.u32",
         "4:44",
         mul24_lo,
         {.op = IR_MUL24, .half = IR_LO, .types = {IR_U32}},
         false},
        {"mul24.hi.s32",
         "4:44",
         mul24_hi_s,
         {.op = IR_MUL24, .half = IR_HI, .types = {IR_S32}},
         false},
        {"mad24.hi.sat",
         "4:444",
         mad24_hi_sat,
         {.op = IR_MAD24, .half = IR_HI, .saturate = true, .types = {IR_S32}},
         false},
        {"add.u16x2", "4:44", add_16x2, {.op = IR_ADD, .types = {IR_U16X2}}, false},
        {"min.s16x2", "4:44", min_s16x2, {.op = IR_MIN, .types = {IR_S16X2}}, false},
        {"max.u16x2", "4:44", max_u16x2, {.op = IR_MAX, .types = {IR_U16X2}}, false},
    };
    CHECK(cases);
}

/* --- logic, shifts, permutation, selection --- */
REF(and_ref, a &b)
REF(or_ref, a | b)
REF(xor_ref, a ^ b)
REF(not_16, ~a & 0xffff)
REF(not_64, ~a)
REF(not_pred, !a)
REF(cnot_32, a == 0)
REF(shl_16, b > 15 ? 0 : a << b & 0xffff)
REF(shl_32, b > 31 ? 0 : cut((wide)a << b, 32))
REF(shl_64, b > 63 ? 0 : a << b)
REF(shf_l_clamp, cut((wide)(b << 32 | a) << (c > 32 ? 32 : c) >> 32, 32))
REF(shf_l_wrap, cut((wide)(b << 32 | a) << (c & 31) >> 32, 32))
REF(shf_r_clamp, (b << 32 | a) >> (c > 32 ? 32 : c) & 0xffffffff)
REF(shf_r_wrap, (b << 32 | a) >> (c & 31) & 0xffffffff)
REF(selp_ref, c ? a : b)
REF(slct_s32, S32(c) >= 0 ? a : b)

static void prmt_ref(const uint64_t in[4], uint64_t out[2])
{
    const uint64_t bytes = in[1] << 32 | in[0];
    out[0] = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = in[2] >> (4 * i) & 15, byte = bytes >> (8 * (nibble & 7)) & 255;
        out[0] |= (uint64_t)(nibble & 8 ? (byte & 128 ? 255U : 0U) : byte) << (8 * i);
    }
}
/* The modes by their rule: a byte's place from the left or right end, or repeated. */
static void prmt_f4e(const uint64_t in[4], uint64_t out[2])
{
    out[0] = (in[1] << 32 | in[0]) >> (8 * (in[2] & 3)) & 0xffffffff;
}
static void prmt_rc16(const uint64_t in[4], uint64_t out[2])
{
    out[0] = (in[0] >> (16 * (in[2] & 1)) & 0xffff) * 0x10001;
}
static void prmt_ecl(const uint64_t in[4], uint64_t out[2])
{
    out[0] = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned low = in[2] & 3, from = i < low ? low : i;
        out[0] |= (in[0] >> (8 * from) & 255) << (8 * i);
    }
}
static uint64_t table3(uint64_t a, uint64_t b, uint64_t c, unsigned lut)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint64_t row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
        result |= (uint64_t)(lut >> row & 1) << i;
    }
    return result;
}
REF(lop3_96, table3(a, b, c, 0x96))
REF(lop3_ca, table3(a, b, c, 0xca))

static void test_logic(void **state)
{
#define TABLE(lut) {.kind = IR_OPERAND_IMM, .bits = lut}
    (void)state;
    const struct op_case cases[] = {
        {"and.b16", "2:22", and_ref, {.op = IR_AND, .types = {IR_B16}}, false},
        {"or.b32", "4:44", or_ref, {.op = IR_OR, .types = {IR_B32}}, false},
        {"xor.b64", "8:88", xor_ref, {.op = IR_XOR, .types = {IR_B64}}, false},
        {"and.pred", "p:pp", and_ref, {.op = IR_AND, .types = {IR_PRED}}, false},
        {"xor.pred", "p:pp", xor_ref, {.op = IR_XOR, .types = {IR_PRED}}, false},
        {"not.pred", "p:p", not_pred, {.op = IR_NOT, .types = {IR_PRED}}, false},
        {"not.b16", "2:2", not_16, {.op = IR_NOT, .types = {IR_B16}}, false},
        {"not.b64", "8:8", not_64, {.op = IR_NOT, .types = {IR_B64}}, false},
        {"cnot.b32", "4:4", cnot_32, {.op = IR_CNOT, .types = {IR_B32}}, false},
        {"shl.b16", "2:24", shl_16, {.op = IR_SHL, .types = {IR_B16}}, false},
        {"shl.b32", "4:44", shl_32, {.op = IR_SHL, .types = {IR_B32}}, false},
        {"shl.b64", "8:84", shl_64, {.op = IR_SHL, .types = {IR_B64}}, false},
        {"shf.l.clamp",
         "4:444",
         shf_l_clamp,
         {.op = IR_SHF, .mode = IR_SHF_L_CLAMP, .types = {IR_B32}},
         false},
        {"shf.l.wrap",
         "4:444",
         shf_l_wrap,
         {.op = IR_SHF, .mode = IR_SHF_L_WRAP, .types = {IR_B32}},
         false},
        {"shf.r.clamp",
         "4:444",
         shf_r_clamp,
         {.op = IR_SHF, .mode = IR_SHF_R_CLAMP, .types = {IR_B32}},
         false},
        {"shf.r.wrap",
         "4:444",
         shf_r_wrap,
         {.op = IR_SHF, .mode = IR_SHF_R_WRAP, .types = {IR_B32}},
         false},
        {"prmt", "4:444", prmt_ref, {.op = IR_PRMT, .types = {IR_B32}}, false},
        {"prmt.f4e",
         "4:444",
         prmt_f4e,
         {.op = IR_PRMT, .mode = IR_PRMT_F4E, .types = {IR_B32}},
         false},
        {"prmt.ecl",
         "4:444",
         prmt_ecl,
         {.op = IR_PRMT, .mode = IR_PRMT_ECL, .types = {IR_B32}},
         false},
        {"prmt.rc16",
         "4:444",
         prmt_rc16,
         {.op = IR_PRMT, .mode = IR_PRMT_RC16, .types = {IR_B32}},
         false},
        {"lop3.96",
         "4:444i",
         lop3_96,
         {.op = IR_LOP3, .types = {IR_B32}, .operands = {[4] = TABLE(0x96)}},
         false},
        {"lop3.ca",
         "4:444i",
         lop3_ca,
         {.op = IR_LOP3, .types = {IR_B32}, .operands = {[4] = TABLE(0xca)}},
         false},
        {"selp.b32", "4:44p", selp_ref, {.op = IR_SELP, .types = {IR_B32}}, false},
        {"selp.f64", "8:88p", selp_ref, {.op = IR_SELP, .types = {IR_F64}}, false},
        {"slct.s32", "8:884", slct_s32, {.op = IR_SLCT, .types = {IR_U64, IR_S32}}, false},
    };
    CHECK(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_type),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_logic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
