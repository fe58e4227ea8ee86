/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_OPS_FAULT_H
#define CUSHIM_SIM_PTX_OPS_FAULT_H

#include "ptx/ptx.h"

struct launch;
struct ptx_module;
struct ptx_step;
struct ptx_warp;
struct step_source;

const struct ptx_world *fault_world(const struct ptx_warp *warp);
/* Stop the launch: `lane` did what `kind` says. The step's remaining lanes may be skipped. */
void fault_warp(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                enum ptx_fault_kind kind, uint64_t address, const char *what);
/* Where a step comes from; NULL: it is none of the module's. */
const struct step_source *fault_source(const struct ptx_module *module,
                                       const struct ptx_step *step);
/* "line 26 (sum.cu:12), ld" */
void fault_describe(const struct ptx_module *module, const struct step_source *source, char *text,
                    size_t size);
void fault_launch(struct launch *launch, enum ptx_fault_kind kind, const char *what);

#endif
