/* SPDX-License-Identifier: MIT */
/* From the reader's instructions to steps over virtual registers, and from those to steps over a
 * register file. Between the two an operand is the number of a virtual register, a place in the
 * constant pool (PTX_CONSTANT set) or PTX_ABSENT. */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_H

#include "ptx/memory/memory.h"
#include "ptx/read/read.h"

#define SLOT_GUARD UINT32_C(0xffffffff)
#define NO_TARGET UINT32_MAX
#define LOWER_MAX_PARTS 32

struct lower;

typedef void lower_one(struct lower *lower, const struct ir_insn *insn);

struct lower_ref { /* a virtual register in a step */
    uint32_t step, slot, vreg;
    bool def;
};

/* Those of a step, or of steps from `first` to before `past`. */
#define FOR_REFS_OF(lower, ref, first, past)                                                       \
    for (const struct lower_ref *ref = (lower)->refs + (lower)->first_ref[first];                  \
         ref < (lower)->refs + (lower)->first_ref[past]; ref++)
#define FOR_REFS(lower, ref, step) FOR_REFS_OF (lower, ref, step, (step) + 1)

struct lower_fixup { /* after the instruction: a temporary goes to a wider register */
    uint32_t from, to;
    ptx_run *run;
};

struct lower {
    struct ptx_module *module;
    const struct ir_function *fn;
    struct ptx_code *code;
    struct ptx_text *errors;
    enum ptx_status status;
    struct ir_arena *scratch;
    const struct ir_insn *insn;
    bool unguarded; /* steps made now do not take the instruction's guard */
    struct ptx_step *steps;
    struct step_source *sources;
    uint32_t step_count, step_capacity;
    struct lower_ref *refs;
    uint32_t ref_count, ref_capacity;
    uint32_t *first_ref; /* by step, and one more: set with the places */
    uint8_t *places;     /* of virtual registers */
    /* When they have places: what they are, and between which steps; live_from NO_TARGET: unused */
    uint32_t *place_at, *live_from, *live_to;
    uint32_t narrow_bytes; /* of the register file, which values of 32 bits have */
    uint32_t vreg_count, vreg_capacity, first_temp;
    uint32_t *base;        /* first virtual register of each register */
    uint32_t *first_step;  /* of each instruction, and one more */
    uint8_t *targeted;     /* instructions that branches go to */
    uint8_t *dropped;      /* instructions folded into their neighbours */
    uint32_t *variable_at; /* function variables: offset in the frame, or the shared number */
    uint32_t *params_at, *returns_at;
    struct lower_fixup fixups[LOWER_MAX_PARTS];
    uint32_t fixup_count;
};

