/* SPDX-License-Identifier: MIT */

/* data[i] = value for i < count; a grid of any size goes over the data as often as it must. */
extern "C" __global__ void fill(unsigned int *data, unsigned int value, unsigned long long count)
{
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;

#pragma unroll 1
    for (; i < count; i += stride)
        data[i] = value;
}
