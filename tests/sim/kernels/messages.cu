/* SPDX-License-Identifier: MIT */
/* One block writes and releases, another acquires and reads: both run at once. */

KERNEL(messages)
{
    const u32 t = threadIdx.x;
    u32 *flag = &out[4 * n];
    u32 seen;

    if (blockIdx.x == 0) {
        out[t] = in[t] * 2;
        block_barrier();
        if (t == 0)
            asm volatile("fence.acq_rel.gpu;\n\tst.relaxed.gpu.u32 [%0], 1;" ::"l"(flag)
                         : "memory");
    } else {
        if (t == 0)
            do
                asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            while (!seen);
        block_barrier();
        out[n + t] = *(volatile u32 *)&out[n - 1 - t] + 1;
        asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;"
                     : "=r"(seen)
                     : "l"(flag + 1)
                     : "memory");
    }
}
