/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_LIFE_H
#define CUSHIM_SIM_CONTEXT_LIFE_H

#include "sim.h"

struct sim_context;
struct sim_device;

CUresult sim_life_begin(struct sim_device *device, unsigned flags, bool primary,
                        struct sim_context **context);
void sim_life_end(struct sim_context *context); /* with all that it owns */
/* The end of all that the context owns; a primary one can be opened again. */
CUresult sim_life_open(struct sim_context *context, unsigned flags);
void sim_life_close(struct sim_context *context);

#endif
