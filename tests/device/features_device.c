/* SPDX-License-Identifier: MIT */
/* What the trials share, and those of the features of devices and contexts. */
#include <stdlib.h>

#include "features_trial.h"

#define cu trial_api

const struct cushim_api *trial_api;
CUdevice trial_device;
CUstream trial_stream;
CUfunction trial_function;
CUmodule trial_module;
static CUcontext context;

const char trial_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                         ".visible .entry nothing() { ret; }\n"
                         ".visible .entry one(.param .u64 p) { ret; }\n";

static void must(CUresult result)
{
    if (result != CUDA_SUCCESS)
        abort();
}

void trial_begin(const struct cushim_api *api)
{
    cu = api;
    must(cu->cuDeviceGet(&trial_device, 0));
    must(cu->cuDevicePrimaryCtxRetain(&context, trial_device));
    must(cu->cuCtxSetCurrent(context));
    must(cu->cuStreamCreate(&trial_stream, 1 /* non-blocking */));
    must(cu->cuModuleLoadData(&trial_module, trial_ptx));
    must(cu->cuModuleGetFunction(&trial_function, trial_module, "nothing"));
}

void trial_end(void)
{
    cu->cuModuleUnload(trial_module);
    cu->cuStreamDestroy_v2(trial_stream);
    cu->cuDevicePrimaryCtxRelease_v2(trial_device);
}

CUresult trial_pci_bus_id(void)
{
    char text[32];
    CUdevice found = -1;
    TRY(cu->cuDeviceGetPCIBusId(text, sizeof text, trial_device));
    TRY(cu->cuDeviceGetByPCIBusId(&found, text));
    return found == trial_device ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_uuid(void)
{
    CUuuid uuid;
    return cu->cuDeviceGetUuid_v1(&uuid, trial_device);
}

CUresult trial_uuid_mig(void)
{
    CUuuid uuid;
    return cu->cuDeviceGetUuid_v2(&uuid, trial_device);
}

static void CUDA_CB on_notification(CUasyncNotificationInfo *info, void *user,
                                    CUasyncCallbackHandle handle)
{
    (void)info, (void)user, (void)handle;
}

CUresult trial_notifications(void)
{
    CUasyncCallbackHandle handle;
    TRY(cu->cuDeviceRegisterAsyncNotification(trial_device, on_notification, NULL, &handle));
    return cu->cuDeviceUnregisterAsyncNotification(trial_device, handle);
}

CUresult trial_host_atomics(void)
{
    unsigned found = 0;
    CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
    return cu->cuDeviceGetHostAtomicCapabilities(&found, &operation, 1, trial_device);
}

CUresult trial_primary_context(void)
{
    unsigned flags;
    int active = 0;
    TRY(cu->cuDevicePrimaryCtxGetState(trial_device, &flags, &active));
    return active ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_limits(void)
{
    size_t value;
    TRY(cu->cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    return cu->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, value);
}

CUresult trial_context_flags(void)
{
    unsigned flags;
    TRY(cu->cuCtxGetFlags(&flags));
    return cu->cuCtxSetFlags(flags & CU_CTX_SCHED_MASK);
}

CUresult trial_context_id(void)
{
    unsigned long long id;
    return cu->cuCtxGetId(context, &id);
}

static CUresult green(CUgreenCtx *made)
{
    CUdevResource all, part;
    CUdevResourceDesc description;
    unsigned groups = 1;
    TRY(cu->cuDeviceGetDevResource(trial_device, &all, CU_DEV_RESOURCE_TYPE_SM));
    TRY(cu->cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 8));
    TRY(cu->cuDevResourceGenerateDesc(&description, &part, 1));
    return cu->cuGreenCtxCreate(made, description, trial_device, CU_GREEN_CTX_DEFAULT_STREAM);
}

CUresult trial_green(void)
{
    CUgreenCtx made;
    CUcontext converted;
    TRY(green(&made));
    TRY(cu->cuCtxFromGreenCtx(&converted, made));
    return cu->cuGreenCtxDestroy(made);
}

CUresult trial_green_stream(void)
{
    CUgreenCtx made;
    CUstream stream;
    TRY(green(&made));
    TRY(cu->cuGreenCtxStreamCreate(&stream, made, CU_STREAM_NON_BLOCKING, 0));
    TRY(cu->cuStreamDestroy_v2(stream));
    return cu->cuGreenCtxDestroy(made);
}

CUresult trial_green_id(void)
{
    CUgreenCtx made;
    unsigned long long id;
    TRY(green(&made));
    TRY(cu->cuGreenCtxGetId(made, &id));
    return cu->cuGreenCtxDestroy(made);
}

CUresult trial_exec_affinity(void)
{
    int support = 0;
    return cu->cuDeviceGetExecAffinitySupport(&support, CU_EXEC_AFFINITY_TYPE_SM_COUNT,
                                              trial_device);
}
