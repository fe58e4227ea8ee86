/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_OPERAND_H
#define CUSHIM_SIM_PTX_READ_PARSE_OPERAND_H

#include "ptx/read/parse.h"

bool parse_operand_list(struct parser *parser, struct reading *reading, bool label);
bool parse_operand(struct parser *parser, struct ir_operand *operand, bool label);
/* An unknown name waits in an operand of kind LABEL until its form is known. */
struct name parse_operand_name(const struct ir_operand *operand);

#endif
