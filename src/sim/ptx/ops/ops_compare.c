/* SPDX-License-Identifier: MIT */
/* setp and set: comparisons of integers, float and double. Each comparison yields a mask of lanes;
 * the combination with a predicate is then one scalar operation. */

#include "ptx/ops/ops_mask.h"

/* A comparison of 32 lanes of any two operands. */
typedef uint32_t compare_lanes(const void *left, const void *right);

/* With a second predicate. */
static __attribute__((noinline)) void setp_rest(struct ptx_warp *warp, const struct ptx_step *step,
                                                uint32_t mask, compare_lanes *compare)
{
    const unsigned first = step->how.compare.first;
    const struct ops_setp setp = ops_setp_of(step);
    OPS_SOURCE(u32, a, first)
    OPS_SOURCE(u32, b, first + 1)
    struct ptx_warp at = {.constants = warp->constants, .predicates = warp->predicates};

    OPS_FOLLOW(ops_setp_store(&at, setp, compare(a, b), mask), OPS_NEXT(a), OPS_NEXT(b),
               at.predicates += stride / sizeof *at.predicates)
}

/* The mask of lanes, and setp by it. */
#define COMPARE_BY(name, A, found)                                                                 \
    static inline uint32_t name(const void *left, const void *right)                               \
    {                                                                                              \
        return found;                                                                              \
    }                                                                                              \
    static void setp_##name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)     \
    {                                                                                              \
        const uint8_t boolean = step->how.compare.boolean;                                         \
        if (step->how.compare.first > 1 || step->operand[0] == PTX_ABSENT) {                       \
            setp_rest(warp, step, mask, name);                                                     \
            return;                                                                                \
        }                                                                                          \
        uint32_t *p = &warp->predicates[step->operand[0]];                                         \
        OPS_SOURCE(A, a, 1)                                                                        \
        OPS_SOURCE(A, b, 2)                                                                        \
        if (boolean) {                                                                             \
            OPS_PREDICATE(c, 3)                                                                    \
            OPS_FOLLOW(*p = (*p & ~mask) | (ops_combine(boolean, name(a, b), *c) & mask),          \
                       OPS_NEXT(a), OPS_NEXT(b), OPS_NEXT(c), p += stride / sizeof *p)             \
            return;                                                                                \
        }                                                                                          \
        OPS_FOLLOW(*p = (*p & ~mask) | (name(a, b) & mask), OPS_NEXT(a), OPS_NEXT(b),              \
                   p += stride / sizeof *p)                                                        \
    }
