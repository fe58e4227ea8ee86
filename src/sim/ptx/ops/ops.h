/* SPDX-License-Identifier: MIT */
/* Shared by the run functions. A family is one file; hot ones are compiled at several ISA levels,
 * with OPS_LEVEL naming the level, and lower/select.c takes the best one that the CPU has.
 *
 * A run function loops over 32 lanes: unconditionally where the mask is full, else it computes for
 * all lanes and blends. So a value function must be harmless on any bits. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_H
#define CUSHIM_SIM_PTX_OPS_OPS_H

#include "ptx/ops/float_bits.h"
#include "ptx/ops/state.h"

#if defined(__AVX512DQ__)
#include <immintrin.h>
#endif

struct launch;

#ifndef OPS_LEVEL
#define OPS_LEVEL base
#endif
#define OPS_JOIN_(stem, level) stem##_##level
#define OPS_JOIN(stem, level) OPS_JOIN_(stem, level)
#define OPS_NAME(stem) OPS_JOIN(stem, OPS_LEVEL)

/* A family's selector: the run function of `insn`, and *how for it; or NULL. */
typedef ptx_run *ops_family(const struct ir_insn *insn, union ptx_how *how);
#define OPS_HOT(stem) ops_family stem##_base, stem##_v3, stem##_v4;
OPS_HOT(ops_int)
OPS_HOT(ops_bits)
OPS_HOT(ops_float)
OPS_HOT(ops_round)
OPS_HOT(ops_half)
OPS_HOT(ops_compare)
OPS_HOT(ops_convert)
OPS_HOT(ops_field)
OPS_HOT(ops_warp)
OPS_HOT(ops_mma)
OPS_HOT(ops_approx)
OPS_HOT(ops_divide)
ops_family ops_carry, ops_math, ops_cvt, ops_half_compare, ops_video, ops_video_simd;

/* Registers are read and written as what the instruction says, whatever wrote them before. */
#define OPS_ALIAS __attribute__((may_alias))
typedef uint32_t OPS_ALIAS lane_u32;
typedef int32_t OPS_ALIAS lane_s32;
typedef uint64_t OPS_ALIAS lane_u64;
typedef int64_t OPS_ALIAS lane_s64;
typedef float OPS_ALIAS lane_f32;
typedef double OPS_ALIAS lane_f64;

#define OPS_LANES OPS_UNORDERED for (unsigned lane = 0; lane < PTX_LANES; lane++)

/* A choice that compilers turn into a vector blend. */
static inline uint32_t ops_has(uint32_t mask, unsigned lane)
{
    return mask & (UINT32_C(1) << lane);
}

/* So few lanes that one after the other is no slower than a vector of all. */
static inline bool ops_few(uint32_t mask)
{
    const uint32_t but_one = mask & (mask - 1);
    return (but_one & (but_one - 1)) == 0;
}

/* Where a predicate is that an instruction must have. */
static inline const lane_u32 *ops_predicate_at(const struct ptx_warp *warp, uint32_t operand)
{
    return operand & PTX_CONSTANT ? ptx_in(warp, operand) : &warp->predicates[operand];
}

static inline uint32_t ops_predicate(const struct ptx_warp *warp, uint32_t operand)
{
    return operand == PTX_ABSENT ? PTX_FULL : *ops_predicate_at(warp, operand);
}

static inline void ops_put_predicate(uint32_t *predicates, uint32_t operand, uint32_t bits,
                                     uint32_t mask)
{
    if (operand != PTX_ABSENT)
        predicates[operand] = (predicates[operand] & ~mask) | (bits & mask);
}
static inline void ops_set_predicate(struct ptx_warp *warp, uint32_t operand, uint32_t bits,
                                     uint32_t mask)
{
    ops_put_predicate(warp->predicates, operand, bits, mask);
}

/* A loop with a call in it stays scalar. */
#define OPS_INLINE static inline __attribute__((always_inline))

