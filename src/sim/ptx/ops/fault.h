/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_OPS_FAULT_H
#define CUSHIM_SIM_PTX_OPS_FAULT_H

#include "ptx/ptx.h"

struct launch;
struct ptx_step;
struct ptx_warp;

const struct ptx_world *fault_world(const struct ptx_warp *warp);
/* Stop the launch: `lane` did what `kind` says. The step's remaining lanes may be skipped. */
void fault_warp(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                enum ptx_fault_kind kind, uint64_t address, const char *what);
void fault_launch(struct launch *launch, enum ptx_fault_kind kind, const char *what);

#endif
