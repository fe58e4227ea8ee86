/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */
#ifndef CUSHIM_API_H
#define CUSHIM_API_H

#include <stddef.h>
#include <stdint.h>

/* Without a toolkit's cuda.h before this header, cushim brings its own types. The functions, which
 * the table replaces, cost as much to compile as it does: cuda.h and CUSHIM_DROPIN bring them. */
#ifdef CUSHIM_FOREIGN_TYPES
#ifdef CUSHIM_CUDA_TYPES_H
#error "CUSHIM_FOREIGN_TYPES is defined after a header of cushim's declared the types"
#endif
#ifndef CUSHIM_CUDA_VERSION
#define CUSHIM_CUDA_VERSION 12000
#endif
#if CUSHIM_CUDA_VERSION != 11000 && CUSHIM_CUDA_VERSION != 11010 && CUSHIM_CUDA_VERSION != 11020 && \
    CUSHIM_CUDA_VERSION != 11030 && CUSHIM_CUDA_VERSION != 11040 && CUSHIM_CUDA_VERSION != 11050 && \
    CUSHIM_CUDA_VERSION != 11060 && CUSHIM_CUDA_VERSION != 12000 && CUSHIM_CUDA_VERSION != 12010
#error "CUSHIM_CUDA_VERSION is no release that cushim knows, such as 12000"
#endif
#elif !defined(__cuda_cuda_h__)
#include <cushim/cuda_types.h>
#ifdef CUSHIM_DROPIN
#include <cushim/cuda_functions.h>
#endif
#elif !defined(CUSHIM_CUDA_TYPES_H) && !(defined(CUDA_VERSION) && defined(CU_PARAM_TR_DEFAULT))
#error "a header of yours, not NVIDIA's cuda.h, declared types of CUDA before cushim's headers: leave it out, because cushim declares all types, or define CUSHIM_FOREIGN_TYPES, and cushim takes them from it (docs/adopt.md)"
#define CUSHIM_FOREIGN_TYPES
#elif CUDA_VERSION < 11000
#error "the cuda.h before cushim's headers is older than CUDA 11.0"
#elif !defined(CUSHIM_CUDA_TYPES_H) && defined(CUSHIM_CUDA_VERSION)
#if CUSHIM_CUDA_VERSION != CUDA_VERSION
#error "CUSHIM_CUDA_VERSION contradicts CUDA_VERSION of the cuda.h before cushim's headers"
#endif
#endif
#if defined(CUSHIM_FOREIGN_TYPES) || defined(CUSHIM_CUDA_TYPES_H) || CUDA_VERSION >= 11000

#ifndef CUDAAPI
#ifdef _WIN32
#define CUDAAPI __stdcall
#else
#define CUDAAPI
#endif
#endif
#ifndef CUDA_CB
#define CUDA_CB CUDAAPI
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUSHIM_EXTENSION __extension__
#else
#define CUSHIM_EXTENSION
#endif

#define CUSHIM_ENTRY_COUNT 15
#define CUSHIM_REGISTRY_VERSION 12010

struct IDirect3DDevice9;

/* The project's types, and of all others no more than the table needs. */
#ifdef CUSHIM_FOREIGN_TYPES
typedef unsigned int cushim_CUdeviceptr_v1;
#define CUdeviceptr_v1 cushim_CUdeviceptr_v1
typedef void (CUDA_CB *cushim_CUhostFn)(void *userData);
#define CUhostFn cushim_CUhostFn
typedef uint64_t cushim_cuuint64_t;
typedef unsigned int cushim_CUdriverProcAddressQueryResult;
typedef struct CUnode_st cushim_CUnode;
#define CUnode cushim_CUnode
typedef const struct CUtable_st *cushim_CUtable;
#define CUtable cushim_CUtable
typedef struct CUpassing_st cushim_CUpassing;
#define CUpassing cushim_CUpassing
#else

/* Types that a cuda.h before 12000 may lack, or have by another name. */
#if defined(CUSHIM_CUDA_TYPES_H) || CUDA_VERSION >= 12000
typedef cuuint64_t cushim_cuuint64_t;
typedef CUdriverProcAddressQueryResult cushim_CUdriverProcAddressQueryResult;
#else
typedef uint64_t cushim_cuuint64_t;
typedef unsigned int cushim_CUdriverProcAddressQueryResult;
#endif

/* Types that an older cuda.h, or any public one, lacks. */
#ifndef CUSHIM_CUDA_TYPES_H
#ifndef __CUDA_API_VERSION_INTERNAL
typedef unsigned int CUdeviceptr_v1;
#endif
#if CUDA_VERSION < 12010
typedef struct CUnode_st CUnode;
#endif
#if CUDA_VERSION < 12010
typedef const struct CUtable_st *CUtable;
#endif
#if CUDA_VERSION >= 12010
typedef struct CUpassing_st CUpassing;
#endif
#endif
#endif

/* Types of cudaGL.h and the other companions: theirs where they came first. */

