/* SPDX-License-Identifier: MIT */
/* Barriers: the whole block's, named ones of some warps, arrivals without waiting, and votes. */

#define BAR_RED(op, value)                                                                         \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\t"                          \
                     "bar.red." op ".pred q, 0, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"                  \
                     : "=r"(r_)                                                                    \
                     : "r"((u32)(value))                                                           \
                     : "memory");                                                                  \
        r_;                                                                                        \
    })

KERNEL(barriers)
{
    __shared__ u32 tile[128];
    __shared__ u32 mail[64];
    ELEMENT
    const u32 t = threadIdx.x, a = WORD(0), warp = t / 32;
    u32 r;

    tile[t] = a;
    block_barrier();
    PUT(tile[127 - t]);
    block_barrier();
    for (u32 step = 64; step > 0; step /= 2) {
        if (t < step)
            tile[t] += tile[t + step];
        asm volatile("barrier.sync 0;" ::: "memory");
    }
    PUT(tile[0]);
    block_barrier();
    /* Warps 0 and 1 by barrier 1, warps 2 and 3 by barrier 2. */
    tile[t] = a * 3;
    if (warp < 2)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync %0, %1;" ::"r"(2), "r"(64) : "memory");
    PUT(tile[t ^ 32]);
    /* Warp 3 writes and goes on; warp 0 waits for it. */
    if (warp == 3) {
        mail[t & 31] = a + 5;
        asm volatile("membar.cta;\n\tbar.arrive 3, 64;" ::: "memory");
    } else if (warp == 0) {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        mail[32 + t] = mail[31 - t] ^ a;
    }
    block_barrier();
    PUT(mail[t & 63]);
    asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 0x80000000;\n\t"
                 "bar.red.popc.u32 %0, 0, p;\n\t}"
                 : "=r"(r)
                 : "r"(a)
                 : "memory");
    PUT(r);
    PUT(BAR_RED("and", a != 0) | BAR_RED("and", t < 128) << 1 | BAR_RED("or", t == 77) << 2 |
        BAR_RED("or", t > 128) << 3);
    for (u32 j = 0; j < 8; j++) {
        tile[t] = r * 5 + j;
        block_barrier();
        r += tile[(t * 3 + 17) & 127];
        block_barrier();
    }
    PUT(r);
}
