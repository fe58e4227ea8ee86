/* SPDX-License-Identifier: MIT */
/* Thrust in one thread, variants, virtual functions, and objects made by new. */
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <cuda/std/bit>
#include <cuda/std/variant>

struct shape {
    __device__ virtual int size(int scale) const { return scale; }
    __device__ virtual ~shape() {}
};
struct square : shape {
    int side;
    __device__ explicit square(int side) : side(side) {}
    __device__ int size(int scale) const override { return side * side + scale; }
};

extern "C" __global__ void test(const int *in, int *out)
{
    int at = blockIdx.x * 128 + threadIdx.x, items[8];
    for (int i = 0; i < 8; i++)
        items[i] = in[(at * 8 + i) % 512];
    thrust::sort(thrust::seq, items, items + 8);
    for (int i = 0; i < 8; i++)
        out[at * 8 + i] = items[i];
    out[4096 + at] = thrust::reduce(thrust::seq, items, items + 8) * 10 +
                     (int)(thrust::lower_bound(thrust::seq, items, items + 8, 500) - items);
    cuda::std::variant<int, float> either = at;
    if (at & 1)
        either = at + 0.5f;
    out[5120 + at] = cuda::std::visit([](auto value) { return (int)(value * 2); }, either) +
                     cuda::std::popcount((unsigned)items[3]);
    shape *made = at & 1 ? new square(at % 7) : new shape;
    out[6144 + at] = made->size(in[at]);
    delete made;
}
