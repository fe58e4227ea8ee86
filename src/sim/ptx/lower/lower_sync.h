/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_SYNC_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_SYNC_H

#include <stdbool.h>

struct ir_insn;
struct lower;

bool lower_sync_family(struct lower *lower, const struct ir_insn *insn);

#endif
