/* SPDX-License-Identifier: MIT */
/* The calling thread's stack of contexts: entries outlive the contexts they name. */
#ifndef CUSHIM_SIM_CORE_STACK_H
#define CUSHIM_SIM_CORE_STACK_H

#include "sim.h"

struct sim_context;
struct sim_device;

/* The handle on top, destroyed or not; NULL: none. */
CUcontext sim_stack_top(void);
size_t sim_stack_depth(void);
/* The device of the top, destroyed or not; NULL: none. */
struct sim_device *sim_stack_device(void);
void sim_stack_unload(void); /* sim_unload's part */
/* The top, which may be destroyed unless it is alive; NULL: none. */
struct sim_context *sim_stack_context(bool *alive);
CUresult sim_stack_push(CUcontext context);
CUcontext sim_stack_pop(void);
CUresult sim_stack_set(CUcontext context); /* replaces the top; NULL takes it off */

#endif
