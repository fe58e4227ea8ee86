/* SPDX-License-Identifier: MIT */
/* One use of each function of integers, numbers, atomics and warps: pieces.h. */
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include <cuda_runtime.h>

#include "pieces.h"

__device__ unsigned long long cells[32];
__device__ const int table[] = {10, 20, 30};

template <class T, class F> __device__ __noinline__ long long after(T start, F atomic)
{
    T *cell = reinterpret_cast<T *>(&cells[threadIdx.x]);
    *cell = start;
    T old = atomic(cell);
    return (long long)old * 1000 + (long long)*cell;
}

/* Of a fraction, in ten thousandths. */
static __device__ double part(double x)
{
    return x * 100;
}

extern "C" __global__ void __launch_bounds__(32) pieces(long long *results)
{
    int lane = threadIdx.x, whole = 0, count = 0;
    double real = 0;
    dim3 size = blockDim;
    assert(blockDim.x == 32);
#define P(expression, result)                                                                      \
    {                                                                                              \
        long long value = (long long)(expression);                                                 \
        if (lane == 5)                                                                             \
            results[count] = value;                                                                \
        count++;                                                                                   \
        __syncwarp();                                                                              \
    }
    PIECES(P)
    if (lane == 5) {
        int *own = static_cast<int *>(malloc(sizeof *own));
        printf("%d pieces in lane %d, %s\n", *own = count, lane, "printed by the kernel");
        free(own);
    }
    __threadfence();
}
