/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_INDEX_H
#define CUSHIM_SIM_PTX_READ_PARSE_INDEX_H

#include "ptx/read/parse.h"

/* Read the element of a variable, from the bracket on: x[2], x[%r], x[%r + 2]. The operand gets the
 * count 2 and the offset of a constant element; with a register that is its part, and `bits` the
 * element's size. */
void parse_index(struct parser *parser, const struct symbol *symbol, struct ir_operand *operand);
/* Compute the addresses of elements by a register, in front of an instruction that is checked. */
void parse_index_compute(struct parser *parser, struct ir_insn *insn);

#endif
