/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

#ifndef CUDAD3D9_H
#define CUDAD3D9_H

#include <cushim/cuda.h>


#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUD3D9register_flags_enum {
    CU_D3D9_REGISTER_FLAGS_NONE = 0,
} CUD3D9register_flags;

struct IDirect3DDevice9;
#ifndef CUSHIM_CALLS_ONLY_NAMES_H
CUresult CUDAAPI cuD3D9CtxCreate(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice);
#else
#endif


#ifdef __cplusplus
}
#endif

#endif
