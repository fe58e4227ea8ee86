/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_INSN_H
#define CUSHIM_SIM_PTX_READ_PARSE_INSN_H

#include "ptx/read/parse.h"

void parse_insn(struct parser *parser);
void parse_insn_pending(struct parser *parser, uint32_t from);
struct pending *parse_insn_pending_add(struct parser *parser, struct name name, uint32_t line);

#endif
