/* SPDX-License-Identifier: MIT */

/* y[i] = a * x[i] + y[i], rounded once (fused), for i < count. */
extern "C" __global__ void saxpy(unsigned int count, float a, const float *x, float *y)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        y[i] = a * x[i] + y[i];
}
