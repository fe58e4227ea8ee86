/* SPDX-License-Identifier: MIT */
/* Compiled code and what runs it. A warp is 32 lanes; a register is an array of 32 values, so that
 * one step works on a whole warp and the C compiler can vectorise it.
 *
 * Register file: bytes at warp->registers. A value of up to 32 bits takes 32 uint32_t (128 bytes),
 * narrower ones zero-extended; 64 bits: 32 uint64_t; 128 bits: 32 low then 32 high uint64_t.
 * Predicates are bit masks, one uint32_t each, in warp->predicates.
 * Affine values have places behind these (affine.h).
 * Immediates and addresses of symbols are arrays of the same shape in the constant pool: an operand
 * with PTX_CONSTANT set is an offset into warp->constants. */
#ifndef CUSHIM_SIM_PTX_OPS_EXEC_H
#define CUSHIM_SIM_PTX_OPS_EXEC_H

#include "ptx/read/ir.h"

struct ptx_step;
struct ptx_team;
struct ptx_warp;

/* What a step carries beside its operands: one member of the union for each family of
 * instructions. The family's selector or the compiler sets it, and the family's run functions read
 * it. */
/* Compute for the lanes of `mask` (never 0) and leave the other lanes' destinations alone. What
 * does so for the warps that follow, too, sets warp->follow to 0. */
