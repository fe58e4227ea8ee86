/* SPDX-License-Identifier: MIT */
/* The same by CUDA's own header: grid.sync() with the workspace that the driver gives a
 * cooperative launch, and groups of a warp. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

KERNEL(grid_groups)
{
    ELEMENT
    cg::grid_group grid = cg::this_grid();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(cg::this_thread_block());
    u32 value = WORD(0);
    volatile u32 *shared_words = out;

    for (u32 phase = 1; phase <= 4; phase++) {
        shared_words[(phase & 1) * n + i] = value;
        grid.sync();
        value = value * 3 + shared_words[(phase & 1) * n + (i * 7 + 13 * phase) % n];
    }
    shared_words[2 * n + i] = value;
    out[3 * n + i] = cg::reduce(warp, value, cg::plus<u32>());
    out[4 * n + i] = cg::reduce(eight, value, cg::greater<u32>()) ^ eight.shfl_xor(value, 3);
    if (value & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        value = active.shfl(value, 0) + active.thread_rank() * 1000 + active.size();
    }
    out[5 * n + i] = value;
    out[6 * n + i] =
        (u32)grid.thread_rank() | (u32)grid.num_threads() << 16 | (u32)grid.is_valid() << 31;
}
