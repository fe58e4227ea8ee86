/* SPDX-License-Identifier: MIT */
/* Steps on values that are affine over a warp. */
#include "ptx/ops/affine.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/ops/block_state.h"
#include "ptx/ops/code.h"
#include "ptx/ops/exec.h"
#include "ptx/ops/launch_state.h"
#include "ptx/ops/module.h"
#include "ptx/ops/move.h"
#include "ptx/ops/ops_mask.h"
#include "ptx/ops/special.h"
#include "ptx/ops/warp_state.h"
#include "ptx/ptx.h"

/* --- Arithmetic: of 64 bits, whose low half is right for 32 --- */

/* AFFINE(name, result): of the step's sources a, b and c. */
#define AFFINE(name, result)                                                                       \
    static bool name(struct ptx_warp *warp, const struct ptx_step *step)                           \
    {                                                                                              \
        struct affine *to = ptx_out(warp, step->operand[0]);                                       \
        const struct affine *a = ptx_in(warp, step->operand[1]);                                   \
        const struct affine *b = ptx_in(warp, step->operand[2]);                                   \
        const struct affine *c = ptx_in(warp, step->operand[3]);                                   \
        (void)a, (void)b, (void)c;                                                                 \
        *to = (result);                                                                            \
        return true;                                                                               \
    }

static inline struct affine form_of(uint64_t base, uint64_t lane, uint64_t half)
{
    return (struct affine){base, lane, half, 0};
}

static inline struct affine uniform(uint64_t value)
{
    return form_of(value, 0, 0);
}

static inline struct affine sum(struct affine a, struct affine b)
{
    return form_of(a.base + b.base, a.lane + b.lane, a.half + b.half);
}

static inline struct affine times(struct affine a, uint64_t factor)
{
    return form_of(a.base * factor, a.lane * factor, a.half * factor);
}

/* One of them is uniform. */
static inline struct affine product(const struct affine *a, const struct affine *b)
{
    return a->lane | a->half ? times(*a, b->base) : times(*b, a->base);
}

static inline struct affine shifted(const struct affine *a, uint64_t amount, uint64_t width)
{
    return amount < width ? form_of(a->base << amount, a->lane << amount, a->half << amount)
                          : uniform(0);
}

AFFINE(copy, *a)
AFFINE(offset, form_of(a->base + step->how.address.add, a->lane, a->half))
AFFINE(add, sum(*a, *b))
AFFINE(subtract, sum(*a, times(*b, UINT64_MAX)))
AFFINE(negate, times(*a, UINT64_MAX))
AFFINE(multiply, product(a, b))
AFFINE(multiply_add, sum(product(a, b), *c))
AFFINE(shl_32, shifted(a, (uint32_t)b->base, 32))
AFFINE(shl_64, shifted(a, (uint32_t)b->base, 64))

/* --- Of uniform values --- */

#define WITHIN(amount, most) ((uint32_t)(amount) > (most) ? (most) : (uint32_t)(amount))
AFFINE(shr_u32, uniform((uint64_t)(uint32_t)a->base >> WITHIN(b->base, 32)))
AFFINE(shr_s32, uniform((uint64_t)((int64_t)(int32_t)a->base >> WITHIN(b->base, 31))))
AFFINE(shr_u64, uniform((uint32_t)b->base > 63 ? 0 : a->base >> (b->base & 63)))
AFFINE(shr_s64, uniform((uint64_t)((int64_t)a->base >> WITHIN(b->base, 63))))
AFFINE(bits_and, uniform(a->base &b->base))
AFFINE(bits_or, uniform(a->base | b->base))
AFFINE(bits_xor, uniform(a->base ^ b->base))
AFFINE(bits_not, uniform(~a->base))

/* --- From 32 bits to 64 --- */

/* The extremes of an affine value are among these lanes. */
#define CORNERS 4
static inline void corners_of(const struct affine *of, int64_t corners[CORNERS])
{
    const int64_t base = (int64_t)of->base, across = 15 * (int64_t)of->lane;
    const int64_t down = (int64_t)of->half;

    corners[0] = base;
    corners[1] = base + across;
    corners[2] = base + down;
    corners[3] = base + across + down;
}

/* The value of 32 bits in 64, where no lane's wraps around. */
static inline bool extend_u(const struct affine *from, struct affine *to)
{
    int64_t corners[CORNERS];

    *to = form_of((uint32_t)from->base, (uint64_t)(int32_t)from->lane,
                  (uint64_t)(int32_t)from->half);
    if (!(to->lane | to->half))
        return true;
    corners_of(to, corners);
    return (uint64_t)(corners[0] | corners[1] | corners[2] | corners[3]) <= UINT32_MAX;
}

