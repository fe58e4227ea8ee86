/* SPDX-License-Identifier: MIT */
/* libcu++: atomics, semaphores, barriers, pipelines and asynchronous copies, complex numbers. From
 * sm_90 on the copies are bulk copies. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/complex>

enum { THREADS = 128, PARTS = 4, BYTES = THREADS * sizeof(int) };
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using block_semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
using block_pipeline = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
using block_float = cuda::atomic_ref<float, cuda::thread_scope_block>;
using system_long = cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>;

extern "C" __global__ void test(const int *in, int *out)
{
    __shared__ block_barrier barrier;
    __shared__ block_semaphore semaphore;
    __shared__ block_pipeline state;
    __shared__ alignas(16) int words[THREADS], parts[2][THREADS];
    __shared__ int entered;
    __shared__ float total;
    auto block = cooperative_groups::this_thread_block();
    int thread = threadIdx.x, at = blockIdx.x * THREADS + thread, sum = 0;

    if (thread == 0) {
        init(&barrier, THREADS);
        new (&semaphore) block_semaphore(1);
        entered = 0;
        total = 0;
    }
    __syncthreads();
    cuda::memcpy_async(block, words, in + blockIdx.x * THREADS,
                       cuda::aligned_size_t<16>(BYTES), barrier);
    barrier.arrive_and_wait();
    out[at] = words[THREADS - 1 - thread];

    semaphore.acquire();
    entered++;
    semaphore.release();
    block_float(total).fetch_add(0.5f);
    system_long(((unsigned long long *)(out + 8192))[blockIdx.x]).fetch_max(words[thread]);
    __syncthreads();
    out[1024 + at] = entered * 1000 + (int)total;

    cuda::std::complex<float> number(thread, 1);
    number = number * number / cuda::std::complex<float>(2, 0);
    out[2048 + at] = (int)number.real() + (int)number.imag();

    auto pipeline = cuda::make_pipeline(block, &state);
    for (int part = 0; part <= PARTS; part++) {
        if (part < PARTS) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, parts[part & 1], in + part * THREADS, BYTES, pipeline);
            pipeline.producer_commit();
        }
        if (part > 0) {
            pipeline.consumer_wait();
            sum += parts[(part - 1) & 1][(thread + part) % THREADS];
            pipeline.consumer_release();
        }
    }
    out[3072 + at] = sum;
}
