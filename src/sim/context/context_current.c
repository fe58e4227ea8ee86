/* SPDX-License-Identifier: MIT */
/* Which context is current to the calling thread. */
#include "context/context.h"

/* A handle of a destroyed context is taken like any other, as devices do: the next call that uses
 * it fails. What never was a context is refused, as the manual has it; a device crashes. */
CUresult sim_cuCtxPushCurrent_v2(CUcontext ctx)
{
    SIM_REFUSE(!ctx);
    return sim_context_known(ctx) ? sim_stack_push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    const struct sim_known *top = sim_stack_top();
    SIM_FAIL(INVALID_CONTEXT, !top);
    SIM_PUT(pctx, (CUcontext)top->context);
    sim_stack_pop();
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuCtxSetCurrent,
          ctx && !sim_context_known(ctx) ? CUDA_ERROR_INVALID_CONTEXT : sim_stack_set(ctx))

SIM_TELL(cuCtxGetCurrent, pctx, const struct sim_known *top = sim_stack_top(), CUDA_SUCCESS,
         top ? (CUcontext)top->context : NULL)

/* Known even of a destroyed context or one with an error. */
CUresult sim_cuCtxGetDevice(CUdevice_v1 *device)
{
    const struct sim_known *top = sim_stack_top();
    SIM_REFUSE(!device);
    SIM_FAIL(INVALID_CONTEXT, !top);
    *device = top->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct sim_context *context = sim_object(SIM_CONTEXT, ctx);
    if (!ctx)
        return sim_cuCtxGetDevice(device);
    SIM_REFUSE(!device);
    SIM_FAIL(CONTEXT_IS_DESTROYED, !context);
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
    pExecAffinity->type = type; /* in any case */
    SIM_FAIL(UNSUPPORTED_EXEC_AFFINITY, type != CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    pExecAffinity->param.smCount.val =
        (unsigned)sim_device_value(context->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return CUDA_SUCCESS;
}
