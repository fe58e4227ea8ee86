/* SPDX-License-Identifier: MIT */

/* sum[i] = a[i] + b[i] for i < count, in a one-dimensional grid of at least `count` threads. */
extern "C" __global__ void vecadd(const float *a, const float *b, float *sum, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        sum[i] = a[i] + b[i];
}