/* The lanes of `a` in the set, else those of `b`, which have so many bytes: 4 or 8. */
OPS_INLINE void ops_choose(size_t size, void *to, const void *a, const void *b, uint32_t set)
{
#if defined(__AVX512DQ__)
    for (unsigned part = 0; part < size / 2; part++) {
        const __m512i one = _mm512_loadu_si512((const char *)a + part * 64);
        const __m512i other = _mm512_loadu_si512((const char *)b + part * 64);
        _mm512_storeu_si512(
            (char *)to + part * 64,
            size == 4 ? _mm512_mask_mov_epi32(other, (__mmask16)(set >> part % 2 * 16), one)
                      : _mm512_mask_mov_epi64(other, (__mmask8)(set >> part % 4 * 8), one));
    }
#else
    OPS_LANES
    {
        if (size == 4)
            ((lane_u32 *)to)[lane] =
                ops_has(set, lane) ? ((const lane_u32 *)a)[lane] : ((const lane_u32 *)b)[lane];
        else
            ((lane_u64 *)to)[lane] =
                ops_has(set, lane) ? ((const lane_u64 *)a)[lane] : ((const lane_u64 *)b)[lane];
    }
#endif
}

/* OPS_n(name, D, A, ..., value): the function `name`, whose result is the expression `value` of
 * its n arguments a, b, c, d, and run_`name`, which applies it to the lanes. D, A, ...: u32 s32 u64
 * s64 f32 f64, the shapes of the registers. */
#if defined(__AVX512DQ__) /* compilers make the bits of a mask from lanes, which takes longer */
#define OPS_MERGE(to, mask, D, call)                                                               \
    lane_##D fresh[PTX_LANES] __attribute__((aligned(64)));                                        \
    OPS_LANES                                                                                      \
    {                                                                                              \
        fresh[lane] = call;                                                                        \
    }                                                                                              \
    ops_choose(sizeof *fresh, to, fresh, to, mask);
#else
#define OPS_MERGE(to, mask, D, call)                                                               \
    OPS_LANES                                                                                      \
    {                                                                                              \
        const lane_##D blend = call;                                                               \
        (to)[lane] = ops_has(mask, lane) ? blend : (to)[lane];                                     \
    }
#endif
#define OPS_BLEND(to, mask, D, call)                                                               \
    if ((mask) == PTX_FULL) {                                                                      \
        OPS_LANES                                                                                  \
        {                                                                                          \
            (to)[lane] = call;                                                                     \
        }                                                                                          \
    } else {                                                                                       \
        OPS_MERGE(to, mask, D, call)                                                               \
    }
#define OPS_STORE(warp, step, mask, D, call)                                                       \
    lane_##D *to = ptx_out(warp, (step)->operand[0]);                                              \
    OPS_BLEND(to, mask, D, call)

/* What `each` does with the warp and its mask, also for those that follow, if lanes of them run;
 * the rest goes on to the next one's operands. */
#define OPS_FOLLOW(each, ...)                                                                      \
    const uint32_t *masks = warp->masks;                                                           \
    const size_t stride = warp->stride;                                                            \
    for (uint32_t left = warp->follow;; left--) {                                                  \
        if (mask) {                                                                                \
            each;                                                                                  \
        }                                                                                          \
        if (!left)                                                                                 \
            break;                                                                                 \
        mask = *++masks;                                                                           \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    warp->follow = 0;

/* An operand there; a constant is that of all. */
#define OPS_SOURCE(A, a, index)                                                                    \
    const lane_##A *a = ptx_in(warp, step->operand[index]);                                        \
    const size_t a##_by = step->operand[index] & PTX_CONSTANT ? 0 : warp->stride;
#define OPS_PREDICATE(a, index)                                                                    \
    const lane_u32 *a = ops_predicate_at(warp, step->operand[index]);                              \
    const size_t a##_by = step->operand[index] & PTX_CONSTANT ? 0 : warp->stride;
#define OPS_NEXT(a) (a) = (const void *)((const char *)(a) + a##_by)
#define OPS_EACH(D, call, ...)                                                                     \
    lane_##D *to = ptx_out(warp, step->operand[0]);                                                \
    OPS_FOLLOW(OPS_BLEND(to, mask, D, call), to = (void *)((char *)to + stride), __VA_ARGS__)

#define OPS_APPLY1(name, function, D, A)                                                           \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        OPS_SOURCE(A, a, 1)                                                                        \
        OPS_EACH(D, function(a[lane]), OPS_NEXT(a))                                                \
    }
#define OPS_APPLY2(name, function, D, A, B)                                                        \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        OPS_SOURCE(A, a, 1)                                                                        \
        OPS_SOURCE(B, b, 2)                                                                        \
        OPS_EACH(D, function(a[lane], b[lane]), OPS_NEXT(a), OPS_NEXT(b))                          \
    }
#define OPS_APPLY3(name, function, D, A, B, C)                                                     \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        OPS_SOURCE(A, a, 1)                                                                        \
        OPS_SOURCE(B, b, 2)                                                                        \
        OPS_SOURCE(C, c, 3)                                                                        \
        OPS_EACH(D, function(a[lane], b[lane], c[lane]), OPS_NEXT(a), OPS_NEXT(b), OPS_NEXT(c))    \
    }
