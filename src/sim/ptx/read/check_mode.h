/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_MODE_H
#define CUSHIM_SIM_PTX_READ_CHECK_MODE_H

#include <stdbool.h>

struct ir_insn;
struct reading;

/* Fields of the instruction from its modifiers, and what they mean for this one (check_mode.c). */
void check_mode_apply(const struct reading *reading, struct ir_insn *insn);
bool check_mode_has(const struct reading *reading, const char *text);

#endif
