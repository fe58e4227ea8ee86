/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_OPERAND_H
#define CUSHIM_SIM_PTX_LOWER_OPERAND_H

#include "ptx/ops/code.h"
#include "ptx/ops/exec.h"
#include "ptx/read/ir.h"

struct lower;

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
uint32_t operand_address(struct lower *lower, const struct ir_operand *operand, int64_t *offset);

#endif
