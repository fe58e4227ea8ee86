/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_GREEN_H
#define CUSHIM_SIM_CONTEXT_GREEN_H

#include "sim.h"

struct sim_context;

CUgreenCtx sim_green_of(const struct sim_context *context); /* NULL: the context is a whole one */

#endif
