/* SPDX-License-Identifier: MIT */
/* Steps on values that are affine over a team. */

#include "ptx/ops/affine.h"
#include "ptx/ops/ops_mask.h"

void affine_extremes_some(const struct ptx_team *team, const struct affine *of, int64_t *least,
                          int64_t *greatest)
{
    *least = INT64_MAX;
    *greatest = INT64_MIN;
    for (uint32_t i = team->first; i <= team->last; i++) {
        const struct affine alone = affine_of_warp(of, i);
        const struct ptx_team one = {.count = 1};
        int64_t low, high;

        if (!team->masks[i])
            continue;
        affine_extremes(&one, &alone, &low, &high);
        *least = low < *least ? low : *least;
        *greatest = high > *greatest ? high : *greatest;
    }
}

/* --- Arithmetic: of 64 bits, whose low half is right for 32 --- */

/* AFFINE(name, result): of the step's sources a, b and c. */
#define AFFINE(name, result)                                                                       \
    static bool name(struct ptx_team *team, const struct ptx_step *step)                           \
    {                                                                                              \
        const struct affine *a = team_in(team, step->operand[1]);                                  \
        const struct affine *b = team_in(team, step->operand[2]);                                  \
        const struct affine *c = team_in(team, step->operand[3]);                                  \
        (void)a, (void)b, (void)c;                                                                 \
        *team_out(team, step->operand[0]) = (result);                                              \
        return true;                                                                               \
    }

static inline struct affine form_of(uint64_t base, uint64_t lane, uint64_t half, uint64_t warp)
{
    return (struct affine){base, lane, half, warp};
}

static inline struct affine uniform(uint64_t value)
{
    return form_of(value, 0, 0, 0);
}

static inline bool is_uniform(const struct affine *form)
{
    return !(form->lane | form->half | form->warp);
}

static inline struct affine sum(struct affine a, struct affine b)
{
    return form_of(a.base + b.base, a.lane + b.lane, a.half + b.half, a.warp + b.warp);
}

static inline struct affine difference(struct affine a, struct affine b)
{
    return form_of(a.base - b.base, a.lane - b.lane, a.half - b.half, a.warp - b.warp);
}

static inline struct affine times(struct affine a, uint64_t factor)
{
    return form_of(a.base * factor, a.lane * factor, a.half * factor, a.warp * factor);
}

/* One of them is uniform. */
static inline struct affine product(const struct affine *a, const struct affine *b)
{
    return is_uniform(a) ? times(*b, a->base) : times(*a, b->base);
}

static inline struct affine shifted(const struct affine *a, uint64_t amount, uint64_t width)
{
    return amount < width ? times(*a, UINT64_C(1) << amount) : uniform(0);
}

#define WITHIN(amount, most) ((uint32_t)(amount) > (most) ? (most) : (uint32_t)(amount))

/* --- From 32 bits to 64 --- */

/* A value in 64 bits, and its extremes. */
struct extended {
    struct affine form;
    int64_t least, greatest;
};

OPS_INLINE void extend_form(const struct ptx_team *team, struct extended *to)
{
    if (is_uniform(&to->form))
        to->least = to->greatest = (int64_t)to->form.base;
    else
        affine_extremes(team, &to->form, &to->least, &to->greatest);
}

/* The value of 32 bits in 64, where no lane's wraps around. */
OPS_INLINE bool extend_u(const struct ptx_team *team, const struct affine *from,
                         struct extended *to)
{
    to->form = form_of((uint32_t)from->base, (uint64_t)(int32_t)from->lane,
                       (uint64_t)(int32_t)from->half, (uint64_t)(int32_t)from->warp);
    extend_form(team, to);
    return to->least >= 0 && to->greatest <= UINT32_MAX;
}

OPS_INLINE bool extend_s(const struct ptx_team *team, const struct affine *from,
                         struct extended *to)
{
    to->form = form_of((uint64_t)(int32_t)from->base, (uint64_t)(int32_t)from->lane,
                       (uint64_t)(int32_t)from->half, (uint64_t)(int32_t)from->warp);
    extend_form(team, to);
    return to->least >= INT32_MIN && to->greatest <= INT32_MAX;
}

