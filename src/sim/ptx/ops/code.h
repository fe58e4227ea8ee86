/* SPDX-License-Identifier: MIT */
/* A function, compiled: its steps, and where its values are. */
#ifndef CUSHIM_SIM_PTX_OPS_CODE_H
#define CUSHIM_SIM_PTX_OPS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct ir_function;
struct ptx_step;

#define CALL_OVERHEAD 16 /* bytes of stack that a call takes besides its variables */

enum value_place {
    PLACE_MEMORY,
    PLACE_32,
    PLACE_64,
    PLACE_128,
    PLACE_PREDICATE,
    PLACE_FORM /* of a constant in the pool: a struct affine */
};

struct call_value {
    uint8_t place;   /* enum value_place */
    uint32_t offset; /* in the frame's local memory; of a register: its place in step->list, and for
                        a parameter of the callee its offset in the register file */
    uint32_t size;   /* bytes */
};

struct call_site {
    uint32_t callee; /* index of code; UINT32_MAX: the address in list[0] */
    uint32_t argument_count, return_count;
    struct call_value *arguments, *returns;
};

struct jump_table {
    uint32_t count;
    uint32_t targets[]; /* step indices */
};

struct step_source {
    uint32_t line;        /* of the PTX text */
    uint32_t source_line; /* of .loc; 0: none */
    uint32_t source_file; /* of the IR */
    uint16_t op;          /* enum ir_op */
    uint8_t affine;       /* enum affine_op: what the step does on affine values */
};

/* A register of the general steps that is affine in those for teams. */
struct affine_value {
    uint32_t from, to; /* general steps between which it has its places */
    uint32_t vector, form;
    bool wide; /* 64 bits */
};

/* Steps for teams of warps (affine.h). */
struct team_code {
    struct ptx_step *steps;
    uint32_t *general; /* of each step: the general step that it stands for */
    uint32_t step_count;
    struct ptx_step *fixed; /* what is the same in all blocks of a launch; no guards */
    uint32_t fixed_count;
    struct affine_value *values;
    uint32_t value_count;
    uint8_t tids; /* bit set: components of %tid that must be affine */
};

/* One function, compiled. */
struct ptx_code {
    const struct ir_function *ir;
    struct ptx_function_info info;
    struct ptx_step *steps;
    struct step_source *sources; /* of each step, for reports */
    uint32_t step_count;
    struct team_code *team; /* of an entry, where some value is affine; or NULL */
    uint32_t register_bytes, predicate_count;
    uint32_t fixed_bytes; /* at the end of the registers: what lasts from warp to warp */
    bool clear;           /* some register is read before it is written */
    struct call_value *params, *returns;
    uint32_t local_size; /* of a frame: variables, arguments, results */
    uint32_t counted;    /* of a frame, what counts against the stack limit */
    /* Calls: bit sets and flags that layout walks. */
    uint32_t *callees; /* code indices */
    uint32_t callee_count;
    bool indirect, dynamic_stack, reserved_shared;
    uint32_t *shared_used; /* module shared-variable numbers */
    uint32_t shared_used_count;
    /* Of an entry. */
    uint32_t stack_size;      /* of a thread, without recursion */
    uint32_t stack_counted;   /* of that, what counts against the limit */
    uint32_t stack_ratio;     /* bytes of memory for one that counts, at most */
    bool unbounded;           /* recursion or calls through pointers: the stack limit counts too */
    uint32_t *shared_offsets; /* by number of the shared variable; UINT32_MAX: not reachable */
    uint32_t shared_static;
};

#endif
