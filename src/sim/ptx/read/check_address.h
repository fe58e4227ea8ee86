/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_ADDRESS_H
#define CUSHIM_SIM_PTX_READ_CHECK_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct ir_operand;
struct parser;
struct reading;

/* The space of what an operand names; PTX_SPACE_GENERIC: it names nothing. */
uint8_t check_address_space(const struct parser *parser, const struct ir_operand *operand);
/* All addresses of an instruction; and of cvta, the type of its pointers. */
bool check_address(struct parser *parser, const struct reading *reading,
                   const struct ir_insn *insn);
bool check_address_pointer(struct parser *parser, const struct reading *reading,
                           const struct ir_insn *insn);

#endif
