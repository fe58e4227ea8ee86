/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_LIMIT_H
#define CUSHIM_SIM_CONTEXT_LIMIT_H

struct sim_context;

void sim_limit_reset(struct sim_context *context);

#endif
