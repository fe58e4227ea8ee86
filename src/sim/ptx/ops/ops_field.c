/* SPDX-License-Identifier: MIT */
/* Bit counts and bit fields: popc clz bfind brev fns bfe bfi bmsk szext; dp4a and dp2a. */

#include "ptx/ops/ops.h"

#define LEADING32(x) ((x) ? (unsigned)__builtin_clz(x) : 32U)
#define LEADING64(x) ((x) ? (unsigned)__builtin_clzll(x) : 64U)
static inline uint32_t set_bits(uint32_t bits)
{
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
    return (bits * 0x01010101) >> 24;
}

#define TURNED32(x) ((x) ^ (0U - ((x) >> 31)))
#define TURNED64(x) ((x) ^ (UINT64_C(0) - ((x) >> 63)))
#define FIND(type, T, L, leading, turn, top)                                                       \
    OPS_OP(1, BFIND, 0, OPS_##type, bfind_##T, u32, L, (top) - (leading(turn(a))))                 \
    OPS_OP(1, BFIND, IR_SHIFTAMT, OPS_##type, bfind_amount_##T, u32, L,                            \
           turn(a) ? leading(turn(a)) : UINT32_MAX)
#define SAME(x) (x)

static inline uint32_t reversed(uint32_t bits)
{
    bits = (bits >> 1 & 0x55555555) | (bits & 0x55555555) << 1;
    bits = (bits >> 2 & 0x33333333) | (bits & 0x33333333) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f) | (bits & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(bits);
}

/* The set bit of `bits` that is `offset` set bits from `base`, which itself counts. */
static uint32_t nth_set(uint32_t bits, uint32_t base, int32_t offset)
{
    const bool up = offset >= 0;
    uint32_t left = up ? (uint32_t)offset : 0U - (uint32_t)offset;
    if (offset == 0)
        return base < 32 && (bits >> base & 1) ? base : UINT32_MAX;
    for (int64_t place = base; place >= 0 && place < 32; place += up ? 1 : -1)
        if ((bits >> place & 1) && --left == 0)
            return (uint32_t)place;
    return UINT32_MAX;
}
OPS_APPLY3(run_fns, nth_set, u32, u32, u32, s32)

/* --- fields: position and length are the low 8 bits; of 64-bit ones, which devices make of shifts,
 * all of them --- */
#define COUNT32(x) ((x)&0xff)
#define COUNT64(x) (x)
#define FIELDS(size, top)                                                                          \
    static inline uint##size##_t ones_##size(uint32_t length)                                      \
    {                                                                                              \
        return length > top ? UINT##size##_MAX : (UINT##size##_C(1) << length) - 1;                \
    }                                                                                              \
    OPS_3(bfe_u##size, u##size, u##size, u32, u32,                                                 \
          (COUNT##size(b) > top ? 0 : a >> (b & top)) & ones_##size(COUNT##size(c)))               \
    static inline uint##size##_t field_s##size(int##size##_t a, uint32_t b, uint32_t c)            \
    {                                                                                              \
        const uint32_t position = COUNT##size(b) > top ? top : COUNT##size(b);                     \
        const uint32_t length = COUNT##size(c);                                                    \
        const int##size##_t value = a >> position;                                                 \
        if (length == 0)                                                                           \
            return 0;                                                                              \
        if (length > top)                                                                          \
            return (uint##size##_t)value;                                                          \
        return (uint##size##_t)((int##size##_t)((uint##size##_t)value << (top + 1 - length)) >>    \
                                (top + 1 - length));                                               \
    }                                                                                              \
    OPS_APPLY3(run_bfe_s##size, field_s##size, u##size, s##size, u32, u32)                         \
    static inline uint##size##_t insert_##size(uint##size##_t a, uint##size##_t b, uint32_t c,     \
                                               uint32_t d)                                         \
    {                                                                                              \
        const uint32_t position = COUNT##size(c), length = COUNT##size(d);                         \
        if (position > top)                                                                        \
            return b;                                                                              \
        const uint##size##_t field = ones_##size(length) << position;                              \
        return (b & ~field) | (a << position & field);                                             \
    }                                                                                              \
    OPS_APPLY4(run_bfi_##size, insert_##size, u##size, u##size, u##size, u32, u32)
FIELDS(32, 31U)
FIELDS(64, 63U)

static inline uint32_t bits_from(uint32_t position, uint32_t width)
{
    const uint32_t from = UINT32_MAX << (position & 31);
    const uint32_t end = (position & 31) + (width & 31);
    return end > 31 ? from : from & ~(UINT32_MAX << end);
}
static inline uint32_t extended(uint32_t value, uint32_t width, bool is_signed)
{
    const uint32_t low = value & ((UINT32_C(1) << width) - 1);
    const bool negative = is_signed && width && value >> (width - 1) & 1;
    return negative ? low | UINT32_MAX << width : low;
}

/* --- dot products with an addend --- */
static inline uint32_t byte_of(uint32_t value, unsigned index, bool is_signed)
{
    const uint32_t byte = value >> (8 * index) & 0xff;
    return is_signed ? (uint32_t)(int32_t)(int8_t)(uint8_t)byte : byte;
}
static inline uint32_t half_of(uint32_t value, unsigned index, bool is_signed)
{
    const uint32_t half = value >> (16 * index) & 0xffff;
    return is_signed ? (uint32_t)(int32_t)(int16_t)(uint16_t)half : half;
}
/* dp4a, and dp2a, which takes one half of b. */
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                            unsigned first)
{
    (void)first;
    for (unsigned i = 0; i < 4; i++)
        c += byte_of(a, i, a_signed) * byte_of(b, i, b_signed);
    return c;
}
static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                            unsigned first)
{
    for (unsigned i = 0; i < 2; i++)
        c += half_of(a, i, a_signed) * byte_of(b, first + i, b_signed);
    return c;
}
#define DOT(name)                                                                                  \
    static void run_##name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)      \
    {                                                                                              \
        const struct ir_insn *insn = ptx_insn(step);                                               \
        const bool a_signed = ops_is_signed(insn->types[0]);                                       \
        const bool b_signed = ops_is_signed(insn->types[1]);                                       \
        const unsigned first = insn->half == IR_HI ? 2 : 0;                                        \
        const lane_u32 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_u32 *b = ptx_in(warp, step->operand[2]);                                        \
        const lane_u32 *c = ptx_in(warp, step->operand[3]);                                        \
        OPS_STORE(warp, step, mask, u32,                                                           \
                  name(a[lane], b[lane], c[lane], a_signed, b_signed, first))                      \
    }
DOT(dot4)
DOT(dot2)

#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_field.def"

static const struct ops_row rows[] = {
    OPS_ROW(FNS, 0, OPS_U32, fns),     OPS_BY_SIGN(BFE, 0, bfe, 32),
    OPS_BY_SIGN(BFE, 0, bfe, 64),      OPS_ROW(BFI, 0, OPS_U32, bfi_32),
    OPS_ROW(BFI, 0, OPS_U64, bfi_64),  OPS_ROW(DP4A, 0, OPS_ANY32, dot4),
    OPS_ROW(DP2A, 0, OPS_ANY32, dot2),
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_field.def"
};

ptx_run *OPS_NAME(ops_field)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    return OPS_PICK(rows, insn, insn->mode);
}
