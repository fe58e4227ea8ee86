/* SPDX-License-Identifier: MIT */
/* bar.warp.sync of parts of a warp, with shared memory between lanes. */

KERNEL(warp_barriers)
{
    __shared__ u32 cells[64];
    ELEMENT
    const u32 t = threadIdx.x, a = WORD(0), base = t & 32, l = t & 31;
    u32 r = a;

    cells[t] = a;
    warp_barrier();
    PUT(cells[base + (31 - l)]);
    warp_barrier();
    if (l < 16) {
        for (u32 j = 0; j < 4; j++) {
            cells[t] = r;
            asm volatile("bar.warp.sync 0x0000ffff;" ::: "memory");
            r = r * 3 + cells[base + ((l + 5) & 15)];
            asm volatile("bar.warp.sync 0x0000ffff;" ::: "memory");
        }
    } else {
        const u32 mask = l & 1 ? 0xaaaa0000 : 0x55550000;

        for (u32 j = 0; j < 3; j++) {
            cells[t] = r;
            asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
            r = r * 5 + cells[base + 16 + ((l + 2) & 15)];
            asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
        }
    }
    warp_barrier();
    PUT(r);
}
