/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "launch_check.h"

CUresult cushim_launch_block_size(const struct cushim *cu, CUfunction function, size_t shared,
                                  CUoccupancyB2DSize shared_of, size_t limit, size_t *block,
                                  size_t *grid)
{
    struct cushim_launch launch = {.shared = shared_of ? 0 : shared};
    struct cushim_launching what = {
        .cu = cu, .helper = __func__, .function = function, .launch = &launch};
    struct cushim_launch_limits limits;
    int its_grid = 0, its_block = 0;
    if (!function || !block)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "%s: NULL",
                             function ? "block" : "function");
    if (limit > INT_MAX)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "limit: %zu threads", limit);
    CUresult code = cushim_launch_ask(&what, &limits);
    if (code != CUDA_SUCCESS)
        return code;
}
