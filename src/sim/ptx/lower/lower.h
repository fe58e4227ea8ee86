/* SPDX-License-Identifier: MIT */
/* From the reader's instructions to steps over virtual registers, and from those to steps over a
 * register file. Between the two an operand is the number of a virtual register, a place in the
 * constant pool (PTX_CONSTANT set) or PTX_ABSENT. */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_H

#include "ptx/ops/affine_op.h"
#include "ptx/ops/code.h"
#include "ptx/ops/exec.h"
#include "ptx/ops/module.h"
#include "ptx/ptx.h"
#include "ptx/read/ir.h"

#define SLOT_GUARD UINT32_C(0xffffffff)
#define NO_TARGET UINT32_MAX
#define LOWER_MAX_PARTS 32

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
    const struct ir_insn *insn;
    bool unguarded; /* steps made now do not take the instruction's guard */
    struct ptx_step *steps;
    struct step_source *sources;
    uint32_t step_count, step_capacity;
    struct lower_ref *refs;
    uint32_t ref_count, ref_capacity;
    uint8_t *places; /* of virtual registers */
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

void lower_refuse(struct lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
uint32_t lower_step(struct lower *lower, ptx_run *run, enum step_control control);
void lower_use(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_def(struct lower *lower, uint32_t step, uint32_t slot, uint32_t value);
void lower_list(struct lower *lower, uint32_t step, uint32_t count);
void lower_note_op(struct lower *lower, uint32_t step, enum affine_op op);
uint32_t lower_temp(struct lower *lower, enum value_place place);
uint32_t lower_pool(struct lower *lower, enum pool_kind kind, enum value_place place,
                    uint32_t index, uint64_t low, uint64_t high);
bool lower_grow(struct lower *lower, void **array, uint32_t *capacity, uint32_t count, size_t size);

enum value_place operand_place_of(enum ir_type type);
enum value_place operand_place(const struct lower *lower, const struct ir_operand *operand,
                               enum value_place fallback);
enum value_place operand_place_at(const struct ir_insn *insn, uint32_t index);

enum ptx_status layout_module(struct ptx_module *module, struct ptx_text *errors);

/* lower.c: all functions of the module. */
enum ptx_status lower_module(struct ptx_module *module, struct ptx_text *errors);
void *lower_module_alloc(struct ptx_module *module, size_t size); /* zeroed */

#endif