static inline bool extend_s(const struct affine *from, struct affine *to)
{
    int64_t corners[CORNERS];
    uint64_t outside = 0;

    *to = form_of((uint64_t)(int32_t)from->base, (uint64_t)(int32_t)from->lane,
                  (uint64_t)(int32_t)from->half);
    if (!(to->lane | to->half))
        return true;
    corners_of(to, corners);
    for (unsigned i = 0; i < CORNERS; i++)
        outside |= (uint64_t)corners[i] + (UINT64_C(1) << 31);
    return outside <= UINT32_MAX;
}

/* The sources a and b are extended, c is not. */
#define EXTENDED(name, extend, count, result)                                                      \
    static bool name(struct ptx_warp *warp, const struct ptx_step *step)                           \
    {                                                                                              \
        struct affine *to = ptx_out(warp, step->operand[0]), sources[2], *a = sources;             \
        const struct affine *b = sources + 1, *c = ptx_in(warp, step->operand[3]);                 \
        (void)b, (void)c;                                                                          \
        for (unsigned i = 0; i < (count); i++)                                                     \
            if (!extend(ptx_in(warp, step->operand[1 + i]), a + i))                                \
                return false;                                                                      \
        *to = (result);                                                                            \
        return true;                                                                               \
    }
EXTENDED(zero_extend, extend_u, 1, *a)
EXTENDED(sign_extend, extend_s, 1, *a)
EXTENDED(wide_u, extend_u, 2, product(a, b))
EXTENDED(wide_s, extend_s, 2, product(a, b))
EXTENDED(mad_wide_u, extend_u, 2, sum(product(a, b), *c))
EXTENDED(mad_wide_s, extend_s, 2, sum(product(a, b), *c))

/* --- Where values come from --- */

static bool parameter(struct ptx_warp *warp, const struct ptx_step *step)
{
    struct affine *to = ptx_out(warp, step->operand[0]);
    const char *from = warp->block->launch->params + step->how.fixed.at;
    union {
        uint8_t of8;
        uint16_t of16;
        uint32_t of32;
        uint64_t of64;
    } value;

    memcpy(&value, from, step->how.fixed.bytes);
    *to = uniform(step->how.fixed.bytes == 1   ? value.of8
                  : step->how.fixed.bytes == 2 ? value.of16
                  : step->how.fixed.bytes == 4 ? value.of32
                                               : value.of64);
    return true;
}

static bool tid(struct ptx_warp *warp, const struct ptx_step *step)
{
    struct affine *to = ptx_out(warp, step->operand[0]);

    *to = warp->block->launch->tid_forms[warp->index * 3 + step->how.special.component];
    return true;
}

static bool grid(struct ptx_warp *warp, const struct ptx_step *step)
{
    struct affine *to = ptx_out(warp, step->operand[0]);

    *to = uniform(special_of_grid(warp, &step->how.special));
    return true;
}

/* %tid of every warp as affine values, where the entry's steps for whole warps need no other. */
bool affine_tids(struct launch *launch)
{
    const struct whole_code *whole = launch->entry->whole;

    launch->start = launch->entry->steps;
    if (!whole)
        return true;
    launch->tid_forms =
        aligned_alloc(_Alignof(struct affine),
                      (size_t)launch->warp_count * 3 * sizeof *launch->tid_forms);
    if (!launch->tid_forms)
        return false;
    for (uint32_t i = 0; i < launch->warp_count * 3; i++) {
        const uint32_t *tids = launch->tids + (size_t)i * PTX_LANES;
        const uint32_t left = launch->threads - i / 3 * PTX_LANES;
        struct affine *form = &launch->tid_forms[i];

        *form = form_of(tids[0], left > 1 ? (uint64_t)tids[1] - tids[0] : 0,
                        left > 16 ? (uint64_t)tids[16] - tids[0] : 0);
        for (uint32_t lane = 0; lane < PTX_LANES && lane < left; lane++)
            if (tids[lane] != form->base + lane % 16 * form->lane + lane / 16 * form->half &&
                whole->tids >> i % 3 & 1)
                return true;
    }
    launch->start = whole->steps;
    return true;
}

/* --- Which step does what --- */