/* The sources a and b are extended, c is not. */
#define EXTENDED(name, extend, count, result)                                                      \
    static bool name(struct ptx_team *team, const struct ptx_step *step)                           \
    {                                                                                              \
        const struct affine *c = team_in(team, step->operand[3]);                                  \
        struct extended sources[2];                                                                \
        const struct affine *a = &sources[0].form, *b = &sources[1].form;                          \
        (void)b, (void)c;                                                                          \
        for (unsigned i = 0; i < (count); i++)                                                     \
            if (!extend(team, team_in(team, step->operand[1 + i]), sources + i))                   \
                return false;                                                                      \
        *team_out(team, step->operand[0]) = (result);                                              \
        return true;                                                                               \
    }
#define AFFINE_OP(name, run, rule)
#define AFFINE_VALUE(name, run, rule, result) AFFINE(run, result)
#define AFFINE_EXTENDED(name, run, rule, extend, count, result) EXTENDED(run, extend, count, result)
#include "ptx/ops/affine_ops.def"

/* --- Where values come from --- */

static bool parameter(struct ptx_team *team, const struct ptx_step *step)
{
    uint64_t value = 0;

    memcpy(&value, team->warps->launch->params + step->how.fixed.at, step->how.fixed.bytes);
    *team_out(team, step->operand[0]) = uniform(value);
    return true;
}

static bool tid(struct ptx_team *team, const struct ptx_step *step)
{
    const uint32_t row = team->count > 1 ? 0 : team->warps->warp.index + 1;

    *team_out(team, step->operand[0]) =
        team->warps->launch->tid_forms[row * 3 + step->how.special.component];
    return true;
}

static bool grid(struct ptx_team *team, const struct ptx_step *step)
{
    *team_out(team, step->operand[0]) =
        uniform(special_of_warp(&team->warps->warp, &step->how.special));
    return true;
}

/* --- Comparisons --- */

/* What all lanes have in common as the comparison of two values, of which the least and the
 * greatest difference is given; -1: they have nothing. */
static inline int compare_extremes(unsigned compare, int64_t least, int64_t greatest)
{
    switch (compare) {
    case IR_EQ:
    case IR_NE:
        if (least > 0 || greatest < 0)
            return compare == IR_NE;
        return least == greatest ? compare == IR_EQ : -1;
    case IR_LT:
        return greatest < 0 ? 1 : least >= 0 ? 0 : -1;
    case IR_LE:
        return greatest <= 0 ? 1 : least > 0 ? 0 : -1;
    case IR_GT:
        return least > 0 ? 1 : greatest <= 0 ? 0 : -1;
    case IR_GE:
        return least >= 0 ? 1 : greatest < 0 ? 0 : -1;
    default:
        return -1;
    }
}

/* Not so large that signed and unsigned comparisons differ, or that a lane's value wraps around. */
OPS_INLINE bool narrow_64(const struct ptx_team *team, const struct affine *from,
                          struct extended *to)
{
    to->form = *from;
    if (!affine_is_small(from) || from->base >> 62)
        return false;
    extend_form(team, to);
    return to->least >= 0;
}

/* Some lanes differ from others, or nobody knows. */
static void compare_vectors(const struct ptx_team *team, const struct ptx_step *step, bool wide)
{
    const struct ptx_step *general = affine_vector_general(&team->warps->warp, step);
    const unsigned first = step->how.compare.first;

    for (unsigned i = first; i < first + 2; i++)
        if (!(general->operand[i] & PTX_CONSTANT))
            affine_vector_make(team, team_in(team, step->operand[i]), general->operand[i], wide);
    for (uint32_t i = 0; i < team->count; i++)
        if (team_mask(team, i))
            general->run(&team->warps[i].warp, general, team_mask(team, i));
}

/* The lanes of each warp for which the comparison holds. */
static void compare_store(const struct ptx_team *team, const struct ptx_step *step,
                          const uint32_t *found)
{
    const uint32_t to = step->operand[0], last = team->last, active = team->active;
    const uint32_t *masks = team->masks;
    const size_t stride = team->warps->warp.stride / sizeof *masks;
    uint32_t *p = team->warps[team->first].warp.predicates + to;
    const bool plain = step->how.compare.first == 1 && step->how.compare.boolean == IR_ATOM_NONE &&
                       to < PTX_ABSENT;

    for (uint32_t i = team->first; plain && i <= last; i++, p += stride) {
        const uint32_t mask = masks ? masks[i] : active;

        *p = (*p & ~mask) | (found[i] & mask);
    }
    for (uint32_t i = team->first; !plain && i <= last; i++)
        ops_setp_store(&team->warps[i].warp, ops_setp_of(step), found[i], team_mask(team, i));
}

