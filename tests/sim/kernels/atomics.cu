/* SPDX-License-Identifier: MIT */
/* 32-bit atomics: each thread's on its own word, for the old values; then all threads on one word,
 * for what the result of any order is. */

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

KERNEL(atomics)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    u32 *cell = &out[31 * n + i], *shared_by_all = &out[30 * n];

    *cell = a;
    PUT(ATOM("global.add.u32", u32, "r", cell, b));
    PUT(ATOM("relaxed.gpu.global.add.s32", u32, "r", cell, b));
    PUT(ATOM("add.u32", u32, "r", cell, b));
    PUT(ATOM("global.min.s32", u32, "r", cell, b));
    PUT(ATOM("global.max.s32", u32, "r", cell, b));
    PUT(ATOM("min.u32", u32, "r", cell, b));
    PUT(ATOM("global.max.u32", u32, "r", cell, b));
    PUT(ATOM("global.and.b32", u32, "r", cell, b));
    PUT(ATOM("global.or.b32", u32, "r", cell, b));
    PUT(ATOM("global.xor.b32", u32, "r", cell, b));
    PUT(ATOM("global.exch.b32", u32, "r", cell, b));
    PUT(ATOM("global.inc.u32", u32, "r", cell, b));
    PUT(ATOM("global.dec.u32", u32, "r", cell, b));
    PUT(ATOM("acquire.sys.global.add.u32", u32, "r", cell, b));
    PUT(ATOM("acq_rel.cta.global.xor.b32", u32, "r", cell, b));
    PUT(ATOM("release.gpu.global.inc.u32", u32, "r", cell, b));
    PUT(CAS("global.cas.b32", u32, "r", cell, *(volatile u32 *)cell, b + 1));
    PUT(CAS("global.cas.b32", u32, "r", cell, a, b));
    RED("global.add.u32", "r", cell, b);
    RED("global.min.s32", "r", cell, a);
    RED("global.xor.b32", "r", cell, 0x1234u);
    RED("global.max.u32", "r", cell, b >> 1);
    RED("global.inc.u32", "r", cell, b);
    RED("relaxed.gpu.global.add.s32", "r", cell, 5);
    PUT(*(volatile u32 *)cell);
    ATOM("global.add.u32", u32, "r", shared_by_all, a);
    ATOM("global.min.u32", u32, "r", shared_by_all + 1, a);
    ATOM("global.max.s32", u32, "r", shared_by_all + 2, a);
    ATOM("global.xor.b32", u32, "r", shared_by_all + 3, b);
    ATOM("global.or.b32", u32, "r", shared_by_all + 4, 1u << (a & 31) & b);
    ATOM("global.inc.u32", u32, "r", shared_by_all + 5, 50);
    RED("global.add.u32", "r", shared_by_all + 6, a ^ b);
    RED("or.b32", "r", shared_by_all + 7, a & b);
    if (a & 1)
        RED("global.dec.u32", "r", shared_by_all + 8, 1000000);
    asm volatile(
        "{\n\t.reg .u32 unused;\n\tatom.global.add.u32 _, [%0], %1;\n\t}" ::"l"(shared_by_all + 9),
        "r"(b)
        : "memory");
}
