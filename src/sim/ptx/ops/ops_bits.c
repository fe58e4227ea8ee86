/* SPDX-License-Identifier: MIT */
/* Logic, shifts, byte permutation, moves and selections; on predicates too. */

#include "ptx/ops/ops_mask.h"

/* An operation whose result does not mix a narrow value's upper, zero bits. */
#define BOTH(name, value)                                                                          \
    OPS_2(name##_32, u32, u32, u32, value)                                                         \
    OPS_2(name##_64, u64, u64, u64, value)                                                         \
    static void run_##name##_pred(struct ptx_warp *warp, const struct ptx_step *step,              \
                                  uint32_t mask)                                                   \
    {                                                                                              \
        OPS_PREDICATE(a, 1)                                                                        \
        OPS_PREDICATE(b, 2)                                                                        \
        uint32_t *predicates = warp->predicates;                                                   \
        OPS_FOLLOW(ops_put_predicate(predicates, step->operand[0], name##_32(*a, *b), mask),       \
                   OPS_NEXT(a), OPS_NEXT(b), predicates += stride / sizeof *predicates)            \
    }
BOTH(and, a &b)
BOTH(or, a | b)
BOTH(xor, a ^ b)

static void run_not_pred(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    ops_set_predicate(warp, step->operand[0], ~ops_predicate(warp, step->operand[1]), mask);
}

#define WITHIN(amount, most) ((amount) > (most) ? (most) : (amount))
static inline uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* --- prmt --- */
static inline uint32_t permuted_byte(uint64_t bytes, uint32_t nibble)
{
    const uint32_t value = (uint32_t)(bytes >> ((nibble & 7) * 8)) & 0xff;
    const uint32_t sign = (value >> 7) * 0xff;
    return nibble & 8 ? sign : value;
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = join(a, b);
    return permuted_byte(bytes, selector) | permuted_byte(bytes, selector >> 4) << 8 |
           permuted_byte(bytes, selector >> 8) << 16 | permuted_byte(bytes, selector >> 12) << 24;
}
OPS_APPLY3(run_prmt_any, permuted, u32, u32, u32, u32)

/* Mostly the selector is a constant: then each byte of all lanes has the same source. */
static void run_prmt(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    const lane_u32 *b = ptx_in(warp, step->operand[2]);
    const uint32_t selector = *(const lane_u32 *)ptx_in(warp, step->operand[3]);
    if (!(step->operand[3] & PTX_CONSTANT) || selector & 0x8888) {
        run_prmt_any(warp, step, mask);
        return;
    }
    const lane_u32 *const from[4] = {selector & 4 ? b : a, selector & 0x40 ? b : a,
                                     selector & 0x400 ? b : a, selector & 0x4000 ? b : a};
    const unsigned shift[4] = {(selector & 3) * 8, (selector >> 4 & 3) * 8, (selector >> 8 & 3) * 8,
                               (selector >> 12 & 3) * 8};
    OPS_STORE(warp, step, mask, u32,
              (from[0][lane] >> shift[0] & 0xff) | (from[1][lane] >> shift[1] & 0xff) << 8 |
                  (from[2][lane] >> shift[2] & 0xff) << 16 | from[3][lane] >> shift[3] << 24)
}

/* The other modes are selectors, by the low two bits of c. */
static const uint16_t prmt_selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
static void run_prmt_mode(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const uint16_t *selectors = prmt_selectors[ptx_insn(step)->mode - IR_PRMT_F4E];
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    const lane_u32 *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = ptx_in(warp, step->operand[3]);
    OPS_STORE(warp, step, mask, u32, permuted(a[lane], b[lane], selectors[c[lane] & 3]))
}

/* --- lop3 --- */
static inline uint32_t choose(uint32_t which, uint32_t zero, uint32_t one)
{
    return zero ^ ((zero ^ one) & which);
}
static inline uint32_t lop3(const uint32_t rows[8], uint32_t a, uint32_t b, uint32_t c)
{
    return choose(a, choose(b, choose(c, rows[0], rows[1]), choose(c, rows[2], rows[3])),
                  choose(b, choose(c, rows[4], rows[5]), choose(c, rows[6], rows[7])));
}
/* The table's bit 4a + 2b + c for all of a word each. */
static inline void lop3_rows(const struct ptx_step *step, uint32_t rows[8])
{
    const struct ir_insn *insn = ptx_insn(step);
    const uint32_t table = (uint32_t)insn->operands[insn->destinations + 3].bits;
    for (unsigned row = 0; row < 8; row++)
        rows[row] = 0U - (table >> row & 1U);
}

static void run_lop3(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    const lane_u32 *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = ptx_in(warp, step->operand[3]);
    uint32_t rows[8];
    lop3_rows(step, rows);
    OPS_STORE(warp, step, mask, u32, lop3(rows, a[lane], b[lane], c[lane]))
}

/* d|p, a, b, c, lut, q: p says whether d is not zero, combined with q. */
static void run_lop3_pred(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[2]);
    const lane_u32 *b = ptx_in(warp, step->operand[3]);
    const lane_u32 *c = ptx_in(warp, step->operand[4]);
    const uint32_t q = ops_predicate(warp, step->operand[6]);
    uint32_t rows[8], results[PTX_LANES], nonzero = 0;
    lop3_rows(step, rows);
    OPS_LANES
    {
        results[lane] = lop3(rows, a[lane], b[lane], c[lane]);
    }
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        nonzero |= (uint32_t)(results[lane] != 0) << lane;
    if (step->operand[0] != PTX_ABSENT) {
        OPS_STORE(warp, step, mask, u32, results[lane])
    }
    nonzero = ops_combine(ptx_insn(step)->boolean, nonzero, q);
    ops_set_predicate(warp, step->operand[1], nonzero, mask);
}

/* --- selection --- */
#define SELP(size)                                                                                 \
    OPS_INLINE void select_##size(lane_u##size *to, const lane_u##size *a, const lane_u##size *b,  \
                                  uint32_t set, uint32_t mask)                                     \
    {                                                                                              \
        lane_u##size chosen[PTX_LANES] __attribute__((aligned(64)));                               \
        ops_choose(sizeof *to, chosen, a, b, set);                                                 \
        ops_choose(sizeof *to, to, chosen, to, mask);                                              \
    }                                                                                              \
    static void run_selp_##size(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask) \
    {                                                                                              \
        OPS_SOURCE(u##size, a, 1)                                                                  \
        OPS_SOURCE(u##size, b, 2)                                                                  \
        OPS_PREDICATE(p, 3)                                                                        \
        lane_u##size *to = ptx_out(warp, step->operand[0]);                                        \
        OPS_FOLLOW(select_##size(to, a, b, *p, mask), OPS_NEXT(a), OPS_NEXT(b), OPS_NEXT(p),       \
                   to = (void *)((char *)to + stride))                                             \
    }
SELP(32)
SELP(64)

#define PRED OPS_T(PRED)
#define WIDE (OPS_U64 | OPS_S64 | OPS_T(F64))
#define REST (~(PRED | WIDE))
#define ON_ALL(op, stem)                                                                           \
    OPS_ROW(op, 0, PRED, stem##_pred), OPS_ROW(op, 0, WIDE, stem##_64),                            \
        OPS_ROW(op, 0, REST, stem##_32)
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_bits.def"

static const struct ops_row rows[] = {
    ON_ALL(AND, and),
    ON_ALL(OR, or),
    ON_ALL(XOR, xor),
    OPS_ROW(NOT, 0, PRED, not_pred),
    OPS_ROW(PRMT, false, REST, prmt),
    OPS_ROW(PRMT, true, REST, prmt_mode),
    OPS_ROW(LOP3, 1, REST, lop3),
    OPS_ROW(LOP3, 2, REST, lop3_pred),
    OPS_ROW(SELP, 0, REST, selp_32),
    OPS_ROW(SELP, 0, WIDE, selp_64),
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_bits.def"
};

ptx_run *OPS_NAME(ops_bits)(const struct ir_insn *insn, union ptx_how *how)
{
    unsigned variant = 0;

    (void)how;
    switch (insn->op) {
    case IR_SHF:
        variant = insn->mode;
        break;
    case IR_PRMT:
        variant = insn->mode != IR_MODE_NONE;
        break;
    case IR_LOP3:
        variant = insn->destinations;
        break;
    case IR_SLCT:
        variant = insn->types[1] == IR_S32 ? 0 : 1U + insn->ftz;
        break;
    default:
        break;
    }
    return OPS_PICK(rows, insn, variant);
}
