/* SPDX-License-Identifier: MIT */
/* match.any and match.all, also in part of a warp. */

KERNEL(matches)
{
    ELEMENT
    const u32 a = WORD(0), l = lane();
    const u64 b = (u64)(WORD(1) & 3) << 33 | (a & 1);
    u32 r, s;

    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(a & 3));
    PUT(r);
    asm volatile("match.any.sync.b64 %0, %1, 0xffffffff;" : "=r"(r) : "l"(b));
    PUT(r);
    asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b32 %0|p, %2, 0xffffffff;\n\t"
                 "selp.u32 %1, 1, 0, p;\n\t}"
                 : "=r"(r), "=r"(s)
                 : "r"(n));
    PUT(r);
    PUT(s);
    asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b64 %0|p, %2, 0xffffffff;\n\t"
                 "selp.u32 %1, 1, 0, p;\n\t}"
                 : "=r"(r), "=r"(s)
                 : "l"(b));
    PUT(r | s << 31);
    r = s = 0;
    if (l & 1)
        asm volatile("match.any.sync.b32 %0, %1, 0xaaaaaaaa;" : "=r"(r) : "r"(a >> 4 & 3));
    else
        asm volatile("match.all.sync.b32 %0, %1, 0x55555555;" : "=r"(s) : "r"(l & 1));
    warp_barrier();
    PUT(r);
    PUT(s);
}
