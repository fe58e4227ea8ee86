/* SPDX-License-Identifier: MIT */
/* redux.sync over a warp and over parts of it. */

#define REDUX(op, value, mask)                                                                     \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r_) : "r"(value), "r"(mask));          \
        r_;                                                                                        \
    })

KERNEL(reductions)
{
    ELEMENT
    const u32 a = WORD(0), l = lane();
    u32 r;

    PUT(REDUX("add.u32", a, 0xffffffff));
    PUT(REDUX("add.s32", a, 0xffffffff));
    PUT(REDUX("min.u32", a, 0xffffffff));
    PUT(REDUX("min.s32", a, 0xffffffff));
    PUT(REDUX("max.u32", a, 0xffffffff));
    PUT(REDUX("max.s32", a, 0xffffffff));
    PUT(REDUX("and.b32", a | 0x0f0f, 0xffffffff));
    PUT(REDUX("or.b32", a & 0x0f0f, 0xffffffff));
    PUT(REDUX("xor.b32", a, 0xffffffff));
    if (l < 20)
        r = REDUX("add.u32", a, 0xfffff);
    else
        r = REDUX("max.s32", a, 0xfff00000);
    warp_barrier();
    PUT(r);
}
