/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_OPERAND_H
#define CUSHIM_SIM_PTX_READ_CHECK_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct ir_operand;
struct ir_register;
struct parser;
struct spec;

const struct ir_register *check_operand_register(const struct parser *parser,
                                                 const struct ir_operand *operand);
bool check_operand_is_symbol(const struct ir_operand *operand);
bool check_operand(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
                   struct ir_operand *operand, bool fix);
/* Is the operand a register, an immediate number, or either, for a place of type `want`? `relaxed`:
 * a register may be wider. */
bool check_operand_is_register(const struct parser *parser, const struct ir_operand *operand,
                               uint8_t want, bool relaxed);
bool check_operand_is_immediate(const struct ir_operand *operand, uint8_t want);
bool check_operand_is_source(const struct parser *parser, const struct ir_operand *operand,
                             uint8_t want, bool relaxed);

#endif
