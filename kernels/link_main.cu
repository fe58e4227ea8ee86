/* SPDX-License-Identifier: MIT */

/* In link_part.cu: the two are linked by the driver. */
extern "C" __device__ float link_part(float value);

/* data[i] = link_part(data[i]) for i < count. */
extern "C" __global__ void link_main(float *data, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        data[i] = link_part(data[i]);
}
