/* SPDX-License-Identifier: MIT */
/* Threads that end before others, in loops and before a barrier of those that are left. */

KERNEL(early_exit)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const u32 a = in[i];
    u32 k = 0, sum = 0;

    PUT(a);
    if (threadIdx.x % 7 == 3)
        return;
    PUT(a * 2);
    for (u32 j = 0; j < 20; j++) {
        if (j == threadIdx.x % 32 + 5)
            return;
        sum += a >> j;
    }
    PUT(sum);
    if (threadIdx.x >= 96)
        return;
    block_barrier();
    PUT(a ^ sum);
}
