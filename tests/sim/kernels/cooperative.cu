/* SPDX-License-Identifier: MIT */
/* A grid whose blocks wait for each other, by a counter in memory. */

static __device__ __noinline__ void grid_barrier(u32 *counter, u32 phase)
{
    u32 seen;

    block_barrier();
    if (threadIdx.x == 0) {
        asm volatile("fence.acq_rel.gpu;\n\tred.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter)
                     : "memory");
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(counter)
                         : "memory");
        while (seen < phase * gridDim.x);
    }
    block_barrier();
}

KERNEL(cooperative)
{
    ELEMENT
    u32 value = WORD(0);
    volatile u32 *shared_words = out;

    (void)k;
    for (u32 phase = 1; phase <= 5; phase++) {
        shared_words[(phase & 1) * n + i] = value;
        grid_barrier(&out[3 * n], phase);
        value = value * 3 + shared_words[(phase & 1) * n + (i * 7 + 13 * phase) % n];
    }
    shared_words[2 * n + i] = value;
}
