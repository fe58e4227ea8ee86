/* SPDX-License-Identifier: MIT */
/* What a launch may ask for; the codes are those of a real driver (tests/sim/conformance). */
#include "launch/launch.h"

#define PORTABLE_CLUSTER 8
#define LARGEST_CLUSTER 16

CUresult sim_launch_check_attributes(const CUlaunchAttribute *attributes, unsigned count,
                                     struct sim_launch_extras *extras)
{
    *extras = (struct sim_launch_extras){0};
    SIM_REFUSE(count && !attributes);
    for (unsigned i = 0; i < count; i++) {
        const CUlaunchAttributeValue *value = &attributes[i].value;
        switch ((int)attributes[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            extras->cooperative = value->cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            extras->cluster[0] = value->clusterDim.x;
            extras->cluster[1] = value->clusterDim.y;
            extras->cluster[2] = value->clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_IGNORE: /* these change nothing here */
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: /* the same member */
            SIM_FAIL(INVALID_HANDLE, !sim_object(SIM_EVENT, value->programmaticEvent.event));
            return SIM_LACK_cuLaunchKernelEx_attribute;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            return SIM_LACK_cuLaunchKernelEx_attribute;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v2 sim_launch_check_params(const CUlaunchConfig *config)
{
    return (CUDA_KERNEL_NODE_PARAMS_v2){.gridDimX = config->gridDimX,
                                        .gridDimY = config->gridDimY,
                                        .gridDimZ = config->gridDimZ,
                                        .blockDimX = config->blockDimX,
                                        .blockDimY = config->blockDimY,
                                        .blockDimZ = config->blockDimZ,
                                        .sharedMemBytes = config->sharedMemBytes};
}

static bool dimensions_fit(const struct sim_device *device,
                           const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    const unsigned sizes[] = {params->gridDimX,  params->gridDimY,  params->gridDimZ,
                              params->blockDimX, params->blockDimY, params->blockDimZ};
    static const CUdevice_attribute limits[] = {
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] == 0 || sizes[i] > (unsigned)sim_device_value(device, limits[i]))
            return false;
    return true;
}

/* A cluster's size divides the grid, and is not more than the device takes. */
static bool cluster_fits(const struct sim_function *function,
                         const CUDA_KERNEL_NODE_PARAMS_v2 *params, const uint32_t *cluster)
{
    const unsigned grid[] = {params->gridDimX, params->gridDimY, params->gridDimZ};
    uint64_t blocks = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (cluster[i] == 0 || grid[i] % cluster[i] != 0)
            return false;
        blocks *= cluster[i];
        if (blocks > LARGEST_CLUSTER)
            return false;
    }
    return blocks <= (function->non_portable_cluster ? LARGEST_CLUSTER : PORTABLE_CLUSTER);
}

CUresult sim_launch_check(const struct sim_function *function,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                          const struct sim_launch_extras *extras)
{
    const struct ptx_function_info *info = sim_function_info(function);
    const struct sim_device *device = function->object.context->device;
    SIM_REFUSE(!dimensions_fit(device, params));
    const unsigned block[] = {params->blockDimX, params->blockDimY, params->blockDimZ};
    int threads = (int)(block[0] * block[1] * block[2]);
    SIM_REFUSE(threads > sim_occupancy_max_threads(function));
    for (unsigned i = 0; i < 3 && info->required[0]; i++)
        SIM_REFUSE(block[i] != info->required[i]);
    SIM_REFUSE(params->sharedMemBytes > sim_occupancy_max_dynamic(function));
    const uint32_t *cluster = extras->cluster;
    if ((cluster[0] || cluster[1] || cluster[2]) && !cluster_fits(function, params, cluster))
        return sim_device_architecture(device) < 90 ? CUDA_ERROR_NOT_SUPPORTED
                                                    : CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (extras->cooperative) {
        SIM_FAIL(NOT_SUPPORTED,
                 !(unsigned)sim_device_value(device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH));
        uint64_t blocks = (uint64_t)params->gridDimX * params->gridDimY * params->gridDimZ;
        uint64_t most =
            (uint64_t)sim_occupancy(function, threads, params->sharedMemBytes) *
            (unsigned)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        SIM_FAIL(COOPERATIVE_LAUNCH_TOO_LARGE, blocks > most);
    }
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuOccupancyMaxActiveClusters)
{
    SIM_FIND(struct sim_function *, function,
             func ? sim_occupancy_function(func, &function) : CUDA_ERROR_INVALID_VALUE);
    SIM_REFUSE(!numClusters || !config);
    const struct sim_device *device = function->object.context->device;
    CUDA_KERNEL_NODE_PARAMS_v2 params = sim_launch_check_params(config);
    SIM_FIND(struct sim_launch_extras, extras,
             sim_launch_check_attributes(config->attrs, config->numAttrs, &extras));
    SIM_TRY(sim_launch_check(function, &params, &extras));
    unsigned size =
        extras.cluster[0] ? extras.cluster[0] * extras.cluster[1] * extras.cluster[2] : 1;
    int threads = (int)(params.blockDimX * params.blockDimY * params.blockDimZ);
    *numClusters =
        sim_occupancy(function, threads, params.sharedMemBytes) *
        (int)((unsigned)sim_device_value(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / size);
    return CUDA_SUCCESS;
}
