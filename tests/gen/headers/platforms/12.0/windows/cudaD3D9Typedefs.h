/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_D3D9TYPEDEFS_H
#define TOY_D3D9TYPEDEFS_H

#include <cudaD3D9.h>

typedef CUresult(CUDAAPI *PFN_cuD3D9CtxCreate_v3020)(CUcontext *pCtx, CUdevice *pDevice,
                                                     IDirect3DDevice9 *pD3D);
typedef CUresult(CUDAAPI *PFN_cuD3D9CtxCreate_v2000)(CUcontext *pCtx, IDirect3DDevice9 *pD3D);

#endif
