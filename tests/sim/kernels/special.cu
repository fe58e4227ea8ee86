/* SPDX-License-Identifier: MIT */
/* Special registers in a grid and blocks of three dimensions. */

#define SPECIAL(name)                                                                              \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("mov.u32 %0, %%" name ";" : "=r"(r_));                                        \
        r_;                                                                                        \
    })

KERNEL(special)
{
    const u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const u32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const u32 i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    u32 k = 0, before;
    u64 clock, later, timer, timer_later;

    PUT(SPECIAL("tid.x") | SPECIAL("tid.y") << 8 | SPECIAL("tid.z") << 16);
    PUT(SPECIAL("ntid.x") | SPECIAL("ntid.y") << 8 | SPECIAL("ntid.z") << 16);
    PUT(SPECIAL("ctaid.x") | SPECIAL("ctaid.y") << 8 | SPECIAL("ctaid.z") << 16);
    PUT(SPECIAL("nctaid.x") | SPECIAL("nctaid.y") << 8 | SPECIAL("nctaid.z") << 16);
    PUT(SPECIAL("laneid")); /* %warpid is another one in each run */
    PUT(SPECIAL("lanemask_eq"));
    PUT(SPECIAL("lanemask_lt"));
    PUT(SPECIAL("lanemask_le"));
    PUT(SPECIAL("lanemask_gt"));
    PUT(SPECIAL("lanemask_ge"));
    PUT(32);
    before = SPECIAL("clock");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(later));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer_later));
    PUT((later > clock) + 2u * (timer_later >= timer) + 4u * (timer > 1000000000) +
        8u * (SPECIAL("clock") - before < 0x80000000));
    PUT((SPECIAL("smid") < SPECIAL("nsmid")) + 2u * (SPECIAL("warpid") < SPECIAL("nwarpid")) +
        4u * (SPECIAL("dynamic_smem_size") == 256) + 8u * (SPECIAL("total_smem_size") >= 256));
    PUT(threadIdx.x + blockIdx.y * blockDim.z + gridDim.z);
}
