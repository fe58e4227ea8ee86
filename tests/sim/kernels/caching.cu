/* SPDX-License-Identifier: MIT */
/* Volatile, cached, read-only and scoped loads and stores; fences. */

#define LOAD(op, address)                                                                          \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("ld." op ".u32 %0, [%1];" : "=r"(r_) : "l"(address) : "memory");              \
        r_;                                                                                        \
    })
#define STORE(op, address, value)                                                                  \
    asm volatile("st." op ".u32 [%0], %1;" ::"l"(address), "r"(value) : "memory")

KERNEL(caching)
{
    ELEMENT
    const u32 *a = &in[i];

    PUT(LOAD("global.ca", a));
    PUT(LOAD("global.cg", a + n));
    PUT(LOAD("global.cs", a + 2 * n));
    PUT(LOAD("global.lu", a + 3 * n));
    PUT(LOAD("global.cv", a + 4 * n));
    PUT(LOAD("global.nc", a + 5 * n));
    PUT(LOAD("volatile.global", a + 6 * n));
    PUT(LOAD("volatile", a + 7 * n));
    PUT(LOAD("relaxed.cta.global", a));
    PUT(LOAD("relaxed.gpu.global", a));
    PUT(LOAD("relaxed.sys.global", a));
    PUT(LOAD("acquire.cta", a));
    PUT(LOAD("acquire.gpu.global", a));
    PUT(LOAD("acquire.sys.global", a));
    PUT(LOAD("weak.global", a));
    PUT(LOAD("global.L1::evict_last", a));
    PUT(LOAD("global.nc.L1::no_allocate.L2::128B", a));
    STORE("global.wb", &out[n * k++ + i], WORD(0));
    STORE("global.cg", &out[n * k++ + i], WORD(1));
    STORE("global.cs", &out[n * k++ + i], WORD(2));
    STORE("global.wt", &out[n * k++ + i], WORD(3));
    STORE("volatile.global", &out[n * k++ + i], WORD(4));
    STORE("relaxed.gpu.global", &out[n * k++ + i], WORD(5));
    STORE("release.gpu.global", &out[n * k++ + i], WORD(6));
    STORE("release.sys", &out[n * k++ + i], WORD(7));
    STORE("release.cta.global", &out[n * k++ + i], WORD(7));
    asm volatile("fence.sc.gpu;\n\tfence.acq_rel.cta;\n\tfence.acq_rel.sys;\n\tmembar.cta;\n\t"
                 "membar.gl;\n\tmembar.sys;\n\tfence.acq_rel.gpu;\n\tprefetch.global.L2 [%0];\n\t"
                 "prefetch.global.L1 [%0];\n\tprefetchu.L1 [%0];" ::"l"(a)
                 : "memory");
}
