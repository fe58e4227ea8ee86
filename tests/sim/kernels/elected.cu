/* SPDX-License-Identifier: MIT */
/* elect.sync: one lane of those named does it. Which one is left open: the lowest on GPUs. */

KERNEL(elected)
{
    ELEMENT
    u32 who, me;

    asm volatile("{\n\t.reg .pred p;\n\telect.sync %0|p, 0xffffffff;\n\tselp.u32 %1, 1, 0, p;\n\t}"
                 : "=r"(who), "=r"(me));
    PUT(who < 32 && me == (who == lane()));
    me = 0;
    if (lane() >= 5 && lane() < 9)
        asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0x1e0;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(me));
    warp_barrier();
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(who) : "r"(me));
    PUT(who);
}
