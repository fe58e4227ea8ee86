/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_INSN_H
#define CUSHIM_SIM_PTX_READ_CHECK_INSN_H

#include <stdbool.h>

struct ir_insn;
struct parser;
struct reading;

/* Turn what was read into an instruction; false: reported. */
bool check_insn(struct parser *parser, struct reading *reading, struct ir_insn *insn);
bool check_insn_known(struct parser *parser, struct reading *reading);
/* The reason why an instruction is not run by the engine; NULL: it is. */
const char *check_insn_unsupported(struct parser *parser, const struct reading *reading);

#endif
