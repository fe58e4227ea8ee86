/* SPDX-License-Identifier: MIT */
#include <cushim/cushim.h>

CUresult take(const struct cushim_api *cu, CUdeviceptr *memory, CUstream stream)
{
    if (CUSHIM_HAS(cu, cuMemAllocAsync))
        return cu->cuMemAllocAsync(memory, 4096, stream);
    return cu->cuMemAlloc(memory, 4096);
}

CUresult give_back(const struct cushim_api *cu, CUdeviceptr memory, CUstream stream)
{
    return cu->cuMemFreeAsync(memory, stream);
}

CUresult record(const struct cushim_api *cu, CUgraph *graph)
{
    return cu->cuGraphCreate(graph, 0);
}
