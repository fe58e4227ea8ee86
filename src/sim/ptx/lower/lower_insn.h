/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_INSN_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_INSN_H

#include <stdint.h>

struct lower;

void lower_insn(struct lower *lower, uint32_t index);

#endif
