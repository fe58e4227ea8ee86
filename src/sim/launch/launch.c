/* SPDX-License-Identifier: MIT */
/* cuLaunch*: all ways of asking for a launch. */
#include "launch/launch.h"

/* Launch `params` in a stream of its handle. */
static CUresult sim_launch(const CUDA_KERNEL_NODE_PARAMS_v2 *params, CUstream handle,
                           const CUlaunchAttribute *attributes, unsigned count)
{
    struct sim_item item;
    SIM_FIND(struct sim_stream *, stream, sim_stream(handle, &stream));
    CUresult result = sim_launch_prepare(stream->object.context, params, attributes, count, &item);
    if (result != CUDA_SUCCESS)
        return sim_capture_refused(stream, result);
    if (stream->capture && sim_launch_prepare_is_bound(&item)) {
        sim_item_drop(&item); /* a graph cannot tell what will be bound */
        return sim_capture_refuse(stream);
    }
    if (!stream->capture)
        sim_launch_prepare_keep_bindings(&item);
    return sim_stream_submit(stream, &item);
}

static const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                              .value = {.cooperative = 1}};

#define PARAMS(extra)                                                                              \
    &(CUDA_KERNEL_NODE_PARAMS_v2)                                                                  \
    {                                                                                              \
        f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,          \
            kernelParams, extra, NULL, NULL                                                        \
    }
SIM_ENTRY(cuLaunchKernel, sim_launch(PARAMS(extra), hStream, NULL, 0))
SIM_ENTRY(cuLaunchCooperativeKernel, sim_launch(PARAMS(NULL), hStream, &cooperative, 1))

SIM_ENTRY(cuLaunchCooperativeKernelMultiDevice,
          !launchParamsList || !numDevices || flags > 3
              ? CUDA_ERROR_INVALID_VALUE
              : SIM_LACK_cuLaunchCooperativeKernelMultiDevice_any)

SIM_BEHAVIOUR(cuLaunchKernelEx)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!config);
    CUDA_KERNEL_NODE_PARAMS_v2 params = sim_launch_check_params(config);
    params.func = f;
    params.kernelParams = kernelParams;
    params.extra = extra;
    return sim_launch(&params, config->hStream, config->attrs, config->numAttrs);
}

/* The launches of CUDA 2 and 3: block, sizes and parameters are set in the function first. */

#define MAX_PARAMS 4096

SIM_SET(cuFuncSetBlockShape, struct sim_function *, function, sim_function_own(hfunc, &function),
        x <= 0 || y <= 0 || z <= 0 || x > 1024 || y > 1024 || z > 64 ||
            x * y * z > sim_occupancy_max_threads(function),
        function->old.block[0] = (unsigned)x, function->old.block[1] = (unsigned)y,
        function->old.block[2] = (unsigned)z)

SIM_SET(cuFuncSetSharedSize, struct sim_function *, function, sim_function_own(hfunc, &function),
        false, function->old.shared = bytes)
SIM_SET(cuParamSetSize, struct sim_function *, function, sim_function_own(hfunc, &function),
        numbytes > MAX_PARAMS, function->old.size = numbytes)

static CUresult set(CUfunction hfunc, int offset, const void *value, size_t size)
{
    SIM_FIND(struct sim_function *, function, sim_function_own(hfunc, &function));
    SIM_REFUSE(!value || offset < 0 || size > MAX_PARAMS || (size_t)offset > MAX_PARAMS - size);
    SIM_FAIL(OUT_OF_MEMORY,
             !function->old.params && !(function->old.params = calloc(1, MAX_PARAMS)));
    memcpy(function->old.params + offset, value, size);
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuParamSeti, set(hfunc, offset, &value, sizeof value))
SIM_ENTRY(cuParamSetf, set(hfunc, offset, &value, sizeof value))
SIM_ENTRY(cuParamSetv, set(hfunc, offset, ptr, numbytes))

/* Kernels name their textures themselves: drivers of today take none of any unit. */
CUresult sim_cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef)
{
    (void)texunit;
    SIM_FIND(struct sim_function *, function, sim_function_own(hfunc, &function));
    return sim_object(SIM_TEXREF, hTexRef) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launch(CUfunction f, int width, int height, CUstream stream)
{
    SIM_FIND(struct sim_function *, function, sim_function_own(f, &function));
    SIM_REFUSE(width <= 0 || height <= 0);
    static char none[MAX_PARAMS];
    size_t size = function->old.size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                     function->old.params ? function->old.params : none,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    const unsigned *block = function->old.block;
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = f,
                                         .gridDimX = (unsigned)width,
                                         .gridDimY = (unsigned)height,
                                         .gridDimZ = 1,
                                         .blockDimX = block[0] ? block[0] : 1,
                                         .blockDimY = block[1] ? block[1] : 1,
                                         .blockDimZ = block[2] ? block[2] : 1,
                                         .sharedMemBytes = function->old.shared,
                                         .extra = extra};
    return sim_launch(&params, stream, NULL, 0);
}

SIM_ENTRY(cuLaunch, launch(f, 1, 1, NULL))
SIM_ENTRY(cuLaunchGrid, launch(f, grid_width, grid_height, NULL))
SIM_ENTRY(cuLaunchGridAsync, launch(f, grid_width, grid_height, hStream))
