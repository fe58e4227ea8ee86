/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, typedefs.jsonl by gen/emit.py. Do not edit. */
#ifndef CUSHIM_CUDAD3D9TYPEDEFS_H
#define CUSHIM_CUDAD3D9TYPEDEFS_H

#if defined(__cuda_cuda_h__) && !defined(CUSHIM_CUDA_TYPES_H)
/* After a toolkit's cuda.h the types are the toolkit's too, of the header beside its cuda.h. */
#include <cudaD3D9Typedefs.h>
#ifndef CUDAD3D9TYPEDEFS_H
#error "no cudaD3D9Typedefs.h of the toolkit whose cuda.h came before"
#endif
#elif !defined(CUDAD3D9TYPEDEFS_H)
/* The toolkit's header, included later, finds its own guard and adds nothing. */
#define CUDAD3D9TYPEDEFS_H

#include <cushim/cudaD3D9.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef CUresult (CUDAAPI *PFN_cuD3D9CtxCreate_v3000)(CUcontext *pCtx, struct IDirect3DDevice9
    *pDevice);

/* What a name without a release means, at the levels that have it. */
#define PFN_cuD3D9CtxCreate PFN_cuD3D9CtxCreate_v3000

#ifdef __cplusplus
}
#endif

#endif
#endif