typedef void ptx_run(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
/* Do the same for a team of warps on values that are affine over it. False: that is not possible,
 * and nothing is done. */
typedef bool affine_run(struct ptx_team *team, const struct ptx_step *step);

/* What most carry: the instruction itself. */
struct how_insn {
    uint8_t slot; /* in the place of how_memory's: it may touch memory */
    const struct ir_insn *of;
};

/* --- Arithmetic --- */
struct how_round {    /* .rz, .rm, .rp */
    ptx_run *run;     /* runs with the CPU's rounding mode set */
    uint8_t rounding; /* enum ir_rounding */
};
struct how_carry {
    bool in, out;
};
struct how_compare {         /* setp: p[|q], a, b[, c]; set: d, a, b[, c] */
    uint8_t first;           /* setp: index of a, 1 or 2 */
    uint8_t boolean;         /* enum ir_atomic: the combination with c; 0: there is no c */
    uint8_t row, column;     /* set: the place in the table of ops_compare.c */
    uint8_t compare;         /* of halves and of affine values: enum ir_compare */
    bool is_bf16, ftz, pair; /* of halves: how the operands are read */
    uint32_t yes;            /* set: what says "true" in the type that it writes */
};

/* --- Video --- */
struct how_video {   /* on one value; a selector is IR_COMPONENT_*, or 0 for the whole register */
    uint16_t op;     /* enum ir_op */
    uint8_t a, b, d; /* selectors; d: where the result is merged */
    uint8_t compare; /* enum ir_compare */
    uint8_t second;  /* enum ir_atomic: the second operation */
    uint8_t scale;   /* vmad: how far the sum is shifted */
    bool a_signed : 1, b_signed : 1, d_signed : 1, saturate : 1, wrap : 1, plus_one : 1;
    bool has_c : 1, minus_product : 1, minus_c : 1;
};
struct how_simd {  /* on two halves or four bytes */
    uint16_t a, b; /* a digit of 4 bits for each part, which names one of a's, then of b's */
    uint8_t op;    /* enum ir_op */
    uint8_t mask;  /* a bit for each part that is written */
    uint8_t compare;
    bool four, a_signed, b_signed, d_signed, saturate, add;
};

/* --- Moves and special registers --- */
struct how_special {
    uint16_t name;     /* enum ir_special */
    uint8_t component; /* or number */
};
/* --- Control --- */
struct how_jump {
    union {
        uint32_t index; /* of the instruction, until all steps have their places */
        const struct ptx_step *step;
    };
};
struct how_call {
    uint8_t slot; /* in the place of how_memory's: a built-in function may read memory */
    const struct call_site *site;
};
/* --- Memory --- */
struct how_fixed { /* a parameter, or a place in the frame */
    uint64_t at;
    uint8_t kind;  /* enum load_kind or store_kind */
    uint8_t bytes; /* of a parameter that is loaded without its sign; else 0 */
};
struct how_memory {
    uint8_t slot;   /* place in the worker's cache of ranges */
    uint8_t space;  /* enum memory_space */
    uint8_t unused; /* quarters at the end of a load that do not count */
    bool ordered;   /* a load or store that is not weak */
    union {
        uint8_t load;  /* enum load_kind */
        uint8_t store; /* enum store_kind */
        struct {
            uint8_t type, operation; /* enum ir_type and enum ir_atomic of an atomic */
        };
    };
    uint64_t offset; /* what is added to the address */
};

/* --- Matrices --- */
struct how_mma {
    uint8_t shape;      /* enum ir_shape */
    uint8_t a, b, c, d; /* enum ir_type of their elements */
    uint8_t at[4];      /* index of the first register of d, a, b, c */
    uint8_t columns;    /* bit 1: a is .col; bit 0: b is */
    uint8_t parts;      /* enum parts of ops_mma.c */
    bool apart : 1;     /* c is added to the sum of the parts */
    bool satfinite : 1;
    bool both : 1; /* .and, not .xor */
    bool sparse : 1;
    uint8_t selector; /* of metadata */
};

/* --- Textures and surfaces --- */
struct how_texture { /* indices are of the flattened operands */
    uint8_t results; /* registers at the front */
    uint8_t handle;  /* index of the handle */
    uint8_t at;      /* index of the first coordinate */
    uint8_t rest;    /* index of what follows the coordinates: level, gradients, offsets */
    bool predicate, offset;
    const struct ir_insn *insn;
};
struct how_surface {
    uint8_t count; /* elements: 1, 2, 4 */
    uint8_t handle, at, values;
    const struct ir_insn *insn;
};

union ptx_how {
    uint8_t space;            /* enum ptx_space: of isspacep */
    uint32_t set;             /* the lanes whose predicate becomes true */
    uint32_t variable;        /* of the module: a texture or surface reference */
    uint64_t add;             /* to a base, or to the source */
    struct jump_table *table; /* of brx.idx */
    struct how_insn insn;
    struct how_round round;
    struct how_carry carry;
    struct how_compare compare;
    struct how_video video;
    struct how_simd simd;
    struct how_special special;
    struct how_jump jump;
    struct how_call call;
    struct how_fixed fixed;
    struct how_memory memory;
    struct how_mma mma;
    struct how_texture texture;
    struct how_surface surface;
};
_Static_assert(sizeof(union ptx_how) == 16, "steps are what the interpreter reads most");

#define PTX_LANES 32
#define PTX_FULL UINT32_C(0xffffffff)
#define PTX_CONSTANT UINT32_C(0x80000000)
#define PTX_ABSENT UINT32_C(0x7fffffff) /* an operand that is not there, or the sink _ */

/* What the interpreter does with a step. */
enum step_control {
    CONTROL_RUN,     /* no guard, cannot fail */
    CONTROL_GUARDED, /* the same with a guard */
    CONTROL_MEMORY,  /* may fail; with or without a guard */
    CONTROL_SPIN,    /* the same, and may be part of a loop that waits for another thread */
    CONTROL_JOIN,    /* threads may meet here */
    CONTROL_JUMP,
    CONTROL_LOOP,    /* a jump backward */
    CONTROL_BRANCH,  /* guarded jump */
    CONTROL_INDEXED, /* brx.idx */
    CONTROL_CALL,
    CONTROL_RETURN,
    CONTROL_EXIT,
    CONTROL_BARRIER, /* operands: result, barrier, count, predicate */
    CONTROL_SYNC,    /* runs when all lanes of its mask, the last operand, are here */
    CONTROL_CLUSTER, /* barrier.cluster */
    CONTROL_NAP,     /* operand: nanoseconds */
    CONTROL_TRAP,
    /* Of steps for teams alone, with or without a guard. */
    CONTROL_AFFINE,
    CONTROL_ROWS, /* memory at affine addresses */
    CONTROL_PART, /* what no team does */
};

enum { STEP_OPERANDS = 8 };
struct ptx_step {
    union {
        ptx_run *run;
        affine_run *affine;
    };
    /* Offsets of operands in the order of the PTX instruction, destinations first; for predicates
     * the index in warp->predicates. A negated predicate source is materialised by the compiler. */
    uint32_t operand[STEP_OPERANDS];
    uint32_t guard; /* predicate index; PTX_ABSENT: none */
    uint8_t guard_negate;
    uint8_t control; /* enum step_control */
    uint16_t list_count;
    union ptx_how how;
    /* Operands of an instruction with vectors or groups (ld.v4, tex, mov {a,b}): all of them,
     * flattened in order; operand[] then holds the first of them. NULL for all others. */
    union {
        const uint32_t *list;
        affine_run *form; /* of affine_both_32 and affine_both_64 */
    };
};
_Static_assert(sizeof(struct ptx_step) <= 72 || sizeof(void *) != 8,
               "the interpreter reads a step in two lines of the cache");

static inline const struct ir_insn *ptx_insn(const struct ptx_step *step)
{
    return step->how.insn.of;
}

struct ptx_warp {
    char *registers;
    const char *constants;
    uint32_t *predicates;
    uint32_t carry; /* mask: CC.CF of each lane */
    /* While a team runs a step: warps behind this one that it is also for, and the lanes of this
     * one and of those. The registers and predicates of each are `stride` bytes behind those of the
     * one before. */
    uint32_t follow, stride;
    const uint32_t *masks;
    struct ptx_block *block;
    bool met;                     /* lanes of other steps take part in this one (ops_warp.c) */
    uint32_t active;              /* lanes that run the current step's path */
    uint32_t alive;               /* lanes that have not exited */
    uint32_t index;               /* of the warp in its block */
    struct ptx_warp_state *state; /* the scheduler's own */
};

static inline const void *ptx_in(const struct ptx_warp *warp, uint32_t operand)
{
    return operand & PTX_CONSTANT ? warp->constants + (operand & ~PTX_CONSTANT)
                                  : warp->registers + operand;
}
static inline void *ptx_out(struct ptx_warp *warp, uint32_t operand)
{
    return warp->registers + operand;
}

static inline uint32_t guard_mask(const struct ptx_warp *warp, const struct ptx_step *step)
{
    if (step->guard == PTX_ABSENT)
        return PTX_FULL;
    return warp->predicates[step->guard] ^ (step->guard_negate ? PTX_FULL : 0);
}

/* Loops over the lanes of a warp, and registers as such loops see them. */
/* Registers, whatever wrote them before. */
typedef uint32_t __attribute__((may_alias)) reg32;
typedef uint64_t __attribute__((may_alias)) reg64;

/* A lane of a register of 64 bits, or of 32. */
static inline uint64_t ptx_lane(const void *from, bool wide, unsigned lane)
{
    return wide ? ((const reg64 *)from)[lane] : ((const reg32 *)from)[lane];
}

static inline void ptx_lane_set(void *to, bool wide, unsigned lane, uint64_t value)
{
    if (wide)
        ((reg64 *)to)[lane] = value;
    else
        ((reg32 *)to)[lane] = (uint32_t)value;
}

/* For all lanes of `mask`: the compiler turns the first into vectors. A destination is one of the
 * sources or apart from it, never shifted against it. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that stays scalar is no mistake */
#define OPS_UNORDERED _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPS_UNORDERED _Pragma("GCC ivdep")
#endif
#define EACH_LANE(mask, lane, statement)                                                           \
    do {                                                                                           \
        if ((mask) == PTX_FULL) {                                                                  \
            OPS_UNORDERED                                                                          \
            for (unsigned lane = 0; lane < PTX_LANES; lane++)                                      \
                statement;                                                                         \
        } else {                                                                                   \
            FOR_LANES (lane, mask)                                                                 \
                statement;                                                                         \
        }                                                                                          \
    } while (0)

#define FOR_LANES(lane, mask)                                                                      \
    for (uint32_t lane##_left = (mask), lane = 0;                                                  \
         lane##_left && ((lane = (uint32_t)__builtin_ctz(lane##_left)), true);                     \
         lane##_left &= lane##_left - 1)

#endif
