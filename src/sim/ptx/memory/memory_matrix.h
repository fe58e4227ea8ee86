/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_MATRIX_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_MATRIX_H

#include "ptx/ops/how.h"

/* Operands: of a load the registers, then the addresses; of a store the addresses first. */
ptx_run memory_matrix_load, memory_matrix_store;

#endif
