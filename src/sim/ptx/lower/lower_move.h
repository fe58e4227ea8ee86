/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_MOVE_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_MOVE_H

#include <stdbool.h>

struct ir_insn;
struct lower;

void lower_move_mov(struct lower *lower, const struct ir_insn *insn);
bool lower_move_family(struct lower *lower, const struct ir_insn *insn);

#endif
