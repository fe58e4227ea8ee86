/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_BULK_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_BULK_H

#include <stdbool.h>

struct ir_insn;
struct lower;

bool lower_bulk_family(struct lower *lower, const struct ir_insn *insn);

#endif
