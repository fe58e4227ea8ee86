/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "launch_check.h"

/* Ask for the limits, and allow the function the shared memory that is asked about. */
static CUresult occupancy_begin(struct cushim_launching *what, struct cushim_launch_limits *limits)
{
    if (!what->function)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, what->helper, "function: NULL");
    CUresult code = cushim_launch_ask(what, limits);
    if (code == CUDA_SUCCESS)
        code = cushim_launch_check_shape(what, limits);
    return code == CUDA_SUCCESS ? cushim_launch_opt_in(what, limits, what->launch->shared) : code;
}

CUresult cushim_launch_block_size(const struct cushim_api *cu, CUfunction function, size_t shared,
                                  CUoccupancyB2DSize shared_of, size_t limit, size_t *block,
                                  size_t *grid)
{
    const struct cushim_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .shared = shared_of ? 0 : shared};
    struct cushim_launching what = {
        .cu = cu, .helper = __func__, .function = function, .launch = &launch};
    struct cushim_launch_limits limits;
    int its_grid = 0, its_block = 0;
    if (!block)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "block: NULL");
    if (limit > INT_MAX)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "limit: %zu threads", limit);
    CUresult code = occupancy_begin(&what, &limits);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, __func__, cuOccupancyMaxPotentialBlockSize, &its_grid, &its_block,
                          what.asked, shared_of, launch.shared, (int)limit);
    if (code != CUDA_SUCCESS)
        return code;
    if (its_block <= 0)
        return cushim_refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, __func__,
                             "function: no block of it fits device %d", (int)limits.device);
    *block = (size_t)its_block;
    if (grid)
        *grid = (size_t)its_grid;
    return CUDA_SUCCESS;
}

CUresult cushim_launch_occupancy(const struct cushim_api *cu, CUfunction function,
                                 const struct cushim_launch *launch, size_t *each, size_t *all)
{
    if (!launch)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "launch: NULL");
    const struct cushim_launch one = {
        .grid = {1, 1, 1},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared = launch->shared};
    struct cushim_launching what = {
        .cu = cu, .helper = __func__, .function = function, .launch = &one};
    struct cushim_launch_limits limits;
    int blocks = 0, processors = 0;
    CUresult code = occupancy_begin(&what, &limits);
    if (code == CUDA_SUCCESS)
        code =
            CUSHIM_TRY(cu, __func__, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                       what.asked, (int)(one.block[0] * one.block[1] * one.block[2]), one.shared);
    if (code == CUDA_SUCCESS)
        code = CUSHIM_TRY(cu, __func__, cuDeviceGetAttribute, &processors,
                          CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, limits.device);
    if (code != CUDA_SUCCESS)
        return code;
    if (each)
        *each = (size_t)blocks;
    if (all)
        *all = (size_t)blocks * (size_t)processors;
    return CUDA_SUCCESS;
}
