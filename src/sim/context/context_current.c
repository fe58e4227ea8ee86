/* SPDX-License-Identifier: MIT */
/* Which context is current to the calling thread. */
#include "context/context.h"

/* A handle of a destroyed context is taken like any other, as devices do: the next call that uses
 * it fails. What never was a context is refused, as the manual has it; a device crashes. */
CUresult sim_cuCtxPushCurrent_v2(CUcontext ctx)
{
    SIM_REFUSE(!ctx);
    return sim_context_was_on(ctx) ? sim_stack_push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    if (!sim_stack_depth())
        return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext popped = sim_stack_pop();
    if (pctx)
        *pctx = popped;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuCtxSetCurrent,
          ctx && !sim_context_was_on(ctx) ? CUDA_ERROR_INVALID_CONTEXT : sim_stack_set(ctx))

SIM_TELL(cuCtxGetCurrent, pctx, , CUDA_SUCCESS, sim_stack_top())

/* Known even of a destroyed context or one with an error. */
CUresult sim_cuCtxGetDevice(CUdevice_v1 *device)
{
    const struct sim_device *found = sim_stack_device();
    if (sim_current_in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    SIM_REFUSE(!device);
    if (!found)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = found->ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct sim_context *context = sim_object(SIM_CONTEXT, ctx);
    if (!ctx)
        return sim_cuCtxGetDevice(device);
    SIM_REFUSE(!device);
    if (!context)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize_v2(CUcontext ctx)
{
    SIM_FIND(struct sim_context *, context, sim_current_of(ctx, &context));
    SIM_TRY(sim_capture_refuse_context(context));
    return sim_stream_synchronize_context(context);
}

SIM_TELL(cuCtxGetFlags, flags, struct sim_context *context, sim_current(&context), context->flags)

SIM_SET(cuCtxSetFlags, struct sim_context *, context, sim_current(&context),
        !sim_context_create_flags_valid(flags),
        context->flags = (flags & ~(unsigned)CU_CTX_MAP_HOST) | (context->flags & CU_CTX_MAP_HOST))

SIM_TELL_AFTER(cuCtxGetApiVersion, version, struct sim_context *context,
               sim_current_of(ctx, &context), context->api_version)
SIM_TELL_AFTER(cuCtxGetId, ctxId, struct sim_context *context, sim_current_of(ctx, &context),
               context->id)

CUresult sim_cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!pExecAffinity);
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val =
        (unsigned)sim_device_value(context->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return CUDA_SUCCESS;
}

SIM_WITH(cuCtxGetDevResource, struct sim_context *, context, sim_current_of(hCtx, &context),
         sim_cuDeviceGetDevResource(context->device->ordinal, result, type))
