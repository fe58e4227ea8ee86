/* SPDX-License-Identifier: MIT */
/* An assertion that one thread fails. */

extern "C" __device__ void __assertfail(const char *, const char *, u32, const char *,
                                        decltype(sizeof 0)) __attribute__((noreturn));

KERNEL(failed_assert)
{
    const u32 i = threadIdx.x;

    if (i == 5)
        __assertfail("i != 5", "failed_assert.cu", 12, "failed_assert", 1);
    out[i] = in[i];
}
