/* SPDX-License-Identifier: MIT */
/* Atomics of 16 bits: sums of half and bfloat16, and compare-and-swap. */

#define ATOM(op, type, c, address, value)                                                          \
    ({                                                                                             \
        type r_;                                                                                   \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(r_) : "l"(address), c(value) : "memory"); \
        r_;                                                                                        \
    })
#define RED(op, c, address, value)                                                                 \
    asm volatile("red." op " [%0], %1;" ::"l"(address), c(value) : "memory")
#define CAS(op, type, c, address, expected, value)                                                 \
    ({                                                                                             \
        type r_;                                                                                   \
        asm volatile("atom." op " %0, [%1], %2, %3;"                                               \
                     : "=" c(r_)                                                                   \
                     : "l"(address), c(expected), c(value)                                         \
                     : "memory");                                                                  \
        r_;                                                                                        \
    })

KERNEL(atomics_half)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    u32 *cell = &out[9 * n + i];
    u16 *half = (u16 *)&out[10 * n + i];

    *cell = a;
    *half = (u16)a;
    half[1] = (u16)b;
    PUT(ATOM("global.add.noftz.f16x2", u32, "r", cell, b));
    PUT(ATOM("add.noftz.f16x2", u32, "r", cell, b));
    PUT(ATOM("global.add.noftz.f16", u16, "h", half, (u16)b));
    PUT(ATOM("global.add.noftz.f16", u16, "h", half + 1, (u16)a));
    RED("global.add.noftz.f16x2", "r", cell, a);
    RED("global.add.noftz.f16", "h", half, (u16)b);
    PUT(CAS("global.cas.b16", u16, "h", half, (u16)a, (u16)b));
    PUT(CAS("global.cas.b16", u16, "h", half, *(volatile u16 *)half, (u16)b));
    PUT(CAS("cas.b16", u16, "h", half + 1, (u16)b, (u16)a));
}