enum rule {
    RULE_UNIFORM, /* a uniform result of uniform sources */
    RULE_LINEAR,  /* a form of the sources' own */
    RULE_PRODUCT, /* one of the first two is uniform */
    RULE_FIRST,   /* all but the first are uniform */
    RULE_AFFINE,  /* no sources */
};
static const struct {
    affine_run *run;
    enum rule rule;
} kinds[AFFINE_OPS] = {
    [AFFINE_PARAM] = {parameter, RULE_UNIFORM},
    [AFFINE_TID] = {tid, RULE_AFFINE},
    [AFFINE_GRID] = {grid, RULE_UNIFORM},
    [AFFINE_BLOCK] = {grid, RULE_UNIFORM},
    [AFFINE_COPY] = {copy, RULE_LINEAR},
    [AFFINE_OFFSET] = {offset, RULE_LINEAR},
    [AFFINE_ADD] = {add, RULE_LINEAR},
    [AFFINE_SUB] = {subtract, RULE_LINEAR},
    [AFFINE_NEG] = {negate, RULE_LINEAR},
    [AFFINE_MUL] = {multiply, RULE_PRODUCT},
    [AFFINE_MAD] = {multiply_add, RULE_PRODUCT},
    [AFFINE_WIDE_U] = {wide_u, RULE_PRODUCT},
    [AFFINE_WIDE_S] = {wide_s, RULE_PRODUCT},
    [AFFINE_MAD_WIDE_U] = {mad_wide_u, RULE_PRODUCT},
    [AFFINE_MAD_WIDE_S] = {mad_wide_s, RULE_PRODUCT},
    [AFFINE_EXTEND_U] = {zero_extend, RULE_LINEAR},
    [AFFINE_EXTEND_S] = {sign_extend, RULE_LINEAR},
    [AFFINE_SHL_32] = {shl_32, RULE_FIRST},
    [AFFINE_SHL_64] = {shl_64, RULE_FIRST},
    [AFFINE_SHR_U32] = {shr_u32, RULE_UNIFORM},
    [AFFINE_SHR_S32] = {shr_s32, RULE_UNIFORM},
    [AFFINE_SHR_U64] = {shr_u64, RULE_UNIFORM},
    [AFFINE_SHR_S64] = {shr_s64, RULE_UNIFORM},
    [AFFINE_AND] = {bits_and, RULE_UNIFORM},
    [AFFINE_OR] = {bits_or, RULE_UNIFORM},
    [AFFINE_XOR] = {bits_xor, RULE_UNIFORM},
    [AFFINE_NOT] = {bits_not, RULE_UNIFORM},
};

affine_run *affine_run_of(enum affine_op op)
{
    return kinds[op].run;
}

/* Of the result, from those of the sources. */
enum affine_form affine_form_of(enum affine_op op, const enum affine_form *sources, uint32_t count)
{
    enum affine_form form = FORM_UNIFORM;

    for (uint32_t i = 0; i < count; i++)
        form = sources[i] > form ? sources[i] : form;
    switch (kinds[op].run ? kinds[op].rule : RULE_UNIFORM) {
    case RULE_AFFINE:
        return FORM_AFFINE;
    case RULE_LINEAR:
        return form;
    case RULE_PRODUCT:
        return sources[0] && sources[1] ? FORM_ANY : form;
    case RULE_FIRST:
        return sources[1] ? FORM_ANY : form;
    default:
        return kinds[op].run && form == FORM_UNIFORM ? FORM_UNIFORM : FORM_ANY;
    }
}

static enum affine_op of_cvt(const struct ir_insn *insn)
{
    const enum ops_size to = ops_size_of(insn->types[0]), from = ops_size_of(insn->types[1]);

    if (insn->saturate || to < OPS_32 || from < OPS_32 || to == OPS_OTHER || from == OPS_OTHER)
        return AFFINE_NONE;
    if (from == OPS_64 || to == OPS_32)
        return AFFINE_COPY;
    return ops_is_signed(insn->types[1]) ? AFFINE_EXTEND_S : AFFINE_EXTEND_U;
}

static enum affine_op of_product(const struct ir_insn *insn, bool wide, bool is_signed)
{
    const bool add = insn->op == IR_MAD;

    if (insn->half == IR_HI)
        return AFFINE_NONE;
    if (insn->half != IR_WIDE)
        return add ? AFFINE_MAD : AFFINE_MUL;
    if (wide)
        return AFFINE_NONE;
    if (is_signed)
        return add ? AFFINE_MAD_WIDE_S : AFFINE_WIDE_S;
    return add ? AFFINE_MAD_WIDE_U : AFFINE_WIDE_U;
}

