/* SPDX-License-Identifier: MIT */
/* Atomic sums of bfloat16, and 128-bit exchanges, of sm_90. */

#define ATOM(op, type, c, address, value)                                                          \
    ({                                                                                             \
        type r_;                                                                                   \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(r_) : "l"(address), c(value) : "memory"); \
        r_;                                                                                        \
    })
#define RED(op, c, address, value)                                                                 \
    asm volatile("red." op " [%0], %1;" ::"l"(address), c(value) : "memory")

KERNEL(atomics_half90)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    u32 *cell = &out[6 * n + i];
    u16 *half = (u16 *)&out[7 * n + i];

    *cell = a;
    *half = (u16)a;
    half[1] = (u16)b;
    PUT(ATOM("global.add.noftz.bf16x2", u32, "r", cell, b));
    PUT(ATOM("add.noftz.bf16x2", u32, "r", cell, b));
    PUT(ATOM("global.add.noftz.bf16", u16, "h", half, (u16)b));
    PUT(ATOM("global.add.noftz.bf16", u16, "h", half + 1, (u16)a));
    RED("global.add.noftz.bf16x2", "r", cell, a);
    RED("global.add.noftz.bf16", "h", half, (u16)b);
}
