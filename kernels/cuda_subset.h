/* SPDX-License-Identifier: MIT */
/* A part of CUDA C++, for clang without a CUDA toolkit; embed.py includes it first. clang itself
 * has
 * __syncthreads, and no function of CUDA's mathematical library is here. nvcc has all of this. */
#ifndef CUDA_SUBSET_H
#define CUDA_SUBSET_H

#include <__clang_cuda_builtin_vars.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct __attribute__((aligned(8))) float2 {
    float x, y;
};

struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};

typedef unsigned long long cudaTextureObject_t;

static inline __device__ unsigned int atomicAdd(unsigned int *address, unsigned int value)
{
    return __nvvm_atom_add_gen_i((int *)address, (int)value);
}

#endif
