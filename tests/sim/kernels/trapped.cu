/* SPDX-License-Identifier: MIT */
/* trap ends the grid. */

KERNEL(trapped)
{
    const u32 i = threadIdx.x;

    if (in[i] == in[7])
        asm volatile("trap;");
    out[i] = in[i];
}
