/* SPDX-License-Identifier: MIT */
/* The context that a call is about: the calling thread's, or one that it names. */
#include "core/core.h"

_Thread_local bool sim_current_in_callback, sim_current_per_thread;

struct sim_context *sim_current_any(void)
{
    bool alive;
    struct sim_context *context = sim_stack_context(&alive);
    return alive ? context : NULL;
}

CUresult sim_current(struct sim_context **context)
{
    bool alive;
    struct sim_context *top = sim_stack_context(&alive);
    if (sim_current_in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!sim_stack_depth())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (top->sticky != CUDA_SUCCESS)
        return top->sticky;
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
    if (sim_current_in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    *context = sim_object(SIM_CONTEXT, handle);
    if (!*context)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*context)->sticky;
}
