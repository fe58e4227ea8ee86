/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#define CUDA_VERSION 12000
#define CUDAAPI

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PTSZ(symbol) symbol##_ptsz
#define cuCopy __CUDA_API_PTSZ(cuCopy_v2)
#else
#define cuCopy cuCopy_v2
#endif

typedef int CUresult;
typedef struct CUstream_st *CUstream;

CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuCopy(void *dst, const void *src, CUstream hStream);
CUresult CUDAAPI cuPlan(int mode);

#ifdef __CUDA_API_VERSION_INTERNAL
#undef cuCopy
CUresult CUDAAPI cuCopy(void *dst, const void *src);
CUresult CUDAAPI cuCopy_v2_ptsz(void *dst, const void *src, CUstream hStream);
#endif

#endif
