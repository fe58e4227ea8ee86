/* SPDX-License-Identifier: MIT */
/* Kernels that take memory by themselves, for test_heap.c. heap.ptx is made of this file by
 *     nvcc -ptx -arch=sm_75 -std=c++17 heap.cu
 * without its comments, and comes with it, so that the tests need no compiler. */
#include <cstdlib>
#include <new>

struct node {
    node *next;
    unsigned value;
};

extern "C" __global__ void build(node **head)
{
    node *made = new node;
    if (!made)
        return;
    made->value = blockIdx.x * blockDim.x + threadIdx.x;
    made->next = (node *)atomicExch((unsigned long long *)head, (unsigned long long)made);
}

/* out: sum of the values, nodes */
extern "C" __global__ void walk(node **head, unsigned long long *out)
{
    for (node *at = *head; at;) {
        node *next = at->next;
        out[0] += at->value;
        out[1]++;
        delete at;
        at = next;
    }
    *head = nullptr;
}

/* out: how many blocks there were */
extern "C" __global__ void take_all(size_t size, unsigned *out)
{
    void **last = nullptr;
    for (void **made; (made = (void **)malloc(size)) != nullptr; last = made) {
        *made = last;
        atomicAdd(out, 1);
    }
    while (last) {
        void **next = (void **)*last;
        free(last);
        last = next;
    }
}

struct alignas(128) wide {
    unsigned long long words[32];
};

extern "C" __global__ void over_aligned(unsigned *wrong)
{
    wide *made = new wide;
    void *more = __nv_aligned_device_malloc(40, 64);
    if (!made || (unsigned long long)made % 128 || !more || (unsigned long long)more % 64)
        atomicAdd(wrong, 1);
    for (unsigned i = 0; i < 32; i++)
        made->words[i] = i * threadIdx.x;
    for (unsigned i = 0; i < 32; i++)
        if (((volatile wide *)made)->words[i] != i * threadIdx.x)
            atomicAdd(wrong, 1);
    free(more);
    delete made;
}

struct shape {
    __device__ virtual unsigned area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    unsigned side;
    __device__ square(unsigned side) : side(side) {}
    __device__ unsigned area() const override { return side * side; }
};
struct row : shape {
    unsigned *lengths, count;
    __device__ row(unsigned count) : lengths(new unsigned[count]), count(count)
    {
        for (unsigned i = 0; i < count; i++)
            lengths[i] = i;
    }
    __device__ ~row() override { delete[] lengths; }
    __device__ unsigned area() const override
    {
        unsigned sum = 0;
        for (unsigned i = 0; i < count; i++)
            sum += lengths[i];
        return sum;
    }
};

extern "C" __global__ void shapes(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    shape *made = i % 3 ? (shape *)new square(i) : new row(i + 1);
    out[i] = made->area();
    delete made;
}

extern "C" __global__ void use_late(unsigned *out)
{
    unsigned *made = (unsigned *)malloc(64);
    *(unsigned **)out = made;
    free(made);
    out[2] = *(volatile unsigned *)made;
}

extern "C" __global__ void free_twice(unsigned *)
{
    void *made = malloc(64);
    free(made);
    free(made);
}

/* out: the block, which stays */
extern "C" __global__ void keep(void **out)
{
    *out = malloc(64);
    **(unsigned long long **)out = 1;
}

extern "C" __global__ void write_to(unsigned *at)
{
    at[threadIdx.x] = threadIdx.x;
}
