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

#include "ptx/ops/how.h"
#include "ptx/read/ir.h"

struct ptx_block;
struct ptx_warp_state;

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

struct ptx_warp {
    char *registers;
    const char *constants;
    uint32_t *predicates;
    uint32_t carry; /* mask: CC.CF of each lane */
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

#endif
