/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LOWER_FLOW_H
#define CUSHIM_SIM_PTX_LOWER_LOWER_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct lower;

bool lower_flow_family(struct lower *lower, const struct ir_insn *insn, uint32_t index);

#endif
