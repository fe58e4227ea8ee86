/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_WMMA_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_WMMA_H

#include "ptx/ops/how.h"

/* Operands: of a load the registers, then the address; of a store the address first; at the end the
 * stride, where the step has one. */
ptx_run memory_wmma_load, memory_wmma_store;

#endif
