/* SPDX-License-Identifier: MIT */
/* CUB in a block: sorts, scans, sums, histograms. */
#include <cub/cub.cuh>
#include <cuda/functional>

enum { THREADS = 128, ITEMS = 4, COUNT = THREADS * ITEMS, BLOCKS = 4, BINS = 256 };

struct greater {
    __device__ bool operator()(int a, int b) const { return a > b; }
};

extern "C" __global__ void test(const int *in, int *out)
{
    using radix_sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    using merge_sort = cub::BlockMergeSort<int, THREADS, ITEMS>;
    using scan = cub::BlockScan<int, THREADS>;
    using reduce = cub::BlockReduce<int, THREADS, cub::BLOCK_REDUCE_RAKING>;
    using warp_reduce = cub::WarpReduce<int>;
    using histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, BINS>;
    __shared__ union {
        typename radix_sort::TempStorage radix_sort;
        typename merge_sort::TempStorage merge_sort;
        typename scan::TempStorage scan;
        typename reduce::TempStorage reduce;
        typename warp_reduce::TempStorage warps[THREADS / 32];
        typename histogram::TempStorage histogram;
    } storage;
    __shared__ int counts[BINS];
    int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS, warp = threadIdx.x / 32;
    int items[ITEMS], sums[ITEMS];
    unsigned char bytes[ITEMS];

    for (int i = 0; i < ITEMS; i++)
        items[i] = in[first + i];
    merge_sort(storage.merge_sort).Sort(items, greater());
    for (int i = 0; i < ITEMS; i++)
        out[first + i] = items[i];
    __syncthreads();
    radix_sort(storage.radix_sort).Sort(items);
    for (int i = 0; i < ITEMS; i++)
        out[2048 + first + i] = items[i];
    __syncthreads();
    scan(storage.scan).ExclusiveSum(items, sums);
    for (int i = 0; i < ITEMS; i++)
        out[4096 + first + i] = sums[i];
    __syncthreads();
    int sum = reduce(storage.reduce).Sum(items);
    if (threadIdx.x == 0)
        out[6144 + blockIdx.x] = sum;
    __syncthreads();
    int most = warp_reduce(storage.warps[warp]).Reduce(items[0], cuda::maximum<>{});
    if (threadIdx.x % 32 == 0)
        out[6160 + blockIdx.x * (THREADS / 32) + warp] = most;
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        bytes[i] = items[i] & 255;
    histogram(storage.histogram).Histogram(bytes, counts);
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS)
        out[7168 + blockIdx.x * BINS + bin] = counts[bin];
}
