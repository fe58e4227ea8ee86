/* SPDX-License-Identifier: MIT */
/* Quotients and remainders of every width. No divisor is 0, which PTX leaves open. */

KERNEL(int_divide)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1) ? WORD(1) : 7;
    const u64 c = WIDE(1), d = WIDE(2) ? WIDE(2) : 11;
    const u64 small = d >> 40 ? d >> 40 : 5;
    const u16 e = HALF(6), f = HALF(7) ? HALF(7) : 3;
    const s8 g = (s8)WORD(6), h = (s8)WORD(7) ? (s8)WORD(7) : 9;

    PUT(R2("div.s32", a, b));
    PUT(R2("rem.s32", a, b));
    PUT(R2("div.u32", a, b));
    PUT(R2("rem.u32", a, b));
    PUT64(L2("div.s64", c, d));
    PUT64(L2("rem.s64", c, d));
    PUT64(L2("div.u64", c, d));
    PUT64(L2("rem.u64", c, d));
    PUT64(c / small);
    PUT64(c % small);
    PUT(H2("div.s16", e, f));
    PUT(H2("rem.s16", e, f));
    PUT(H2("div.u16", e, f));
    PUT(H2("rem.u16", e, f));
    PUT((u32)(g / h));
    PUT((u32)(g % h));
    PUT((u32)(u8)g / (u8)h);
    PUT(a / 10u);
    PUT(a % 10u);
    PUT((u32)((s32)a / -7));
    PUT((u32)((s32)a % 1000));
    PUT64(c / 1000000007u);
    PUT64((u64)((s64)c / 100));
}
