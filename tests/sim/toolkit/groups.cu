/* SPDX-License-Identifier: MIT */
/* Cooperative groups: tiles, partitions, reductions and scans. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void test(const int *in, int *out)
{
    __shared__ alignas(16) int words[128];
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto half = cg::tiled_partition<16>(block);
    auto warp = cg::tiled_partition<32>(block);
    auto pair = cg::tiled_partition<64>(block);
    int at = blockIdx.x * 128 + threadIdx.x, value = in[at], result = -1;

    out[at] = cg::reduce(half, value, cg::plus<int>());
    out[1024 + at] = cg::inclusive_scan(half, value);
    auto labeled = cg::labeled_partition(warp, value & 3);
    out[2048 + at] = labeled.size() * 100 + labeled.thread_rank();
    auto parity = cg::binary_partition(warp, value & 1);
    out[3072 + at] = cg::reduce(parity, value, cg::greater<int>());
    if (value & 1) {
        auto active = cg::coalesced_threads();
        result = active.shfl(value, 0) + active.size();
    }
    out[4096 + at] = result;
    cg::memcpy_async(block, words, in + blockIdx.x * 128, sizeof words);
    cg::wait(block);
    out[5120 + at] = words[threadIdx.x ^ 5];
    out[6144 + at] = (int)cg::reduce(pair, (long long)value, cg::plus<long long>());
    out[7168 + at] =
        warp.any(value == 3) + 2 * warp.all(value >= 0) + 4 * warp.match_any(value & 7);
}
