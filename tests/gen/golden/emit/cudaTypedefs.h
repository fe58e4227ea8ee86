/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, typedefs.jsonl by gen/emit.py. Do not edit. */
#ifndef CUSHIM_CUDATYPEDEFS_H
#define CUSHIM_CUDATYPEDEFS_H

#if defined(__cuda_cuda_h__) && !defined(CUSHIM_CUDA_TYPES_H)
/* After a toolkit's cuda.h the types are the toolkit's too, of the header beside its cuda.h. */
#include <cudaTypedefs.h>
#ifndef CUDATYPEDEFS_H
#error "no cudaTypedefs.h of the toolkit whose cuda.h came before"
#endif
#elif !defined(CUDATYPEDEFS_H)
/* The toolkit's header, included later, finds its own guard and adds nothing. */
#define CUDATYPEDEFS_H

#include <cushim/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef CUresult (CUDAAPI *PFN_cuDriverGetVersion_v2000)(int *driverVersion);
typedef CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);
typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v2000)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v3020)(CUdeviceptr *dptr, size_t bytesize);
typedef CUresult (CUDAAPI *PFN_cuGetErrorName_v6000)(CUresult error, const char **pStr);
typedef CUresult (CUDAAPI *PFN_cuGetErrorString_v6000)(CUresult error, const char **pStr);
typedef CUresult (CUDAAPI *PFN_cuMemcpy_v4000)(CUdeviceptr dst, const void *src, size_t bytes);
typedef CUresult (CUDAAPI *PFN_cuMemcpy_v7000_ptds)(CUdeviceptr dst, const void *src, size_t bytes);
typedef CUresult (CUDAAPI *PFN_cuLaunchHostFunc_v10000)(CUstream hStream, CUhostFn fn, void
    *userData);
typedef CUresult (CUDAAPI *PFN_cuLaunchHostFunc_v10000_ptsz)(CUstream hStream, CUhostFn fn, void
    *userData);
typedef CUresult (CUDAAPI *PFN_cuGetProcAddress_v11030)(const char *symbol, void **pfn, int
    cudaVersion, cuuint64_t flags);
typedef CUresult (CUDAAPI *PFN_cuGetProcAddress_v12000)(const char *symbol, void **pfn, int
    cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus);
typedef CUresult (CUDAAPI *PFN_cuNodeSet_v12010)(const CUnode *node, CUtable table);
typedef CUresult (CUDAAPI *PFN_cuPass_v12000)(CUpassing *passing);

/* What a name without a release means, at the levels that have it. */
#if CUSHIM_CUDA_VERSION < 12010
#define PFN_cuMemAlloc PFN_cuMemAlloc_v2000
#endif
#if CUSHIM_CUDA_VERSION < 13000
#define PFN_cuInit PFN_cuInit_v2000
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define PFN_cuMemcpy PFN_cuMemcpy_v7000_ptds
#else
#define PFN_cuMemcpy PFN_cuMemcpy_v4000
#endif
#endif
#if CUSHIM_CUDA_VERSION >= 11030 && CUSHIM_CUDA_VERSION < 12000
#define PFN_cuGetProcAddress PFN_cuGetProcAddress_v11030
#endif
#if CUSHIM_CUDA_VERSION >= 12000
#define PFN_cuGetProcAddress PFN_cuGetProcAddress_v12000
#endif
#if CUSHIM_CUDA_VERSION >= 12010
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define PFN_LaunchHostFunc PFN_cuLaunchHostFunc_v10000_ptsz
#else
#define PFN_LaunchHostFunc PFN_cuLaunchHostFunc_v10000
#endif
#endif
#if CUSHIM_CUDA_VERSION >= 12010 && CUSHIM_CUDA_VERSION < 13000
#define PFN_cuMemAlloc PFN_cuMemAlloc_v3020
#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
