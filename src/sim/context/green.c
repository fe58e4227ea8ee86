/* SPDX-License-Identifier: MIT */
/* Green contexts: some of a device's multiprocessors. A simulated device has none to set apart, so
 * they are contexts like others that remember how many they were promised. */
#include "context/context.h"

struct sim_green {
    struct sim_object object;
    struct sim_context *context;
    CUdevResource resource;
};

/* Descriptions are never released by anybody: the same wish gets the same one. */
struct description {
    struct sim_object object;
    CUdevResource resource;
};

/* --- Descriptions --- */

SIM_BEHAVIOUR(cuDevResourceGenerateDesc)
{
    SIM_REFUSE(!phDesc || !resources || nbResources == 0);
    CUdevResource sum = resources[0];
    for (unsigned i = 0; i < nbResources; i++) {
        SIM_FAIL(INVALID_RESOURCE_TYPE, resources[i].type != CU_DEV_RESOURCE_TYPE_SM);
        if (i > 0)
            sum.sm.smCount += resources[i].sm.smCount;
    }
    SIM_EACH (struct description, known, SIM_OTHER)
        if (known->resource.sm.smCount == sum.sm.smCount) {
            *phDesc = (CUdevResourceDesc)known;
            return CUDA_SUCCESS;
        }
    SIM_NEW(struct description, made);
    made->resource = sum;
    sim_object_add(&made->object, SIM_OTHER, NULL);
    *phDesc = (CUdevResourceDesc)made;
    return CUDA_SUCCESS;
}

/* --- The contexts --- */

CUgreenCtx sim_green_of(const struct sim_context *context)
{
    SIM_EACH (struct sim_green, green, SIM_GREEN)
        if (green->context == context)
            return (CUgreenCtx)green;
    return NULL;
}

/* Without a description: the whole device. */
SIM_BEHAVIOUR(cuGreenCtxCreate)
{
    struct description *description = sim_object(SIM_OTHER, desc);
    SIM_REFUSE(!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM || (desc && !description));
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_NEW(struct sim_green, green);
    SIM_TRY_OR(sim_life_begin(device, 0, false, &green->context), free(green));
    if (description)
        green->resource = description->resource;
    else
        (void)sim_cuDeviceGetDevResource(dev, &green->resource, CU_DEV_RESOURCE_TYPE_SM);
    sim_object_add(&green->object, SIM_GREEN, NULL);
    *phCtx = (CUgreenCtx)green;
    return CUDA_SUCCESS;
}

SIM_SET(cuGreenCtxDestroy, struct sim_green *, green, SIM_FOUND(green, SIM_GREEN, hCtx), false,
        sim_object_remove(&green->object), sim_life_end(green->context), free(green))

SIM_TELL(cuCtxFromGreenCtx, pContext, struct sim_green *green, SIM_FOUND(green, SIM_GREEN, hCtx),
         (CUcontext)green->context)

CUresult sim_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
                                      CUdevResourceType type)
{
    SIM_REFUSE(!resource);
    SIM_FIND(struct sim_green *, green, SIM_FOUND(green, SIM_GREEN, hCtx));
    SIM_FAIL(INVALID_RESOURCE_TYPE, type != CU_DEV_RESOURCE_TYPE_SM);
    *resource = green->resource;
    return CUDA_SUCCESS;
}

/* A context that is no green one has all of its device. */
static CUresult resource_of(const struct sim_context *context, CUdevResource *resource,
                            CUdevResourceType type)
{
    CUgreenCtx green = sim_green_of(context);
    return green ? sim_cuGreenCtxGetDevResource(green, resource, type)
                 : sim_cuDeviceGetDevResource(context->device->ordinal, resource, type);
}

/* NULL does not stand for the current context. */
SIM_BEHAVIOUR(cuCtxGetDevResource)
{
    SIM_REFUSE(!result);
    SIM_FAIL(INVALID_RESOURCE_TYPE, type != CU_DEV_RESOURCE_TYPE_SM);
    SIM_FAIL(INVALID_CONTEXT, !hCtx);
    SIM_FIND(struct sim_context *, context, sim_current_of(hCtx, &context));
    return resource_of(context, result, type);
}

SIM_WITH(cuStreamGetDevResource, struct sim_stream *, stream, sim_stream(hStream, &stream),
         resource_of(stream->object.context, result, type))

SIM_TELL(cuGreenCtxGetId, greenCtxId, struct sim_green *green,
         SIM_FOUND(green, SIM_GREEN, greenCtx), green->context->id)

/* Where no green context is told from a wrong one. */
static CUresult named(CUgreenCtx handle, struct sim_green **green)
{
    SIM_FAIL(INVALID_CONTEXT, !handle);
    return SIM_FOUND(*green, SIM_GREEN, handle);
}

SIM_WITH(cuGreenCtxRecordEvent, struct sim_green *, green, named(hCtx, &green),
         sim_event_record_all((CUcontext)green->context, hEvent, false))
SIM_WITH(cuGreenCtxWaitEvent, struct sim_green *, green, named(hCtx, &green),
         sim_cuCtxWaitEvent((CUcontext)green->context, hEvent))

