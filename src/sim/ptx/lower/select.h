/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_SELECT_H
#define CUSHIM_SIM_PTX_LOWER_SELECT_H

#include "ptx/memory/memory.h"
#include "ptx/ops/exec.h"

/* The run functions of one instruction set, which the CPU has to have. */
enum ops_level { OPS_BASE, OPS_V3, OPS_V4 };
enum ops_level select_best_level(void);
ptx_run *select_run(const struct ir_insn *insn, union ptx_how *how, const char **reason);
ptx_run *select_at(enum ops_level level, const struct ir_insn *insn, union ptx_how *how,
                   const char **reason);
ptx_run *select_load(enum memory_space space, enum load_kind kind);
ptx_run *select_store(enum memory_space space, enum store_kind kind);
ptx_run *select_wgmma(void);
/* At affine addresses; or NULL. */
affine_run *select_affine_load(enum memory_space space, enum load_kind kind);
affine_run *select_affine_store(enum memory_space space, enum store_kind kind);

#endif
