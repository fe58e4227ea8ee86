/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

#ifndef CUSHIM_CUDA_TYPES_H
#ifdef __cuda_cuda_h__
#error "cushim/cuda.h stands in for NVIDIA's cuda.h: include one of the two"
#elif defined(CUSHIM_FOREIGN_TYPES)
#error "CUSHIM_FOREIGN_TYPES takes all types from your header: cushim/cuda.h has types of its own"
#elif defined(CUDAAPI) || defined(CUDA_CB) || defined(cuMemAlloc) || defined(cuCtxCreate) || defined(cuCtxDestroy) || defined(CU_TRSF_READ_AS_INTEGER) || defined(CU_LAUNCH_PARAM_END) || defined(CU_IPC_HANDLE_SIZE)
#error "a header of yours, not NVIDIA's cuda.h, declared types of CUDA before cushim's headers: leave it out, because cushim declares all types, or define CUSHIM_FOREIGN_TYPES, and cushim takes them from it (docs/adopt.md)"
#define CUSHIM_FOREIGN_TYPES
#else
#define CUSHIM_CUDA_TYPES_H

/* NVIDIA's header, included later, finds its own guard and adds nothing. */
#define __cuda_cuda_h__

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The newest release that is known here. */
#define CUSHIM_REGISTRY_VERSION 12010

/* The release whose meaning unversioned names have, as in NVIDIA's cuda.h of that release. */
#ifndef CUSHIM_CUDA_VERSION
#define CUSHIM_CUDA_VERSION 12000
#endif
#if CUSHIM_CUDA_VERSION != 11000 && CUSHIM_CUDA_VERSION != 11010 && CUSHIM_CUDA_VERSION != 11020 && \
    CUSHIM_CUDA_VERSION != 11030 && CUSHIM_CUDA_VERSION != 11040 && CUSHIM_CUDA_VERSION != 11050 && \
    CUSHIM_CUDA_VERSION != 11060 && CUSHIM_CUDA_VERSION != 12000 && CUSHIM_CUDA_VERSION != 12010
#error "CUSHIM_CUDA_VERSION is no release that cushim knows, such as 11040 or 12010"
#endif
#ifdef CUDA_VERSION
#error "CUDA_VERSION is defined before cushim/cuda.h: CUSHIM_CUDA_VERSION chooses the release"
#else
#define CUDA_VERSION CUSHIM_CUDA_VERSION
#endif

#ifdef _WIN32
#define CUDAAPI __stdcall
#define CUDA_CB __stdcall
#else
#define CUDAAPI
#define CUDA_CB
#endif

#if defined(__GNUC__)
#define CUSHIM_ANONYMOUS __extension__
#else
#define CUSHIM_ANONYMOUS
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define CUSHIM_ALIGN(bytes) alignas(bytes)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CUSHIM_ALIGN(bytes) _Alignas(bytes)
#else
#define CUSHIM_ALIGN(bytes)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if CUSHIM_CUDA_VERSION < 12010
#define CU_LIMIT 0x10
#endif
#if CUSHIM_CUDA_VERSION >= 12010
#define CU_LIMIT 0x20
#endif
typedef struct CUctx_st *CUcontext;
#if defined(_WIN64) || defined(__LP64__)
typedef unsigned long long CUdeviceptr_v2;
#else
typedef unsigned int CUdeviceptr_v2;
#endif
typedef CUdeviceptr_v2 CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;
typedef enum CUdriverProcAddressQueryResult_enum {
    CU_GET_PROC_ADDRESS_SUCCESS = 0,
    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
} CUdriverProcAddressQueryResult;
typedef enum CUdriverProcAddress_flags_enum {
    CU_GET_PROC_ADDRESS_DEFAULT = 0,
    CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
} CUdriverProcAddress_flags;
typedef int CUdevice;
typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_OLD = 1,
#if CUSHIM_CUDA_VERSION < 12010
    CU_DEVICE_ATTRIBUTE_MAX = 2,
#endif
    CU_DEVICE_ATTRIBUTE_NEW = 2,
#if CUSHIM_CUDA_VERSION >= 12010
    CU_DEVICE_ATTRIBUTE_MAX = 3,
#endif
} CUdevice_attribute;
typedef void (CUDA_CB *CUhostFn)(void *userData);
typedef int CUpassingInt;
typedef struct CUpassing_st {
    CUpassingInt only;
} CUpassing;
#if CUSHIM_CUDA_VERSION < 12010
typedef int CUleaving;
#endif
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
#if CUSHIM_CUDA_VERSION < 12010
    CUDA_ERROR_INVALID_VALUE = 1,
#endif
#if CUSHIM_CUDA_VERSION >= 12010
    CUDA_ERROR_INVALID_VALUE = 2,
#endif
    CUDA_ERROR_NEW = 3,
} CUresult;
typedef struct CUstream_st *CUstream;
typedef uint64_t cuuint64_t;
typedef struct CUnode_st {
    CUSHIM_ALIGN(64)
    int kind;
    CUSHIM_ANONYMOUS union {
        int number;
        struct {
            float x;
            float y;
        } point;
    };
    const char *names[2][3];
} CUnode;
typedef const struct CUtable_st *CUtable;


#ifdef __cplusplus
}
#endif

#endif
#endif
