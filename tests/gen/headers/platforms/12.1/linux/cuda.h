/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION 12010

#ifdef _WIN32
#define CUDAAPI __stdcall
#define CUDA_CB __stdcall
#else
#define CUDAAPI
#define CUDA_CB
#endif

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1
} CUresult;

typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdevice;
typedef struct CUcontext_st *CUcontext;
typedef struct CUgraphicsResource_st *CUgraphicsResource;

CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuTegra(int fd);

#endif