/* Its streams never wait for the legacy stream. */
SIM_BEHAVIOUR(cuGreenCtxStreamCreate)
{
    SIM_REFUSE(!phStream);
    SIM_FIND(struct sim_green *, green, named(greenCtx, &green));
    SIM_REFUSE(flags != CU_STREAM_NON_BLOCKING);
    SIM_FIND(struct sim_stream *, stream,
             sim_stream_make(green->context, flags, sim_stream_priority_clamp(priority), &stream));
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx)
{
    SIM_REFUSE(!pctx || !pGreenCtx);
    SIM_TRY(sim_cuStreamGetCtx(hStream, pctx));
    *pGreenCtx = sim_green_of(((const struct sim_context *)*pctx));
    return CUDA_SUCCESS;
}

SIM_TELL(cuStreamGetGreenCtx, phCtx, struct sim_stream *stream, sim_stream(hStream, &stream),
         sim_green_of(stream->object.context))

/* --- Multiprocessors, divided. A simulated device has one cluster of processors: all of them may
 * be scheduled together. --- */

enum { MOST_TOGETHER = 32 };

/* All simulated devices are of one kind. */
static unsigned group_size(void)
{
    return sim_device_group(&sim_device_all[0]);
}

CUresult sim_cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                         const CUdevResource *input, CUdevResource *remainder,
                                         unsigned int flags, unsigned int minCount)
{
    SIM_REFUSE(!nbGroups || !input ||
               flags > (CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                        CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE));
    SIM_FAIL(INVALID_RESOURCE_TYPE, input->type != CU_DEV_RESOURCE_TYPE_SM);
    unsigned group = group_size(), all = input->sm.smCount;
    SIM_FAIL(INVALID_RESOURCE_CONFIGURATION, minCount > all);
    unsigned size = minCount ? (minCount + group - 1) / group * group : group;
    unsigned most = all / size;
    if (!result) {
        *nbGroups = most;
        return CUDA_SUCCESS;
    }
    if (*nbGroups > most)
        *nbGroups = most;
    for (unsigned i = 0; i < *nbGroups; i++) {
        result[i] = *input;
        result[i].sm.smCount = size;
    }
    if (remainder) {
        *remainder = *input;
        remainder->sm.smCount = all - *nbGroups * size;
    }
    return CUDA_SUCCESS;
}

/* --- By what each group asks for --- */

static unsigned together(const CU_DEV_SM_RESOURCE_GROUP_PARAMS *params)
{
    return params->coscheduledSmCount ? params->coscheduledSmCount : group_size();
}

/* What a version knows of, of which devices without domains of locality have the first. */
static unsigned known_flags(void)
{
    unsigned flags = CU_DEV_SM_RESOURCE_GROUP_BACKFILL;
    if (sim_config.cuda >= 13040)
        flags |= CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID;
    if (sim_config.cuda >= 13050)
        flags |= CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS;
    return flags;
}

static CUresult check(const CU_DEV_SM_RESOURCE_GROUP_PARAMS *params, unsigned all)
{
    bool clusters = sim_device_architecture(&sim_device_all[0]) >= 90;
    unsigned most = clusters ? MOST_TOGETHER : 2, count = params->smCount;
    bool backfill = params->flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL;
    SIM_REFUSE(
        params->flags & ~known_flags() || params->coscheduledSmCount > most ||
        params->coscheduledSmCount % 2 || count % 2 || count > all ||
        (count && params->coscheduledSmCount && !backfill && count % params->coscheduledSmCount));
    return params->flags & ~(unsigned)CU_DEV_SM_RESOURCE_GROUP_BACKFILL
               ? CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
               : CUDA_SUCCESS;
}

/* How many of those that are left a group gets; without a wish, all that its constraints allow. */
static unsigned count_of(const CU_DEV_SM_RESOURCE_GROUP_PARAMS *params, unsigned left)
{
    if (params->smCount)
        return params->smCount;
    return params->flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL ? left
                                                             : left - left % together(params);
}

static CUdevResource part_of(const CUdevResource *input, unsigned count, unsigned alignment,
                             unsigned flags)
{
    CUdevResource part = *input;
    part.sm.smCount = count;
    part.sm.smCoscheduledAlignment = alignment;
    part.sm.flags = flags;
    return part;
}

/* All groups are judged before one is told: outputs are written on success only. */
static CUresult judge(const CU_DEV_SM_RESOURCE_GROUP_PARAMS *groups, unsigned count, unsigned all,
                      bool wanted)
{
    unsigned left = all;
    for (unsigned i = 0; i < count; i++) {
        SIM_TRY(check(&groups[i], all));
        unsigned size = count_of(&groups[i], left);
        SIM_FAIL(INVALID_RESOURCE_CONFIGURATION,
                 size > left || (wanted && size < together(&groups[i])));
        left -= size;
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuDevSmResourceSplit)
{
    SIM_REFUSE(!input || !groupParams || nbGroups == 0 || flags);
    SIM_FAIL(INVALID_RESOURCE_TYPE, input->type != CU_DEV_RESOURCE_TYPE_SM);
    CUdevResource whole = *input; /* which may be one of the outputs */
    unsigned left = whole.sm.smCount;
    SIM_TRY(judge(groupParams, nbGroups, left, result));
    for (unsigned i = 0; i < nbGroups; i++) {
        CU_DEV_SM_RESOURCE_GROUP_PARAMS *params = &groupParams[i];
        params->smCount = count_of(params, left);
        left -= params->smCount;
        if (result)
            result[i] = part_of(&whole, params->smCount, together(params), params->flags);
    }
    if (remainder && left)
        *remainder = part_of(&whole, left, 1, 0);
    else if (remainder)
        memset(remainder, 0, sizeof *remainder); /* of type CU_DEV_RESOURCE_TYPE_INVALID */
    return CUDA_SUCCESS;
}
