/* SPDX-License-Identifier: MIT */
/* A bitonic sort of a block's words in shared memory, and a scan of them. */

KERNEL(sorting)
{
    __shared__ u32 keys[256];
    const u32 t = threadIdx.x;

    keys[t] = in[blockIdx.x * blockDim.x + t];
    block_barrier();
    for (u32 size = 2; size <= 256; size *= 2)
        for (u32 step = size / 2; step > 0; step /= 2) {
            const u32 other = t ^ step;

            if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
                const u32 a = keys[t];

                keys[t] = keys[other];
                keys[other] = a;
            }
            block_barrier();
        }
    out[blockIdx.x * blockDim.x + t] = keys[t];
    for (u32 step = 1; step < 256; step *= 2) {
        const u32 add = t >= step ? keys[t - step] : 0;

        block_barrier();
        keys[t] += add;
        block_barrier();
    }
    out[n + blockIdx.x * blockDim.x + t] = keys[t];
}
