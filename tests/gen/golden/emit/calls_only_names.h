/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, levels.jsonl by gen/emit.py. Do not edit. */
/* A slot is never NULL, so a test for NULL does not do what it did. In this mode a slot can be
 * called, and CUSHIM_HAS(cu, name) finds out whether the driver has it. All else does not compile:
 * a comparison, a condition, an assignment. The layout is the true table's, struct cushim_slots. */
#ifndef CUSHIM_CALLS_ONLY_NAMES_H
#define CUSHIM_CALLS_ONLY_NAMES_H

#ifndef CUSHIM_API_H
#error "include cushim/cushim.h, with CUSHIM_CALLS_ONLY defined"
#endif

#ifndef cuMemAlloc
#ifdef CUSHIM_FOREIGN_TYPES
#define cuMemAlloc cuMemAlloc_v2
#else
#define cuMemAlloc cuMemAlloc_v1
#endif
#endif
#ifndef cuGetProcAddress
#ifdef CUSHIM_FOREIGN_TYPES
#if CUSHIM_CUDA_VERSION < 12010
#define cuGetProcAddress cuGetProcAddress_v1
#endif
#if CUSHIM_CUDA_VERSION >= 12010
#define cuGetProcAddress cuGetProcAddress_v2
#endif
#else
#define cuGetProcAddress cuGetProcAddress_v1
#endif
#endif
#ifndef cuDriverGetVersion
#define cuDriverGetVersion(...) cuDriverGetVersion.call(__VA_ARGS__)
#endif
#ifndef cuInit
#define cuInit(...) cuInit.call(__VA_ARGS__)
#endif
#ifndef cuMemAlloc_v1
#define cuMemAlloc_v1(...) cuMemAlloc_v1.call(__VA_ARGS__)
#endif
#ifndef cuMemAlloc_v2
#define cuMemAlloc_v2(...) cuMemAlloc_v2.call(__VA_ARGS__)
#endif
#ifndef cuD3D9CtxCreate
#define cuD3D9CtxCreate(...) cuD3D9CtxCreate.call(__VA_ARGS__)
#endif
#ifndef cuGetErrorName
#define cuGetErrorName(...) cuGetErrorName.call(__VA_ARGS__)
#endif
#ifndef cuGetErrorString
#define cuGetErrorString(...) cuGetErrorString.call(__VA_ARGS__)
#endif
#ifndef cuMemcpy
#define cuMemcpy(...) cuMemcpy.call(__VA_ARGS__)
#endif
#ifndef cuMemcpy_ptds
#define cuMemcpy_ptds(...) cuMemcpy_ptds.call(__VA_ARGS__)
#endif
#ifndef cuLaunchHostFunc
#define cuLaunchHostFunc(...) cuLaunchHostFunc.call(__VA_ARGS__)
#endif
#ifndef cuLaunchHostFunc_ptsz
#define cuLaunchHostFunc_ptsz(...) cuLaunchHostFunc_ptsz.call(__VA_ARGS__)
#endif
#ifndef cuGetProcAddress_v1
#define cuGetProcAddress_v1(...) cuGetProcAddress_v1.call(__VA_ARGS__)
#endif
#ifndef cuGetProcAddress_v2
#define cuGetProcAddress_v2(...) cuGetProcAddress_v2.call(__VA_ARGS__)
#endif
#ifndef cuNodeSet
#define cuNodeSet(...) cuNodeSet.call(__VA_ARGS__)
#endif
#ifndef cuPass
#define cuPass(...) cuPass.call(__VA_ARGS__)
#endif

#endif