/* PTX_ABSENT. */
uint32_t lower_refuse(struct lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
uint32_t lower_step(struct lower *lower, ptx_run *run, enum step_control control);
void lower_use(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_def(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_uses(struct lower *lower, uint32_t step, uint32_t slot, const uint32_t *values,
                uint32_t count);
void lower_defs(struct lower *lower, uint32_t step, uint32_t slot, const uint32_t *values,
                uint32_t count);
/* All operands of a step that writes none. */
#define LOWER_USES(lower, step, ...)                                                               \
    lower_uses(lower, step, 0, (const uint32_t[]){__VA_ARGS__},                                    \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* A step with the place that it writes, or PTX_ABSENT, and all that it reads. */
uint32_t lower_step_of(struct lower *lower, ptx_run *run, enum step_control control, uint32_t dest,
                       const uint32_t *sources, uint32_t count);
#define LOWER_STEP(lower, run, control, dest, ...)                                                 \
    lower_step_of(lower, run, control, dest, (const uint32_t[]){__VA_ARGS__},                      \
                  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void lower_list(struct lower *lower, uint32_t step, uint32_t count);
void lower_note_op(struct lower *lower, uint32_t step, enum affine_op op);
uint32_t lower_temp(struct lower *lower, enum value_place place);
uint32_t lower_pool(struct lower *lower, enum pool_kind kind, enum value_place place,
                    uint32_t index, uint64_t value);

enum value_place operand_place_of(enum ir_type type);
enum value_place operand_place(const struct lower *lower, const struct ir_operand *operand,
                               enum value_place fallback);
enum value_place operand_place_at(const struct ir_insn *insn, uint32_t index);

enum ptx_status layout_module(struct ptx_module *module, uint32_t most, struct ptx_text *errors);

/* Zeroed memory for one more than `count`, until the function is compiled; NULL: no memory, which
 * is the status then. */
void *lower_scratch(struct lower *lower, size_t count, size_t size);
void *lower_module_alloc(struct ptx_module *module, size_t size); /* zeroed */
void *lower_lasting(struct lower *lower, size_t size); /* the same; NULL is in the status */

/* --- compile.c --- All functions of the module. */
enum ptx_status compile_module(struct ptx_module *module, struct ptx_text *errors);

/* --- layout.c --- */
bool layout_function(struct lower *lower);

/* --- lower_affine.c --- */
/* lower_affine.c: the entry's steps for whole warps, from the general ones with their places. */
void lower_affine(struct lower *lower);

/* --- lower_region.c --- Which branches can be taken by some lanes of a team. */
struct lower_region {
    const struct lower *lower;
    const uint32_t *general;      /* of each step for teams */
    const struct ptx_step *steps; /* for teams */
    uint32_t count;
};
bool lower_region_counters(const struct lower_region *region, enum affine_form *form,
                           const uint8_t *op);
bool lower_region_blind(const struct lower *lower, uint32_t step, uint32_t to);
uint8_t lower_region_control(const struct ptx_step *step);
void lower_region_mark(const struct lower_region *region, bool *marks);

/* --- lower_alloc.c --- */
/* lower_alloc.c: liveness, places, and the steps' final operands. */
void lower_alloc_registers(struct lower *lower);

/* --- lower_bulk.c --- */
lower_one lower_bulk_copy, lower_bulk_async, lower_bulk_zero, lower_bulk_tensor, lower_bulk_map;

/* --- lower_flow.c --- */
lower_one lower_flow_bra, lower_flow_brx, lower_flow_call, lower_flow_ret, lower_flow_barrier,
    lower_flow_mbarrier, lower_flow_nap;

/* --- lower_insn.c --- */
void lower_insn(struct lower *lower);

/* --- lower_matrix.c --- */
lower_one lower_matrix_access, lower_matrix_wgmma;

/* --- lower_memory.c --- */
lower_one lower_memory_load, lower_memory_store, lower_memory_atomic, lower_memory_policy,
    lower_memory_copy;

/* --- lower_move.c --- */
lower_one lower_move_mov, lower_move_cvta, lower_move_isspacep, lower_move_mapa, lower_move_stack;

/* --- operand.c --- */
uint32_t operand_source(struct lower *lower, const struct ir_operand *operand,
                        enum value_place place);
uint32_t operand_dest(struct lower *lower, const struct ir_operand *operand, enum value_place place,
                      enum ir_type type);
uint32_t operand_predicate(struct lower *lower, const struct ir_operand *operand);
void operand_finish(struct lower *lower);
uint32_t operand_copy(struct lower *lower, ptx_run *run, uint32_t dest, uint32_t source);
uint32_t operand_temp_from(struct lower *lower, ptx_run *run, enum value_place place,
                           uint32_t source);
/* What reads a special register into a value of that kind. */
ptx_run *operand_special_run(struct lower *lower, const struct ir_operand *operand,
                             enum value_place place);
union ptx_how operand_special_how(const struct ir_operand *operand);
/* The elements of {a, b}, or the one operand itself. */
static inline const struct ir_operand *operand_parts(const struct ir_operand *operand,
                                                     uint32_t *count)
{
    bool vector = operand->kind == IR_OPERAND_VECTOR;

    *count = vector ? operand->count : 1;
    return vector ? operand->parts : operand;
}
uint32_t operand_address(struct lower *lower, const struct ir_operand *operand, int64_t *offset);
uint32_t operand_sum(struct lower *lower, const struct ir_operand *operand); /* of both */

/* --- select.c --- */
/* The run functions of one instruction set, which the CPU has to have. */
enum ops_level { OPS_BASE, OPS_V3, OPS_V4 };
enum ops_level select_best_level(void);
ptx_run *select_run(const struct ir_insn *insn, union ptx_how *how, const char **reason);
ptx_run *select_at(enum ops_level level, const struct ir_insn *insn, union ptx_how *how,
                   const char **reason);
ptx_run *select_load(enum memory_space space, enum load_kind kind);
ptx_run *select_store(enum memory_space space, enum store_kind kind);
ptx_run *select_wgmma(void);
/* At affine addresses; or NULL. */
affine_run *select_affine_load(enum memory_space space, enum load_kind kind);
affine_run *select_affine_store(enum memory_space space, enum store_kind kind);

#endif
