/* SPDX-License-Identifier: MIT */
/* Loads and stores of vectors of every size. */

KERNEL(vectors)
{
    __shared__ __attribute__((aligned(16))) u32 tile[4 * 64];
    ELEMENT
    const u32 *four = &in[i * 4];
    const u8 *bytes = (const u8 *)&in[i * 2];
    u32 *to = &out[i * 32];
    u32 a, b, c, d;
    u64 e, f;
    u16 g, h, j, l;
    float x, y, z, w;
    double p, q;

    (void)k;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(four));
    asm volatile("st.global.v4.u32 [%0], {%4, %3, %2, %1};" ::"l"(to), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(e), "=l"(f) : "l"(four));
    asm volatile("st.v2.b64 [%0], {%2, %1};" ::"l"(to + 4), "l"(e), "l"(f) : "memory");
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                 : "l"(four));
    asm volatile("st.global.v4.f32 [%0], {%2, %1, %4, %3};" ::"l"(to + 8), "f"(x), "f"(y), "f"(z),
                 "f"(w)
                 : "memory");
    asm volatile("ld.v2.f64 {%0, %1}, [%2];" : "=d"(p), "=d"(q) : "l"(four));
    asm volatile("st.global.v2.f64 [%0], {%2, %1};" ::"l"(to + 12), "d"(p), "d"(q) : "memory");
    asm volatile("ld.global.v4.u16 {%0, %1, %2, %3}, [%4];"
                 : "=h"(g), "=h"(h), "=h"(j), "=h"(l)
                 : "l"(bytes));
    asm volatile("st.global.v4.b16 [%0], {%2, %3, %4, %1};" ::"l"(to + 16), "h"(g), "h"(h), "h"(j),
                 "h"(l)
                 : "memory");
    asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(bytes + 4));
    asm volatile("st.global.v4.u8 [%0], {%4, %3, %2, %1};" ::"l"(to + 18), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
    asm volatile("ld.global.v2.s8 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(bytes + 2));
    to[19] = a;
    to[20] = b;
    asm volatile("ld.global.v2.s16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(bytes + 4));
    to[21] = a ^ b << 1;
    asm volatile("ld.global.s8 %0, [%1];" : "=r"(a) : "l"(bytes + 3));
    asm volatile("ld.global.u8 %0, [%1+2];" : "=r"(b) : "l"(bytes + 3));
    to[22] = a;
    to[23] = b;
    asm volatile("ld.global.s16 %0, [%1+-2];" : "=r"(a) : "l"(bytes + 4));
    to[24] = a;
    asm volatile("ld.global.s32 %0, [%1];" : "=l"(e) : "l"(bytes));
    asm volatile("st.global.u64 [%0], %1;" ::"l"(to + 26), "l"(e) : "memory");
    asm volatile("{\n\t.reg .u64 s;\n\tcvta.to.shared.u64 s, %0;\n\t"
                 "st.shared.v2.u32 [s], {%1, %2};\n\tst.shared.v2.f32 [s+8], {%3, %4};\n\t}" ::"l"(
                     &tile[threadIdx.x * 4]),
                 "r"(a), "r"(b), "f"(z), "f"(w)
                 : "memory");
    block_barrier();
    asm volatile("{\n\t.reg .u64 s;\n\tcvta.to.shared.u64 s, %4;\n\t"
                 "ld.shared.v4.b32 {%0, %1, %2, %3}, [s];\n\t}"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(&tile[(63 - threadIdx.x) * 4]));
    to[28] = a;
    to[29] = b;
    to[30] = c;
    to[31] = d;
    to[25] = a + b;
}