enum affine_op affine_of_insn(const struct ir_insn *insn)
{
    const enum ops_size size = insn->type_count ? ops_size_of(insn->types[0]) : OPS_OTHER;
    const bool wide = size == OPS_64, is_signed = size < OPS_OTHER && ops_is_signed(insn->types[0]);

    if ((size != OPS_32 && !wide) || insn->cc || insn->saturate)
        return AFFINE_NONE;
    switch (insn->op) {
    case IR_ADD:
        return AFFINE_ADD;
    case IR_SUB:
        return AFFINE_SUB;
    case IR_NEG:
        return AFFINE_NEG;
    case IR_MUL:
    case IR_MAD:
        return of_product(insn, wide, is_signed);
    case IR_SHL:
        return wide ? AFFINE_SHL_64 : AFFINE_SHL_32;
    case IR_SHR:
        if (is_signed)
            return wide ? AFFINE_SHR_S64 : AFFINE_SHR_S32;
        return wide ? AFFINE_SHR_U64 : AFFINE_SHR_U32;
    case IR_AND:
        return AFFINE_AND;
    case IR_OR:
        return AFFINE_OR;
    case IR_XOR:
        return AFFINE_XOR;
    case IR_NOT:
        return AFFINE_NOT;
    case IR_CVT:
        return of_cvt(insn);
    case IR_SETP:
        return wide ? AFFINE_COMPARE_64 : is_signed ? AFFINE_COMPARE_S32 : AFFINE_COMPARE_U32;
    default:
        return AFFINE_NONE;
    }
}

/* Of the steps that the compiler makes itself. */
enum affine_op affine_of_run(ptx_run *run)
{
    static const struct {
        ptx_run *run;
        enum affine_op op;
    } table[] = {
        {move_copy32, AFFINE_COPY},     {move_copy64, AFFINE_COPY},
        {move_low32, AFFINE_COPY},      {move_zero64, AFFINE_EXTEND_U},
        {move_sign64, AFFINE_EXTEND_S}, {special_window, AFFINE_OFFSET},
        {special_32, AFFINE_SPECIAL},   {special_64, AFFINE_SPECIAL},
        {special_tid, AFFINE_SPECIAL},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].run == run)
            return table[i].op;
    return AFFINE_NONE;
}

enum affine_op affine_of_special(const struct how_special *special)
{
    if (special->component > 2)
        return AFFINE_NONE;
    switch (special->name) {
    case IR_TID:
        return AFFINE_TID;
    case IR_NTID:
    case IR_NCTAID:
    case IR_NCLUSTERID:
    case IR_CLUSTER_NCTAID:
    case IR_CLUSTER_NCTARANK:
        return AFFINE_GRID;
    case IR_CTAID:
    case IR_CLUSTERID:
    case IR_CLUSTER_CTAID:
    case IR_CLUSTER_CTARANK:
        return AFFINE_BLOCK;
    default:
        return AFFINE_NONE;
    }
}

/* --- As vectors --- */

void affine_vector_32(lane_u32 *to, const struct affine *from)
{
    const uint32_t base = (uint32_t)from->base, by = (uint32_t)from->lane;
    const uint32_t second = base + (uint32_t)from->half;

    for (uint32_t lane = 0; lane < 16; lane++)
        to[lane] = base + lane * by;
    for (uint32_t lane = 0; lane < 16; lane++)
        to[lane + 16] = second + lane * by;
}

void affine_vector_64(lane_u64 *to, const struct affine *from)
{
    const uint64_t base = from->base, by = from->lane, second = base + from->half;

    for (uint64_t lane = 0; lane < 16; lane++)
        to[lane] = base + lane * by;
    for (uint64_t lane = 0; lane < 16; lane++)
        to[lane + 16] = second + lane * by;
}

void affine_spread_32(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    (void)mask;
    affine_vector_32(ptx_out(warp, step->operand[0]), ptx_in(warp, step->operand[1]));
}

void affine_spread_64(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    (void)mask;
    affine_vector_64(ptx_out(warp, step->operand[0]), ptx_in(warp, step->operand[1]));
}

bool affine_both_32(struct ptx_warp *warp, const struct ptx_step *step)
{
    if (!step->form(warp, step))
        return false;
    affine_vector_32(ptx_out(warp, step->operand[5]), ptx_in(warp, step->operand[0]));
    return true;
}

bool affine_both_64(struct ptx_warp *warp, const struct ptx_step *step)
{
    if (!step->form(warp, step))
        return false;
    affine_vector_64(ptx_out(warp, step->operand[5]), ptx_in(warp, step->operand[0]));
    return true;
}