#define OPS_APPLY4(name, function, T, A, B, C, D)                                                  \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        OPS_SOURCE(A, a, 1)                                                                        \
        OPS_SOURCE(B, b, 2)                                                                        \
        OPS_SOURCE(C, c, 3)                                                                        \
        OPS_SOURCE(D, d, 4)                                                                        \
        OPS_EACH(T, function(a[lane], b[lane], c[lane], d[lane]), OPS_NEXT(a), OPS_NEXT(b),        \
                 OPS_NEXT(c), OPS_NEXT(d))                                                         \
    }

#define OPS_1(name, D, A, value)                                                                   \
    OPS_INLINE lane_##D name(lane_##A a)                                                           \
    {                                                                                              \
        return (lane_##D)(value);                                                                  \
    }                                                                                              \
    OPS_APPLY1(run_##name, name, D, A)
#define OPS_2(name, D, A, B, value)                                                                \
    OPS_INLINE lane_##D name(lane_##A a, lane_##B b)                                               \
    {                                                                                              \
        return (lane_##D)(value);                                                                  \
    }                                                                                              \
    OPS_APPLY2(run_##name, name, D, A, B)
#define OPS_3(name, D, A, B, C, value)                                                             \
    OPS_INLINE lane_##D name(lane_##A a, lane_##B b, lane_##C c)                                   \
    {                                                                                              \
        return (lane_##D)(value);                                                                  \
    }                                                                                              \
    OPS_APPLY3(run_##name, name, D, A, B, C)

/* Low 16 bits as a signed or unsigned number, and back into a 32-bit slot. */
static inline int32_t ops_s16(uint32_t bits)
{
    return (int16_t)(uint16_t)bits;
}
static inline uint32_t ops_u16(uint32_t bits)
{
    return bits & 0xffff;
}

/* The upper 64 bits. */
static inline uint64_t ops_high_product(uint64_t a, uint64_t b, bool is_signed)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh;
    const uint64_t high = ah * bh + (middle >> 32) + (((middle & UINT32_MAX) + other) >> 32);
    /* A negative factor counts as 2^64 more than it is. */
    return !is_signed ? high : high - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}

enum ops_size { OPS_16, OPS_32, OPS_64, OPS_OTHER };
static inline enum ops_size ops_size_of(unsigned type)
{
    const unsigned bits = opcodes_types[type].bits;
    if (opcodes_class(type) > CLASS_INTEGER)
        return OPS_OTHER;
    return bits == 16 ? OPS_16 : bits == 32 ? OPS_32 : bits == 64 ? OPS_64 : OPS_OTHER;
}

static inline bool ops_is_signed(unsigned type)
{
    return opcodes_types[type].is_signed;
}

/* A family's table: what serves an instruction with one of these types, a bit each, and exactly
 * these modifiers. */
struct ops_row {
    uint16_t op;        /* enum ir_op */
    uint16_t modifiers; /* OPS_FTZ and so on, or what else the family counts by */
    uint64_t types;     /* of types[0] */
    ptx_run *run;
};

/* Rows whose function is one expression are lines OPS_OP(n, op, modifiers, types, name, ...) of the
 * family's .def, with what OPS_n takes. It is included for the functions, and for the rows. */
#define OPS_ROW(op, modifiers, types, run)                                                         \
    {                                                                                              \
        IR_##op, modifiers, types, run_##run                                                       \
    }
#define OPS_T(type) (UINT64_C(1) << IR_##type)
#define OPS_U16 (OPS_T(B16) | OPS_T(U16))
#define OPS_S16 OPS_T(S16)
#define OPS_U32 (OPS_T(B32) | OPS_T(U32))
#define OPS_S32 OPS_T(S32)
#define OPS_U64 (OPS_T(B64) | OPS_T(U64))
#define OPS_S64 OPS_T(S64)
#define OPS_ANY16 (OPS_U16 | OPS_S16)
#define OPS_ANY32 (OPS_U32 | OPS_S32)
#define OPS_ANY64 (OPS_U64 | OPS_S64)

/* Rows of functions for each sign, or for each size and sign. */
#define OPS_BY_SIGN(op, modifiers, stem, size)                                                     \
    OPS_ROW(op, modifiers, OPS_U##size, stem##_u##size),                                           \
        OPS_ROW(op, modifiers, OPS_S##size, stem##_s##size)
#define OPS_BY_TYPE(op, modifiers, stem)                                                           \
    OPS_BY_SIGN(op, modifiers, stem, 16), OPS_BY_SIGN(op, modifiers, stem, 32),                    \
        OPS_BY_SIGN(op, modifiers, stem, 64)

enum {
    OPS_FTZ = 1,
    OPS_SAT = 2,
    OPS_RELU = 4,
    OPS_NAN = 8,
    OPS_ABS = 16,
    OPS_XORSIGN = 32, /* .xorsign.abs is both */
    OPS_HIGH = 64,
    OPS_WIDE = 128,
    OPS_OF_F16 = 256, /* a second type */
    OPS_OF_BF16 = 512,
};
static inline unsigned ops_modifiers(const struct ir_insn *insn)
{
    const unsigned flags = (unsigned)insn->ftz + 2U * insn->saturate + 4U * insn->relu +
                           8U * insn->nan + 16U * insn->abs + 32U * insn->xorsign;
    const unsigned half = insn->half == IR_HI ? OPS_HIGH : insn->half == IR_WIDE ? OPS_WIDE : 0;

    return flags | half | 256U * (insn->types[1] == IR_F16) | 512U * (insn->types[1] == IR_BF16);
}

static inline ptx_run *ops_pick(const struct ops_row *rows, size_t count,
                                const struct ir_insn *insn, unsigned modifiers)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].op == insn->op && rows[i].modifiers == modifiers &&
            (rows[i].types >> insn->types[0] & 1) != 0)
            return rows[i].run;
    return NULL;
}
#define OPS_PICK(rows, insn, modifiers)                                                            \
    ops_pick(rows, sizeof(rows) / sizeof *(rows), insn, modifiers)

/* Does a comparison hold of two values, of which the first is less, or which are equal, or of which
 * one is a NaN? */
static inline bool ops_compared(unsigned compare, bool less, bool equal, bool unordered)
{
    enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
    static const uint8_t holds[] = {
#define OPS_COMPARE(name, pairs) [IR_##name] = (pairs),
#include "ptx/ops/compare.def"
#undef OPS_COMPARE
    };
    return holds[compare] & (unordered ? UNORDERED : less ? LESS : equal ? EQUAL : GREATER);
}

/* What an operation of enum ir_atomic makes of two values, of which the first is less or not. */
static inline uint64_t ops_reduced(unsigned operation, uint64_t a, uint64_t b, bool less)
{
    switch (operation) {
    case IR_ATOM_ADD:
        return a + b;
    case IR_ATOM_MIN:
        return less ? a : b;
    case IR_ATOM_MAX:
        return less ? b : a;
    case IR_ATOM_AND:
        return a & b;
    case IR_ATOM_OR:
        return a | b;
    case IR_ATOM_XOR:
        return a ^ b;
    default:
        return a;
    }
}

/* --- fault.c --- */
const struct ptx_world *fault_world(const struct ptx_warp *warp);
/* Stop the launch: `lane` did what `kind` says. The step's remaining lanes may be skipped.
 * Always false. */
bool fault_warp(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                enum ptx_fault_kind kind, uint64_t address, const char *what);
/* Where a step comes from; NULL: it is none of the module's. */
const struct step_source *fault_source(const struct ptx_module *module,
                                       const struct ptx_step *step);
/* "line 26 (sum.cu:12), ld" */
void fault_describe(const struct ptx_module *module, const struct step_source *source, char *text,
                    size_t size);
void fault_launch(struct launch *launch, enum ptx_fault_kind kind, const char *what);

/* --- move.c --- Steps that move values between registers and shapes of registers. */
ptx_run move_copy128, move_copy32, move_copy64, move_low32, move_low64, move_nothing, move_pack,
    move_predicate_copy, move_predicate_not, move_predicate_set, move_sign16, move_sign16_64,
    move_sign64, move_sign8, move_sign8_16, move_sign8_64, move_unpack, move_zero128, move_zero64;

/* --- special.c --- Steps about where a thread is: special registers, addresses of its memory, its
 * stack. */
ptx_run special_alloca, special_fence, special_getctarank, special_isspacep, special_local_address,
    special_mapa, special_reference, special_shared_address, special_32, special_64,
    special_stackrestore, special_stacksave, special_window;
uint64_t special_of_warp(const struct ptx_warp *warp, const struct how_special *special);
uint64_t special_time(void); /* CLOCK_MONOTONIC, ns */

#endif
