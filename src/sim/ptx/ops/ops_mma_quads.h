/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_MMA_QUADS_H
#define CUSHIM_SIM_PTX_OPS_OPS_MMA_QUADS_H

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"

ptx_run OPS_NAME(ops_mma_quads);

#endif
