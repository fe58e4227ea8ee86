/* SPDX-License-Identifier: MIT */
/* Atomics in shared memory, by their own space and by generic addresses. */

#define ATOM(op, type, c, address, value)                                                          \
    ({                                                                                             \
        type r_;                                                                                   \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(r_) : "l"(address), c(value) : "memory"); \
        r_;                                                                                        \
    })
#define RED(op, c, address, value)                                                                 \
    asm volatile("red." op " [%0], %1;" ::"l"(address), c(value) : "memory")

#define SHARED(address)                                                                            \
    ({                                                                                             \
        u64 r_;                                                                                    \
        asm("cvta.to.shared.u64 %0, %1;" : "=l"(r_) : "l"(address));                               \
        r_;                                                                                        \
    })

KERNEL(atomics_shared)
{
    __shared__ u32 bins[16];
    __shared__ u64 wide[4];
    __shared__ u32 cells[64];
    __shared__ float sums[2];
    __shared__ double wide_sum;
    ELEMENT
    const u32 t = threadIdx.x, a = WORD(0), b = WORD(1);

    if (t < 16)
        bins[t] = 0;
    if (t < 4)
        wide[t] = 0;
    if (t < 2)
        sums[t] = 0.0f;
    if (t == 0)
        wide_sum = 0.0;
    cells[t] = a;
    block_barrier();
    ATOM("shared.add.u32", u32, "r", SHARED(&bins[a & 7]), 1);
    RED("shared.add.u32", "r", SHARED(&bins[8]), b);
    RED("shared.max.s32", "r", SHARED(&bins[9]), b);
    RED("add.u32", "r", &bins[10], a);
    RED("shared.or.b32", "r", SHARED(&bins[11]), a & b);
    ATOM("shared.inc.u32", u32, "r", SHARED(&bins[12]), 10);
    ATOM("xor.b32", u32, "r", &bins[13], a);
    RED("shared.add.u64", "l", SHARED(&wide[0]), WIDE(2));
    ATOM("shared.max.u64", u64, "l", SHARED(&wide[1]), WIDE(2));
    RED("shared.add.f32", "f", SHARED(&sums[0]), (float)(a & 0xff));
    ATOM("add.f32", float, "f", &sums[1], (float)(b & 0xff));
    RED("shared.add.f64", "d", SHARED(&wide_sum), (double)(s32)b);
    PUT(ATOM("shared.exch.b32", u32, "r", SHARED(&cells[t]), b));
    PUT(ATOM("shared.add.u32", u32, "r", SHARED(&cells[t]), a));
    PUT(ATOM("shared.min.s32", u32, "r", SHARED(&cells[t]), b));
    PUT(ATOM("shared.dec.u32", u32, "r", SHARED(&cells[t]), b));
    PUT(ATOM("shared.and.b32", u32, "r", SHARED(&cells[t]), a));
    block_barrier();
    PUT(cells[t]);
    PUT(bins[t & 15]);
    PUT64(wide[t & 3]);
    PUT(float_bits(sums[t & 1]));
    PUT64(double_bits(wide_sum));
    block_barrier();
    /* A lock in shared memory, taken by lanes of one warp. */
    if (t == 0)
        bins[0] = bins[1] = 0;
    block_barrier();
    for (bool done = false; !done;) {
        u32 before;

        asm volatile("atom.shared.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(before)
                     : "l"(SHARED(&bins[0]))
                     : "memory");
        if (before == 0) {
            *(volatile u32 *)&bins[1] = *(volatile u32 *)&bins[1] + t;
            asm volatile("membar.cta;" ::: "memory");
            ATOM("shared.exch.b32", u32, "r", SHARED(&bins[0]), 0);
            done = true;
        }
    }
    block_barrier();
    PUT(bins[1]);
}
