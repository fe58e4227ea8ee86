/* SPDX-License-Identifier: MIT */

#define BINS 256

/* bins[value] += how often each value occurs in data[count]: counted in shared memory first, then
 * added up in global memory. Any block, any grid. */
extern "C" __global__ void histogram(const unsigned char *data, unsigned int count,
                                     unsigned int *bins)
{
    __shared__ unsigned int local[BINS];

#pragma unroll 1
    for (unsigned int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1);
    __syncthreads();
#pragma unroll 1
    for (unsigned int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin])
            atomicAdd(&bins[bin], local[bin]);
}
