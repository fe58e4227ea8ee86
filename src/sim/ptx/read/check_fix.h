/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_FIX_H
#define CUSHIM_SIM_PTX_READ_CHECK_FIX_H

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct ir_operand;
struct parser;
struct spec;

/* An operand in its final shape, for the place that it suits (check_fix.c). */
void check_fix(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
               struct ir_operand *operand);
/* The type that the place wants. */
uint8_t check_fix_type(const struct ir_insn *insn, const struct spec *spec);
/* {a} in place of a. */
bool check_fix_is_single(const struct ir_insn *insn, const struct spec *spec,
                         const struct ir_operand *operand);

#endif
