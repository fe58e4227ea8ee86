/* SPDX-License-Identifier: MIT */
/* The part of CUDA C++ that clang lacks without a CUDA toolkit; cushim-embed includes it first.
 * Each function is the one that the CUDA C++ programming guide describes under its name. */
#ifndef CUSHIM_SUBSET_H
#define CUSHIM_SUBSET_H
#pragma clang system_header

#include <__clang_cuda_builtin_vars.h>
#include <stddef.h>
#include <stdint.h>

/* By which a header of the host's code, too, knows that it may write __device__. */
#define __CUDACC__ 1

#define __global__ __attribute__((global))
/* What of these headers is inlined has the line of its call. */
#define __device__ __attribute__((device, nodebug))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ /* a parameter is constant and has no other copy here */
#define __align__(bytes) __attribute__((aligned(bytes)))
#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
#endif

/* nvcc has these without a header. */
#define INFINITY (__builtin_inff())
#define HUGE_VALF (__builtin_huge_valf())
#define NAN (__builtin_nanf(""))
#define M_PI 3.14159265358979323846

typedef unsigned long long cudaTextureObject_t;

/* For what a header declares of the host's code; a kernel calls nothing of the runtime. */
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;

extern "C" {
__device__ int printf(const char *, ...);
__device__ int vprintf(const char *, const char *);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);

inline __device__ void *memcpy(void *to, const void *from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}

inline __device__ void *memset(void *to, int value, size_t bytes)
{
    return __builtin_memset(to, value, bytes);
}
}

#include "assert.h"
#include "subset_new.h"
#include "subset_vectors.h"

#include "subset_bits.h"

#include "subset_shared.h"

#include "subset_double.h"

#include "subset_float.h"

#include "subset_rare.h"

#include "subset_names.h"

#include "subset_integers.h"

#include "subset_atomics.h"

#include "subset_warp.h"

#include "subset_packed.h"

#undef __device__
#define __device__ __attribute__((device))

/* nvcc has it without a line, too. */
#if __has_include(<cmath>)
#include <cmath>
#endif
#endif
