/* SPDX-License-Identifier: MIT */
/* Local arrays whose size is known when the kernel runs. */

static __device__ __noinline__ u32 sum_of(u32 count, u32 seed)
{
    u32 *cells = (u32 *)__builtin_alloca(count * sizeof *cells);
    u32 r = 0;

    for (u32 j = 0; j < count; j++)
        cells[j] = seed * (j + 1);
    for (u32 j = 0; j < count; j++)
        r = r * 3 + cells[(j * 7) % count];
    return r;
}

KERNEL(stack)
{
    ELEMENT

    PUT(sum_of(1 + (WORD(0) & 15), WORD(1)));
    PUT(sum_of(4, WORD(2)) ^ sum_of(1 + lane(), WORD(3)));
}