static void compare_all(const struct ptx_team *team, const struct ptx_step *step, bool result)
{
    uint32_t found[PTX_LANES];

    for (uint32_t i = team->first; i <= team->last; i++)
        found[i] = result ? PTX_FULL : 0;
    compare_store(team, step, found);
}

static inline uint32_t low_lanes(int64_t count)
{
    return count <= 0 ? 0 : count >= PTX_LANES ? PTX_FULL : (UINT32_C(1) << count) - 1;
}

/* The lanes of a warp whose value is below the limit; their values begin with `first`. */
static inline uint32_t lanes_below(const struct affine *form, int64_t first, int64_t limit)
{
    const int64_t at = first - limit;
    uint32_t bits = 0;

    if (form->lane == 1 && form->half == 16)
        return low_lanes(-at);
    if (form->lane == UINT64_MAX && form->half == (uint64_t)-16)
        return ~low_lanes(at + 1);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const uint64_t value = (uint64_t)at + lane % 16 * form->lane + lane / 16 * form->half;
        bits |= (uint32_t)(value >> 63) << lane;
    }
    return bits;
}

/* Lane by lane, by the difference of the values, which does not wrap around. */
static __attribute__((noinline)) void compare_lanes(const struct ptx_team *team,
                                                    const struct ptx_step *step,
                                                    const struct affine *difference)
{
    const unsigned compare = step->how.compare.compare;
    const int64_t limit = compare == IR_LE || compare == IR_GT;
    const uint32_t other = compare == IR_NE || compare == IR_GE || compare == IR_GT ? PTX_FULL : 0;
    uint32_t found[PTX_LANES];

    for (uint32_t i = team->first; i <= team->last; i++) {
        const int64_t first = (int64_t)(difference->base + i * difference->warp);

        found[i] = lanes_below(difference, first, limit) ^ other;
        if (compare == IR_EQ || compare == IR_NE)
            found[i] ^= lanes_below(difference, first, 1);
    }
    compare_store(team, step, found);
}

#define COMPARE(name, extend, wide)                                                                \
    static bool name(struct ptx_team *team, const struct ptx_step *step)                           \
    {                                                                                              \
        const struct affine *one = team_in(team, step->operand[step->how.compare.first]);          \
        const struct affine *two = team_in(team, step->operand[step->how.compare.first + 1]);      \
        struct extended a, b;                                                                      \
        int result = -1;                                                                           \
                                                                                                   \
        if (extend(team, one, &a) && extend(team, two, &b)) {                                      \
            int64_t least = a.least - b.greatest, greatest = a.greatest - b.least;                 \
            a.form = difference(a.form, b.form);                                                   \
            if (!is_uniform(&b.form))                                                              \
                affine_extremes(team, &a.form, &least, &greatest);                                 \
            result = compare_extremes(step->how.compare.compare, least, greatest);                 \
            if (result < 0)                                                                        \
                compare_lanes(team, step, &a.form);                                                \
            else                                                                                   \
                compare_all(team, step, result);                                                   \
        } else {                                                                                   \
            compare_vectors(team, step, wide);                                                     \
        }                                                                                          \
        return true;                                                                               \
    }
COMPARE(compare_u32, extend_u, false)
COMPARE(compare_s32, extend_s, false)
COMPARE(compare_64, narrow_64, true)

/* --- Which step does what --- */

enum rule {
    RULE_UNIFORM, /* a uniform result of uniform sources */
    RULE_LINEAR,  /* a form of the sources' own */
    RULE_PRODUCT, /* one of the first two is uniform */
    RULE_FIRST,   /* all but the first are uniform */
    RULE_AFFINE,  /* no sources */
    RULE_NONE,    /* the result is no such value */
};
static const struct {
    affine_run *run;
    enum rule rule;
} kinds[AFFINE_OPS] = {
#define AFFINE_OP(name, run, rule) {run, RULE_##rule},
#include "ptx/ops/affine_ops.def"
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
    if (!kinds[op].run)
        return FORM_ANY;
    switch (kinds[op].rule) {
    case RULE_AFFINE:
        return FORM_AFFINE;
    case RULE_LINEAR:
        return form;
    case RULE_PRODUCT:
        return sources[0] && sources[1] ? FORM_ANY : form;
    case RULE_FIRST:
        return sources[1] ? FORM_ANY : form;
    case RULE_UNIFORM:
        return form ? FORM_ANY : FORM_UNIFORM;
    default:
        return FORM_ANY;
    }
}
