/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_STORE_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_STORE_H

#include "ptx/memory/memory.h"
#include "ptx/ops/exec.h"

unsigned memory_store_size(enum store_kind kind);
/* operand: address, value. */
ptx_run *memory_store(enum memory_space space, enum store_kind kind);
ptx_run *memory_store_frame(enum store_kind kind); /* operand: value */
/* As memory_load_any. */
ptx_run memory_store_any, memory_store_frame128;

#endif
