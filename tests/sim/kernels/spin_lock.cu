/* SPDX-License-Identifier: MIT */
/* A lock that lanes of one warp take from each other: none may wait for another's end of the loop.
 * Not from clang: of what its -O0 gives, the driver's compiler makes lanes that wait for ever. */

static __forceinline__ __device__ u32 compare_swap(u32 *address, u32 expected, u32 value)
{
    u32 r;
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(r)
                 : "l"(address), "r"(expected), "r"(value)
                 : "memory");
    return r;
}

KERNEL(spin_lock)
{
    ELEMENT
    const u32 a = WORD(0) & 0xffff;
    u32 *lock = (u32 *)&out[n], *total = (u32 *)&out[n + 1];
    u32 turns = 0;

    while (compare_swap(lock, 0, 1) != 0)
        turns++;
    asm volatile("membar.gl;" ::: "memory");
    *(volatile u32 *)total = *(volatile u32 *)total + a;
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("st.volatile.global.u32 [%0], 0;" ::"l"(lock) : "memory");
    PUT(a + (turns > 100000000));
}
