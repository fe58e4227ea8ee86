/* SPDX-License-Identifier: MIT */
/* Loads and stores of the usual sizes, of whole warps: compiled at several ISA levels. */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_ROW_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_ROW_H

#include "ptx/memory/memory.h"
#include "ptx/ops/exec.h"

struct row_runs {
    ptx_run *run;     /* in place of memory_load and memory_store; NULL: they serve it */
    affine_run *team; /* at affine addresses; NULL: vectors of them are needed */
};
typedef struct row_runs memory_row_load_of(enum memory_space space, enum load_kind kind);
typedef struct row_runs memory_row_store_of(enum memory_space space, enum store_kind kind);
memory_row_load_of memory_row_load_base, memory_row_load_v3, memory_row_load_v4;
memory_row_store_of memory_row_store_base, memory_row_store_v3, memory_row_store_v4;

#endif
