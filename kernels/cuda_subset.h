/* SPDX-License-Identifier: MIT */
/* What the kernels use of CUDA C++, for clang without a CUDA toolkit; build.py includes it first.
 * nvcc has all of this itself. */
#ifndef CUDA_SUBSET_H
#define CUDA_SUBSET_H

#include <__clang_cuda_builtin_vars.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

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
