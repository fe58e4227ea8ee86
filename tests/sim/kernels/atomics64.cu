/* SPDX-License-Identifier: MIT */
/* 64-bit atomics. */

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

KERNEL(atomics64)
{
    ELEMENT
    const u64 a = WIDE(0), b = WIDE(1);
    u64 *cell = (u64 *)&out[26 * n] + i, *shared_by_all = (u64 *)&out[28 * n];

    *cell = a;
    PUT64(ATOM("global.add.u64", u64, "l", cell, b));
    PUT64(ATOM("global.min.s64", u64, "l", cell, b));
    PUT64(ATOM("global.max.s64", u64, "l", cell, b));
    PUT64(ATOM("min.u64", u64, "l", cell, b));
    PUT64(ATOM("global.max.u64", u64, "l", cell, b));
    PUT64(ATOM("global.and.b64", u64, "l", cell, b));
    PUT64(ATOM("global.or.b64", u64, "l", cell, b));
    PUT64(ATOM("global.xor.b64", u64, "l", cell, b));
    PUT64(ATOM("relaxed.gpu.global.add.u64", u64, "l", cell, b));
    PUT64(ATOM("global.exch.b64", u64, "l", cell, b));
    PUT64(CAS("global.cas.b64", u64, "l", cell, b, a + 1));
    PUT64(CAS("global.cas.b64", u64, "l", cell, b, a));
    RED("global.add.u64", "l", cell, b);
    RED("global.max.s64", "l", cell, a);
    PUT64(*(volatile u64 *)cell);
    ATOM("global.add.u64", u64, "l", shared_by_all, a);
    ATOM("global.min.s64", u64, "l", shared_by_all + 1, a);
    ATOM("global.max.u64", u64, "l", shared_by_all + 2, a);
    RED("global.xor.b64", "l", shared_by_all + 3, b);
    RED("global.add.u64", "l", shared_by_all + 4, b);
}
