/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_SEMANTICS_H
#define CUSHIM_SIM_PTX_READ_CHECK_SEMANTICS_H

#include <stdbool.h>

struct ir_insn;
struct parser;
struct reading;

bool check_semantics(struct parser *parser, const struct reading *reading, struct ir_insn *insn);
/* Report what is wrong with an instruction, whose name the format takes. Always false. */
bool check_semantics_fail(struct parser *parser, const struct reading *reading, const char *format);

#endif
