/* SPDX-License-Identifier: MIT */
/* Each function of functions.h in a kernel of its own, of inputs that are numbered. */
#include "functions.h"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#define ONE(name, reference, error)                                                                \
    extern "C" __global__ void of_##name(const float *x, const float *, float *result,             \
                                         unsigned count)                                           \
    {                                                                                              \
        if (INDEX < count)                                                                         \
            result[INDEX] = name(x[INDEX]);                                                        \
    }
#define TWO(name, reference, error)                                                                \
    extern "C" __global__ void of_##name(const float *x, const float *y, float *result,            \
                                         unsigned count)                                           \
    {                                                                                              \
        if (INDEX < count)                                                                         \
            result[INDEX] = name(x[INDEX], y[INDEX]);                                              \
    }
#define DOUBLE(name, reference, error, low, high)                                                  \
    extern "C" __global__ void of_##name(const double *x, const double *, double *result,          \
                                         unsigned count)                                           \
    {                                                                                              \
        if (INDEX < count)                                                                         \
            result[INDEX] = name(x[INDEX]);                                                        \
    }
#define DOUBLE_PAIR(name, reference, error, low, high)                                             \
    extern "C" __global__ void of_##name(const double *x, const double *y, double *result,         \
                                         unsigned count)                                           \
    {                                                                                              \
        if (INDEX < count)                                                                         \
            result[INDEX] = name(x[INDEX], y[INDEX]);                                              \
    }

FLOAT_FUNCTIONS(ONE)
PAIR_FUNCTIONS(TWO)
DOUBLE_FUNCTIONS(DOUBLE)
DOUBLE_PAIR_FUNCTIONS(DOUBLE_PAIR)
