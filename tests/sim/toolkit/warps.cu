/* SPDX-License-Identifier: MIT */
/* CUB in warps of eight lanes, and exchanges in a block. */
#include <cub/cub.cuh>
#include <cuda/functional>

enum { THREADS = 128, ITEMS = 4, LANES = 8, WARPS = THREADS / LANES };

struct less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" __global__ void test(const int *in, int *out)
{
    using load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using exchange = cub::BlockExchange<int, THREADS, ITEMS>;
    using flags = cub::BlockDiscontinuity<int, THREADS>;
    using difference = cub::BlockAdjacentDifference<int, THREADS>;
    using warp_scan = cub::WarpScan<int, LANES>;
    using warp_reduce = cub::WarpReduce<int, LANES>;
    using warp_sort = cub::WarpMergeSort<int, ITEMS, LANES>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
        typename exchange::TempStorage exchange;
        typename flags::TempStorage flags;
        typename difference::TempStorage difference;
        typename warp_scan::TempStorage scans[WARPS];
        typename warp_reduce::TempStorage sums[WARPS];
        typename warp_sort::TempStorage sorts[WARPS];
    } storage;
    int block = blockIdx.x * THREADS * ITEMS, first = block + threadIdx.x * ITEMS;
    int at = blockIdx.x * THREADS + threadIdx.x, warp = threadIdx.x / LANES, total;
    int items[ITEMS], striped[ITEMS], heads[ITEMS], steps[ITEMS];

    load(storage.load).Load(in + block, items);
    __syncthreads();
    exchange(storage.exchange).BlockedToStriped(items, striped);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        out[first + i] = striped[i];
    difference(storage.difference).SubtractLeft(items, steps, cuda::std::minus<>{});
    __syncthreads();
    store(storage.store).Store(out + 2048 + block, steps);
    __syncthreads();
    warp_scan(storage.scans[warp]).InclusiveSum(items[0], heads[0], total);
    out[4096 + at] = heads[0];
    out[4608 + at] = total;
    __syncthreads();
    /* Some warps of eight lanes alone: their 32 lanes are apart. */
    if (warp % 3 == 1) {
        int most = warp_reduce(storage.sums[warp]).Reduce(items[1], cuda::maximum<>{}, 5);
        if (threadIdx.x % LANES == 0)
            out[5120 + at] = most;
    }
    __syncthreads();
    warp_sort(storage.sorts[warp]).Sort(items, less());
    for (int i = 0; i < ITEMS; i++)
        out[6144 + first + i] = items[i];
    __syncthreads();
    flags(storage.flags).FlagHeads(heads, items, [](int a, int b) { return a / 100 != b / 100; });
    for (int i = 0; i < ITEMS; i++)
        out[8192 + first + i] = heads[i];
}
