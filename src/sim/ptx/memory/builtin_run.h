/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_BUILTIN_RUN_H
#define CUSHIM_SIM_PTX_MEMORY_BUILTIN_RUN_H

#include "ptx/ops/exec.h"

struct ptx_builtin;

/* What runs a built-in function: of a call's step. */
ptx_run *builtin_run(const struct ptx_builtin *builtin);

#endif
