/* SPDX-License-Identifier: MIT */
/* The products of a warpgroup: compiled at several ISA levels. */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_WGMMA_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_WGMMA_H

#include "ptx/ops/exec.h"

ptx_run memory_wgmma_base, memory_wgmma_v3, memory_wgmma_v4;

#endif
