/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION 12000

#ifdef _WIN32
#define CUDAAPI __stdcall
#define CUDA_CB __stdcall
#else
#define CUDAAPI
#define CUDA_CB
#endif

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PTDS(symbol) symbol##_ptds
#define __CUDA_API_PTSZ(symbol) symbol##_ptsz
#else
#define __CUDA_API_PTDS(symbol) symbol
#define __CUDA_API_PTSZ(symbol) symbol
#endif

#define cuAlloc cuAlloc_v2
#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cuCopy __CUDA_API_PTDS(cuCopy_v2)
#define cuCopyAsync __CUDA_API_PTSZ(cuCopyAsync_v2)
#define cuWait __CUDA_API_PTSZ(cuWait)
#else
#define cuCopy cuCopy_v2
#define cuCopyAsync cuCopyAsync_v2
#endif
#define cuPlan cuPlan_v2

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1
} CUresult;

typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;
typedef struct CUstream_st *CUstream;
typedef struct CUplan_st *CUplan;

CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuAlloc(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuCopy(CUdeviceptr dst, const void *src, size_t bytes);
CUresult CUDAAPI cuCopyAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream hStream);
CUresult CUDAAPI cuWait(CUstream hStream);
CUresult CUDAAPI cuSetup(CUplan hPlan, int mode);
CUresult CUDAAPI cuPlan(CUplan *phPlan, int mode);
CUresult CUDAAPI cuPlanWithFlags(CUplan *phPlan, unsigned long long flags);

#ifdef __CUDA_API_VERSION_INTERNAL
#undef cuAlloc
#undef cuCopy
#undef cuCopyAsync
#undef cuPlan
CUresult CUDAAPI cuAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult CUDAAPI cuCopy(CUdeviceptr_v1 dst, const void *src, unsigned int bytes);
CUresult CUDAAPI cuCopyAsync(CUdeviceptr_v1 dst, const void *src, unsigned int bytes,
                             CUstream hStream);
CUresult CUDAAPI cuPlan(CUplan *phPlan);
CUresult CUDAAPI cuCopy_v2_ptds(CUdeviceptr dst, const void *src, size_t bytes);
CUresult CUDAAPI cuCopyAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t bytes,
                                     CUstream hStream);
CUresult CUDAAPI cuWait_ptsz(CUstream hStream);
#endif

#endif
