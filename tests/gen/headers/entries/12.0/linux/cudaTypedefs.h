/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_TYPEDEFS_H
#define TOY_TYPEDEFS_H

#include <cuda.h>

typedef CUresult(CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);
typedef CUresult(CUDAAPI *PFN_cuAlloc_v3020)(CUdeviceptr *dptr, size_t bytesize);
typedef CUresult(CUDAAPI *PFN_cuAlloc_v2000)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
typedef CUresult(CUDAAPI *PFN_cuCopy_v3020)(CUdeviceptr dst, const void *src, size_t bytes);
typedef CUresult(CUDAAPI *PFN_cuCopy_v2000)(CUdeviceptr_v1 dst, const void *src,
                                            unsigned int bytes);
typedef CUresult(CUDAAPI *PFN_cuCopy_v7000_ptds)(CUdeviceptr dst, const void *src, size_t bytes);
typedef CUresult(CUDAAPI *PFN_cuCopyAsync_v3020)(CUdeviceptr dst, const void *src, size_t bytes,
                                                 CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuCopyAsync_v2000)(CUdeviceptr_v1 dst, const void *src,
                                                 unsigned int bytes, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuCopyAsync_v7000_ptsz)(CUdeviceptr dst, const void *src,
                                                      size_t bytes, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuWait_v2000)(CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuWait_v7000_ptsz)(CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuPlan_v11000)(CUplan *phPlan, int mode);
typedef CUresult(CUDAAPI *PFN_cuPlan_v10000)(CUplan *phPlan);
typedef CUresult(CUDAAPI *PFN_cuPlanWithFlags_v11040)(CUplan *phPlan, unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuSetup_v9000)(CUplan hPlan, int mode);

#endif