/* --- Back to the general steps --- */

/* The general step that a step for whole warps stands for. */
const struct ptx_step *affine_general(const struct ptx_warp *warp, const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->frame->code;

    return &code->steps[code->whole->general[step - code->whole->steps]];
}

/* What lives becomes vectors; where the general steps go on. */
const struct ptx_step *affine_leave(struct ptx_warp *warp, const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->frame->code;
    const struct whole_code *whole = code->whole;
    const uint32_t at = whole->general[step - whole->steps];

    for (uint32_t i = 0; i < whole->value_count; i++) {
        const struct affine_value *value = &whole->values[i];

        if (at < value->from || at > value->to)
            continue;
        if (value->wide)
            affine_vector_64(ptx_out(warp, value->vector), ptx_in(warp, value->form));
        else
            affine_vector_32(ptx_out(warp, value->vector), ptx_in(warp, value->form));
    }
    return &code->steps[at];
}

/* --- Comparisons --- */

/* What all lanes have in common as the comparison of two values whose difference is given; -1: they
 * have nothing. */
static inline int compare_difference(unsigned compare, const struct affine *difference)
{
    const bool less_first = compare == IR_LT || compare == IR_GE;
    int64_t corners[CORNERS], all, any;

    corners_of(difference, corners);
    if (compare == IR_EQ || compare == IR_NE) {
        if (!(difference->base | difference->lane | difference->half))
            return compare == IR_EQ;
        all = corners[0] & corners[1] & corners[2] & corners[3];
        any = -corners[0] & -corners[1] & -corners[2] & -corners[3];
        return (all | any) < 0 ? compare == IR_NE : -1;
    }
    /* a < b or not a < b; else b < a or not b < a */
    for (unsigned i = 0; i < CORNERS && !less_first; i++)
        corners[i] = -corners[i];
    all = corners[0] & corners[1] & corners[2] & corners[3];
    any = corners[0] | corners[1] | corners[2] | corners[3];
    if (all < 0)
        return compare == IR_LT || compare == IR_GT;
    return any < 0 ? -1 : compare == IR_GE || compare == IR_LE;
}

/* Not so large that signed and unsigned comparisons differ, or that a lane's value wraps around. */
static inline bool narrow_64(const struct affine *from, struct affine *to)
{
    const uint64_t room = UINT64_C(1) << 48;
    int64_t corners[CORNERS];

    *to = *from;
    if (from->lane + room >= 2 * room || from->half + room >= 2 * room || from->base >> 62)
        return false;
    corners_of(to, corners);
    return (corners[0] | corners[1] | corners[2] | corners[3]) >= 0;
}

static void compare_general(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                            bool wide)
{
    const struct ptx_step *general = affine_general(warp, step);
    const unsigned first = step->how.compare.first;

    for (unsigned i = first; i < first + 2; i++) {
        if (general->operand[i] & PTX_CONSTANT)
            continue;
        if (wide)
            affine_vector_64(ptx_out(warp, general->operand[i]), ptx_in(warp, step->operand[i]));
        else
            affine_vector_32(ptx_out(warp, general->operand[i]), ptx_in(warp, step->operand[i]));
    }
    general->run(warp, general, mask);
}

#define COMPARE(name, extend, wide)                                                                \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const struct affine *one = ptx_in(warp, step->operand[step->how.compare.first]);           \
        const struct affine *two = ptx_in(warp, step->operand[step->how.compare.first + 1]);       \
        struct affine a, b;                                                                        \
        int result = -1;                                                                           \
                                                                                                   \
        if (extend(one, &a) && extend(two, &b)) {                                                  \
            a = sum(a, times(b, UINT64_MAX));                                                      \
            result = compare_difference(step->how.compare.compare, &a);                            \
        }                                                                                          \
        if (result < 0)                                                                            \
            compare_general(warp, step, mask, wide);                                               \
        else                                                                                       \
            ops_setp_store(warp, step, result ? PTX_FULL : 0, mask);                               \
    }
COMPARE(compare_u32, extend_u, false)
COMPARE(compare_s32, extend_s, false)
COMPARE(compare_64, narrow_64, true)

ptx_run *affine_compare_of(enum affine_op op)
{
    return op == AFFINE_COMPARE_U32   ? compare_u32
           : op == AFFINE_COMPARE_S32 ? compare_s32
           : op == AFFINE_COMPARE_64  ? compare_64
                                      : NULL;
}
