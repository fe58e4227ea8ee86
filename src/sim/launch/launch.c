/* SPDX-License-Identifier: MIT */
/* cuLaunch*: all ways of asking for a launch. */
#include "launch/launch.h"

#include "core/core.h"
#include "queue/queue.h"

CUresult sim_launch(const CUDA_KERNEL_NODE_PARAMS_v2 *params, CUstream handle,
                    const CUlaunchAttribute *attributes, unsigned count)
{
    struct sim_stream *stream;
    struct sim_item item;
    CUresult result = sim_stream(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_launch_prepare(stream->object.context, params, attributes, count, &item);
    if (result != CUDA_SUCCESS)
        return sim_capture_refused(stream, result);
    if (sim_capture_active(stream) && sim_launch_prepare_is_bound(&item)) {
        sim_item_drop(&item); /* a graph cannot tell what will be bound */
        return sim_capture_refuse(stream);
    }
    if (!sim_capture_active(stream))
        sim_launch_prepare_keep_bindings(&item);
    return sim_stream_submit(stream, &item);
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                            void **kernelParams, void **extra)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = {
        f,         gridDimX,       gridDimY,     gridDimZ, blockDimX, blockDimY,
        blockDimZ, sharedMemBytes, kernelParams, extra,    NULL,      NULL};
    return sim_launch(&params, hStream, NULL, 0);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX,
                                       unsigned int blockDimY, unsigned int blockDimZ,
                                       unsigned int sharedMemBytes, CUstream hStream,
                                       void **kernelParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = {
        f,         gridDimX,       gridDimY,     gridDimZ, blockDimX, blockDimY,
        blockDimZ, sharedMemBytes, kernelParams, NULL,     NULL,      NULL};
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value = {.cooperative = 1}};
    return sim_launch(&params, hStream, &cooperative, 1);
}

CUresult sim_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS_v1 *launchParamsList,
                                                  unsigned int numDevices, unsigned int flags)
{
    if (!launchParamsList || !numDevices || flags > 3)
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuLaunchCooperativeKernelMultiDevice_any;
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                              void **extra)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v2 params = {f,
                                         config->gridDimX,
                                         config->gridDimY,
                                         config->gridDimZ,
                                         config->blockDimX,
                                         config->blockDimY,
                                         config->blockDimZ,
                                         config->sharedMemBytes,
                                         kernelParams,
                                         extra,
                                         NULL,
                                         NULL};
    return sim_launch(&params, config->hStream, config->attrs, config->numAttrs);
}
