/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_TYPEDEFS_H
#define TOY_TYPEDEFS_H

#include <cuda.h>

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __API_TYPEDEF_PTSZ(api, legacy, per_thread) api##_v##per_thread##_ptsz
#else
#define __API_TYPEDEF_PTSZ(api, legacy, per_thread) api##_v##legacy
#endif

#define PFN_cuInit PFN_cuInit_v2000
#define PFN_cuCopy __API_TYPEDEF_PTSZ(PFN_cuCopy, 3020, 7000)
#define PFN_cuPlan PFN_cuPlan_v12010
#define PFN_Plan PFN_cuPlan_v10000

typedef CUresult(CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);
typedef CUresult(CUDAAPI *PFN_cuCopy_v3020)(void *dst, const void *src, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuCopy_v7000_ptsz)(void *dst, const void *src, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuPlan_v10000)(int mode);
typedef CUresult(CUDAAPI *PFN_cuPlan_v12010)(int mode, int flags);

#ifdef __CUDA_API_VERSION_INTERNAL
typedef CUresult(CUDAAPI *PFN_cuCopy_v2000)(void *dst, const void *src);
#endif

#endif
