/* SPDX-License-Identifier: MIT */
/* Surface objects: loads and stores that trap, clamp or give zero outside. */

/* The objects come as the last words of the input, eight of them. */
#define OBJECT(j) (in[7 * n + 2 * (j)] | (u64)in[7 * n + 2 * (j) + 1] << 32)

KERNEL(surfaces)
{
    ELEMENT
    const s32 x = (s32)(i & 7), y = (s32)(i >> 3 & 7), outside = (s32)(WORD(0) & 15) - 4;
    u32 a, b, c, d;
    u64 e;
    u16 f, g;

    /* 2D, four 8-bit channels: read, write another place of it, read that. */
    asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];"
                 : "=r"(a)
                 : "l"(OBJECT(0)), "r"(x * 4), "r"(y));
    PUT(a);
    asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(OBJECT(1)), "r"(x * 4), "r"(y),
                 "r"(a * 3)
                 : "memory");
    asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];"
                 : "=r"(b)
                 : "l"(OBJECT(1)), "r"(x * 4), "r"(y)
                 : "memory");
    PUT(b);
    asm volatile("suld.b.2d.b32.zero %0, [%1, {%2, %3}];"
                 : "=r"(c)
                 : "l"(OBJECT(0)), "r"(outside * 4), "r"(y));
    PUT(c);
    asm volatile("suld.b.2d.b32.clamp %0, [%1, {%2, %3}];"
                 : "=r"(c)
                 : "l"(OBJECT(0)), "r"(x * 4), "r"(outside));
    PUT(c);
    asm volatile("suld.b.2d.v2.b16.trap {%0, %1}, [%2, {%3, %4}];"
                 : "=h"(f), "=h"(g)
                 : "l"(OBJECT(0)), "r"(x * 4), "r"(y));
    PUT(f | (u32)g << 16);
    asm volatile("suld.b.2d.b8.trap %0, [%1, {%2, %3}];"
                 : "=r"(c)
                 : "l"(OBJECT(0)), "r"(x * 4 + 1), "r"(y));
    PUT(c & 255);
    /* 1D of four words, 3D and layered. */
    asm volatile("sust.b.1d.v4.b32.zero [%0, {%1}], {%2, %3, %4, %5};" ::"l"(OBJECT(2)),
                 "r"((s32)i * 16 - 64), "r"(a), "r"(b), "r"(c), "r"(i)
                 : "memory");
    asm volatile("suld.b.1d.v4.b32.zero {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(OBJECT(2)), "r"((s32)i * 16 - 64)
                 : "memory");
    PUT(a);
    PUT(b);
    PUT(c);
    PUT(d);
    asm volatile("suld.b.3d.b64.trap %0, [%1, {%2, %3, %4, %4}];"
                 : "=l"(e)
                 : "l"(OBJECT(3)), "r"((x & 3) * 8), "r"(y & 3), "r"((s32)(i & 3)));
    PUT64(e);
    asm volatile("suld.b.a2d.b32.clamp %0, [%1, {%2, %3, %4, %4}];"
                 : "=r"(a)
                 : "l"(OBJECT(4)), "r"((s32)(i & 3)), "r"(x * 4), "r"(y));
    PUT(a);
}
