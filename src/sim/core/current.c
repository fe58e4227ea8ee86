/* SPDX-License-Identifier: MIT */
/* The context that a call is about: the calling thread's, or one that it names. */
#include "core/core.h"

_Thread_local bool sim_current_in_callback, sim_current_per_thread;

struct sim_context *sim_current_any(void)
{
    const struct sim_known *top = sim_stack_top();
    return sim_stack_alive(top) ? top->context : NULL;
}

CUresult sim_current(struct sim_context **context)
{
    struct sim_context *top = sim_current_any();
    SIM_FAIL(INVALID_CONTEXT, !sim_stack_top());
    SIM_FAIL(CONTEXT_IS_DESTROYED, !top);
    SIM_TRY(top->sticky);
    *context = top;
    return CUDA_SUCCESS;
}

CUresult sim_current_check(void)
{
    struct sim_context *context;
    return sim_current(&context);
}

CUresult sim_current_of(CUcontext handle, struct sim_context **context)
{
    if (!handle)
        return sim_current(context);
    *context = sim_object(SIM_CONTEXT, handle);
    SIM_FAIL(CONTEXT_IS_DESTROYED, !*context);
    return (*context)->sticky;
}
