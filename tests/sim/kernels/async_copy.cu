/* SPDX-License-Identifier: MIT */
/* cp.async into shared memory, of 4, 8 and 16 bytes, in groups and with zero fill. */

KERNEL(async_copy)
{
    __shared__ __attribute__((aligned(16))) u32 tile[64 * 16];
    const u32 t = threadIdx.x;
    u64 to;

    asm("cvta.to.shared.u64 %0, %1;" : "=l"(to) : "l"(&tile[t * 16]));
    for (u32 j = 0; j < 16; j++)
        tile[t * 16 + j] = 0xeeeeeeee;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"l"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.ca.shared.global [%0+8], [%1], 8;" ::"l"(to), "l"(&in[t * 2])
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.cg.shared.global [%0+16], [%1], 16;" ::"l"(to), "l"(&in[t * 4])
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    out[t] = tile[t * 16];
    out[n + t] = tile[t * 16 + 2] ^ tile[t * 16 + 3];
    /* Of 16 bytes the first t % 17 only, and zeros. */
    asm volatile("cp.async.cg.shared.global.L2::128B [%0+32], [%1], 16, %2;" ::"l"(to),
                 "l"(&in[t * 4]), "r"(t % 17)
                 : "memory");
    asm volatile("cp.async.ca.shared.global [%0+48], [%1], 4, 0;" ::"l"(to), "l"(&in[t])
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    block_barrier();
    for (u32 j = 0; j < 16; j++)
        out[(j + 2) * n + t] = tile[(63 - t) * 16 + j];
}
