/* SPDX-License-Identifier: MIT */
/* From the reader's instructions to steps over virtual registers, and from those to steps over a
 * register file. Between the two an operand is the number of a virtual register, a place in the
 * constant pool (PTX_CONSTANT set) or PTX_ABSENT. */
#ifndef CUSHIM_SIM_LOWER_H
#define CUSHIM_SIM_LOWER_H

#include "exec_internal.h"

#define SLOT_GUARD UINT32_C(0xffffffff)
#define NO_TARGET UINT32_MAX
#define MAX_PARTS 32

struct lower_ref { /* a virtual register in a step */
    uint32_t step, slot, vreg;
    bool def;
};

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
    unsigned architecture;
    const struct ir_insn *insn;
    bool unguarded; /* steps made now do not take the instruction's guard */
    struct ptx_step *steps;
    uint16_t *ops;
    uint32_t step_count, step_capacity;
    struct lower_ref *refs;
    uint32_t ref_count, ref_capacity;
    uint8_t *places; /* of virtual registers */
    uint32_t vreg_count, vreg_capacity, first_temp;
    uint32_t *base;        /* first virtual register of each register */
    uint32_t *first_step;  /* of each instruction, and one more */
    uint8_t *targeted;     /* instructions that branches go to */
    uint8_t *dropped;      /* instructions folded into their neighbours */
    uint32_t *variable_at; /* function variables: offset in the frame, or the shared number */
    uint32_t *params_at, *returns_at;
    struct lower_fixup fixups[MAX_PARTS];
    uint32_t fixup_count;
};

/* lower.c */
void lower_refuse(struct lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
uint32_t lower_step(struct lower *lower, ptx_run *run, enum step_control control);
void lower_use(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_def(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_list(struct lower *lower, uint32_t step, uint32_t count);
uint32_t lower_temp(struct lower *lower, enum value_place place);
uint32_t lower_pool(struct lower *lower, enum pool_kind kind, enum value_place place,
                    uint32_t index, uint64_t low, uint64_t high);
bool lower_grow(struct lower *lower, void **array, uint32_t *capacity, uint32_t count, size_t size);

/* lower_operand.c */
enum value_place place_of(enum ir_type type);
enum value_place lower_place(const struct lower *lower, const struct ir_operand *operand,
                             enum value_place fallback);
uint32_t lower_source(struct lower *lower, const struct ir_operand *operand,
                      enum value_place place);
uint32_t lower_dest(struct lower *lower, const struct ir_operand *operand, enum value_place place,
                    enum ir_type type);
uint32_t lower_predicate(struct lower *lower, const struct ir_operand *operand);
void lower_finish(struct lower *lower);
uint32_t lower_copy(struct lower *lower, ptx_run *run, uint32_t dest, uint32_t source);
uint32_t lower_temp_from(struct lower *lower, ptx_run *run, enum value_place place,
                         uint32_t source);
enum value_place operand_place(const struct ir_insn *insn, uint32_t index);
/* What reads a special register into a value of that kind. */
ptx_run *lower_special_run(struct lower *lower, const struct ir_operand *operand,
                           enum value_place place);
uint32_t lower_address(struct lower *lower, const struct ir_operand *operand, int64_t *offset);

/* lower_insn.c, lower_move.c, lower_memory.c, lower_flow.c, lower_sync.c */
void lower_insn(struct lower *lower, uint32_t index);
void lower_mov(struct lower *lower, const struct ir_insn *insn);
bool lower_move_family(struct lower *lower, const struct ir_insn *insn);
bool lower_memory_family(struct lower *lower, const struct ir_insn *insn);
bool lower_flow_family(struct lower *lower, const struct ir_insn *insn, uint32_t index);
bool lower_sync_family(struct lower *lower, const struct ir_insn *insn);

/* lower_alloc.c: liveness, places, and the steps' final operands. */
void lower_allocate(struct lower *lower);

/* lower_layout.c */
enum ptx_status layout_module(struct ptx_module *module, struct ptx_text *errors);
bool layout_function(struct lower *lower);

/* lower.c: all functions of the module. */
enum ptx_status lower_module(struct ptx_module *module, const struct ptx_options *options,
                             struct ptx_text *errors);

/* Run functions of exec_move.c, exec_special.c */
ptx_run run_copy32, run_copy64, run_copy128, run_zero64, run_sign64, run_low32, run_low64,
    run_zero128, run_mask16, run_mask8, run_sign8, run_sign16, run_sign8_16, run_sign8_64,
    run_sign16_64, run_predicate_copy, run_predicate_not, run_predicate_set, run_pack, run_unpack,
    run_local_address, run_shared_address, run_reference, run_window, run_isspacep, run_special,
    run_special64, run_tid, run_nothing, run_fence, run_mapa, run_getctarank, run_alloca,
    run_stacksave, run_stackrestore;

#endif
