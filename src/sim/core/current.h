/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CORE_CURRENT_H
#define CUSHIM_SIM_CORE_CURRENT_H

#include "sim.h"

struct sim_context;

/* The calling thread's context, or the code to answer: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or
 * the context's sticky error. */
CUresult sim_current(struct sim_context **context);
struct sim_context *sim_current_any(void); /* without the checks; NULL: none */
/* The context of a handle, where NULL means the current one; its code otherwise. */
CUresult sim_current_of(CUcontext handle, struct sim_context **context);

#endif
