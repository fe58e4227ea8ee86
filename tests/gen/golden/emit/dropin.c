/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include <cushim/cuda.h>
#include <cushim/cudaD3D9.h>

#include "dropin.h"

/* Here a name is the exported symbol itself. */
#undef cuDriverGetVersion
#undef cuInit
#undef cuMemAlloc
#undef cuMemAlloc_v2
#undef cuD3D9CtxCreate
#undef cuGetErrorName
#undef cuGetErrorString
#undef cuMemcpy
#undef cuMemcpy_ptds
#undef cuLaunchHostFunc
#undef cuLaunchHostFunc_ptsz
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef cuNodeSet
#undef cuPass

#ifdef CUSHIM_DROPIN_ENTRY

CUSHIM_DROPIN_ENTRY(cuDriverGetVersion, 0)
CUSHIM_DROPIN_ENTRY(cuInit, 1)
CUSHIM_DROPIN_ENTRY(cuMemAlloc, 2)
CUSHIM_DROPIN_ENTRY(cuMemAlloc_v2, 3)
CUSHIM_DROPIN_ENTRY(cuGetErrorName, 5)
CUSHIM_DROPIN_ENTRY(cuGetErrorString, 6)
CUSHIM_DROPIN_ENTRY(cuMemcpy, 7)
CUSHIM_DROPIN_ENTRY(cuMemcpy_ptds, 8)
CUSHIM_DROPIN_ENTRY(cuLaunchHostFunc, 9)
CUSHIM_DROPIN_ENTRY(cuLaunchHostFunc_ptsz, 10)
CUSHIM_DROPIN_ENTRY(cuGetProcAddress, 11)
CUSHIM_DROPIN_ENTRY(cuGetProcAddress_v2, 12)
CUSHIM_DROPIN_ENTRY(cuNodeSet, 13)
CUSHIM_DROPIN_ENTRY(cuPass, 14)

#else

/* A slot of the first table loads, and then does what the caller asked for. */
static CUresult CUDAAPI first_cuDriverGetVersion(int *driverVersion)
{
    return cushim_dropin_load(0)->cuDriverGetVersion(driverVersion);
}
static CUresult CUDAAPI first_cuInit(unsigned int Flags)
{
    return cushim_dropin_load(1)->cuInit(Flags);
}
static CUresult CUDAAPI first_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    return cushim_dropin_load(2)->cuMemAlloc_v1(dptr, bytesize);
}
static CUresult CUDAAPI first_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return cushim_dropin_load(3)->cuMemAlloc_v2(dptr, bytesize);
}
static CUresult CUDAAPI first_cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice)
{
    return cushim_dropin_load(4)->cuD3D9CtxCreate(pCtx, pDevice);
}
static CUresult CUDAAPI first_cuGetErrorName(CUresult error, const char **pStr)
{
    return cushim_dropin_load(5)->cuGetErrorName(error, pStr);
}
static CUresult CUDAAPI first_cuGetErrorString(CUresult error, const char **pStr)
{
    return cushim_dropin_load(6)->cuGetErrorString(error, pStr);
}
static CUresult CUDAAPI first_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_dropin_load(7)->cuMemcpy(dst, src, bytes);
}
static CUresult CUDAAPI first_cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_dropin_load(8)->cuMemcpy_ptds(dst, src, bytes);
}
static CUresult CUDAAPI first_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_dropin_load(9)->cuLaunchHostFunc(hStream, fn, userData);
}
static CUresult CUDAAPI first_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_dropin_load(10)->cuLaunchHostFunc_ptsz(hStream, fn, userData);
}
static CUresult CUDAAPI first_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags)
{
    return cushim_dropin_load(11)->cuGetProcAddress_v1(symbol, pfn, cudaVersion, flags);
}
static CUresult CUDAAPI first_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    return cushim_dropin_load(12)->cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags,
        symbolStatus);
}
static CUresult CUDAAPI first_cuNodeSet(const CUnode *node, CUtable table)
{
    return cushim_dropin_load(13)->cuNodeSet(node, table);
}
static CUresult CUDAAPI first_cuPass(CUpassing *passing)
{
    return cushim_dropin_load(14)->cuPass(passing);
}

const struct cushim_api cushim_dropin_first = {
    .size = sizeof(struct cushim_api),
    .cuDriverGetVersion = first_cuDriverGetVersion,
    .cuInit = first_cuInit,
    .cuMemAlloc_v1 = first_cuMemAlloc,
    .cuMemAlloc_v2 = first_cuMemAlloc_v2,
    .cuD3D9CtxCreate = first_cuD3D9CtxCreate,
    .cuGetErrorName = first_cuGetErrorName,
    .cuGetErrorString = first_cuGetErrorString,
    .cuMemcpy = first_cuMemcpy,
    .cuMemcpy_ptds = first_cuMemcpy_ptds,
    .cuLaunchHostFunc = first_cuLaunchHostFunc,
    .cuLaunchHostFunc_ptsz = first_cuLaunchHostFunc_ptsz,
    .cuGetProcAddress_v1 = first_cuGetProcAddress,
    .cuGetProcAddress_v2 = first_cuGetProcAddress_v2,
    .cuNodeSet = first_cuNodeSet,
    .cuPass = first_cuPass,
};

_Atomic(const struct cushim_api *) cushim_dropin_table = &cushim_dropin_first;

CUresult CUDAAPI cuDriverGetVersion(int *driverVersion)
{
    return CUSHIM_DROPIN_TABLE->cuDriverGetVersion(driverVersion);
}
CUresult CUDAAPI cuInit(unsigned int Flags)
{
    return CUSHIM_DROPIN_TABLE->cuInit(Flags);
}
CUresult CUDAAPI cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    return CUSHIM_DROPIN_TABLE->cuMemAlloc_v1(dptr, bytesize);
}
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return CUSHIM_DROPIN_TABLE->cuMemAlloc_v2(dptr, bytesize);
}
#ifdef _WIN32
CUresult CUDAAPI cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice)
{
    return CUSHIM_DROPIN_TABLE->cuD3D9CtxCreate(pCtx, pDevice);
}
#endif
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr)
{
    return CUSHIM_DROPIN_TABLE->cuGetErrorName(error, pStr);
}
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr)
{
    return CUSHIM_DROPIN_TABLE->cuGetErrorString(error, pStr);
}
CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return CUSHIM_DROPIN_TABLE->cuMemcpy(dst, src, bytes);
}
CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return CUSHIM_DROPIN_TABLE->cuMemcpy_ptds(dst, src, bytes);
}
CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return CUSHIM_DROPIN_TABLE->cuLaunchHostFunc(hStream, fn, userData);
}
CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return CUSHIM_DROPIN_TABLE->cuLaunchHostFunc_ptsz(hStream, fn, userData);
}
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return CUSHIM_DROPIN_TABLE->cuGetProcAddress_v1(symbol, pfn, cudaVersion, flags);
}
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t
    flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    return CUSHIM_DROPIN_TABLE->cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
CUresult CUDAAPI cuNodeSet(const CUnode *node, CUtable table)
{
    return CUSHIM_DROPIN_TABLE->cuNodeSet(node, table);
}
CUresult CUDAAPI cuPass(CUpassing *passing)
{
    return CUSHIM_DROPIN_TABLE->cuPass(passing);
}

#endif