#define COMPARE(name, A, value)                                                                    \
    static inline uint32_t lanes_##name(const lane_##A *left, const lane_##A *right)               \
    {                                                                                              \
        OPS_MASK_##A found;                                                                        \
        OPS_LANES                                                                                  \
        {                                                                                          \
            const lane_##A a = left[lane], b = right[lane];                                        \
            found.lanes[lane] = (value) ? -1 : 0;                                                  \
        }                                                                                          \
        return OPS_MASK_OF(A)(&found);                                                             \
    }                                                                                              \
    COMPARE_BY(name, A, lanes_##name(left, right))

#define INTEGER(T, A, in)                                                                          \
    COMPARE(T##_eq, A, in(a) == in(b))                                                             \
    COMPARE(T##_ne, A, in(a) != in(b))                                                             \
    COMPARE(T##_lt, A, in(a) < in(b))                                                              \
    COMPARE(T##_le, A, in(a) <= in(b))                                                             \
    COMPARE(T##_gt, A, in(a) > in(b))                                                              \
    COMPARE(T##_ge, A, in(a) >= in(b))
/* C's comparisons are false of a NaN, but for !=; the u forms are true of one. */
#define FLOATING(T, A, in)                                                                         \
    COMPARE(T##_eq, A, in(a) == in(b))                                                             \
    COMPARE(T##_ne, A, in(a) < in(b) || in(a) > in(b))                                             \
    COMPARE(T##_lt, A, in(a) < in(b))                                                              \
    COMPARE(T##_le, A, in(a) <= in(b))                                                             \
    COMPARE(T##_gt, A, in(a) > in(b))                                                              \
    COMPARE(T##_ge, A, in(a) >= in(b))                                                             \
    COMPARE(T##_equ, A, !(in(a) < in(b) || in(a) > in(b)))                                         \
    COMPARE(T##_neu, A, in(a) != in(b))                                                            \
    COMPARE(T##_ltu, A, !(in(a) >= in(b)))                                                         \
    COMPARE(T##_leu, A, !(in(a) > in(b)))                                                          \
    COMPARE(T##_gtu, A, !(in(a) <= in(b)))                                                         \
    COMPARE(T##_geu, A, !(in(a) < in(b)))                                                          \
    COMPARE(T##_num, A, a == a && b == b)                                                          \
    COMPARE(T##_nan, A, a != a || b != b)

#if defined(__AVX512DQ__) /* compilers take a detour from a comparison to its mask */
#define PART(kind, i, op)                                                                          \
    (uint32_t) _mm512_cmp_##kind##32_mask(_mm512_loadu_si512((const char *)left + (i)*64),         \
                                          _mm512_loadu_si512((const char *)right + (i)*64), op)
#define DIRECT(name, A, kind, op) COMPARE_BY(name, A, PART(kind, 0, op) | PART(kind, 1, op) << 16)
#define INTEGER_32(T, A, kind)                                                                     \
    DIRECT(T##_eq, A, kind, _MM_CMPINT_EQ)                                                         \
    DIRECT(T##_ne, A, kind, _MM_CMPINT_NE)                                                         \
    DIRECT(T##_lt, A, kind, _MM_CMPINT_LT)                                                         \
    DIRECT(T##_le, A, kind, _MM_CMPINT_LE)                                                         \
    DIRECT(T##_gt, A, kind, _MM_CMPINT_NLE)                                                        \
    DIRECT(T##_ge, A, kind, _MM_CMPINT_NLT)
#else
#define INTEGER_32(T, A, kind) INTEGER(T, A, SAME)
#endif

#define SAME(x) (x)
static inline float flushed(float value)
{
    return __builtin_fabsf(value) < 0x1p-126F ? 0.0F : value;
}
INTEGER(s16, u32, ops_s16)
INTEGER_32(u32, u32, epu)
INTEGER_32(s32, s32, epi)
INTEGER(u64, u64, SAME)
INTEGER(s64, s64, SAME)
FLOATING(f32, f32, SAME)
FLOATING(ftz, f32, flushed)
FLOATING(f64, f64, SAME)

/* Both tables: by type, then by comparison less IR_EQ. Unsigned 16-bit slots are zero-extended. */
enum {
    COMPARE_S16,
    COMPARE_U32,
    COMPARE_S32,
    COMPARE_U64,
    COMPARE_S64,
    COMPARE_F32,
    COMPARE_FTZ,
    COMPARE_F64,
    COMPARE_TYPES,
    COMPARE_NONE = COMPARE_TYPES
};
enum { COMPARISONS = IR_NAN - IR_EQ + 1 };
#define SIX(prefix, T)                                                                             \
    prefix##T##_eq, prefix##T##_ne, prefix##T##_lt, prefix##T##_le, prefix##T##_gt, prefix##T##_ge
#define ALL(prefix, T)                                                                             \
    SIX(prefix, T), prefix##T##_equ, prefix##T##_neu, prefix##T##_ltu, prefix##T##_leu,            \
        prefix##T##_gtu, prefix##T##_geu, prefix##T##_num, prefix##T##_nan
#define TABLE(prefix)                                                                              \
    {                                                                                              \
        {SIX(prefix, s16)}, {SIX(prefix, u32)}, {SIX(prefix, s32)}, {SIX(prefix, u64)},            \
            {SIX(prefix, s64)}, {ALL(prefix, f32)}, {ALL(prefix, ftz)},                            \
        {                                                                                          \
            ALL(prefix, f64)                                                                       \
        }                                                                                          \
    }
static ptx_run *const setp_table[COMPARE_TYPES][COMPARISONS] = TABLE(setp_);
static compare_lanes *const compare_table[COMPARE_TYPES][COMPARISONS] = TABLE();

/* set: all ones, or 1.0, where it holds. */
static void run_set(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_compare *how = &step->how.compare;
    compare_lanes *const compare = compare_table[how->row][how->column];
    const uint32_t bits = compare(ptx_in(warp, step->operand[1]), ptx_in(warp, step->operand[2]));
    ops_set_store(warp, step, bits, mask);
}

static unsigned row_of(const struct ir_insn *insn, unsigned type)
{
    static const uint64_t types[COMPARE_TYPES] = {
        [COMPARE_S16] = OPS_S16,    [COMPARE_U32] = OPS_U16 | OPS_U32, [COMPARE_S32] = OPS_S32,
        [COMPARE_U64] = OPS_U64,    [COMPARE_S64] = OPS_S64,           [COMPARE_F32] = OPS_T(F32),
        [COMPARE_F64] = OPS_T(F64),
    };
    unsigned row = 0;

    while (row < COMPARE_TYPES && !(types[row] >> type & 1))
        row++;
    return row == COMPARE_F32 && insn->ftz ? COMPARE_FTZ : row;
}

ptx_run *OPS_NAME(ops_compare)(const struct ir_insn *insn, union ptx_how *how)
{
    if (insn->op != IR_SETP && insn->op != IR_SET)
        return NULL;
    const bool set = insn->op == IR_SET;
    const unsigned row = row_of(insn, insn->types[set ? 1 : 0]);
    if (row == COMPARE_NONE || insn->compare < IR_EQ || insn->compare > IR_NAN)
        return NULL;
    const unsigned column = insn->compare - (unsigned)IR_EQ;
    if (!compare_table[row][column])
        return NULL;
    how->compare = (struct how_compare){.first = insn->destinations,
                                        .boolean = insn->boolean,
                                        .row = (uint8_t)row,
                                        .column = (uint8_t)column,
                                        .yes = ops_set_true(insn->types[0])};
    if (!set)
        return setp_table[row][column];
    return how->compare.yes ? run_set : NULL;
}
