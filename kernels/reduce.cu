/* SPDX-License-Identifier: MIT */

/* sums[block] = sum of that block's elements of data[count], added as a tree: element i and
 * element i + half, then half as many. The block has a power of 2 of threads, and as many floats
 * of dynamic shared memory. */
extern __shared__ float partial[];

extern "C" __global__ void reduce(const float *data, float *sums, unsigned int count)
{
    unsigned int thread = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + thread;

    partial[thread] = i < count ? data[i] : 0.0f;
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = partial[0];
}
