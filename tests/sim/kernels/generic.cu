/* SPDX-License-Identifier: MIT */
/* Generic addresses of every space, converted and asked for their space. */

__constant__ u32 constant_words[4] = {11, 22, 33, 44};
__device__ u32 global_words[4] = {1, 2, 3, 4};

#define IS(space, address)                                                                         \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("{\n\t.reg .pred p;\n\tisspacep." space " p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}"        \
            : "=r"(r_)                                                                             \
            : "l"(address));                                                                       \
        r_;                                                                                        \
    })
#define KINDS(address)                                                                             \
    (IS("global", address) | IS("shared", address) << 1 | IS("local", address) << 2 |              \
     IS("const", address) << 3)

static __device__ __noinline__ u32 load(const u32 *address)
{
    u32 r;
    asm volatile("ld.u32 %0, [%1];" : "=r"(r) : "l"(address) : "memory");
    return r;
}

static __device__ __noinline__ void store(u32 *address, u32 value)
{
    asm volatile("st.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

KERNEL(generic)
{
    __shared__ u32 shared_words[64];
    u32 local_words[4];
    ELEMENT
    const u32 t = threadIdx.x, a = WORD(0);
    const u32 *where = &in[i];
    u64 narrow, back;

    store(&shared_words[t], a);
    store(&local_words[a & 3], a + 1);
    store(&local_words[(a + 1) & 3], a + 2);
    block_barrier();
    PUT(load(&shared_words[63 - t]));
    PUT(load(&local_words[a & 3]));
    PUT(load(&constant_words[a & 3]));
    PUT(load(&global_words[a & 3]));
    switch (a & 3) {
    case 0:
        where = &shared_words[t ^ 1];
        break;
    case 1:
        where = &local_words[1 & a];
        break;
    case 2:
        where = &constant_words[t & 3];
        break;
    default:
        break;
    }
    if ((a & 3) == 1)
        where = &local_words[a & 3];
    PUT(load(where));
    PUT(KINDS(where));
    PUT(KINDS(&shared_words[t]) | KINDS(&local_words[0]) << 4 | KINDS(&constant_words[1]) << 8 |
        KINDS(&global_words[2]) << 12 | KINDS(out) << 16 | KINDS((u64)0) << 20);
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(narrow) : "l"(&shared_words[t]));
    asm("cvta.shared.u64 %0, %1;" : "=l"(back) : "l"(narrow));
    PUT(back == (u64)&shared_words[t]);
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(k) : "l"(narrow) : "memory");
    out[n * 8 + i] = k;
    asm("cvta.to.local.u64 %0, %1;" : "=l"(narrow) : "l"(&local_words[a & 3]));
    asm volatile("ld.local.u32 %0, [%1];" : "=r"(k) : "l"(narrow) : "memory");
    out[n * 9 + i] = k;
    asm("cvta.to.const.u64 %0, %1;" : "=l"(narrow) : "l"(&constant_words[a & 3]));
    asm volatile("ld.const.u32 %0, [%1];" : "=r"(k) : "l"(narrow));
    out[n * 10 + i] = k;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(narrow) : "l"(&global_words[a & 3]));
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(k) : "l"(narrow));
    out[n * 11 + i] = k;
}
