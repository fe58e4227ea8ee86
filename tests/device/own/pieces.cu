/* SPDX-License-Identifier: MIT */
/* One use of each function of integers, numbers, atomics, warps and complex numbers: pieces.h. */
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include <cuComplex.h>
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

/* Made by new and called by its table of functions: the compiler may not see which class it is. */
struct Value {
    __device__ virtual int value() const = 0;
    __device__ virtual ~Value()
    {
    }
};

struct Twice : Value {
    int *number;
    __device__ explicit Twice(int one) : number(new int[2])
    {
        number[0] = number[1] = one;
    }
    __device__ __noinline__ static Twice *make(int one)
    {
        void *room = malloc(sizeof(Twice));
        return new (room) Twice(one);
    }
    __device__ int value() const override
    {
        return number[0] + number[1];
    }
    __device__ ~Twice()
    {
        delete[] number;
    }
};

__device__ __noinline__ int value_of(const Value *one)
{
    return one->value();
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
        Twice *own = Twice::make(count);
        printf("%d pieces in lane %d, %s\n", value_of(own) / 2, lane, "printed by the kernel");
        delete own;
    }
    __threadfence();
}
