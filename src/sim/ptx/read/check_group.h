/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_GROUP_H
#define CUSHIM_SIM_PTX_READ_CHECK_GROUP_H

#include <stdbool.h>

struct ir_insn;
struct ir_operand;
struct parser;

/* Does the operand suit the role g, G, I or o of opcodes_forms.def? */
bool check_group(const struct parser *parser, const struct ir_insn *insn,
                 const struct ir_operand *operand, char role);

#endif
