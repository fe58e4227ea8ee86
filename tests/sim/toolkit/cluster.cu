/* SPDX-License-Identifier: MIT */
/* Clusters: the other block's shared memory, and bulk copies by cuda::ptx. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void __cluster_dims__(2, 1, 1) test(const int *in, int *out)
{
    __shared__ alignas(16) int words[128];
    __shared__ block_barrier barrier;
    auto cluster = cg::this_cluster();
    int thread = threadIdx.x, at = blockIdx.x * 128 + thread;
    block_barrier::arrival_token token;

    if (thread == 0) {
        init(&barrier, blockDim.x);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    words[thread] = in[at];
    cluster.sync();
    int *other = cluster.map_shared_rank(words, cluster.block_rank() ^ 1);
    out[at] = other[127 - thread] + (int)cluster.dim_blocks().x * 10000;
    cluster.sync();
    if (thread == 0) {
        cuda::device::memcpy_async_tx(words, in + blockIdx.x * 128,
                                      cuda::aligned_size_t<16>(sizeof words), barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof words);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(cuda::std::move(token));
    out[1024 + at] = words[thread ^ 3];
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&words[5], 0), 1);
    cluster.sync();
    if (thread == 0)
        out[2048 + blockIdx.x] = words[5];
    __syncthreads();
    words[thread] = at * 3;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (thread == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 3072 + at, words,
                           sizeof words);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
