/* SPDX-License-Identifier: MIT */
/* Shuffles in every mode, with clamps and segments, and the predicate that says "in range". */

#define SHUFFLE(mode, value, b, c, mask)                                                           \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\tshfl.sync." mode                       \
                     ".b32 %0|p, %1, %2, %3, %4;\n\tselp.u32 t, 0x9e3779b9, 0, p;\n\t"             \
                     "xor.b32 %0, %0, t;\n\t}"                                                     \
                     : "=&r"(r_)                                                                   \
                     : "r"(value), "r"(b), "r"(c), "r"(mask));                                     \
        r_;                                                                                        \
    })

KERNEL(shuffles)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), l = lane(), all = 0xffffffff;
    u32 r = a;

    PUT(SHUFFLE("up", a, 3, 0, all));
    PUT(SHUFFLE("down", a, 5, 31, all));
    PUT(SHUFFLE("bfly", a, 9, 31, all));
    PUT(SHUFFLE("idx", a, 7, 31, all));
    PUT(SHUFFLE("idx", a, b, 31, all));
    PUT(SHUFFLE("up", a, 2, 0x1800, all));   /* segments of 8 */
    PUT(SHUFFLE("down", a, 3, 0x1807, all)); /* the same */
    PUT(SHUFFLE("bfly", a, 6, 0x1c03, all)); /* segments of 4 */
    PUT(SHUFFLE("idx", a, l * 5, 0x100f, all));
    PUT(SHUFFLE("down", a, l & 7, 0x1803 | (b & 4), all));
    PUT(SHUFFLE("bfly", a, b & 31, b >> 8 & 31, all));
    PUT(SHUFFLE("up", a, b & 31, b & 0x1f1f, all));
    if (l >= 8 && l < 24)
        r = SHUFFLE("bfly", a, 1, 31, 0x00ffff00);
    warp_barrier();
    PUT(r);
    for (u32 step = 16; step > 0; step /= 2) {
        u32 other;

        asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                     : "=r"(other)
                     : "r"(r), "r"(step));
        r += other;
    }
    PUT(r);
    for (u32 step = 1; step < 32; step *= 2)
        asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\t"
                     "shfl.sync.up.b32 t|p, %0, %1, 0, -1;\n\t@p add.u32 %0, %0, t;\n\t}"
                     : "+r"(r)
                     : "r"(step));
    PUT(r);
}
