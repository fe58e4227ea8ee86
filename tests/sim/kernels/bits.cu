/* SPDX-License-Identifier: MIT */
/* Bit fields, counts and searches. */

KERNEL(bits)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2), d = WORD(3);
    const u32 small = c & 63, length = d & 63;
    const u64 e = WIDE(2), f = WIDE(3);

    PUT(R3("bfe.u32", a, small, length));
    PUT(R3("bfe.s32", a, small, length));
    PUT(R3("bfe.u32", a, c, d));
    PUT(R3("bfe.s32", a, c, d));
    PUT64(ASM3("bfe.u64", u64, "l", "l", e, "r", small, "r", length));
    PUT64(ASM3("bfe.s64", u64, "l", "l", e, "r", small, "r", length));
    PUT64(ASM3("bfe.s64", u64, "l", "l", e, "r", c, "r", d));
    PUT(({
        u32 r;
        asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(small), "r"(length));
        r;
    }));
    PUT64(({
        u64 r;
        asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(r) : "l"(e), "l"(f), "r"(small), "r"(length));
        r;
    }));
    PUT(R1("brev.b32", a));
    PUT64(L1("brev.b64", e));
    PUT(R1("popc.b32", a));
    PUT(ASM1("popc.b64", u32, "r", "l", e));
    PUT(R1("clz.b32", a));
    PUT(ASM1("clz.b64", u32, "r", "l", e));
    PUT(R1("bfind.u32", a));
    PUT(R1("bfind.s32", a));
    PUT(R1("bfind.shiftamt.u32", a));
    PUT(R1("bfind.shiftamt.s32", a));
    PUT(ASM1("bfind.u64", u32, "r", "l", e));
    PUT(ASM1("bfind.s64", u32, "r", "l", e));
    PUT(ASM1("bfind.shiftamt.u64", u32, "r", "l", e));
    PUT(ASM1("bfind.shiftamt.s64", u32, "r", "l", e));
    PUT(R3("fns.b32", a, small & 31, (length & 7) + 1));
    PUT(R3("fns.b32", a, small & 31, 0u - ((length & 7) + 1)));
    PUT(R3("fns.b32", a, small & 31, 0));
    PUT((a >> 5 & 0x7f) | (b << 9));
    PUT((u32)((s32)(a << 7) >> 12));
}
