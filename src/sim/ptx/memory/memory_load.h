/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_LOAD_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_LOAD_H

#include "ptx/memory/memory.h"
#include "ptx/ops/exec.h"

unsigned memory_load_size(enum load_kind kind);
/* operand: destination, address. */
ptx_run *memory_load(enum memory_space space, enum load_kind kind);
/* Of an entry's parameters at a fixed place, and of variables in the frame; no address. */
ptx_run *memory_load_param(enum load_kind kind);
ptx_run *memory_load_frame(enum load_kind kind); /* operand: destination */
/* Any kind: for vectors (list: destinations, address), ordered and 128-bit ones. */
ptx_run memory_load_any, memory_load_param128, memory_load_frame128;

#endif
