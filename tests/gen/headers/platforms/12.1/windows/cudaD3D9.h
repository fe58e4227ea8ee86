/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_D3D9_H
#define TOY_D3D9_H

#include <cuda.h>

#define cuD3D9CtxCreate cuD3D9CtxCreate_v2

typedef enum CUd3d9DeviceList_enum {
    CU_D3D9_DEVICE_LIST_ALL = 0x01
} CUd3d9DeviceList;

CUresult CUDAAPI cuD3D9CtxCreate(CUcontext *pCtx, CUdevice *pDevice, IDirect3DDevice9 *pD3D);

#ifdef __CUDA_API_VERSION_INTERNAL
#undef cuD3D9CtxCreate
CUresult CUDAAPI cuD3D9CtxCreate(CUcontext *pCtx, IDirect3DDevice9 *pD3D);
#endif

#endif
