/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include <cushim/cuda.h>
#include <cushim/cudaD3D9.h>

#include "unavailable.h"

/* The stubs take what the entries take, and look at none of it. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

static CUresult CUDAAPI no_driver_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    return cushim_unavailable_no_driver(2);
}
static CUresult CUDAAPI no_driver_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return cushim_unavailable_no_driver(3);
}
static CUresult CUDAAPI no_driver_cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice)
{
    return cushim_unavailable_no_driver(4);
}
static CUresult CUDAAPI no_driver_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_no_driver(7);
}
static CUresult CUDAAPI no_driver_cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_no_driver(8);
}
static CUresult CUDAAPI no_driver_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_unavailable_no_driver(9);
}
static CUresult CUDAAPI no_driver_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void
    *userData)
{
    return cushim_unavailable_no_driver(10);
}
static CUresult CUDAAPI no_driver_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags)
{
    return cushim_unavailable_no_driver(11);
}
static CUresult CUDAAPI no_driver_cuGetProcAddress_v2(const char *symbol, void **pfn, int
    cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    return cushim_unavailable_no_driver(12);
}
static CUresult CUDAAPI no_driver_cuNodeSet(const CUnode *node, CUtable table)
{
    return cushim_unavailable_no_driver(13);
}
static CUresult CUDAAPI no_driver_cuPass(CUpassing *passing)
{
    return cushim_unavailable_no_driver(14);
}

const struct cushim_api cushim_no_driver_api = {
    .size = sizeof(struct cushim_api),
    .cuDriverGetVersion = cushim_no_driver_cuDriverGetVersion,
    .cuInit = cushim_no_driver_cuInit,
    .cuMemAlloc_v1 = no_driver_cuMemAlloc,
    .cuMemAlloc_v2 = no_driver_cuMemAlloc_v2,
    .cuD3D9CtxCreate = no_driver_cuD3D9CtxCreate,
    .cuGetErrorName = cushim_always_cuGetErrorName,
    .cuGetErrorString = cushim_always_cuGetErrorString,
    .cuMemcpy = no_driver_cuMemcpy,
    .cuMemcpy_ptds = no_driver_cuMemcpy_ptds,
    .cuLaunchHostFunc = no_driver_cuLaunchHostFunc,
    .cuLaunchHostFunc_ptsz = no_driver_cuLaunchHostFunc_ptsz,
    .cuGetProcAddress_v1 = no_driver_cuGetProcAddress,
    .cuGetProcAddress_v2 = no_driver_cuGetProcAddress_v2,
    .cuNodeSet = no_driver_cuNodeSet,
    .cuPass = no_driver_cuPass,
};

static CUresult CUDAAPI newer_cuDriverGetVersion(int *driverVersion)
{
    return cushim_unavailable_newer(0);
}
static CUresult CUDAAPI newer_cuInit(unsigned int Flags)
{
    return cushim_unavailable_newer(1);
}
static CUresult CUDAAPI newer_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    return cushim_unavailable_newer(2);
}
static CUresult CUDAAPI newer_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return cushim_unavailable_newer(3);
}
static CUresult CUDAAPI newer_cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice)
{
    return cushim_unavailable_newer(4);
}
static CUresult CUDAAPI newer_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_newer(7);
}
static CUresult CUDAAPI newer_cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_newer(8);
}
static CUresult CUDAAPI newer_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_unavailable_newer(9);
}
static CUresult CUDAAPI newer_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_unavailable_newer(10);
}
static CUresult CUDAAPI newer_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags)
{
    return cushim_unavailable_newer(11);
}
static CUresult CUDAAPI newer_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    return cushim_unavailable_newer(12);
}
static CUresult CUDAAPI newer_cuNodeSet(const CUnode *node, CUtable table)
{
    return cushim_unavailable_newer(13);
}
static CUresult CUDAAPI newer_cuPass(CUpassing *passing)
{
    return cushim_unavailable_newer(14);
}

const struct cushim_api cushim_newer_api = {
    .size = sizeof(struct cushim_api),
    .cuDriverGetVersion = newer_cuDriverGetVersion,
    .cuInit = newer_cuInit,
    .cuMemAlloc_v1 = newer_cuMemAlloc,
    .cuMemAlloc_v2 = newer_cuMemAlloc_v2,
    .cuD3D9CtxCreate = newer_cuD3D9CtxCreate,
    .cuGetErrorName = cushim_always_cuGetErrorName,
    .cuGetErrorString = cushim_always_cuGetErrorString,
    .cuMemcpy = newer_cuMemcpy,
    .cuMemcpy_ptds = newer_cuMemcpy_ptds,
    .cuLaunchHostFunc = newer_cuLaunchHostFunc,
    .cuLaunchHostFunc_ptsz = newer_cuLaunchHostFunc_ptsz,
    .cuGetProcAddress_v1 = newer_cuGetProcAddress,
    .cuGetProcAddress_v2 = newer_cuGetProcAddress_v2,
    .cuNodeSet = newer_cuNodeSet,
    .cuPass = newer_cuPass,
};

static CUresult CUDAAPI absent_cuDriverGetVersion(int *driverVersion)
{
    return cushim_unavailable_absent(0);
}
static CUresult CUDAAPI absent_cuInit(unsigned int Flags)
{
    return cushim_unavailable_absent(1);
}
static CUresult CUDAAPI absent_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    return cushim_unavailable_absent(2);
}
static CUresult CUDAAPI absent_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return cushim_unavailable_absent(3);
}
static CUresult CUDAAPI absent_cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice)
{
    return cushim_unavailable_absent(4);
}
static CUresult CUDAAPI absent_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_absent(7);
}
static CUresult CUDAAPI absent_cuMemcpy_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return cushim_unavailable_absent(8);
}
static CUresult CUDAAPI absent_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_unavailable_absent(9);
}
static CUresult CUDAAPI absent_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return cushim_unavailable_absent(10);
}
static CUresult CUDAAPI absent_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags)
{
    return cushim_unavailable_absent(11);
}
static CUresult CUDAAPI absent_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
    cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    return cushim_unavailable_absent(12);
}
static CUresult CUDAAPI absent_cuNodeSet(const CUnode *node, CUtable table)
{
    return cushim_unavailable_absent(13);
}
static CUresult CUDAAPI absent_cuPass(CUpassing *passing)
{
    return cushim_unavailable_absent(14);
}

const struct cushim_api cushim_absent_api = {
    .size = sizeof(struct cushim_api),
    .cuDriverGetVersion = absent_cuDriverGetVersion,
    .cuInit = absent_cuInit,
    .cuMemAlloc_v1 = absent_cuMemAlloc,
    .cuMemAlloc_v2 = absent_cuMemAlloc_v2,
    .cuD3D9CtxCreate = absent_cuD3D9CtxCreate,
    .cuGetErrorName = cushim_always_cuGetErrorName,
    .cuGetErrorString = cushim_always_cuGetErrorString,
    .cuMemcpy = absent_cuMemcpy,
    .cuMemcpy_ptds = absent_cuMemcpy_ptds,
    .cuLaunchHostFunc = absent_cuLaunchHostFunc,
    .cuLaunchHostFunc_ptsz = absent_cuLaunchHostFunc_ptsz,
    .cuGetProcAddress_v1 = absent_cuGetProcAddress,
    .cuGetProcAddress_v2 = absent_cuGetProcAddress_v2,
    .cuNodeSet = absent_cuNodeSet,
    .cuPass = absent_cuPass,
};
