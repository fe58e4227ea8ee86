/* SPDX-License-Identifier: MIT */
/* Contexts of the program's own: made by all the entries there have been, and destroyed. */
#include "context/context.h"

bool sim_context_create_flags_valid(unsigned flags)
{
    unsigned known = sim_config.cuda >= 12010 ? 0xffU : 0x1fU;
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~known) && (schedule & (schedule - 1)) == 0;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev, unsigned api_version)
{
    SIM_REFUSE(!pctx);
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_REFUSE(!sim_context_create_flags_valid(flags));
    if (flags & CU_CTX_USER_COREDUMP_ENABLE) /* shown so by real drivers */
        flags = (flags & ~(unsigned)CU_CTX_USER_COREDUMP_ENABLE) | CU_CTX_COREDUMP_ENABLE;
    SIM_FIND(struct sim_context *, context, sim_life_begin(device, flags, false, &context));
    context->api_version = api_version;
    SIM_TRY_OR(sim_stack_push((CUcontext)context), sim_life_end(context));
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuCtxCreate, create(pctx, flags, dev, 3010))
SIM_ENTRY(cuCtxCreate_v2, create(pctx, flags, dev, 3020))

/* An affinity asks for some of the multiprocessors: only under the multi-process service. */
SIM_BEHAVIOUR(cuCtxCreate_v3)
{
    SIM_REFUSE(!pctx || numParams < 0 || (numParams > 0 && !paramsArray));
    SIM_FAIL(UNSUPPORTED_EXEC_AFFINITY, numParams > 0);
    return create(pctx, flags, dev, 3020);
}

SIM_BEHAVIOUR(cuCtxCreate_v4)
{
    const CUctxCreateParams *params = ctxCreateParams;
    if (!params)
        return create(pctx, flags, dev, 3020);
    SIM_REFUSE(params->cigParams && params->numExecAffinityParams > 0);
    if (params->cigParams) /* shares the device with a graphics interface: there is none */
        return SIM_LACK_cuCtxCreate_v4_graphics;
    return sim_cuCtxCreate_v3(pctx, params->execAffinityParams, params->numExecAffinityParams,
                              flags, dev);
}

CUresult sim_cuCtxDestroy_v2(CUcontext ctx)
{
    struct sim_context *context = sim_object(SIM_CONTEXT, ctx);
    SIM_REFUSE(!ctx);
    SIM_FAIL(INVALID_CONTEXT, !context || context->primary || sim_green_of(context));
    if (sim_current_any() == context)
        sim_stack_pop();
    sim_life_end(context);
    return CUDA_SUCCESS;
}

SIM_SET(cuCtxAttach, struct sim_context *, context, sim_current(&context), !pctx || flags != 0,
        context->attached++, *pctx = (CUcontext)context)

CUresult sim_cuCtxDetach(CUcontext ctx)
{
    struct sim_context *context = sim_object(SIM_CONTEXT, ctx);
    SIM_FAIL(INVALID_CONTEXT, !context || sim_current_any() != context);
    if (context->primary) /* counted by retain and release only */
        return CUDA_SUCCESS;
    if (sim_green_of(context)) /* its green context's, which is destroyed by itself */
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->attached > 0)
        return CUDA_SUCCESS;
    sim_stack_pop();
    sim_life_end(context);
    return CUDA_SUCCESS;
}