struct cushim_instance;

/* cuda.h's macros would rename the members in their own definition. */
#if !defined(CUSHIM_CUDA_TYPES_H) || defined(CUSHIM_CUDA_FUNCTIONS_H) || \
    defined(CUSHIM_CUDA_NAMES_H)
#define CUSHIM_API_AWAY
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

#ifdef CUSHIM_CALLS_ONLY
#define cushim_api cushim_slots /* and calls_only.h makes the table of it */
#endif
/*
 * The order of the members is ABI: new ones come at the end. A member is what the driver exports
 * under that name, or a stub of the same type; never NULL. Where a name has several ABIs, the first
 * is NAME_v1, and the macros of cuda.h lead a plain name to the member it means. Where there are no
 * such macros, under CUSHIM_FOREIGN_TYPES, the plain name is a second name of that member.
 */
struct cushim_api {
    size_t size; /* of this structure, as the library that filled it knows it */
    struct cushim_instance *instance; /* what belongs to this table; for cushim's own use */
    CUresult (CUDAAPI *cuDriverGetVersion)(int *driverVersion);
    CUresult (CUDAAPI *cuInit)(unsigned int Flags);
    CUSHIM_EXTENSION union {
        CUresult (CUDAAPI *cuMemAlloc_v1)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
#if !defined(CUSHIM_FOREIGN_TYPES)
        CUresult (CUDAAPI *cuMemAlloc)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
#endif
    };
    CUSHIM_EXTENSION union {
        CUresult (CUDAAPI *cuMemAlloc_v2)(CUdeviceptr *dptr, size_t bytesize);
#if defined(CUSHIM_FOREIGN_TYPES)
        CUresult (CUDAAPI *cuMemAlloc)(CUdeviceptr *dptr, size_t bytesize);
#endif
    };
    CUresult (CUDAAPI *cuD3D9CtxCreate)(CUcontext *pCtx, struct IDirect3DDevice9 *pDevice);
    CUresult (CUDAAPI *cuGetErrorName)(CUresult error, const char **pStr);
    CUresult (CUDAAPI *cuGetErrorString)(CUresult error, const char **pStr);
    CUresult (CUDAAPI *cuMemcpy)(CUdeviceptr dst, const void *src, size_t bytes);
    CUresult (CUDAAPI *cuMemcpy_ptds)(CUdeviceptr dst, const void *src, size_t bytes);
    CUresult (CUDAAPI *cuLaunchHostFunc)(CUstream hStream, CUhostFn fn, void *userData);
    CUresult (CUDAAPI *cuLaunchHostFunc_ptsz)(CUstream hStream, CUhostFn fn, void *userData);
    CUSHIM_EXTENSION union {
        CUresult (CUDAAPI *cuGetProcAddress_v1)(const char *symbol, void **pfn, int cudaVersion,
            cushim_cuuint64_t flags);
#if !defined(CUSHIM_FOREIGN_TYPES) || (CUSHIM_CUDA_VERSION < 12010)
        CUresult (CUDAAPI *cuGetProcAddress)(const char *symbol, void **pfn, int cudaVersion,
            cushim_cuuint64_t flags);
#endif
    };
    CUSHIM_EXTENSION union {
        CUresult (CUDAAPI *cuGetProcAddress_v2)(const char *symbol, void **pfn, int cudaVersion,
            cushim_cuuint64_t flags, cushim_CUdriverProcAddressQueryResult *symbolStatus);
#if defined(CUSHIM_FOREIGN_TYPES) && CUSHIM_CUDA_VERSION >= 12010
        CUresult (CUDAAPI *cuGetProcAddress)(const char *symbol, void **pfn, int cudaVersion,
            cushim_cuuint64_t flags, cushim_CUdriverProcAddressQueryResult *symbolStatus);
#endif
    };
    CUresult (CUDAAPI *cuNodeSet)(const CUnode *node, CUtable table);
    CUresult (CUDAAPI *cuPass)(CUpassing *passing);
};
#ifdef CUSHIM_CALLS_ONLY
#undef cushim_api
#include <cushim/calls_only.h>
#endif

#ifdef CUSHIM_API_AWAY
#pragma pop_macro("cuGetProcAddress")
#pragma pop_macro("cuGetProcAddress_v2")
#pragma pop_macro("cuLaunchHostFunc")
#pragma pop_macro("cuMemAlloc")
#pragma pop_macro("cuMemcpy")
#endif
#ifdef CUSHIM_FOREIGN_TYPES
#undef CUdeviceptr_v1
#undef CUhostFn
#undef CUnode
#undef CUtable
#undef CUpassing
#endif

#ifdef __cplusplus
}
#endif

#ifdef CUSHIM_CUDA_TYPES_H
#include <cushim/cuda_names.h>
#endif
#ifdef CUSHIM_CALLS_ONLY
#include <cushim/calls_only_names.h>
#endif

#endif
#endif
