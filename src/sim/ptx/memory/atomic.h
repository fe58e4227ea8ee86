/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_ATOMIC_H
#define CUSHIM_SIM_PTX_MEMORY_ATOMIC_H

#include "ptx/ops/exec.h"

/* Atomics: operand or list: result, address, b, c. Sets the kind in *how. NULL: there is none of
 * this type. */
ptx_run *atomic_select(const struct ir_insn *insn, struct how_memory *how);

#endif
