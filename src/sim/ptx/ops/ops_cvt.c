/* SPDX-License-Identifier: MIT */
/* cvt between any two types, lane by lane, by way of an exact intermediate; and cvt.pack. */
#include "ptx/ops/ops.h"

static bool is_integer(unsigned type)
{
    return (opcodes_class(type) <= CLASS_INTEGER && type != IR_B128) ||
           (type >= IR_U4 && type <= IR_S2);
}

static unsigned bits_of(unsigned type)
{
    return opcodes_types[type].bits;
}

static uint64_t low_bits(uint64_t value, unsigned width)
{
    return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

static struct float_value read_integer(uint64_t bits, unsigned type)
{
    const unsigned width = bits_of(type);
    bits = low_bits(bits, width);
    const bool negative = ops_is_signed(type) && bits >> (width - 1) & 1;
    return float_from_integer(negative ? low_bits(0 - bits, width) : bits, negative);
}

/* Clamped to the type's range. A NaN is 0, but the top bit where double or 64 bits are concerned.
 */
static uint64_t write_integer(const struct float_value *value, const struct ir_insn *insn)
{
    const unsigned width = bits_of(insn->types[0]);
    const uint64_t top = UINT64_C(1) << (width - 1);
    const bool is_signed = ops_is_signed(insn->types[0]);
    const uint64_t most = is_signed ? top - 1 : top | (top - 1);
    const uint64_t least = is_signed ? top : 0; /* magnitude of the least number, and its bits */
    if (value->kind == FLOAT_NAN)
        return insn->types[1] == IR_F64 || width == 64 ? top : 0;
    if (value->kind == FLOAT_INFINITE || value->exponent > 63)
        return value->negative ? least : most;
    const uint64_t magnitude = float_shift(value, 63 - value->exponent, insn->rounding);
    if (value->negative)
        return magnitude > least ? least : low_bits(0 - magnitude, width);
    return magnitude > most ? most : magnitude;
}

static bool saturates(const struct ir_insn *insn)
{
    return insn->saturate || insn->op == IR_CVT_PACK;
}

static uint64_t integer_to_integer(uint64_t bits, const struct ir_insn *insn)
{
    const struct float_value value = read_integer(bits, insn->types[1]);
    if (saturates(insn))
        return write_integer(&value, insn);
    const uint64_t magnitude = value.fraction ? value.fraction >> (63 - value.exponent) : 0;
    return low_bits(value.negative ? 0 - magnitude : magnitude, bits_of(insn->types[0]));
}

static uint64_t write_float(struct float_value value, const struct ir_insn *insn)
{
    const struct float_format *format = float_format_of(insn->types[0]);
    const bool to_integral = insn->rounding >= IR_RNI;
    if (to_integral && value.kind == FLOAT_FINITE && value.exponent < 63) {
        const uint64_t magnitude = float_shift(&value, 63 - value.exponent, insn->rounding);
        value = float_from_integer(magnitude, value.negative);
    }
    if (saturates(insn) && (value.kind == FLOAT_NAN || value.negative))
        value = float_from_integer(0, false);
    if (saturates(insn) &&
        (value.kind == FLOAT_INFINITE || (value.fraction && value.exponent >= 0)))
        value = float_from_integer(1, false);
    if (insn->relu && value.kind != FLOAT_NAN && value.negative)
        value = float_from_integer(0, false);
    /* Double has a unit of its own, which keeps what a NaN says; the others deliver one NaN. */
    if (value.kind == FLOAT_NAN && (insn->types[1] == IR_F64 || insn->types[0] == IR_F64)) {
        if (insn->ftz && insn->types[1] == IR_F32)
            value = float_decode(F32_NAN, float_format_of(IR_F32));
        return float_encode_nan(&value, format);
    }
    uint64_t bits = float_encode(&value, format, insn->rounding, insn->satfinite);
    if (insn->ftz && insn->types[0] == IR_F32 && !(bits & F32_INFINITY))
        bits &= F32_SIGN;
    return bits;
}

/* .rna to tf32 is a sum of integers, which leaves infinities and NaNs alone. */
static uint64_t nearest_tf32(uint32_t bits, bool finite)
{
    const uint32_t special = F32_INFINITY;
    if ((bits & special) != special)
        bits += 0x1000;
    if (finite && (bits & ~F32_SIGN) >= special)
        return (bits & ~F32_SIGN) > special ? UINT32_C(0x7fffe000)
                                            : (bits & F32_SIGN) | UINT32_C(0x7f7fe000);
    return bits & ~UINT32_C(0x1fff);
}

static uint64_t convert(uint64_t bits, const struct ir_insn *insn)
{
    if (insn->types[0] == IR_TF32 && insn->rounding == IR_RNA)
        return nearest_tf32((uint32_t)bits, insn->satfinite);
    const struct float_format *from = float_format_of(insn->types[1]);
    struct float_value value;
    if (!from && is_integer(insn->types[0]))
        return integer_to_integer(bits, insn);
    if (from) {
        value = float_decode(bits, from);
        if (insn->ftz && insn->types[1] == IR_F32 && value.kind == FLOAT_FINITE &&
            value.exponent < -126)
            value.fraction = 0;
    } else {
        value = read_integer(bits, insn->types[1]);
    }
    return is_integer(insn->types[0]) ? write_integer(&value, insn) : write_float(value, insn);
}

static bool is_wide(unsigned type)
{
    return bits_of(type) == 64;
}

static void run_convert(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const void *from = ptx_in(warp, step->operand[1]);
    void *to = ptx_out(warp, step->operand[0]);
    FOR_LANES (lane, mask) {
        const uint64_t source = ptx_lane(from, is_wide(insn->types[1]), lane);
        ptx_lane_set(to, is_wide(insn->types[0]), lane, convert(source, insn));
    }
}

/* Two results in one register: from a (upper) and b, or from the halves of a. */
static void run_convert_pair(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const bool pair = insn->count > 2;
    const unsigned half = bits_of(insn->types[0]) / 2, from_half = bits_of(insn->types[1]) / 2;
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    const lane_u32 *b = pair ? ptx_in(warp, step->operand[2]) : a;
    lane_u32 *to = ptx_out(warp, step->operand[0]);
    FOR_LANES (lane, mask) {
        const uint32_t upper = pair ? a[lane] : a[lane] >> from_half;
        to[lane] = (uint32_t)(convert(upper, insn) << half | convert(b[lane], insn));
    }
}

/* .rs: up if the highest of the lost bits, as many as float has more than the format, and as many
 * random ones have a carry. Below the format's normal numbers more bits are lost than that. */
static struct float_value round_randomly(uint32_t bits, const struct float_format *format,
                                         uint32_t random)
{
    const struct float_value value = float_decode(bits, float_format_of(IR_F32));
    const int least = 2 - (1 << (format->exponent_bits - 1)); /* of a normal number */
    const unsigned width = 23U - format->fraction_bits;
    const int drop =
        63 - format->fraction_bits + (value.exponent < least ? least - value.exponent : 0);
    const int lower = drop - (int)width;
    if (value.kind != FLOAT_FINITE)
        return value;
    const uint64_t kept = drop < 64 ? value.fraction >> drop : 0;
    const uint64_t lost = low_bits(lower < 64 ? value.fraction >> lower : 0, width);
    const uint64_t carry = (lost + low_bits(random, width)) >> width;
    struct float_value result = float_from_integer(kept + carry, value.negative);
    result.exponent += value.exponent - 63 + drop;
    return result;
}

static void run_convert_random(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const struct float_format *format = float_format_of(insn->types[0]);
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *random = ptx_in(warp, step->operand[3]);
    lane_u32 *to = ptx_out(warp, step->operand[0]);
    FOR_LANES (lane, mask) {
        const uint64_t upper =
            write_float(round_randomly(a[lane], format, random[lane] >> 16), insn);
        to[lane] = (uint32_t)(upper << 16 |
                              write_float(round_randomly(b[lane], format, random[lane]), insn));
    }
}

/* d = c : sat(a) : sat(b), each as wide as the type; without c its place is zero. */
static void run_pack(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const unsigned width = bits_of(insn->types[0]);
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = insn->count > 3 ? ptx_in(warp, step->operand[3]) : NULL;
    lane_u32 *to = ptx_out(warp, step->operand[0]);
    FOR_LANES (lane, mask) {
        const uint64_t rest = c ? (uint64_t)c[lane] << (2 * width) : 0;
        to[lane] = (uint32_t)(rest | convert(a[lane], insn) << width | convert(b[lane], insn));
    }
}

static bool is_pair(unsigned type)
{
    return type == IR_F16X2 || type == IR_BF16X2 || type == IR_E4M3X2 || type == IR_E5M2X2 ||
           type == IR_E2M1X2 || type == IR_E2M3X2 || type == IR_E3M2X2;
}

ptx_run *ops_cvt(const struct ir_insn *insn, union ptx_how *how)
{
    const bool pack = insn->op == IR_CVT_PACK;
    const unsigned to = insn->types[0], from = insn->types[1];
    if (insn->op != IR_CVT && !pack)
        return NULL;
    (void)how;
    if (pack)
        return run_pack;
    if ((!is_integer(to) && !float_format_of(to)) || (!is_integer(from) && !float_format_of(from)))
        return NULL;
    if (insn->rounding == IR_RS)
        return run_convert_random;
    return is_pair(to) ? run_convert_pair : run_convert;
}
