/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

/* The functions, of every ABI. The drop-in defines them, or a link to libcuda. */
#ifndef CUSHIM_CUDA_FUNCTIONS_H
#define CUSHIM_CUDA_FUNCTIONS_H

#include <cushim/cuda_types.h>
#ifndef CUSHIM_CALLS_ONLY_NAMES_H /* whose macros would be in the declarations */

/* After cushim.h the names are there. Here a name is the exported symbol itself. */
#ifdef CUSHIM_CUDA_NAMES_H
#pragma push_macro("cuGetProcAddress")
#undef cuGetProcAddress
#pragma push_macro("cuGetProcAddress_v2")
#undef cuGetProcAddress_v2
#pragma push_macro("cuLaunchHostFunc")
#undef cuLaunchHostFunc
#pragma push_macro("cuMemAlloc")
#undef cuMemAlloc
#pragma push_macro("cuMemcpy")
#undef cuMemcpy
#endif

#ifdef __cplusplus
extern "C" {
#endif

CUresult CUDAAPI cuDriverGetVersion(int *driverVersion);
CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr);
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr);
CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes);
CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes);
CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData);
CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData);
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t
    flags);
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t
    flags, CUdriverProcAddressQueryResult *symbolStatus);
CUresult CUDAAPI cuNodeSet(const CUnode *node, CUtable table);
CUresult CUDAAPI cuPass(CUpassing *passing);

#ifdef CUSHIM_CUDA_NAMES_H
#pragma pop_macro("cuGetProcAddress")
#pragma pop_macro("cuGetProcAddress_v2")
#pragma pop_macro("cuLaunchHostFunc")
#pragma pop_macro("cuMemAlloc")
#pragma pop_macro("cuMemcpy")
#endif

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
/* Asked for neither kind of stream, the look-up finds what this program's own calls use. */
#if CUSHIM_CUDA_VERSION < 12000
static inline CUresult cuGetProcAddress_ptsz(const char *symbol, void **pfn, int cudaVersion,
                                             cuuint64_t flags)
{
    const cuuint64_t streams =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!(flags & streams))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress(symbol, pfn, cudaVersion, flags);
}
#define cuGetProcAddress cuGetProcAddress_ptsz
#else
static inline CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
                                                cuuint64_t flags,
                                                CUdriverProcAddressQueryResult *symbolStatus)
{
    const cuuint64_t streams =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!(flags & streams))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz
#endif
#endif


#ifdef __cplusplus
}
#endif

#endif
#endif
